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

    /// The first `limit` wanted rows of a range of this owner, and those that are tied with the last of them, as of the open transaction.
    mutating func rows(
        in range: RowRange, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        let found = try run(range, limit, connection)
        let pending = try pending(range, limit, connection)
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

    private func run(
        _ range: RowRange, _ limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> (rows: [SortedRow], isAll: Bool) {
        var rows: [SortedRow] = []
        let isAll = try table.walk(range, connection) { row in
            if rows.count >= limit, let last = rows.last, !row.isTied(with: last) { return false }
            if range.wants(row) { rows.append(row) }
            return true
        }
        return (rows, isAll)
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
