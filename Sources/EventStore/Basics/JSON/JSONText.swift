/// JSON strings to and from plain text.
package enum JSONText {
    /// Appends `text` as a JSON string with its quotes. Only what RFC 8259 §7 requires is escaped: the quote, the
    /// backslash and control characters below U+0020; everything else stands as it is.
    package static func append(_ text: String, to out: inout [UInt8]) {
        var text = text
        text.withUTF8 { append(utf8: $0, to: &out) }
    }

    /// Appends UTF-8 as a JSON string with its quotes.
    static func append(utf8 text: [UInt8], to out: inout [UInt8]) {
        text.withUnsafeBufferPointer { append(utf8: $0, to: &out) }
    }

    private static func append(utf8 bytes: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\""))
        var plainStart = 0
        for (index, byte) in bytes.enumerated() where mustEscape(byte) {
            out.append(contentsOf: bytes[plainStart..<index])
            appendEscape(of: byte, to: &out)
            plainStart = index + 1
        }
        out.append(contentsOf: bytes[plainStart...])
        out.append(UInt8(ascii: "\""))
    }

    @inline(__always)
    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private static func appendEscape(of byte: UInt8, to out: inout [UInt8]) {
        out.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: out.append(UInt8(ascii: "b"))
        case 0x09: out.append(UInt8(ascii: "t"))
        case 0x0a: out.append(UInt8(ascii: "n"))
        case 0x0c: out.append(UInt8(ascii: "f"))
        case 0x0d: out.append(UInt8(ascii: "r"))
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(byte)
        default:
            out.append(contentsOf: "u00".utf8)
            out.appendHex(byte)
        }
    }

    /// The text of a string that the scanner has passed. A lone surrogate escape becomes U+FFFD.
    package static func string(_ string: JSONStringRange, of bytes: [UInt8]) -> String {
        string.isEscaped
            ? String(decoding: decoded(string, of: bytes), as: UTF8.self)
            : String(decoding: bytes[string.range], as: UTF8.self)
    }

    /// Whether a string that the scanner has passed names half of a surrogate pair, which no text has.
    package static func hasLoneSurrogate(_ string: JSONStringRange, of bytes: [UInt8]) -> Bool {
        guard string.isEscaped else { return false }
        var rest = bytes[string.range]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let letter = rest.popFirst(), letter == UInt8(ascii: "u") else {
                continue
            }
            let unit = fourDigits(rest.prefix(4))
            // Of what can be written so only a lone surrogate becomes U+FFFD, but for U+FFFD itself.
            if unicodeEscape(&rest) == "\u{fffd}", unit != 0xfffd { return true }
        }
        return false
    }

    /// Bytes of `\uXXXX`.
    package static let escapeLength = 6

    /// Whether the inside of a string that the scanner has passed ends in the escape of a high surrogate, whose other half may stand elsewhere.
    package static func endsInHighSurrogate(_ inside: [UInt8]) -> Bool {
        let last = inside.suffix(escapeLength)
        guard last.count == escapeLength, last.starts(with: "\\u".utf8), fourDigits(last.suffix(4)) & 0xfc00 == 0xd800
        else { return false }
        // A backslash that is itself escaped begins nothing.
        let before = inside.dropLast(escapeLength).reversed().prefix { $0 == UInt8(ascii: "\\") }.count
        return before.isMultiple(of: 2)
    }

    /// The UTF-8 of a string that the scanner has passed. A lone surrogate escape becomes U+FFFD.
    package static func decoded(_ string: JSONStringRange, of bytes: some JSONBytes) -> [UInt8] {
        guard string.isEscaped else { return Array(bytes[string.range]) }
        var out: [UInt8] = []
        out.reserveCapacity(string.range.count)
        var rest = Array(bytes[string.range])[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "\\"), let letter = rest.popFirst() {
                appendDecoded(escape: letter, &rest, to: &out)
            } else {
                out.append(byte)
            }
        }
        return out
    }

    private static func appendDecoded(escape: UInt8, _ rest: inout ArraySlice<UInt8>, to out: inout [UInt8]) {
        switch escape {
        case UInt8(ascii: "b"): out.append(0x08)
        case UInt8(ascii: "t"): out.append(0x09)
        case UInt8(ascii: "n"): out.append(0x0a)
        case UInt8(ascii: "f"): out.append(0x0c)
        case UInt8(ascii: "r"): out.append(0x0d)
        case UInt8(ascii: "u"):
            let scalar = unicodeEscape(&rest)
            out.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: out.append(escape)
        }
    }

    /// The scalar of the four digits, and of the low surrogate's escape after them if they are a high surrogate.
    private static func unicodeEscape(_ rest: inout ArraySlice<UInt8>) -> Unicode.Scalar {
        let unit = fourDigits(rest.prefix(4))
        rest = rest.dropFirst(4)
        guard unit & 0xfc00 == 0xd800 else { return Unicode.Scalar(unit) ?? "\u{fffd}" }
        guard rest.starts(with: "\\u".utf8) else { return "\u{fffd}" }
        let low = fourDigits(rest.dropFirst(2).prefix(4))
        guard low & 0xfc00 == 0xdc00 else { return "\u{fffd}" }
        rest = rest.dropFirst(6)
        return Unicode.Scalar(0x10000 + (unit - 0xd800) << 10 + (low - 0xdc00)) ?? "\u{fffd}"
    }

    private static func fourDigits(_ digits: ArraySlice<UInt8>) -> UInt32 {
        digits.reduce(0) { $0 << 4 | UInt32(hexDigit($1) ?? 0) }
    }

    /// Whether two strings of the same bytes are the same text, byte by byte (canonical equivalence does not count).
    package static func equal(_ a: JSONStringRange, _ b: JSONStringRange, of bytes: some JSONBytes) -> Bool {
        if a.isEscaped || b.isEscaped { return decoded(a, of: bytes) == decoded(b, of: bytes) }
        return bytes[a.range].elementsEqual(bytes[b.range])
    }

    /// Whether a string is `text`, byte by byte.
    package static func equal(_ string: JSONStringRange, _ text: String, of bytes: some JSONBytes) -> Bool {
        if string.isEscaped { return decoded(string, of: bytes).elementsEqual(text.utf8) }
        let utf8 = text.utf8
        return utf8.count == string.range.count && bytes[string.range].elementsEqual(utf8)
    }
}
