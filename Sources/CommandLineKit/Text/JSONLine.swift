/// Writes one JSON object on one line (NDJSON), with the keys in the order they were added.
///
/// Strings follow RFC 8259: only what must be is escaped, so Hangul and emoji stay readable; DEL and the C1 controls
/// are escaped too, because the line may end on a terminal. Text is never checked for duplicate keys.
///
///     var line = JSONLine(type: "event")
///     line.add("seq", 10412)
///     line.add("text", "어제부터")
///     line.text   // {"type":"event","v":1,"seq":10412,"text":"어제부터"}
package struct JSONLine: Sendable {
    private var bytes: [UInt8] = []

    /// An object without keys.
    package init() {
        bytes.reserveCapacity(256)
        bytes.append(UInt8(ascii: "{"))
    }

    /// An object that begins with the two keys every line of output has: its type and the version of its shape.
    package init(type: String) {
        self.init()
        add("type", type)
        add("v", 1)
    }

    /// The object as UTF-8, without a newline.
    package var utf8: [UInt8] { bytes + [UInt8(ascii: "}")] }

    /// Appends the object and a newline to `output`.
    package func write(to output: inout [UInt8]) {
        output += bytes
        output.append(UInt8(ascii: "}"))
        output.append(UInt8(ascii: "\n"))
    }

    /// The object as text, without a newline.
    package var text: String { String(decoding: utf8, as: UTF8.self) }

    /// Adds a string, or `null`.
    package mutating func add(_ key: String, _ value: String?) {
        begin(key)
        JSONText.append(value, to: &bytes)
    }

    /// Adds an integer as a number. Above 2^53 many readers lose digits; see ``add(_:_:)``.
    package mutating func add(_ key: String, _ value: some FixedWidthInteger) {
        begin(key)
        JSONText.append(ascii: String(value), to: &bytes)
    }

    /// Adds `true` or `false`.
    package mutating func add(_ key: String, _ value: Bool) {
        begin(key)
        bytes += (value ? "true" : "false").utf8
    }

    /// Adds a number, or `null` for a value JSON has no form for (not a number, infinite).
    package mutating func add(_ key: String, _ value: Double) {
        begin(key)
        bytes += (value.isFinite ? "\(value)" : "null").utf8
    }

    /// Adds a list of strings.
    package mutating func add(_ key: String, _ values: [String]) {
        addArray(key) { array in
            for value in values { array.add(value) }
        }
    }

    /// Adds JSON that is already written. It must be valid; a line break in it, which valid JSON has only between
    /// tokens, becomes a space so that the line stays one.
    package mutating func addRaw(_ key: String, _ json: ArraySlice<UInt8>) {
        begin(key)
        JSONText.appendRaw(json, to: &bytes)
    }

    /// Adds JSON that is already written, as text.
    package mutating func addRaw(_ key: String, _ json: String) {
        addRaw(key, Array(json.utf8)[...])
    }

    /// Adds a nested object.
    package mutating func addObject(_ key: String, _ fill: (inout JSONLine) -> Void) {
        begin(key)
        var nested = JSONLine()
        fill(&nested)
        bytes += nested.utf8
    }

    /// Adds a nested array.
    package mutating func addArray(_ key: String, _ fill: (inout JSONArray) -> Void) {
        begin(key)
        var nested = JSONArray()
        fill(&nested)
        bytes += nested.utf8
    }

    private mutating func begin(_ key: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}

/// Writes one JSON array; the elements of a ``JSONLine``.
package struct JSONArray: Sendable {
    private var bytes: [UInt8] = [UInt8(ascii: "[")]

    /// An empty array.
    package init() {}

    /// The array as UTF-8.
    package var utf8: [UInt8] { bytes + [UInt8(ascii: "]")] }

    /// Adds a string, or `null`.
    package mutating func add(_ value: String?) {
        begin()
        JSONText.append(value, to: &bytes)
    }

    /// Adds an object.
    package mutating func addObject(_ fill: (inout JSONLine) -> Void) {
        begin()
        var nested = JSONLine()
        fill(&nested)
        bytes += nested.utf8
    }

    private mutating func begin() {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    }
}

/// The text forms of JSON (RFC 8259 §7).
enum JSONText {
    /// Text that is JSON as it stands.
    static func append(ascii text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    static func append(_ value: String?, to bytes: inout [UInt8]) {
        guard let value else {
            bytes += "null".utf8
            return
        }
        var text = value
        bytes.append(UInt8(ascii: "\""))
        text.withUTF8 { utf8 in
            if isPlain(utf8) { bytes.append(contentsOf: utf8) } else { appendEscaping(utf8, to: &bytes) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing in `text` has to be escaped, as in keys, ids and numbers; some of what has not is said to have.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        text.allSatisfy { byte in
            byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
    }

    private static func appendEscaping(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
        var previous: UInt8 = 0
        for byte in text {
            if previous == 0xC2 && byte < 0xA0 {
                // U+0080 to U+009F: the lead byte is already written, take it back.
                bytes.removeLast()
                appendEscape(byte, to: &bytes)
            } else if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                appendEscape(byte, to: &bytes)
            } else {
                bytes.append(byte)
            }
            previous = byte
        }
    }

    /// Not generic: across the module's border that would be taken byte by byte.
    static func appendRaw(_ json: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += json
        for index in start..<bytes.count where bytes[index] == 0x0A || bytes[index] == 0x0D { bytes[index] = 0x20 }
    }

    private static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "\""): bytes += "\\\"".utf8
        case UInt8(ascii: "\\"): bytes += "\\\\".utf8
        case 0x08: bytes += "\\b".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x0C: bytes += "\\f".utf8
        case 0x0D: bytes += "\\r".utf8
        default:
            let digits = String(byte, radix: 16)
            bytes += (digits.count == 1 ? "\\u000" : "\\u00").utf8
            bytes += digits.utf8
        }
    }
}
