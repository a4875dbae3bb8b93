/// Gives the names of a snapshot their refs in the new log. New ones go to table `fresh` of the scratch database. As long as
/// all of them are in memory nothing is looked up there; when they become too many, the table gets an index and is asked.
struct SnapshotNames {
    /// Most names and bytes in memory; below what ``NameTable`` holds.
    private static let most = 150_000
    private static let mostBytes = 12 << 20

    private let connection: Connection
    private var cache = NameTable()
    private var bytes = 0
    private var isComplete = true
    private var next: Int64
    private let insert: Statement

    init(connection: Connection) throws(SQLiteError) {
        self.connection = connection
        try connection.execute(
            """
            CREATE TABLE fresh(ref INTEGER PRIMARY KEY, text TEXT NOT NULL);
            INSERT INTO fresh SELECT ref, text FROM name ORDER BY ref;
            """)
        next = (try connection.integer("SELECT max(ref) FROM fresh") ?? 0) + 1
        insert = try connection.statement("INSERT INTO fresh(ref, text) VALUES(?, ?)")
        let select = try connection.statement("SELECT ref, text FROM fresh")
        defer { select.reset() }
        while try select.step() { try remember(select.bytes(1)[...], select.int64(0)) }
    }

    mutating func ref(_ text: ArraySlice<UInt8>) throws(SQLiteError) -> Int64 {
        if let known = text.withUnsafeBytes({ cache[$0] }) { return known }
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

    private func stored(_ text: ArraySlice<UInt8>) throws(SQLiteError) -> Int64? {
        let select = try connection.statement("SELECT ref FROM fresh WHERE text = ?")
        defer { select.reset() }
        try select.bind(1, text: Array(text))
        return try select.step() ? select.int64(0) : nil
    }

    private mutating func remember(_ text: ArraySlice<UInt8>, _ ref: Int64) throws(SQLiteError) {
        bytes += text.count
        if isComplete, next > Self.most || bytes > Self.mostBytes {
            isComplete = false
            try connection.execute("CREATE UNIQUE INDEX fresh_text ON fresh(text)")
        }
        cache.insert(String(decoding: text, as: UTF8.self), ref)
    }
}
