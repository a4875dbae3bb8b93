@testable import EventStore

/// What the rows of views come to, by table: equal on all nodes that have the same events.
func rowDigests(_ connection: Connection, _ names: ViewNames) throws -> [ViewDigest] {
    try ComparedTable.all.filter { $0.view != "versions" }.enumerated().map { index, table in
        var sum = DigestSum()
        let rows = try mapped { () throws(DatabaseError) in try table.rows(connection) }
        while let row = try mapped({ () throws(DatabaseError) in try rows.next() }) {
            let cells = zip(table.key + table.values, row.key + row.values)
            sum.add(
                cells.compactMap { field, cell in
                    // Positions are each node's own.
                    if field.name == "position", field.kind == .plain { return nil }
                    if field.kind == .position, case .integer(let position) = cell {
                        return .text(names.dot(position))
                    }
                    return .text(table.text(cell, field, names))
                })
        }
        return sum.told(of: "rows of \(table.view) \(index)")
    }
}

extension Projector {
    /// What the views say that they have taken in, and what their rows come to: a row that is lost or wrong is noticed also where the
    /// first is right.
    func allDigests() throws -> [ViewDigest] {
        try digests() + rowDigests(target.store.connection, ViewNames(target.store.source.log))
    }
}

extension ViewReader {
    /// As ``Projector/allDigests()``.
    func allDigests(_ files: StoreFiles) throws -> [ViewDigest] {
        try digests() + rowDigests(openForReading(files.views), ViewNames(log))
    }
}

extension SortedTable {
    /// Calls `body` with every row, hidden ones too, in no particular order.
    func all(_ connection: Connection, _ body: (SortedRow) throws(DatabaseError) -> Void) throws(DatabaseError) {
        try run(connection, body)
        var rows: [SortedRow] = []
        try pending(connection) { rows.append($0) }
        for row in rows { try body(row) }
    }
}
