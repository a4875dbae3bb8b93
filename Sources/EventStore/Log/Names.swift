/// Interned strings on the writing side: text → small integer. Bounded memory: the cache is emptied when it is full, the
/// table is the truth.
struct NameWriter {
    private var cache = NameTable()

    mutating func ref(_ text: String, on connection: Connection) throws(SQLiteError) -> Int64 {
        if let known = cache[text] { return known }
        let ref = try stored(text, on: connection)
        cache.insert(text, ref)
        return ref
    }

    private func stored(_ text: String, on connection: Connection) throws(SQLiteError) -> Int64 {
        if let stored = try connection.integer("SELECT ref FROM name WHERE text = ?", .text(text)) { return stored }
        // Without RETURNING, which would make SQLite keep a journal of the statement.
        let insert = try connection.statement("INSERT INTO name(text) VALUES(?)")
        try insert.bind(1, text: Array(text.utf8))
        try insert.run()
        return connection.lastInsertedRow
    }
}

/// Interned strings and origins on the reading side: small integer → what it stands for.
struct NameReader {
    private static let capacity = 100_000
    private var texts: [Int64: String] = [:]
    private var origins: [Int64: OriginID] = [:]

    mutating func text(_ ref: Int64, on connection: Connection) throws(SQLiteError) -> String {
        if let known = texts[ref] { return known }
        let select = try connection.statement("SELECT text FROM name WHERE ref = ?")
        try select.bind(1, ref)
        guard try select.step() else {
            throw SQLiteError(extendedCode: 11, message: "name \(ref) is missing", context: "name")
        }
        let text = select.text(0)
        select.reset()
        if texts.count >= Self.capacity { texts.removeAll(keepingCapacity: true) }
        texts[ref] = text
        return text
    }

    func ref(_ text: String, on connection: Connection) throws(SQLiteError) -> Int64? {
        try connection.integer("SELECT ref FROM name WHERE text = ?", .text(text))
    }

    mutating func origin(_ ref: Int64, on connection: Connection) throws(SQLiteError) -> OriginID {
        if let known = origins[ref] { return known }
        let select = try connection.statement("SELECT id FROM origin WHERE ref = ?")
        try select.bind(1, ref)
        guard try select.step(), let bits = select.uuid(0) else {
            throw SQLiteError(extendedCode: 11, message: "origin \(ref) is missing", context: "origin")
        }
        select.reset()
        origins[ref] = OriginID(bits)
        return OriginID(bits)
    }

    func originRef(_ origin: OriginID, on connection: Connection) throws(SQLiteError) -> Int64? {
        try connection.integer("SELECT ref FROM origin WHERE id = ?", .blob(origin.bytes))
    }
}
