/// A part of an owner's rows, in one direction.
struct RowRange {
    let owner: Int64
    /// Display time, from here on.
    let since: Int64
    /// Up to but not including.
    let until: Int64
    /// Beyond this row.
    var cursor: SortedRow?
    let isBackward: Bool
    /// Whether rows are wanted that are hidden.
    var withHidden = false
    /// Which rows are wanted by what they say; `nil`: all.
    var condition: (@Sendable (SortedRow) -> Bool)?

    /// All rows of an owner.
    static func all(of owner: Int64, isBackward: Bool = false) -> RowRange {
        RowRange(owner: owner, since: .min, until: .max, cursor: nil, isBackward: isBackward)
    }

    /// Whether a row lies within the bounds, wanted or not.
    func contains(_ row: SortedRow) -> Bool {
        guard row.owner == owner, row.time >= since, row.time < until else { return false }
        return cursor.map { precedes($0, row) } ?? true
    }

    /// Whether a row within the bounds is wanted.
    func wants(_ row: SortedRow) -> Bool { (withHidden || !row.isHidden) && condition?(row) ?? true }

    /// No row before this one, in the range's direction, is in it.
    var bound: SortedRow {
        if isBackward {
            let end = SortedRow(owner: owner, time: until, hlc: .min, position: 0)
            return cursor.map { min($0, end) } ?? end
        }
        let start = SortedRow(owner: owner, time: since, hlc: .min, position: 0)
        return cursor.map { max($0, start) } ?? start
    }

    /// Whether no row beyond this one is in it.
    func isPassed(by row: SortedRow) -> Bool { isBackward ? row.time < since : row.time >= until }

    /// Whether `a` is met before `b`.
    func precedes(_ a: SortedRow, _ b: SortedRow) -> Bool { isBackward ? b < a : a < b }
}

extension SortedTable {
    /// Calls `body` with the rows within a range's bounds that are in the run, wanted or not, in its direction, until it returns false.
    /// Returns whether that were all.
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
