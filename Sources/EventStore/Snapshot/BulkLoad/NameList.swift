/// The names of a new log, all in memory.
struct NameList: Sendable {
    struct Entry: Sendable {
        let ref: Int64
        /// Where the text begins in ``NameList/texts``.
        let start: UInt32
        let count: UInt32
    }

    let texts: [UInt8]
    /// Ascending by ref.
    let entries: [Entry]

    /// Whether there are enough for trees of several pages.
    var isLong: Bool { (entries.last?.ref ?? 0) >= NameWork.fewest }

    /// Calls `body` with all names, ascending by ref.
    func each(_ body: (Int64, UnsafeRawBufferPointer) throws(DatabaseError) -> Void) throws(DatabaseError) {
        try each(entries, body)
    }

    /// Calls `body` with all names, ascending by their bytes, as an index of SQLite has them.
    func eachByText(_ body: (Int64, UnsafeRawBufferPointer) throws(DatabaseError) -> Void) throws(DatabaseError) {
        try each(sorted(), body)
    }

    private func each(
        _ entries: [Entry], _ body: (Int64, UnsafeRawBufferPointer) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let result = texts.withUnsafeBytes { texts in
            Result { () throws(DatabaseError) in
                for entry in entries { try body(entry.ref, Self.text(entry, texts)) }
            }
        }
        try result.get()
    }

    private func sorted() -> [Entry] {
        texts.withUnsafeBytes { texts in
            // Most differ in their first eight bytes; the rest of a text is another miss of the cache.
            entries.map { (first: Self.firstBytes(Self.text($0, texts)), entry: $0) }.sorted { a, b in
                guard a.first == b.first else { return a.first < b.first }
                return Self.text(a.entry, texts).lexicographicallyPrecedes(Self.text(b.entry, texts))
            }.map(\.entry)
        }
    }

    private static func text(_ entry: Entry, _ texts: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: texts[Int(entry.start)..<Int(entry.start) + Int(entry.count)])
    }

    /// The first eight bytes as a number that sorts as they do, zeros where there are fewer.
    private static func firstBytes(_ text: UnsafeRawBufferPointer) -> UInt64 {
        text.prefix(8).reduce(0) { $0 << 8 | UInt64($1) } << UInt64(8 * max(0, 8 - text.count))
    }
}
