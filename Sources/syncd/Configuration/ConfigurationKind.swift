internal import CommandLineKit
internal import EventStore

/// Why a value does not fit its key, and the value's own place if it lies inside the key's.
struct ConfigurationFailure: Error, Sendable, Equatable {
    let message: String
    var position: TextPosition?
    /// What else is wrong with the value.
    private(set) var others: [ConfigurationFailure] = []

    init(_ message: String, at position: TextPosition? = nil) {
        self.message = message
        self.position = position
    }

    /// Of several failures, at least one.
    fileprivate init(_ all: [ConfigurationFailure]) {
        self = all[0]
        others = Array(all.dropFirst())
    }

    /// All that is wrong, each by itself.
    var all: [ConfigurationFailure] { [ConfigurationFailure(message, at: position)] + others }
}

/// What is wrong with the parts of a value.
struct ConfigurationFaults {
    private var found: [ConfigurationFailure] = []

    /// What `body` gives. What is wrong with it is at `position` where it names no place of its own; then `nil`.
    mutating func part<Part>(
        at position: TextPosition, _ body: () throws(ConfigurationFailure) -> Part
    ) -> Part? {
        do throws(ConfigurationFailure) { return try body() } catch {
            found += error.all.map { ConfigurationFailure($0.message, at: $0.position ?? position) }
            return nil
        }
    }

    mutating func add(_ message: String, at position: TextPosition) {
        found.append(ConfigurationFailure(message, at: position))
    }

    /// Fails with all of them, if there are any.
    func end() throws(ConfigurationFailure) {
        if !found.isEmpty { throw ConfigurationFailure(found) }
    }
}

/// How the text of a flag or an environment variable becomes a JSON5 value.
enum ConfigurationTextForm: Sendable {
    /// It is the string.
    case string
    /// It is the string, and `none` or `null` is null.
    case optionalString
    /// It is JSON5 itself.
    case json5
}

/// How values of one kind are read and shown. Every error says what would be right.
struct ConfigurationKind<Value>: Sendable {
    var form = ConfigurationTextForm.string
    let read: @Sendable (JSON5Value) throws(ConfigurationFailure) -> Value
    /// The value as JSON5.
    let show: @Sendable (Value) -> String

    /// A value that may be `null`.
    static func optional<Wrapped>(_ kind: ConfigurationKind<Wrapped>) -> Self where Value == Wrapped? {
        ConfigurationKind(form: .optionalString) { (value) throws(ConfigurationFailure) in
            value.content == .null ? nil : try kind.read(value)
        } show: {
            $0.map(kind.show) ?? "null"
        }
    }

    /// A string that `parse` understands.
    fileprivate static func string(
        shown: @escaping @Sendable (Value) -> String,
        parse: @escaping @Sendable (String) throws(ConfigurationFailure) -> Value
    ) -> Self {
        ConfigurationKind { (value) throws(ConfigurationFailure) in
            try parse(try ConfigurationText.string(value))
        } show: {
            ConfigurationText.quoted(shown($0))
        }
    }
}

extension ConfigurationKind<String> {
    /// Any text but none.
    static let string = Self.string(shown: { $0 }, parse: { $0 })

    /// The name of a node, a cluster or a peer: what a store takes for one.
    static let name = Self.string(shown: { $0 }) { (text) throws(ConfigurationFailure) in
        guard PlainName.isOne(text) else {
            throw ConfigurationFailure("'\(text)' is no name; it has \(PlainName.rule)")
        }
        return text
    }

    /// An absolute path.
    static let path = Self.string(shown: { $0 }) { (text) throws(ConfigurationFailure) in
        guard text.hasPrefix("/") else { throw ConfigurationFailure("expected an absolute path, not '\(text)'") }
        return text
    }

