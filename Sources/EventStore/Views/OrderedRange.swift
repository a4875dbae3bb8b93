/// A part of an owner's rows, in one direction.
struct OrderedRange {
    let owner: Int64
    /// Display time, from here on.
    let since: Int64
    /// Up to but not including.
    let until: Int64
    /// Beyond this row.
    let cursor: OrderedRow?
    let isBackward: Bool

    func contains(_ row: OrderedRow) -> Bool {
        guard row.owner == owner, row.time >= since, row.time < until else { return false }
        return cursor.map { precedes($0, row) } ?? true
    }

    /// Whether `a` is met before `b`.
    func precedes(_ a: OrderedRow, _ b: OrderedRow) -> Bool { isBackward ? b < a : a < b }
}

extension OrderedTable {
    /// The first `limit` rows of a range, and those that are tied with the last of them, as of the open transaction.
    func rows(
        in range: OrderedRange, limit: Int, known: RowTail.Found, _ connection: Connection
    ) throws(SQLiteError) -> [OrderedRow] {
        let base = try base(range, limit, connection)
        let pending = try pending(range.owner, known: known, connection).filter(range.contains)
        guard !pending.isEmpty else { return base.rows }
        // Beyond the last row of the base there may be more of it.
        let end = base.isAll ? nil : base.rows.last
        let merged =
            (base.rows + pending.filter { row in end.map { range.precedes(row, $0) || row.isTied(with: $0) } ?? true })
            .sorted(by: range.precedes)
        guard merged.count > limit else { return merged }
        let last = merged[limit - 1]
        return Array(merged.prefix { range.precedes($0, last) || $0 == last || $0.isTied(with: last) })
    }

    private func base(
        _ range: OrderedRange, _ limit: Int, _ connection: Connection
    ) throws(SQLiteError) -> (rows: [OrderedRow], isAll: Bool) {
        func read(_ select: Statement) throws(SQLiteError) -> [OrderedRow] {
            defer { select.reset() }
            var rows: [OrderedRow] = []
            while try select.step() {
                rows.append(
                    OrderedRow(
                        owner: range.owner, time: select.int64(0), hlc: select.int64(1), position: select.uint64(2)))
            }
            return rows
        }
        let select = try connection.statement(range.isBackward ? backwardSQL : forwardSQL)
        let bound = range.isBackward ? Int64.max : Int64.min
        try select.bind(1, range.owner)
        try select.bind(2, range.cursor?.time ?? bound)
        try select.bind(3, range.cursor?.hlc ?? bound)
        try select.bind(4, range.cursor.map { Int64(bitPattern: $0.position) } ?? bound)
        try select.bind(5, range.since)
        try select.bind(6, range.until)
        try select.bind(7, Int64(limit))
        let rows = try read(select)
        guard rows.count == limit, let last = rows.last else { return (rows, true) }
        let ties = try connection.statement(range.isBackward ? tiesBackwardSQL : tiesForwardSQL)
        try ties.bind(1, range.owner)
        try ties.bind(2, last.time)
        try ties.bind(3, last.hlc)
        try ties.bind(4, last.position)
        return (rows + (try read(ties)), false)
    }
}
