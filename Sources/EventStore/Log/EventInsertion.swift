/// The statements that put events into their table: 1, 2, 4, 8 or 16 in one. Half of what a row costs that comes alone is what SQLite
/// does once for each statement.
struct EventInsertion {
    private static let most = 16
    private let connection: Connection
    /// By the logarithm of their rows; those that were needed.
    private var statements = [Statement?](repeating: nil, count: most.trailingZeroBitCount + 1)

    private var lone: Statement?

    init(_ connection: Connection) { self.connection = connection }

    /// A statement for one row with its seal, ``EventRow/seal``.
    mutating func sealed() throws(DatabaseError) -> Statement {
        if let lone { return lone }
        let made = try connection.statement(EventRow.insertSealed)
        lone = made
        return made
    }

    /// A statement for as many of the next `count` rows as fit.
    mutating func statement(for count: Int) throws(DatabaseError) -> (statement: Statement, rows: Int) {
        var level = 0
        while level + 1 < statements.count, 2 << level <= count { level += 1 }
        if let known = statements[level] { return (known, 1 << level) }
        let made = try connection.statement(EventRow.insert(rows: 1 << level))
        statements[level] = made
        return (made, 1 << level)
    }
}
