/// What a log defines beside, or otherwise than, a log that was just made.
struct SchemaDifference: Hashable, Sendable {
    enum Kind: Sendable {
        /// A trigger or a view: no release makes any. It could change what is stored, or what is read.
        case code
        /// A table or an index that this release does not know; a later one may have made it.
        case unknown
        /// A known table or index with another definition: what it should keep from happening may happen.
        case changed
        case missing
    }

    let kind: Kind
    /// Whether it is an index.
    let isIndex: Bool
    /// `trigger t1 does not belong here`.
    let text: String
}

extension Schema {
    /// Tables, indexes and whatever else the file defines, compared with a database that was just made.
    static func differences(_ connection: Connection) throws(DatabaseError) -> [SchemaDifference] {
        let fresh = try Connection(path: ":memory:", mode: .write)
        try fresh.execute(tables + columns(after: 1, upTo: try version(of: connection)))
        var expected = try definitions(fresh)
        var found: [SchemaDifference] = []
        for (name, definition) in try definitions(connection).sorted(by: { $0.key < $1.key }) {
            guard let wanted = expected.removeValue(forKey: name) else {
                found.append(definition.foreign(name))
                continue
            }
            if definition != wanted {
                let text = "\(wanted.kind) \(name) is not defined as it should be"
                found.append(SchemaDifference(kind: .changed, isIndex: wanted.isIndex, text: text))
            }
        }
        // Made when a store of an earlier release is opened for writing.
        for name in ["reach", "arrival", "tile"] { expected[name] = nil }
        for (name, wanted) in expected.sorted(by: { $0.key < $1.key }) {
            let text = "\(wanted.kind) \(name) is missing"
            found.append(SchemaDifference(kind: .missing, isIndex: wanted.isIndex, text: text))
        }
        return found
    }

    /// Refuses a log whose definitions would let what is appended to it be changed, lost or stored twice.
    static func checkForWriting(_ connection: Connection) throws(StoreError) {
        let found = try mapped { () throws(DatabaseError) in try differences(connection) }
        guard let first = found.first(where: { $0.kind != .unknown }) else { return }
        throw .corrupt("\(connection.path): \(first.text); nothing is appended to such a log")
    }

    private struct Definition: Equatable {
        let kind: String
        let table: String
        let sql: String
        var isIndex: Bool { kind == "index" }

        func foreign(_ name: String) -> SchemaDifference {
            let isData = isIndex || kind == "table"
            return SchemaDifference(
                kind: isData ? .unknown : .code, isIndex: isIndex,
                text: isData
                    ? "\(kind) \(name) is not known to this release: nothing is said of what it holds"
                    : "\(kind) \(name) does not belong here")
        }
    }

    /// What the database defines. SQLite's own statistics tables say nothing about the data.
    private static func definitions(_ connection: Connection) throws(DatabaseError) -> [String: Definition] {
        var definitions: [String: Definition] = [:]
        try connection.rows(
            "SELECT name, type, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\'"
        ) { row in definitions[row.text(0)] = Definition(kind: row.text(1), table: row.text(2), sql: row.text(3)) }
        return definitions
    }
}
