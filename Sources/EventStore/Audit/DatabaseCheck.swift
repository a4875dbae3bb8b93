/// Checks `log.db` as a database: what SQLite itself can tell, and that the schema is the one it was made with.
struct DatabaseCheck {
    let connection: Connection

    /// What SQLite says of the whole file; `nil` where a guest could not ask it.
    typealias Integrity = Deferred<Result<[String]?, DatabaseError>>

    /// SQLite's full check, not `quick_check`: only the full one compares every index entry with its row. It is one read
    /// transaction over the whole file, and belongs to one processor. A writer goes on meanwhile, but its WAL grows until this ends: where it
    /// has grown much, a copy is checked instead, which takes a fraction of the time to make.
    ///
    /// - Parameters:
    ///   - isWritten: Whether others write meanwhile.
    ///   - term: Of a guest of theirs, which gives way: where there is no room for a copy it asks nothing.
    static func integrity(at path: String, isWritten: Bool, asGuest term: AnswerTerm? = nil) -> Integrity {
        Integrity {
            do throws(DatabaseError) {
                let connection: Connection
                do throws(StoreError) { connection = try openForReading(path) } catch { throw .file(error) }
                connection.term = term
                return .success(try DatabaseCheck(connection: connection).lines(isWritten: isWritten))
            } catch {
                return .failure(error)
            }
        }
    }

    private func lines(isWritten: Bool) throws(DatabaseError) -> [String]? {
        if isWritten {
            if let lines = try Self.linesOfGuest(connection) { return lines }
            if let lines = (try? linesOfCopy()) ?? nil { return lines }
        }
        return connection.term == nil ? try Self.lines(connection) : nil
    }

    /// Findings of what it said; `nil` where it was not asked.
    static func findings(of integrity: Integrity) throws(DatabaseError) -> [VerifyFinding]? {
        try integrity.output().get()?.map { VerifyFinding(subject(of: $0[...]), "SQLite says: \($0)") }
    }

    private static func linesOfGuest(_ connection: Connection) throws(DatabaseError) -> [String]? {
        try connection.asGuest { () throws(DatabaseError) in try lines(connection) }
    }

    private static func lines(_ connection: Connection) throws(DatabaseError) -> [String] {
        var lines: [String] = []
        try connection.rows("PRAGMA integrity_check(\(VerifyReport.maximumPerCheck))") { row in
            lines += row.text(0).split(separator: "\n").filter { $0 != "ok" }.map(String.init)
        }
        return lines
    }

    /// The same of a copy; `nil` where there is no room for one.
    func linesOfCopy() throws(StoreError) -> [String]? {
        let place = try TemporaryPlace(.log)
        guard place.hasRoom(forCopyOf: connection.path) else { return nil }
        let path = place.path + "/log.db"
        return try mapped { () throws(DatabaseError) in
            try connection.transaction("BEGIN") { () throws(DatabaseError) in
                _ = try connection.integer("SELECT 1 FROM sqlite_schema LIMIT 1")
                try connection.copy(to: path, isDurable: false)
            }
            let copy = try Connection(path: path, mode: .immutable)
            copy.term = connection.term
            return try Self.linesOfGuest(copy)
        }
    }

    private static func subject(of message: Substring) -> VerifyCheck {
        if message == "non-unique entry in index event_id" { return .twins }
        return message.contains("index") ? .index : .database
    }

    /// Tables, indexes and whatever else the file defines, compared with a database that was just made. A trigger or a
    /// missing UNIQUE index would let later appends break what holds today. What a later release may have added is no damage.
    /// But no one can vouch for what a table of it holds; an index has nothing that its table has not.
    func schema(
        _ findings: inout VerifyFindings, _ notes: inout [String], _ remarks: inout [String]
    ) throws(DatabaseError) {
        for difference in try Schema.differences(connection) {
            switch difference.kind {
            case .unknown where difference.isIndex: remarks.append(difference.text)
            case .unknown: notes.append(difference.text)
            case .code: findings.add(.database, difference.text)
            case .changed, .missing: findings.add(difference.isIndex ? .index : .database, difference.text)
            }
        }
    }
}
