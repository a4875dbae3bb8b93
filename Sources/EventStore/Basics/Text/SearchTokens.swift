/// A text as the search sees it (docs/reference/VIEWS.md, "search"): every Hangul, Han or Kana character and every symbol is a token, a
/// run of other letters is one, a run of digits is one. Between two tokens that something parts stands a separator.
///
/// So a phrase of tokens is found where a text contains the same characters, in normalisation form C and without regard to case; words of
/// Latin letters and numbers as a whole only.
package struct SearchTokens {
    /// Calls a token's bytes and the bytes of the text that it stands for; false ends the walk.
    package typealias Body = (_ token: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Bool

    /// The token that stands between two that are parted.
    package static let separator: [UInt8] = [0x20]
    /// Letters of a run after which the next token begins: no one reads longer words, and a token has to fit the index.
    private static let longestRun = 64

    private enum Kind { case none, single, letters, digits }

    private let body: Body
    private var token: [UInt8] = []
    private var kind = Kind.none
    private var range = 0..<0
    /// Characters in the token.
    private var length = 0
    /// What parts the token before from the next one.
    private var gap: Range<Int>?
    private var hasToken = false
    private var isStopped = false

    private init(_ body: @escaping Body) {
        self.body = body
        token.reserveCapacity(64)
    }

    /// Calls `body` with the tokens of a text in UTF-8, in order. Bytes that are no UTF-8 part words.
    package static func each(in text: UnsafeRawBufferPointer, _ body: Body) {
        withoutActuallyEscaping(body) { body in
            var tokens = SearchTokens(body)
            tokens.walk(text)
        }
    }

    private mutating func walk(_ text: UnsafeRawBufferPointer) {
        var index = 0
        var piece: [UInt32] = []
        while index < text.count, !isStopped {
            let first = UTF8Reading.scalar(text, at: index)
            var end = index + first.bytes
            // Most pieces are one character: what comes next begins another.
            let next = end < text.count ? UTF8Reading.scalar(text, at: end) : (value: UInt32(0x20), bytes: 0)
            if CanonicalForm.beginsPiece(next.value), CanonicalForm.beginsPiece(first.value) {
                take(first.value, index..<end)
                index = end
                continue
            }
            piece.removeAll(keepingCapacity: true)
            piece.append(first.value)
            while end < text.count, piece.count < CanonicalForm.longestPiece {
                let scalar = UTF8Reading.scalar(text, at: end)
                if CanonicalForm.beginsPiece(scalar.value) { break }
                piece.append(scalar.value)
                end += scalar.bytes
            }
            for scalar in CanonicalForm.compose(piece) { take(scalar, index..<end) }
            index = end
        }
        flush()
    }

    /// Takes the next character of the normalised text.
    private mutating func take(_ scalar: UInt32, _ place: Range<Int>) {
        let kind: Kind
        switch CharacterClass(scalar) {
        case .ignored: return
        case .separator:
            flush()
            gap = (gap?.lowerBound ?? place.lowerBound)..<place.upperBound
            return
        case .mark where self.kind != .none:
            append(scalar)
            range = range.lowerBound..<place.upperBound
            return
        case .mark, .single: kind = .single
        case .letter: kind = .letters
        case .digit: kind = .digits
        }
        if kind == .single || kind != self.kind || length >= Self.longestRun {
            flush()
            (self.kind, range) = (kind, place)
        }
        range = range.lowerBound..<place.upperBound
        length += 1
        if let folded = CaseFold.folded(scalar) {
            for scalar in folded { append(scalar) }
        } else {
            append(scalar)
        }
    }

    private mutating func append(_ scalar: UInt32) {
        // Marks without end stay out: the token is cut, in texts and in what is looked for alike.
        if token.count < 8 * Self.longestRun { UTF8Reading.append(scalar, to: &token) }
    }

    /// Hands out the token that is complete.
    private mutating func flush() {
        guard kind != .none else { return }
        if let gap, hasToken, !isStopped { isStopped = !Self.separator.withUnsafeBufferPointer { body($0, gap) } }
        if !isStopped { isStopped = !token.withUnsafeBufferPointer { body($0, range) } }
        (kind, hasToken, gap, length) = (.none, true, nil, 0)
        token.removeAll(keepingCapacity: true)
    }
}

/// Characters in bytes that may be anything.
enum UTF8Reading {
    /// The character at `index`, and its bytes; U+FFFD and one byte where there is none.
    @inline(__always)
    static func scalar(_ text: UnsafeRawBufferPointer, at index: Int) -> (value: UInt32, bytes: Int) {
        let first = UInt32(text[index])
        if first < 0x80 { return (first, 1) }
        func next(_ offset: Int) -> UInt32? {
            guard index + offset < text.count else { return nil }
            let byte = UInt32(text[index + offset])
            return byte & 0xc0 == 0x80 ? byte & 0x3f : nil
        }
        if first & 0xf0 == 0xe0, let a = next(1), let b = next(2) {
            let value = (first & 0xf) << 12 | a << 6 | b
            return value >= 0x800 && value & 0xf800 != 0xd800 ? (value, 3) : (0xfffd, 1)
        }
        if first & 0xe0 == 0xc0, let a = next(1) {
            let value = (first & 0x1f) << 6 | a
            return value >= 0x80 ? (value, 2) : (0xfffd, 1)
        }
        if first & 0xf8 == 0xf0, let a = next(1), let b = next(2), let c = next(3) {
            let value = (first & 7) << 18 | a << 12 | b << 6 | c
            return (0x10000...0x10ffff).contains(value) ? (value, 4) : (0xfffd, 1)
        }
        return (0xfffd, 1)
    }

    @inline(__always)
    static func append(_ scalar: UInt32, to bytes: inout [UInt8]) {
        switch scalar {
        case 0..<0x80: bytes.append(UInt8(scalar))
        case 0x80..<0x800:
            bytes.append(UInt8(0xc0 | scalar >> 6))
            bytes.append(UInt8(0x80 | scalar & 0x3f))
        case 0x800..<0x10000:
            bytes.append(UInt8(0xe0 | scalar >> 12))
            bytes.append(UInt8(0x80 | scalar >> 6 & 0x3f))
            bytes.append(UInt8(0x80 | scalar & 0x3f))
        default:
            bytes.append(UInt8(0xf0 | scalar >> 18 & 7))
            bytes.append(UInt8(0x80 | scalar >> 12 & 0x3f))
            bytes.append(UInt8(0x80 | scalar >> 6 & 0x3f))
            bytes.append(UInt8(0x80 | scalar & 0x3f))
        }
    }
}
