/// Where a string's characters stand, without the quotes.
package struct JSONStringRange: Hashable {
    package let range: Range<Int>
    /// Whether there is a backslash among them: without one the bytes are the string.
    package let isEscaped: Bool
}

extension JSONScanner {
    /// Passes `true`, `false`, `null` or a number.
    mutating func scalar() throws(JSONError) {
        switch peek() {
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
            throw failure(.invalidLiteral)
        default: throw failure(.expectedValue)
        }
    }

    private mutating func word(_ text: StaticString) throws(JSONError) {
        for offset in 0..<text.utf8CodeUnitCount {
            guard peek() == text.utf8Start[offset] else { throw failure(.invalidLiteral) }
            index += 1
        }
    }

    private mutating func number() throws(JSONError) {
        if peek() == UInt8(ascii: "-") { index += 1 }
        if peek() == UInt8(ascii: "0") {
            index += 1
            if isDigit(peek()) { throw JSONError(.leadingZero, at: index - 1) }
        } else {
            try digits()
        }
        if peek() == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            index += 1
            if peek() == UInt8(ascii: "+") || peek() == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
    }

    private mutating func digits() throws(JSONError) {
        guard isDigit(peek()) else { throw failure(.expectedDigit) }
        while isDigit(peek()) { index += 1 }
    }

    /// Passes a string; the index is at its first quote. Eight bytes at a time while they are plain ASCII.
    mutating func string() throws(JSONError) -> JSONStringRange {
        let start = index + 1
        var at = start
        var isEscaped = false
        while true {
            while at + 8 <= end {
                let special = specialBytes(eightBytes(at: at))
                at += special == 0 ? 8 : special.trailingZeroBitCount >> 3
                if special != 0 { break }
            }
            guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
            let byte = bytes[at]
            if byte == UInt8(ascii: "\"") {
                index = at + 1
                return JSONStringRange(range: start..<at, isEscaped: isEscaped)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
                at = try escape(at: at)
            } else if byte < 0x20 {
                throw JSONError(.controlCharacter, at: at)
            } else if byte < 0x80 {
                at += 1
            } else {
                at = try multibyteRun(at: at)
            }
        }
    }

    /// The next eight bytes, the first of them lowest. The span checks that they are there.
    @inline(__always)
    private func eightBytes(at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    /// The index after the escape at `start`.
    private func escape(at start: Int) throws(JSONError) -> Int {
        guard start + 1 < end else { throw JSONError(.unexpectedEnd, at: end) }
        switch bytes[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            for offset in 2..<6 {
                guard start + offset < end else { throw JSONError(.unexpectedEnd, at: end) }
                if hexDigit(bytes[start + offset]) == nil { throw JSONError(.invalidEscape, at: start) }
            }
            return start + 6
        default: throw JSONError(.invalidEscape, at: start)
        }
    }

    /// The index after the characters of two to four bytes that begin at `start` (Unicode 15, table 3-7).
    private func multibyteRun(at start: Int) throws(JSONError) -> Int {
        var at = start
        while at < end, bytes[at] >= 0x80 {
            // Two characters of three bytes at once, as nearly all of Hangul are; leads that want a closer look are left.
            while at + 8 <= end {
                let word = eightBytes(at: at)
                let (first, second) = (word & 0xff, word >> 24 & 0xff)
                guard word & 0xc0c0_f0c0_c0f0 == 0x8080_e080_80e0, first != 0xe0, first != 0xed, second != 0xe0,
                    second != 0xed
                else { break }
                at += 6
            }
            guard at < end, bytes[at] >= 0x80 else { break }
            let lead = bytes[at]
            let count = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4
            guard lead >= 0xc2, lead <= 0xf4 else { throw JSONError(.invalidUTF8, at: at) }
            guard at + count <= end else { throw JSONError(.invalidUTF8, at: at) }
            let second = bytes[at + 1]
            let isSecondGood =
                switch lead {
                case 0xe0: second >= 0xa0 && second <= 0xbf
                case 0xed: second >= 0x80 && second <= 0x9f
                case 0xf0: second >= 0x90 && second <= 0xbf
                case 0xf4: second >= 0x80 && second <= 0x8f
                default: second & 0xc0 == 0x80
                }
            guard isSecondGood,
                count < 3 || bytes[at + 2] & 0xc0 == 0x80,
                count < 4 || bytes[at + 3] & 0xc0 == 0x80
            else { throw JSONError(.invalidUTF8, at: at) }
            at += count
        }
        return at
    }
}

/// A bit set in the first byte, counted from the lowest, that is a quote, a backslash, a control character or not
/// ASCII; zero when there is none. Bits above the first set one mean nothing: subtraction borrows upward.
@inline(__always)
private func specialBytes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5c)
    let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | word
    return found & (ones &* 0x80)
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
