internal import CommandLineKit

/// Reads one configured value as what its key wants; every error says what would be right.
enum ConfigurationText {
    /// Why a value does not fit, and the value's own place if it is not the key's.
    struct Failure: Error, Equatable {
        let message: String
        var position: TextPosition?
    }

    static func string(_ value: JSON5Value) throws(Failure) -> String {
        guard case .string(let text) = value.content else {
            throw Failure(message: "expected a string, not \(value.kind)")
        }
        if text.isEmpty { throw Failure(message: "expected a string that is not empty") }
        if text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw Failure(message: "control characters are not allowed")
        }
        return text
    }

    /// A string or `null`.
    static func optional(_ value: JSON5Value) throws(Failure) -> String? {
        if value.content == .null { return nil }
        guard case .string = value.content else {
            throw Failure(message: "expected a string or null, not \(value.kind)")
        }
        return try string(value)
    }

    static func absolutePath(_ text: String) throws(Failure) -> String {
        guard text.hasPrefix("/") else { throw Failure(message: "expected an absolute path, not '\(text)'") }
        return text
    }

    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ value: JSON5Value, _ type: Choice.Type
    ) throws(Failure) -> Choice where Choice.RawValue == String {
        let text = try string(value)
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let question = Suggestion.nearest(to: text, among: names).map { "; did you mean \"\($0)\"?" } ?? ""
        let list = names.map { "\"\($0)\"" }.joined(separator: ", ")
        throw Failure(message: "'\(text)' is not one of \(list)\(question)")
    }

    /// A size in bytes with its unit.
    static func size(_ value: JSON5Value) throws(Failure) -> UInt64 {
        if case .number = value.content {
            throw Failure(message: "a size needs a unit: write it as a string like \"2GiB\"")
        }
        let text = try string(value)
        do {
            return try ByteSize.bytes(text)
        } catch {
            switch error {
            case .malformed: throw Failure(message: "'\(text)' is no size; write a whole number and B, KiB, MiB or GiB")
            case .missingUnit: throw Failure(message: "'\(text)' needs a unit, like \"\(text)MiB\"")
            case .tooLarge: throw Failure(message: "'\(text)' is too large")
            }
        }
    }

    /// Permission bits as an octal string.
    static func mode(_ value: JSON5Value) throws(Failure) -> UInt16 {
        if case .number = value.content {
            throw Failure(message: "write the mode as a string of octal digits, like \"0660\"")
        }
        let text = try string(value)
        guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let mode = UInt16(text, radix: 8), mode <= 0o777
        else { throw Failure(message: "'\(text)' is no mode; write octal digits, like \"0660\"") }
        return mode
    }

    static func address(_ text: String) throws(Failure) -> NetworkAddress {
        guard let address = NetworkAddress(text) else {
            throw Failure(message: "'\(text)' is no address; write HOST:PORT or [IPV6]:PORT")
        }
        return address
    }

    /// A name of letters, digits, `-`, `_` and `.`; it stands in metrics, certificates and log lines.
    static func name(_ text: String) throws(Failure) -> String {
        guard text.utf8.count <= 63, text.utf8.allSatisfy({ $0.isLetterOrDigit || "-_.".utf8.contains($0) }) else {
            throw Failure(message: "'\(text)' is no name; use up to 63 letters, digits, '-', '_' and '.'")
        }
        return text
    }

    /// A node id, in lowercase.
    static func nodeID(_ text: String) throws(Failure) -> String {
        guard text.utf8.count == 64, text.utf8.allSatisfy(\.isHexadecimal) else {
            throw Failure(message: "'\(text)' is no node id; it has 64 hexadecimal digits (syncctl status shows it)")
        }
        return text.lowercased()
    }
}
