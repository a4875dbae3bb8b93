/// A text that equals, hashes and sorts by its UTF-8 bytes.
///
/// Swift's `String` treats canonically equivalent texts as equal: "é" in one scalar and in two are one dictionary key. For a
/// record of what was said they are two texts with two hashes, so everything that is keyed by a text from outside uses
/// this.
package struct ByteText: Hashable, Comparable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (a: ByteText, b: ByteText) -> Bool { a.text.hasSameBytes(as: b.text) }
    package static func < (a: ByteText, b: ByteText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Texts from outside, told apart by their bytes.
package struct TextSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    private let texts: Set<ByteText>

    package init(_ texts: some Sequence<String>) { self.texts = Set(texts.map(ByteText.init)) }
    package init(arrayLiteral texts: String...) { self.init(texts) }

    package var isEmpty: Bool { texts.isEmpty }
    package func contains(_ text: String) -> Bool { texts.contains(ByteText(text)) }
    /// By their bytes.
    package func sorted() -> [String] { texts.sorted().map(\.text) }
}

extension String {
    /// Whether both are the same bytes, not only canonically equivalent.
    package func hasSameBytes(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        return withUTF8Bytes { mine in other.withUTF8Bytes { hasEqualBytes(mine, $0) } }
    }

    /// Calls `body` with the bytes, in place where they lie in one piece.
    func withUTF8Bytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable({ body(UnsafeRawBufferPointer($0)) }) { return result }
        return Array(utf8).withUnsafeBytes(body)
    }
}

extension Optional<String> {
    package func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let a?, let b?): a.hasSameBytes(as: b)
        default: false
        }
    }
}
