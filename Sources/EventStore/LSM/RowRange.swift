/// A part of an owner's rows, in one direction.
struct RowRange {
    let owner: Int64
    /// Display time, from here on.
    let since: Int64
    /// Up to but not including.
    let until: Int64
    /// Beyond this row.
    let cursor: SortedRow?
    let isBackward: Bool

    /// All rows of an owner.
    static func all(of owner: Int64, isBackward: Bool = false) -> RowRange {
        RowRange(owner: owner, since: .min, until: .max, cursor: nil, isBackward: isBackward)
    }

    func contains(_ row: SortedRow) -> Bool {
        guard row.owner == owner, row.time >= since, row.time < until else { return false }
        return cursor.map { precedes($0, row) } ?? true
    }

    /// No row before this one, in the range's direction, is in it.
    fileprivate var bound: SortedRow {
        if isBackward {
            let end = SortedRow(owner: owner, time: until, hlc: .min, position: 0)
            return cursor.map { min($0, end) } ?? end
        }
        let start = SortedRow(owner: owner, time: since, hlc: .min, position: 0)
        return cursor.map { max($0, start) } ?? start
    }

    /// Whether no row beyond this one is in it.
    fileprivate func isPassed(by row: SortedRow) -> Bool { isBackward ? row.time < since : row.time >= until }

    /// Whether `a` is met before `b`.
    func precedes(_ a: SortedRow, _ b: SortedRow) -> Bool { isBackward ? b < a : a < b }
}

extension SortedTable {
    /// The first `limit` rows of a range, and those that are tied with the last of them, as of the open transaction.
    func rows(
        in range: RowRange, limit: Int, known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        let found = try found(range, limit, connection)
        let pending = try pending(range.owner, known: known, connection).filter(range.contains)
        guard !pending.isEmpty else { return found.rows }
        // Beyond the last row of the run there may be more of it.
        let end = found.isAll ? nil : found.rows.last
        let merged =
            (found.rows
            + pending.filter { row in end.map { range.precedes(row, $0) || row.isTied(with: $0) } ?? true })
            .sorted(by: range.precedes)
        guard merged.count > limit else { return merged }
        let last = merged[limit - 1]
        return Array(merged.prefix { range.precedes($0, last) || $0 == last || $0.isTied(with: last) })
    }

    private func found(
        _ range: RowRange, _ limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> (rows: [SortedRow], isAll: Bool) {
        var rows: [SortedRow] = []
        let isAll = try walk(range, connection) { row in
            if rows.count >= limit, let last = rows.last, !row.isTied(with: last) { return false }
            rows.append(row)
            return true
        }
        return (rows, isAll)
    }

    /// Calls `body` with the rows of a range that are in the run, in its direction, until it returns false. Returns whether
    /// that were all.
    func walk(
        _ range: RowRange, _ connection: Connection, _ body: (SortedRow) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) -> Bool {
        // Only one block can have rows on both sides of a bound: the last one that does not begin after it.
        var parts = [(sql: precedingSQL, bound: range.bound, limit: Int.max)]
        if !range.isBackward { parts = [(precedingSQL, range.bound, 1), (followingSQL, range.bound, Int.max)] }
        for part in parts {
            let select = try connection.statement(part.sql)
            defer { select.reset() }
            try select.bind(1, part.bound)
            var left = part.limit
            while left > 0, try select.step() {
                left -= 1
                let rows = try rows(select, owner: range.owner)
                if range.isBackward {
                    for row in rows.reversed() where range.contains(row) { if try !body(row) { return false } }
                } else {
                    for row in rows where range.contains(row) { if try !body(row) { return false } }
                }
                if let edge = range.isBackward ? rows.first : rows.last, range.isPassed(by: edge) { return true }
            }
        }
        return true
    }
}