    /// A node id; it is kept in lowercase.
    static let nodeID = Self.string(shown: { $0 }) { (text) throws(ConfigurationFailure) in
        guard text.utf8.count == 64, text.utf8.allSatisfy(\.isHexadecimal) else {
            throw ConfigurationFailure("'\(text)' is no node id; it has 64 hexadecimal digits")
        }
        return text.lowercased()
    }
}

extension ConfigurationKind<[String]> {
    /// A list of media types.
    static let mediaTypes = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .array(let elements) = value.content else {
            throw ConfigurationFailure("expected a list of media types, not \(value.kind)")
        }
        var (types, faults) = ([String](), ConfigurationFaults())
        for element in elements {
            if case .string(let text) = element.content,
                AttachmentItem.isMediaType(text.hasSuffix("/*") ? text.dropLast() + "x" : text)
            {
                types.append(text)
            } else {
                faults.add("expected a media type, as \"image/png\" or \"image/*\"", at: element.position)
            }
        }
        try faults.end()
        return types
    } show: { types in
        "[" + types.map(ConfigurationText.quoted).joined(separator: ", ") + "]"
    }
}

extension ConfigurationKind where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    /// One of a few words.
    static func choice() -> Self {
        Self.string(shown: \.rawValue) { (text) throws(ConfigurationFailure) in
            if let choice = Value(rawValue: text) { return choice }
            let names = Value.allCases.map(\.rawValue)
            let question = Suggestion.nearest(to: text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
            let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
            throw ConfigurationFailure("'\(text)' is not one of \(list)\(question)")
        }
    }
}

extension ConfigurationKind<UInt64> {
    /// A whole number.
    static let count = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .number(let number) = value.content else {
            throw ConfigurationFailure("expected a whole number, not \(value.kind)")
        }
        guard let count = UInt64(exactly: number), count <= 1 << 53 else {
            throw ConfigurationFailure("expected a whole number from 0 to 2^53")
        }
        return count
    } show: {
        String($0)
    }

    /// How many connections: at least so many that one client cannot keep out all others.
    static let connections = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        let count = try ConfigurationKind.count.read(value)
        guard (16...60_000).contains(count) else { throw ConfigurationFailure("expected 16 to 60000, not \(count)") }
        return count
    } show: {
        String($0)
    }

    /// A size in bytes, written with its unit, of at least so many.
    static func size(atLeast least: UInt64) -> ConfigurationKind {
        ConfigurationKind { (value) throws(ConfigurationFailure) in
            let bytes = try size.read(value)
            guard bytes >= least else {
                throw ConfigurationFailure(
                    "expected at least \(ByteSize.exactText(least)), not \(ByteSize.exactText(bytes))")
            }
            return bytes
        } show: {
            size.show($0)
        }
    }

    private static let mostBytes: UInt64 = 1 << 50

    /// A size in bytes, written with its unit.
    static let size = ConfigurationKind { (value) throws(ConfigurationFailure) in
        if case .number = value.content {
            throw ConfigurationFailure("a size needs a unit; write it as a string like \"2GiB\"")
        }
        let text = try ConfigurationText.string(value)
        do throws(ByteSize.Failure) {
            let bytes = try ByteSize.bytes(text)
            // More than any machine has, and far from where sums of sizes would overflow.
            guard bytes <= mostBytes else { throw .tooLarge }
            return bytes
        } catch {
            switch error {
            case .malformed:
                throw ConfigurationFailure("'\(text)' is no size; write a whole number and B, KiB, MiB, GiB or TiB")
            case .missingUnit: throw ConfigurationFailure("'\(text)' needs a unit, like \"\(text)MiB\"")
            case .tooLarge:
                throw ConfigurationFailure(
                    "'\(text)' is too large; at most \(ByteSize.exactText(mostBytes))")
            }
        }
    } show: {
        ConfigurationText.quoted(ByteSize.exactText($0))
    }
}

extension ConfigurationKind<Bool> {
    /// Yes or no.
    static let bool = ConfigurationKind(form: .json5) { (value) throws(ConfigurationFailure) in
        guard case .bool(let answer) = value.content else {
            throw ConfigurationFailure("expected true or false, not \(value.kind)")
        }
        return answer
    } show: {
        $0 ? "true" : "false"
    }
}

