/// Gives the names of a snapshot their refs in the new log. New ones go to table `fresh` of the scratch database. As long as
/// all of them are in memory nothing is looked up there; when they become too many, the table gets an index and is asked.
struct SnapshotNames {
    private let connection: Connection
    private var cache = NameTable()
    /// What is in the cache, while that is all.
    private var entries: [NameList.Entry] = []
    private var isComplete = true
    private var next: Int64
    private let insert: Statement

    init(connection: Connection) throws(DatabaseError) {
        self.connection = connection
        try connection.execute(
            """
            CREATE TABLE fresh(ref INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO fresh SELECT ref, text FROM name ORDER BY ref;
            """)
        next = (try connection.integer("SELECT max(ref) FROM fresh") ?? 0) + 1
        insert = try connection.statement("INSERT INTO fresh(ref, text) VALUES(?, ?)")
        try connection.rows("SELECT ref, text FROM fresh") { row throws(DatabaseError) in
            try row.withBytes(1) { text in Result { () throws(DatabaseError) in try remember(text, row.int64(0)) } }
                .get()
        }
    }

    /// All names, if they are in memory.
    var list: NameList? { isComplete ? NameList(texts: cache.texts, entries: entries) : nil }

    /// How many names ahead the memory is asked for in which they are looked up.
    private static let ahead = 8

    mutating func refs(of texts: [UnsafeRawBufferPointer]) throws(DatabaseError) -> [Int64] {
        let hashes = texts.map { cache.hash($0) }
        var refs: [Int64] = []
        refs.reserveCapacity(texts.count)
        for index in texts.indices {
            if index + 2 * Self.ahead < hashes.count { cache.expect(hashes[index + 2 * Self.ahead]) }
            if index + Self.ahead < hashes.count { cache.expectText(hashes[index + Self.ahead]) }
            refs.append(try ref(of: texts[index], hashes[index]))
        }
        return refs
    }

    private mutating func ref(of text: UnsafeRawBufferPointer, _ hash: UInt64) throws(DatabaseError) -> Int64 {
        if let known = cache[text, hash] { return known }
        if !isComplete, let stored = try stored(text) {
            try remember(text, stored)
            return stored
        }
        let ref = next
        next += 1
        try insert.bind(1, ref)
        try insert.bind(2, text: Array(text))
        try insert.run()
        try remember(text, ref)
        return ref
    }

    private func stored(_ text: UnsafeRawBufferPointer) throws(DatabaseError) -> Int64? {
        let select = try connection.statement("SELECT ref FROM fresh WHERE text = ?")
        defer { select.reset() }
        try select.bind(1, text: Array(text))
        return try select.step() ? select.int64(0) : nil
    }

    private mutating func remember(_ text: UnsafeRawBufferPointer, _ ref: Int64) throws(DatabaseError) {
        if isComplete {
            if cache.hasRoom(for: text.count) {
                let start = UInt32(cache.texts.count)
                entries.append(NameList.Entry(ref: ref, start: start, count: UInt32(text.count)))
            } else {
                // The memory forgets from here on.
                (isComplete, entries) = (false, [])
                try connection.execute("CREATE UNIQUE INDEX fresh_text ON fresh(text)")
            }
        }
        cache.insert(String(decoding: text, as: UTF8.self), ref)
    }
}
