internal import CSQLite

/// A database of another program, read where it lies. Not Sendable: it belongs to one thread at a time.
///
/// Nothing of the file is believed: it runs no code (``Connection``), and a value is asked for by what it is, not by what its column
/// was declared to be. It is never written: one that has a write-ahead log is to be copied first, with that log.
package final class ForeignDatabase {
    /// A value of a column.
    package enum Value: Hashable, Sendable {
        case null
        case integer(Int64)
        case real(Double)
        case text([UInt8])
        case blob([UInt8])
    }

    private let connection: Connection

    /// Opens the file at `path`.
    ///
    /// - Parameter isOwnCopy: Whether the file was copied and may change, as one does that has a write-ahead log.
    package init(path: String, isOwnCopy: Bool) throws(DatabaseError) {
        connection = try Connection(path: path, mode: isOwnCopy ? .write : .immutable)
    }

    /// Calls `body` with the columns of each row, until it answers false.
    package func rows(_ sql: String, columns: Int, _ body: ([Value]) -> Bool) throws(DatabaseError) {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        while try statement.step() {
            let row = (0..<columns).map { Self.value(statement.cell($0)) }
            guard body(row) else { return }
        }
    }

    /// Opens a value of a row, to read it piece by piece: not even SQLite has all of it in memory then.
    package func open(_ column: String, of table: String, row: Int64) throws(DatabaseError) -> ForeignValue {
        try ForeignValue(connection, table, column, row)
    }

    private static func value(_ cell: Cell) -> Value {
        switch cell {
        case .null: .null
        case .integer(let value): .integer(value)
        case .real(let value): .real(value)
        case .text(let bytes): .text(bytes)
        case .blob(let bytes): .blob(bytes)
        }
    }
}

/// A text or the bytes of one column of one row, where it lies. Not Sendable: it belongs to the thread of its database.
package final class ForeignValue {
    private let connection: Connection
    private let handle: OpaquePointer
    /// In bytes.
    package let count: Int

    fileprivate init(
        _ connection: Connection, _ table: String, _ column: String, _ row: Int64
    ) throws(DatabaseError) {
        var handle: OpaquePointer?
        guard sqlite3_blob_open(connection.handle, "main", table, column, row, 0, &handle) == SQLITE_OK, let handle
        else {
            throw connection.error("\(table).\(column)")
        }
        self.connection = connection
        self.handle = handle
        count = Int(sqlite3_blob_bytes(handle))
    }

    deinit { sqlite3_blob_close(handle) }

    /// Reads on at `offset`; 0 at the end.
    package func read(into room: UnsafeMutableRawBufferPointer, at offset: Int) throws(DatabaseError) -> Int {
        let wanted = min(room.count, count - offset)
        guard wanted > 0 else { return 0 }
        guard sqlite3_blob_read(handle, room.baseAddress, Int32(wanted), Int32(offset)) == SQLITE_OK else {
            throw connection.error("a value")
        }
        return wanted
    }
}
