/// Reads strict JSON (RFC 8259) in UTF-8 without building anything: no tree, no copies, no allocation.
///
/// Strict means: the whole grammar and nothing else, well-formed UTF-8 (no overlong forms, no surrogates, nothing
/// above U+10FFFF), no byte order mark, nesting up to ``JSONDepth/most``. An escaped lone surrogate (`\ud800`) is
/// within the grammar and passes; decoding makes U+FFFD of it.
///
/// Every access to the bytes is checked against their count.
package struct JSONTextScanner<Bytes: JSONBytes> {
    package let bytes: Bytes
    package internal(set) var index: Int
    package let end: Int

    package init(_ bytes: Bytes) {
        self.init(bytes, 0..<bytes.count)
    }

    /// Reads only `range`, which must lie within `bytes`.
    package init(_ bytes: Bytes, _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "range outside of the bytes")
        self.bytes = bytes
        index = range.lowerBound
        end = range.upperBound
    }
}

/// Reads JSON in an array.
package typealias JSONScanner = JSONTextScanner<[UInt8]>

extension JSONScanner {
    /// Checks that the bytes are one JSON value of any kind, with blanks around it or without.
    package static func validateValue(_ bytes: [UInt8]) throws(JSONError) {
        var scanner = JSONScanner(bytes)
        try scanner.start()
        _ = try scanner.value()
        try scanner.finish()
    }

    /// Checks that the bytes are one JSON object whose own members have different names.
    package static func checkObject(_ bytes: [UInt8]) throws(JSONError) {
        let result = bytes.withUnsafeBytes { raw in
            Result { () throws(JSONError) in
                var scanner = JSONTextScanner<ByteView>(ByteView(raw))
                try scanner.checkObject()
            }
        }
        try result.get()
    }
}

extension JSONTextScanner {
    /// Checks that all there is is one JSON object whose own members have different names.
    mutating func checkObject() throws(JSONError) {
        try start()
        _ = try distinctObject()
        try finish()
    }

    /// Passes blanks before the value.
    mutating func start() throws(JSONError) {
        if index + 3 <= end, bytes[index] == 0xef, bytes[index + 1] == 0xbb, bytes[index + 2] == 0xbf {
            throw JSONError(.byteOrderMark, at: index)
        }
        skipBlanks()
        if index == end { throw JSONError(.empty, at: index) }
    }

    /// Passes blanks after the value; anything else is an error.
    mutating func finish() throws(JSONError) {
        skipBlanks()
        if index < end { throw JSONError(.trailingText, at: index) }
    }

    /// The byte at the index; zero, which no JSON text has, at the end.
    @inline(__always)
    func peek() -> UInt8 { index < end ? bytes[index] : 0 }

    /// An error at the index: `reason`, or that the text ends here.
    func failure(_ reason: JSONError.Reason) -> JSONError {
        JSONError(index < end ? reason : .unexpectedEnd, at: index)
    }

    @inline(__always)
    mutating func skipBlanks() {
        while index < end, isBlank(bytes[index]) { index += 1 }
    }

    /// Passes one value, whatever it is, and returns where it stands. At most `nesting` containers deep, and never more
    /// than 64: one bit of an integer for each open container says whether it is an object.
    package mutating func value(nesting: Int = JSONDepth.most) throws(JSONError) -> Range<Int> {
        let start = index
        var depth = 0
        var objects = UInt64(0)
        while true {
            switch peek() {
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < min(nesting, UInt64.bitWidth) else { throw JSONError(.tooDeep, at: index) }
                let isObject = bytes[index] == UInt8(ascii: "{")
                index += 1
                skipBlanks()
                if peek() == UInt8(ascii: isObject ? "}" : "]") {
                    index += 1
                    break
                }
                depth += 1
                objects = objects << 1 | (isObject ? 1 : 0)
                if isObject { _ = try name() }
                continue
            case UInt8(ascii: "\""): _ = try string()
            default: try scalar()
            }
            // A value has ended: close what it closes, until another one must follow.
            closing: while true {
                if depth == 0 { return start..<index }
                skipBlanks()
                let isObject = objects & 1 == 1
                switch peek() {
                case UInt8(ascii: ","):
                    index += 1
                    skipBlanks()
                    if isObject { _ = try name() }
                    break closing
                case UInt8(ascii: isObject ? "}" : "]"):
                    index += 1
                    depth -= 1
                    objects >>= 1
                default: throw failure(isObject ? .expectedCommaOrBrace : .expectedCommaOrBracket)
                }
            }
        }
    }

    /// Passes a member's name, the colon and the blanks around it.
    @inline(__always)
    mutating func name() throws(JSONError) -> JSONStringRange {
        guard peek() == UInt8(ascii: "\"") else { throw failure(.expectedName) }
        let name = try string()
        skipBlanks()
        guard peek() == UInt8(ascii: ":") else { throw failure(.expectedColon) }
        index += 1
        skipBlanks()
        return name
    }
}

@inline(__always)
func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09
}