extension ConfigurationKind<Int64> {
    /// A length of time in milliseconds, written with its unit.
    static let span = ConfigurationKind { (value) throws(ConfigurationFailure) in
        if case .number = value.content {
            throw ConfigurationFailure("a time span needs a unit; write it as a string like \"15s\"")
        }
        let text = try ConfigurationText.string(value)
        do throws(TimeSpan.Failure) {
            return try TimeSpan.milliseconds(text)
        } catch {
            switch error {
            case .malformed:
                throw ConfigurationFailure("'\(text)' is no time span; write it like \"15s\" or \"1h30m\"")
            case .missingUnit: throw ConfigurationFailure("'\(text)' needs a unit, like \"\(text)s\"")
            case .unevenUnit(let unit): throw ConfigurationFailure("'\(unit)' has no fixed length; use days or weeks")
            case .tooLong: throw ConfigurationFailure("'\(text)' is too long")
            }
        }
    } show: {
        ConfigurationText.quoted("\($0)ms")
    }
}

extension ConfigurationKind<Int64> {
    /// How long to wait for others.
    static let patience = ConfigurationKind { (value) throws(ConfigurationFailure) in
        let span = try ConfigurationKind.span.read(value)
        guard (1_000...86_400_000).contains(span) else { throw ConfigurationFailure("expected 1s to 24h") }
        return span
    } show: {
        ConfigurationKind.span.show($0)
    }
}

extension ConfigurationKind<UInt16> {
    /// Permission bits, written as octal digits in quotes.
    static let mode = ConfigurationKind { (value) throws(ConfigurationFailure) in
        if case .number = value.content {
            throw ConfigurationFailure("write the mode as a string of octal digits, like \"0660\"")
        }
        let text = try ConfigurationText.string(value)
        guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let mode = UInt16(text, radix: 8), mode <= 0o777
        else { throw ConfigurationFailure("'\(text)' is no mode; write octal digits, like \"0660\"") }
        return mode
    } show: { mode in
        let digits = String(mode, radix: 8)
        return ConfigurationText.quoted(String(repeating: "0", count: max(1, 4 - digits.count)) + digits)
    }
}

extension ConfigurationKind<DaemonConfiguration.Witness> {
    /// `"beside"`, an absolute path, or `null`.
    static let witness = ConfigurationKind(form: .optionalString) { (value) throws(ConfigurationFailure) in
        if value.content == .null { return .none }
        if value.content == .string("beside") { return .beside }
        return .folder(try ConfigurationKind<String>.path.read(value))
    } show: { witness in
        switch witness {
        case .beside: ConfigurationText.quoted("beside")
        case .none: "null"
        case .folder(let path): ConfigurationText.quoted(path)
        }
    }
}

extension ConfigurationKind<NetworkAddress> {
    /// A host and a port.
    static let address = Self.string(shown: \.description) { (text) throws(ConfigurationFailure) in
        guard let address = NetworkAddress(text) else {
            throw ConfigurationFailure("'\(text)' is no address; write HOST:PORT or [IPV6]:PORT")
        }
        return address
    }
}

/// What all kinds share.
enum ConfigurationText {
    static func string(_ value: JSON5Value) throws(ConfigurationFailure) -> String {
        guard case .string(let text) = value.content else {
            throw ConfigurationFailure("expected a string, not \(value.kind)")
        }
        if text.isEmpty { throw ConfigurationFailure("expected a string that is not empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw ConfigurationFailure("control characters are not allowed")
        }
        return text
    }

    /// A string as JSON5, which JSON is.
    static func quoted(_ text: String) -> String {
        var array = JSONArray()
        array.add(text)
        return String(decoding: array.utf8.dropFirst().dropLast(), as: UTF8.self)
    }
}
