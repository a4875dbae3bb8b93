/// Checks `log.db` as a database: what SQLite itself can tell, and that the schema is the one it was made with.
struct DatabaseCheck {
    let connection: Connection

    /// SQLite's full check, not `quick_check`: only the full one compares every index entry with its row. It is one read
    /// transaction over the whole file; a writer goes on meanwhile, but its WAL grows until this ends.
    func integrity(_ findings: inout VerifyFindings) throws(DatabaseError) {
        try connection.rows("PRAGMA integrity_check(\(VerifyReport.maximumPerCheck))") { row in
            for line in row.text(0).split(separator: "\n") where line != "ok" {
                findings.add(Self.subject(of: line), "SQLite says: \(line)")
            }
        }
    }

    private static func subject(of message: Substring) -> VerifyCheck {
        if message == "non-unique entry in index event_id" { return .twins }
        return message.contains("index") ? .index : .database
    }

    /// Tables, indexes and whatever else the file defines, compared with a database that was just made. A trigger or a
    /// missing UNIQUE index would let later appends break what holds today. What a later release may have added is no damage.
    func schema(_ findings: inout VerifyFindings, _ remarks: inout [String]) throws(DatabaseError) {
        for difference in try Schema.differences(connection) {
            switch difference.kind {
            case .unknown: remarks.append("\(difference.text): nothing is said of what it holds")
            case .code: findings.add(.database, difference.text)
            case .changed, .missing: findings.add(difference.isIndex ? .index : .database, difference.text)
            }
        }
    }
}
