import Testing

@testable import EventStore

/// What the rows of views come to, by table: equal on all nodes that have the same events.
func rowDigests(_ connection: Connection, _ names: ViewNames) throws -> [ViewDigest] {
    let kept = ComparedTable.all.filter { $0.view != "versions" && $0.view != SearchView.name }
    return try [searchDigest(connection, names)]
        + kept.enumerated().map { index, table in
            var sum = DigestSum()
            let rows = try mapped { () throws(DatabaseError) in try table.rows(connection, names) }
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

/// Every word of the search, at the event and the place where it stands there. Zones are of positions, which are each node's own.
private func searchDigest(_ connection: Connection, _ names: ViewNames) throws -> ViewDigest {
    var sum = DigestSum()
    let table = try #require(ComparedTable.all.first { $0.view == SearchView.name })
    try mapped { () throws(DatabaseError) in
        let select = try ComparedRows.instances(connection)
        defer { select.reset() }
        while try select.step() {
            sum.add([
                .text(table.text(select.cell(0), table.key[0], names)), .text(names.dot(select.int64(1))),
                .text(String(select.int64(2))),
            ])
        }
    }
    return sum.told(of: "words of the search")
}

extension Projector {
    /// What the views say that they have taken in, and what their rows come to: a row that is lost or wrong is noticed also where the
    /// first is right. Deferred views are brought to where the others stand.
    func allDigests() throws -> [ViewDigest] {
        while !isRebuilding, indexed < position { try stepDeferred() }
        return try digests() + rowDigests(target.store.connection, ViewNames(target.store.source.log))
    }
}

extension ViewReader {
    /// As ``Projector/allDigests()``.
    func allDigests(_ files: StoreFiles) throws -> [ViewDigest] {
        try digests() + rowDigests(ViewDatabase.connect(files.views), ViewNames(log))
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
