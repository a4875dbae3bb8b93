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
