internal import Glibc

/// A small file of values with names, in SQLite: what a node keeps beside its log and can do without. What was put survives a crash of the
/// process; ``sync()`` makes it survive one of the machine.
package final class NamedValues {
    private let connection: Connection

    /// Opens the file, or makes it. What cannot be read is taken away and made anew.
    package init(path: String) throws(StoreError) {
        do throws(DatabaseError) {
            connection = try Self.open(path)
        } catch {
            SmallFile.removeDatabase(path)
            connection = try mapped { () throws(DatabaseError) in try Self.open(path) }
        }
    }

    /// Opens the file for reading alone; `nil` if there is none, or one that never had a table: a power cut ended its making.
    package init?(reading path: String) throws(StoreError) {
        try SmallFile.requireDatabase(path)
        guard access(path, F_OK) == 0 else { return nil }
        let found = try openForReading(path)
        let tables = try mapped { () throws(DatabaseError) in try found.integer("PRAGMA schema_version") }
        guard tables != 0 else { return nil }
        connection = found
    }

    private static func open(_ path: String) throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;")
        try connection.execute("CREATE TABLE IF NOT EXISTS value (name TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT")
        return connection
    }

    /// The value with this name.
    package func value(_ name: String) throws(StoreError) -> [UInt8]? {
        try mapped { () throws(DatabaseError) in
            try connection.first("SELECT bytes FROM value WHERE name = ?", [.text(name)]) { $0.bytes(0) }
        }
    }

    /// All values whose names begin with `prefix`, by name.
    package func all(_ prefix: String) throws(StoreError) -> [(name: String, bytes: [UInt8])] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                "SELECT name, bytes FROM value WHERE substr(name, 1, length(?1)) = ?1 ORDER BY name", [.text(prefix)]
            ) { ($0.text(0), $0.bytes(1)) }
        }
    }

    /// The names, as SQL writes them, of rows that no release has put: the name is no text, or the bytes are none.
    package func foreign() throws(StoreError) -> [String] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                "SELECT substr(quote(name), 1, 90) FROM value WHERE typeof(name) <> 'text' OR typeof(bytes) <> 'blob'"
            ) { $0.text(0) }
        }
    }

    /// Puts all of these, or none; `nil` takes one away.
    package func put(_ values: [(name: String, bytes: [UInt8]?)]) throws(StoreError) {
        try mapped { () throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                for (name, bytes) in values {
                    if let bytes {
                        try connection.run(
                            "INSERT INTO value VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET bytes = ?2",
                            .text(name), .blob(bytes))
                    } else {
                        try connection.run("DELETE FROM value WHERE name = ?", .text(name))
                    }
                }
            }
        }
    }

    /// Waits until the disk has what was put.
    package func sync() throws(StoreError) {
        _ = try mapped { () throws(DatabaseError) in try connection.checkpoint() }
    }
}
