/// Where a string's characters stand, without the quotes.
package struct JSONStringRange: Hashable {
    package let range: Range<Int>
    /// Whether there is a backslash among them: without one the bytes are the string.
    package let isEscaped: Bool
}

extension JSONTextScanner {
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

    /// Passes a string; the index is at its first quote. Eight bytes at a time, to the next one that means something.
    mutating func string() throws(JSONError) -> JSONStringRange {
        let start = index + 1
        var at = start
        var isEscaped = false
        var characters = UTF8Steps()
        while true {
            while at + 8 <= end {
                let word = bytes.eightBytes(at: at)
                let special = specialBytes(word)
                let count = special == 0 ? 8 : special.trailingZeroBitCount >> 3
                characters.step(word, count: count)
                at += count
                if special != 0 { break }
            }
            let byte = at < end ? bytes[at] : 0
            if byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                characters.step(UInt64(byte), count: 1)
                at += 1
                continue
            }
            guard characters.isBetween else { throw JSONError(.invalidUTF8, at: invalidCharacter(from: start)) }
            guard at < end else { throw JSONError(.unexpectedEnd, at: end) }
            if byte == UInt8(ascii: "\"") {
                index = at + 1
                return JSONStringRange(range: start..<at, isEscaped: isEscaped)
            }
            guard byte == UInt8(ascii: "\\") else { throw JSONError(.controlCharacter, at: at) }
            isEscaped = true
            at = try escape(at: at)
        }
    }

    /// Where the first character begins that is not well-formed; there is one.
    private func invalidCharacter(from start: Int) -> Int {
        var at = start
        var characters = UTF8Steps()
        for index in start..<end {
            if characters.isBetween { at = index }
            characters.step(UInt64(bytes[index]), count: 1)
            if characters.isBroken { return at }
        }
        return at
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
}

/// A bit set in the first byte, counted from the lowest, that is a quote, a backslash or a control character; zero when there
/// is none. Bits above the first set one mean nothing: subtraction borrows upward.
@inline(__always)
private func specialBytes(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5c)
    let found = (word &- ones &* 0x20) & ~word | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash
    return found & (ones &* 0x80)
}

@inline(__always)
func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
