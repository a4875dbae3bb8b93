/// Texts are searched by their bytes: comparing characters of Hangul costs a hundred times as much, and finds the same in what
/// services write themselves. A mark that joins what stands before it is a text's own beginning: by characters, what stands before it
/// would not be found. (The library has functions of characters, named otherwise so that a literal does not choose them.)
extension Substring {
    /// Where `text` first stands, which begins and ends between characters of Unicode.
    func firstBytes(of text: StaticString) -> Range<Index>? {
        let needle = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard let first = needle.first else { return nil }
        var rest = utf8
        while let start = rest.firstIndex(of: first) {
            rest = rest[start...]
            if rest.starts(with: needle) { return start..<utf8.index(start, offsetBy: needle.count) }
            rest = rest.dropFirst()
        }
        return nil
    }

    /// Where `text` last stands, counted without overlaps.
    func lastBytes(of text: StaticString) -> Range<Index>? {
        var last: Range<Index>?
        var rest = self
        while let found = rest.firstBytes(of: text) {
            last = found
            rest = self[found.upperBound...]
        }
        return last
    }
}
