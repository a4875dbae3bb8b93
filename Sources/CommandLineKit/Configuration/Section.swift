/// An object of the configuration: its members are asked for by name, and what was not asked for is a mistake.
package struct Section {
    /// `endpoint.`, or empty.
    private let path: String
    private let position: TextPosition
    private let members: [JSON5Value.Member]
    private var known: [String] = []

    package init(_ value: JSON5Value, at path: String = "") throws(ConfigurationMistake) {
        guard case .object(let members) = value.content else {
            let name = path.isEmpty ? "the configuration" : "'\(path)'"
            throw ConfigurationMistake("\(name) is an object, not \(value.kind)", value.position)
        }
        self.path = path.isEmpty ? "" : path + "."
        self.members = members
        position = value.position
    }

    /// Names that are there, for objects whose names are data.
    package var names: [String] { members.map(\.name) }

    package func key(_ name: String) -> String { path + name }

    package mutating func value(_ name: String) -> JSON5Value? {
        known.append(name)
        guard let value = members.first(where: { $0.name == name })?.value, value.content != .null else { return nil }
        return value
    }

    package mutating func section(_ name: String) throws(ConfigurationMistake) -> Section? {
        guard let value = value(name) else { return nil }
        return try Section(value, at: key(name))
    }

    package mutating func text(_ name: String) throws(ConfigurationMistake) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value.content else { throw wrong(name, "a string", value) }
        return text
    }

    package mutating func required(_ name: String) throws(ConfigurationMistake) -> String {
        guard let text = try text(name), !text.isEmpty else {
            throw ConfigurationMistake("'\(key(name))' is missing", position)
        }
        return text
    }

    package mutating func bool(_ name: String) throws(ConfigurationMistake) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let answer) = value.content else { throw wrong(name, "true or false", value) }
        return answer
    }

    package mutating func count(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationMistake) -> Int? {
        guard let value = value(name) else { return nil }
        guard case .number(let number) = value.content, let count = Int(exactly: number), range.contains(count) else {
            throw wrong(name, "a whole number from \(range.lowerBound) to \(range.upperBound)", value)
        }
        return count
    }

    /// A length of time with its unit, in milliseconds: `"30s"`.
    package mutating func span(_ name: String, in range: ClosedRange<Int64>) throws(ConfigurationMistake) -> UInt64? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value.content, let span = Self.milliseconds(text), range.contains(span) else {
            throw wrong(
                name,
                "a time with its unit, as \"30s\", from \(range.lowerBound) to \(range.upperBound) milliseconds",
                value)
        }
        return UInt64(span)
    }

    private static func milliseconds(_ text: String) -> Int64? {
        if text.hasSuffix("ms"), let number = Int64(text.dropLast(2)), number >= 0 { return number }
        return try? TimeSpan.milliseconds(text)
    }

    /// A size with its unit, in bytes: `"20MiB"`.
    package mutating func size(_ name: String, in range: ClosedRange<Int>) throws(ConfigurationMistake) -> Int? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value.content, let bytes = try? ByteSize.bytes(text),
            let size = Int(exactly: bytes), range.contains(size)
        else {
            let bounds = [range.lowerBound, range.upperBound].map { ByteSize.exactText(UInt64($0)) }
            throw wrong(
                name, "a size with its unit, as \"20MiB\", from \(bounds.joined(separator: " to "))", value)
        }
        return size
    }

    package mutating func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _: Choice.Type
    ) throws(ConfigurationMistake) -> Choice? where Choice.RawValue == String {
        guard let value = value(name) else { return nil }
        let names = Choice.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        guard case .string(let text) = value.content, let choice = Choice(rawValue: text) else {
            throw wrong(name, "one of \(names)", value)
        }
        return choice
    }

    package mutating func texts(_ name: String) throws(ConfigurationMistake) -> [String]? {
        guard let elements = try elements(name) else { return nil }
        var texts: [String] = []
        for element in elements {
            guard case .string(let text) = element.content, !text.isEmpty else {
                throw wrong(name, "a list of texts", element)
            }
            texts.append(text)
        }
        return texts
    }

    package mutating func elements(_ name: String) throws(ConfigurationMistake) -> [JSON5Value]? {
        guard let value = value(name) else { return nil }
        guard case .array(let elements) = value.content else { throw wrong(name, "a list", value) }
        return elements
    }

    private func wrong(_ name: String, _ expected: String, _ value: JSON5Value) -> ConfigurationMistake {
        ConfigurationMistake("'\(key(name))' is \(expected)", value.position)
    }

    /// What is said of a member that fits its kind and is wrong all the same.
    package func mistake(_ name: String, _ message: String) -> ConfigurationMistake {
        let value = members.first { $0.name == name }?.value
        return ConfigurationMistake("'\(key(name))': \(message)", value?.position ?? position)
    }

    /// Refuses members that were not asked for.
    package func end() throws(ConfigurationMistake) {
        for member in members where !known.contains(member.name) {
            let nearest = Suggestion.nearest(to: member.name, among: known)
            let question = nearest.map { "; did you mean '\(key($0))'?" } ?? ""
            throw ConfigurationMistake("there is no key '\(key(member.name))'\(question)", member.position)
        }
    }
}

/// What is wrong with a configuration, and where.
package struct ConfigurationMistake: Error, Equatable, Sendable {
    package let message: String
    package let position: TextPosition

    package init(_ message: String, _ position: TextPosition) { (self.message, self.position) = (message, position) }
}

extension JSON5Value {
    /// The value as JSON; `nil` for what JSON has no form of.
    package var json: String? {
        switch content {
        case .null: return "null"
        case .bool(let answer): return answer ? "true" : "false"
        case .number(let number):
            guard number.isFinite else { return nil }
            if let whole = Int64(exactly: number), abs(number) < 0x1p53 { return "\(whole)" }
            return "\(number)"
        case .string(let text):
            var line = JSONLine()
            line.add("", text)
            return String(line.text.dropFirst(#"{"":"#.count).dropLast())
        case .array(let elements):
            let parts = elements.compactMap(\.json)
            return parts.count == elements.count ? "[\(parts.joined(separator: ","))]" : nil
        case .object(let members):
            var line = JSONLine()
            for member in members {
                guard let json = member.value.json else { return nil }
                line.addRaw(member.name, json)
            }
            return line.text
        }
    }
}
