/// Writes lines as JSON text into one growing buffer, which the caller drains and reuses.
///
/// Text outside ASCII stays raw UTF-8; only what RFC 8259 §7 demands is escaped.
public struct LineEncoder: Sendable {
    /// The encoded lines, each ended by a line feed.
    public private(set) var bytes: [UInt8] = []

    /// Makes an empty encoder.
    public init() {}

    /// Forgets the encoded lines and keeps their memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
    }

    /// Appends one object and a line feed, keys in the order the native format gives them.
    public mutating func append(_ line: NativeLine) {
        raw(#"{"specversion":"1.0","type":"#)
        quoted(line.type.rawValue)
        field(#","source":"#, line.source)
        field(#","recordid":"#, line.recordID)
        field(#","time":"#, line.time.description)
        if let conversation = line.conversation { field(#","subject":"#, "conversation/" + conversation) }
        field(#","user":"#, line.user)
        if let author = line.author { field(#","author":"#, author) }
        if let cause = line.cause { field(#","cause":"#, cause) }
        raw(#","data":"#)
        object(line.data)
        raw("}\n")
    }

    private mutating func field(_ key: StaticString, _ text: String) {
        raw(key)
        quoted(text)
    }

    private mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let flag): raw(flag ? "true" : "false")
        case .integer(let number): bytes.append(contentsOf: String(number).utf8)
        case .number(let number) where number.isFinite: bytes.append(contentsOf: String(number).utf8)
        case .number: raw("null")
        case .string(let text): quoted(text)
        case .array(let values): array(values)
        case .object(let members): object(members)
        }
    }

    private mutating func array(_ values: [JSONValue]) {
        raw("[")
        for (index, element) in values.enumerated() {
            if index > 0 { raw(",") }
            value(element)
        }
        raw("]")
    }

    private mutating func object(_ members: [JSONValue.Member]) {
        raw("{")
        for (index, member) in members.enumerated() {
            if index > 0 { raw(",") }
            quoted(member.name)
            raw(":")
            value(member.value)
        }
        raw("}")
    }

    /// Copies runs of plain bytes at once, since nearly every text is one such run.
    private mutating func quoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var plain = 0
            var index = 0
            while index < utf8.count {
                let byte = utf8[index]
                if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain..<index]))
                    escape(byte)
                    plain = index + 1
                }
                index += 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[plain...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): raw(#"\""#)
        case UInt8(ascii: "\\"): raw(#"\\"#)
        case 0x08: raw(#"\b"#)
        case 0x09: raw(#"\t"#)
        case 0x0A: raw(#"\n"#)
        case 0x0C: raw(#"\f"#)
        case 0x0D: raw(#"\r"#)
        default:
            raw(#"\u00"#)
            for digit in [byte >> 4, byte & 0x0F] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    private mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}
