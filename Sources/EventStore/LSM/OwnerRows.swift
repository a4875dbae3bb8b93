/// The rows of one owner for one query, page by page. What is not in the run is read once, with the first page.
struct OwnerRows {
    let table: SortedTable
    let owner: Int64
    /// What was in memory when the query began: before the transaction of its first page.
    private let known: Memtables.Found
    /// The rows that were not in the run then, in order, and of which tables; those that have come into it since are passed over.
    private var pending: (rows: [SortedRow], epoch: Int64)?

    init(_ table: SortedTable, _ tail: Memtables, owner: Int64) {
        (self.table, self.owner) = (table, owner)
        known = tail.find(owner)
    }

    /// With what was taken from memory before the transaction began.
    init(_ table: SortedTable, known: Memtables.Found, owner: Int64) {
        (self.table, self.known, self.owner) = (table, known, owner)
    }

    /// What was found of a range.
    struct Found {
        var rows: [SortedRow] = []
        /// The row behind which no one has looked, where that was enough; no row tied with it is missing.
        var end: SortedRow?
        /// Why no one has looked further, if not because there were enough.
        var cut: PageCut?
    }

    /// Rows that are looked at between two looks at the clock.
    private static let unwatched = 512

    /// The first `limit` wanted rows of a range of this owner, and those that are tied with the last of them, as of the open transaction.
    /// They are fewer where ``RowRange/most`` rows of the run were looked at before, or its time was up.
    mutating func rows(
        in range: RowRange, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> Found {
        var found = try run(range, limit, connection)
        let pending = try pending(range, limit, connection)
        guard !pending.isEmpty else { return found }
        // Beyond the last row that was looked at there may be more of the run.
        found.rows =
            (found.rows
            + pending.filter { row in found.end.map { range.precedes(row, $0) || row.isTied(with: $0) } ?? true })
            .sorted(by: range.precedes)
        guard found.rows.count > limit else { return found }
        let last = found.rows[limit - 1]
        found.rows = Array(found.rows.prefix { range.precedes($0, last) || $0 == last || $0.isTied(with: last) })
        (found.end, found.cut) = (last, nil)
        return found
    }

    private func run(
        _ range: RowRange, _ limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> Found {
        var found = Found()
        var (last, looked) = (SortedRow?.none, 0)
        let isAll = try table.walk(range, connection) { row in
            if found.rows.count >= limit || found.cut != nil, let last, !row.isTied(with: last) { return false }
            if range.wants(row) { found.rows.append(row) }
            (last, looked) = (row, looked + 1)
            if looked >= range.most {
                found.cut = .rows
            } else if looked % Self.unwatched == 0, range.term?.isDue == true {
                found.cut = .time
            }
            return true
        }
        if isAll { found.cut = nil } else { found.end = last }
        if found.rows.count >= limit { found.cut = nil }
        return found
    }

    /// The first rows of a range that are not in the run: `limit`, and those tied with the last.
    private mutating func pending(
        _ range: RowRange, _ limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        let compaction = try table.compaction(connection)
        let rows = try rows(compaction, connection)
        guard !rows.isEmpty else { return [] }
        let isHidden = try table.hiddenRows(connection)
        var found: [SortedRow] = []
        let bound = range.bound
        let start = rows.partitioningIndex { $0 >= bound }
        var index = range.isBackward ? min(start, rows.count - 1) : start
        while rows.indices.contains(index) {
            var row = rows[index]
            index += range.isBackward ? -1 : 1
            if found.count >= limit, let last = found.last, !row.isTied(with: last) { break }
            if compaction.covers(row) { continue }
            if let isHidden, try isHidden(row) { row.isHidden = true }
            if range.isPassed(by: row) { break }
            if range.contains(row), range.wants(row) { found.append(row) }
        }
        return found
    }

    private mutating func rows(
        _ compaction: SortedTable.Compaction, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        if let pending, pending.epoch == compaction.epoch { return pending.rows }
        let rows = try table.unmarked(owner, known: known, compaction, connection)
        pending = (rows, compaction.epoch)
        return rows
    }
}

extension Array {
    /// The index of the first element that satisfies `predicate`, all of which stand behind those that do not.
    fileprivate func partitioningIndex(where predicate: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = low + (high - low) / 2
            if predicate(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Why a page ends before it has as many lines as were asked for, though there may be more.
package enum PageCut: String, Sendable, CaseIterable {
    /// So many rows were looked at.
    case rows
    /// So much was found.
    case bytes
    /// So long has it taken.
    case time
}

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
    /// How many rows of the run are looked at, wanted or not.
    var most = Int.max
    /// When it is due, no further rows of the run are looked at; `nil`: never.
    var term: AnswerTerm?
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
