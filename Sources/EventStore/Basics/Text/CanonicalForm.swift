/// Unicode's normalisation form C, piece by piece: each piece of the result knows which bytes of the original it stands for.
///
/// The standard library compares canonically but gives no public way to a normalised text (docs/decisions/0015-search.md).
package enum CanonicalForm {
    /// The decompositions of one step, and the characters that two others compose to.
    struct Tables: Sendable {
        /// The second is 0 where there is only one.
        var decompositions: [UInt32: (first: UInt32, second: UInt32)] = [:]
        var compositions: [UInt64: UInt32] = [:]
        /// What may follow another character in a composition, or has to be replaced: a text without them is normalised already.
        var special: Set<UInt32> = []

        init(_ entries: StaticString) {
            let text = String(
                decoding: UnsafeBufferPointer(start: entries.utf8Start, count: entries.utf8CodeUnitCount),
                as: UTF8.self)
            for entry in text.split(separator: ";") {
                let composes = entry.first != "!"
                let numbers = (composes ? entry : entry.dropFirst()).split(separator: " ").compactMap {
                    UInt32($0, radix: 16)
                }
                guard numbers.count >= 2 else { continue }
                let second = numbers.count > 2 ? numbers[2] : 0
                decompositions[numbers[0]] = (numbers[1], second)
                if composes {
                    compositions[UInt64(numbers[1]) << 32 | UInt64(second)] = numbers[0]
                    special.insert(second)
                } else {
                    special.insert(numbers[0])
                }
            }
        }
    }

    static let tables = Tables(CompositionTable.entries)

    /// Whether the character stays as it is whatever stands before it, and begins a piece of its own.
    static func beginsPiece(_ scalar: UInt32) -> Bool {
        if scalar < 0x300 || isSyllable(scalar) || isPlain(scalar) { return true }
        if isJamo(scalar) || tables.special.contains(scalar) { return false }
        return combiningClass(scalar) == 0
    }

    /// Han, Kana and the letters of Hangul in ranges without exceptions.
    private static func isPlain(_ scalar: UInt32) -> Bool {
        (0x3030...0x3098).contains(scalar) || (0x309b...0x9fff).contains(scalar)
    }

    /// Hangul that is already one character.
    static func isSyllable(_ scalar: UInt32) -> Bool { (0xac00..<0xac00 + 11_172).contains(scalar) }

    private static func isJamo(_ scalar: UInt32) -> Bool { (0x1161...0x11ff).contains(scalar) }

    private static func combiningClass(_ scalar: UInt32) -> UInt8 {
        Unicode.Scalar(scalar)?.properties.canonicalCombiningClass.rawValue ?? 0
    }

    /// Calls the scalars of a text in normalisation form C, in order.
    package static func each(in text: some Sequence<Unicode.Scalar>, _ body: (Unicode.Scalar) -> Void) {
        var piece: [UInt32] = []
        func end() {
            // Most pieces are one character that stays as it is.
            let isWhole = piece.count == 1 && beginsPiece(piece[0])
            for scalar in isWhole ? piece : compose(piece) {
                if let scalar = Unicode.Scalar(scalar) { body(scalar) }
            }
            piece.removeAll(keepingCapacity: true)
        }
        for scalar in text {
            if beginsPiece(scalar.value) || piece.count >= longestPiece { end() }
            piece.append(scalar.value)
        }
        end()
    }

    /// The normalisation form C of one piece: a character and all behind it that ``beginsPiece(_:)`` says no to.
    static func compose(_ piece: [UInt32]) -> [UInt32] {
        var scalars: [UInt32] = []
        for scalar in piece { decompose(scalar, into: &scalars) }
        sortMarks(&scalars)
        var out: [UInt32] = []
        var starter: Int?
        var lastClass: UInt8?
        for scalar in scalars {
            let ownClass = combiningClass(scalar)
            let isBlocked = lastClass.map { $0 >= ownClass } ?? false
            if let place = starter, !isBlocked, let composed = composed(out[place], scalar) {
                out[place] = composed
                continue
            }
            if ownClass == 0 { (starter, lastClass) = (out.count, nil) } else { lastClass = ownClass }
            out.append(scalar)
        }
        return out
    }

    private static func decompose(_ scalar: UInt32, into out: inout [UInt32]) {
        if isSyllable(scalar) {
            let index = scalar - 0xac00
            out += [0x1100 + index / 588, 0x1161 + index % 588 / 28]
            if index % 28 > 0 { out.append(0x11a7 + index % 28) }
        } else if let parts = tables.decompositions[scalar] {
            decompose(parts.first, into: &out)
            if parts.second != 0 { decompose(parts.second, into: &out) }
        } else {
            out.append(scalar)
        }
    }

    /// Puts marks between two characters that are none in the order of their classes.
    private static func sortMarks(_ scalars: inout [UInt32]) {
        var start = 0
        while start < scalars.count {
            let end = scalars[start...].firstIndex { combiningClass($0) == 0 } ?? scalars.count
            if end - start > 1 {
                let marks = scalars[start..<end].enumerated().sorted {
                    (combiningClass($0.element), $0.offset) < (combiningClass($1.element), $1.offset)
                }
                scalars.replaceSubrange(start..<end, with: marks.map(\.element))
            }
            start = end + 1
        }
    }

    private static func composed(_ first: UInt32, _ second: UInt32) -> UInt32? {
        if (0x1100..<0x1113).contains(first), (0x1161..<0x1176).contains(second) {
            return 0xac00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28
        }
        if isSyllable(first), (first - 0xac00) % 28 == 0, (0x11a8..<0x11c3).contains(second) {
            return first + (second - 0x11a7)
        }
        return tables.compositions[UInt64(first) << 32 | UInt64(second)]
    }

    /// Characters of one piece that are kept at once: a text of marks alone is cut into pieces of so many (INV-9).
    static let longestPiece = 64
}
