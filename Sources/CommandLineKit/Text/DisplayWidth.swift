/// How many terminal cells a text takes, counted by grapheme cluster.
///
/// The C library cannot be asked: `wcwidth` answers -1 for every Hangul syllable in the `C` locale. The table follows
/// UAX #11 (East Asian Width); ambiguous characters count as one cell.
package enum DisplayWidth {
    /// The width of `text` in cells. Controls count as nothing; see ``Sanitizer`` for making them visible first.
    package static func of(_ text: some StringProtocol) -> Int {
        var width = 0
        for character in text {
            width += of(character)
        }
        return width
    }

    /// The width of one grapheme cluster.
    ///
    /// An emoji sequence (joined, with a skin tone, a keycap, asked for by U+FE0F, or a flag) is two cells. All other
    /// clusters are the sum of their scalars, as terminals draw them: a mark or a jamo vowel adds nothing.
    package static func of(_ character: Character) -> Int {
        let scalars = character.unicodeScalars
        guard let first = scalars.first else { return 0 }
        if scalars.count == 1 { return of(first) }
        if isRegionalIndicator(first) { return 2 }
        if first.properties.isEmoji {
            if scalars.contains("\u{FE0F}") { return 2 }
            return scalars.reduce(0) { max($0, of($1)) }
        }
        return scalars.reduce(0) { $0 + of($1) }
    }

    /// The width of one scalar standing alone: 0, 1 or 2.
    package static func of(_ scalar: Unicode.Scalar) -> Int {
        let value = scalar.value
        if value < 0x300 { return value >= 0xA0 || (0x20..<0x7F).contains(value) ? 1 : 0 }
        if contains(WidthTable.wide, value) { return 2 }
        return contains(WidthTable.zero, value) ? 0 : 1
    }

    /// The longest beginning of `text` that fits `width` cells, with `...` as its end when something was cut off.
    ///
    /// A cluster is never split, so the result may be one cell narrower than asked.
    package static func truncate(_ text: String, to width: Int) -> String {
        if of(text) <= width { return text }
        let ellipsis = String(repeating: ".", count: min(3, max(0, width)))
        let room = width - ellipsis.count
        var used = 0
        var end = text.startIndex
        while end < text.endIndex {
            let cells = of(text[end])
            if used + cells > room { break }
            used += cells
            end = text.index(after: end)
        }
        return text[..<end] + ellipsis
    }

    /// `text` filled with spaces to `width` cells; longer text is left as it is.
    package static func pad(_ text: String, to width: Int, alignment: Alignment = .left) -> String {
        let missing = width - of(text)
        guard missing > 0 else { return text }
        let spaces = String(repeating: " ", count: missing)
        return alignment == .left ? text + spaces : spaces + text
    }

    /// On which side of its column a text stands.
    package enum Alignment: Sendable {
        /// At the left edge, as words do.
        case left
        /// At the right edge, as numbers do.
        case right
    }

    private static func isRegionalIndicator(_ scalar: Unicode.Scalar) -> Bool {
        (0x1F1E6...0x1F1FF).contains(scalar.value)
    }

    private static func contains(_ ranges: [(first: UInt32, last: UInt32)], _ value: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if value > ranges[middle].last {
                low = middle + 1
            } else if value < ranges[middle].first {
                high = middle
            } else {
                return true
            }
        }
        return false
    }
}
