/// A text that equals, hashes and sorts by its UTF-8 bytes.
///
/// Swift's `String` treats canonically equivalent texts as equal: "é" in one scalar and in two are one dictionary key. For a
/// record of what was said they are two texts with two hashes, so everything that is keyed by a text from outside uses
/// this.
struct ByteText: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (a: ByteText, b: ByteText) -> Bool { a.text.hasSameBytes(as: b.text) }
    static func < (a: ByteText, b: ByteText) -> Bool { a.text.utf8.lexicographicallyPrecedes(b.text.utf8) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension String {
    /// Whether both are the same bytes, not only canonically equivalent.
    func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension Optional<String> {
    func hasSameBytes(as other: String?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let a?, let b?): a.hasSameBytes(as: b)
        default: false
        }
    }
}
