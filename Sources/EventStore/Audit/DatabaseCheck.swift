/// Checks `log.db` as a database: what SQLite itself can tell, and that the schema is the one it was made with.
struct DatabaseCheck {
    let connection: Connection

    /// SQLite's full check, not `quick_check`: only the full one compares every index entry with its row. It is one read
    /// transaction over the whole file; a writer goes on meanwhile, but its WAL grows until this ends.
    func integrity(_ findings: inout VerifyFindings) throws(SQLiteError) {
        let check = try connection.statement("PRAGMA integrity_check(\(VerifyReport.maximumPerCheck))")
        defer { check.reset() }
        while try check.step() {
            for line in check.text(0).split(separator: "\n") where line != "ok" {
                findings.add(Self.subject(of: line), "SQLite says: \(line)")
            }
        }
    }

    private static func subject(of message: Substring) -> VerifyCheck {
        if message == "non-unique entry in index event_id" { return .twins }
        return message.contains("index") ? .index : .database
    }

    /// Tables, indexes and whatever else the file defines, compared with a database that was just made. A trigger or a
    /// missing UNIQUE index would let later appends break what holds today.
    func schema(_ findings: inout VerifyFindings) throws(SQLiteError) {
        let fresh = try Connection(path: ":memory:", mode: .write)
        try Schema.create(on: fresh, hasSeals: try Schema.hasSeals(connection))
        var expected = try Self.definitions(fresh)
        for (name, definition) in try Self.definitions(connection).sorted(by: { $0.key < $1.key }) {
            guard let wanted = expected.removeValue(forKey: name) else {
                findings.add(.database, "\(definition.kind) \(name) does not belong here")
                continue
            }
            if definition != wanted {
                findings.add(wanted.check, "\(wanted.kind) \(name) is not defined as it should be")
            }
        }
        // Made when a store of an earlier release is opened for writing.
        expected["reach"] = nil
        for (name, wanted) in expected.sorted(by: { $0.key < $1.key }) {
            findings.add(wanted.check, "\(wanted.kind) \(name) is missing")
        }
    }

    private struct Definition: Equatable {
        let kind: String
        let table: String
        let sql: String
        var check: VerifyCheck { kind == "index" ? .index : .database }
    }

    /// What the database defines. SQLite's own statistics tables say nothing about the data.
    private static func definitions(_ connection: Connection) throws(SQLiteError) -> [String: Definition] {
        let select = try connection.statement(
            "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'")
        defer { select.reset() }
        var definitions: [String: Definition] = [:]
        while try select.step() {
            definitions[select.text(0)] = Definition(kind: select.text(1), table: select.text(2), sql: select.text(3))
        }
        return definitions
    }
}
