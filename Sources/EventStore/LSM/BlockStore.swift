/// Changes the blocks of an ordered table, within the open transaction.
struct BlockStore {
    let table: SortedTable
    let connection: Connection

    /// Puts in rows that are one owner's, in order, and not there yet.
    func insert(_ rows: ArraySlice<SortedRow>) throws(DatabaseError) {
        guard let first = rows.first else { return }
        // Mostly they come behind all others.
        guard let end = try block(table.precedingSQL, .last(of: first.owner)) else {
            return try save(Block.filled(rows))
        }
        if end.last < first { return try append(rows, to: end) }
        var rest = rows
        while let first = rest.first {
            let present = try block(table.precedingSQL, first)
            let taken: ArraySlice<SortedRow>
            if let present, first < present.last {
                // Late rows mostly come within a block: no need to look where the next one begins.
                taken = rest.prefix { $0 < present.last }
            } else {
                let follower = try firstRow(table.followingSQL, first)
                taken = rest.prefix { row in follower.map { row < $0 } ?? true }
            }
            rest = rest.dropFirst(taken.count)
            try save(Self.spread(Self.merged(present?.rows ?? [], taken)))
        }
    }

    /// Hides rows that are one owner's and in order. Returns them as they stood there, without those that did not, or were hidden.
    func hide(_ rows: ArraySlice<SortedRow>) throws(DatabaseError) -> [SortedRow] {
        var changed: [SortedRow] = []
        var rest = rows
        while let row = rest.first {
            guard let block = try block(table.precedingSQL, row) else {
                rest.removeFirst()
                continue
            }
            // What lies behind the block's last row is in a later one, or nowhere.
            let taken = rest.prefix { $0 <= block.last }
            rest = rest.dropFirst(max(taken.count, 1))
            var gone = taken[...]
            let count = changed.count
            let left = block.rows.map { row in
                gone = gone.drop { $0 < row }
                guard gone.first == row, !row.isHidden else { return row }
                changed.append(row)
                return row.hidden
            }
            if changed.count > count { try save(Block.filled(left)) }
        }
        return changed
    }

    private func append(_ rows: ArraySlice<SortedRow>, to end: Block) throws(DatabaseError) {
        var (block, rest) = (end, rows)
        while let row = rest.first, block.append(row) { rest.removeFirst() }
        if block.last != end.last { try save([block]) }
        try save(Block.filled(rest))
    }

    /// The rows of both in order, as they are in each.
    private static func merged(_ present: [SortedRow], _ coming: ArraySlice<SortedRow>) -> [SortedRow] {
        var rows: [SortedRow] = []
        rows.reserveCapacity(present.count + coming.count)
        var (left, right) = (present[...], coming)
        while let a = left.first, let b = right.first {
            if a < b { rows.append(left.removeFirst()) } else { rows.append(right.removeFirst()) }
        }
        return rows + left + right
    }

    /// Blocks with room for what may come between their rows once more.
    private static func spread(_ rows: [SortedRow]) -> [Block] {
        let filled = Block.filled(rows)
        guard filled.count > 1 else { return filled }
        let share = (rows.count + filled.count - 1) / filled.count
        return stride(from: 0, to: rows.count, by: share)
            .flatMap { Block.filled(rows[$0..<min($0 + share, rows.count)]) }
    }

    private func save(_ blocks: [Block]) throws(DatabaseError) {
        let save = try connection.statement(table.saveSQL)
        for block in blocks {
            try save.bind(1, block.first)
            try save.bind(5, blob: block.bytes)
            try save.run()
        }
    }

    /// The first row of the first block of a query that begins at `row`.
    private func firstRow(_ sql: String, _ row: SortedRow) throws(DatabaseError) -> SortedRow? {
        let select = try connection.statement(sql)
        defer { select.reset() }
        try select.bind(1, row)
        return try select.step() ? table.first(select, row.owner) : nil
    }

    /// The first block of a query that begins at `row`.
    private func block(_ sql: String, _ row: SortedRow) throws(DatabaseError) -> Block? {
        let select = try connection.statement(sql)
        defer { select.reset() }
        try select.bind(1, row)
        return try select.step() ? try table.block(select, owner: row.owner) : nil
    }
}
