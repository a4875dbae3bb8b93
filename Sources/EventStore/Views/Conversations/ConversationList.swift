/// The conversations, the latest active first, as of one read transaction.
///
/// The table's index has them in the order of their last events in the run. What the tail adds to a conversation may put it
/// further ahead: those are listed by the tail, all others by the index.
struct ConversationList {
    private typealias Moment = ConversationSum.Moment

    private let connection: Connection
    private let pending: [Int64: ConversationSum]

    init(_ connection: Connection) throws(DatabaseError) {
        self.connection = connection
        pending = try ConversationSum.pending(connection)
    }

    /// The first `limit` whose last events are before `bound`, and those that are tied with the last of them.
    func page(_ limit: Int, before bound: ConversationSum.Moment) throws(DatabaseError) -> [ConversationRow] {
        var rows = try ahead(limit, bound)
        // What was active before all of these is on a later page.
        let least = rows.count >= limit ? rows.map(\.sum.last).min() ?? .first : .first
        var seen = bound
        while true {
            let page = try settled(limit, seen, since: least)
            rows += page.filter { !isAhead(pending[$0.conversation], $0) }.map(whole)
            guard page.count >= limit, let last = page.last?.sum.last else { return Self.first(limit, rows) }
            seen = last
            let found = Self.first(limit, rows)
            if found.count >= limit, let end = found.last, end.sum.last >= seen { return found }
        }
    }

    /// How many there are.
    func count() throws(DatabaseError) -> UInt64 {
        var count = UInt64(clamping: try connection.integer("SELECT COUNT(*) FROM conversation") ?? 0)
        let select = "SELECT 1 FROM conversation WHERE conversation = ?"
        for (conversation, sum) in pending where sum.events > 0 {
            if try connection.integer(select, .integer(conversation)) == nil { count += 1 }
        }
        return count
    }

    /// Those whose last event is in the tail.
    private func ahead(_ limit: Int, _ bound: Moment) throws(DatabaseError) -> [ConversationRow] {
        let candidates = pending.lazy.filter { $0.value.events > 0 && $0.value.last < bound }
            .map { (conversation: $0.key, last: $0.value.last) }.sorted { $0.last > $1.last }
        var rows: [ConversationRow] = []
        for (conversation, last) in candidates {
            if rows.count >= limit, let end = rows.last, last < end.sum.last { break }
            let row = try ConversationRow.load(conversation, connection)
            if isAhead(pending[conversation], row) { rows.append(whole(row)) }
        }
        return rows
    }

    private func isAhead(_ sum: ConversationSum?, _ row: ConversationRow) -> Bool {
        sum.map { $0.last > row.sum.last } ?? false
    }

    private func whole(_ row: ConversationRow) -> ConversationRow {
        guard let sum = pending[row.conversation] else { return row }
        var row = row
        row.sum = row.sum + sum
        return row
    }

    /// Sorted, and without what comes after the group of the one at `limit`.
    private static func first(_ limit: Int, _ rows: [ConversationRow]) -> [ConversationRow] {
        let sorted = rows.sorted { $0.sum.last > $1.sum.last }
        guard sorted.count > limit else { return sorted }
        let end = sorted[limit - 1].sum.last
        return Array(sorted.prefix { $0.sum.last >= end })
    }

    /// The first `limit` rows of the table, and those that are tied with the last of them; without most of those before `since`.
    private func settled(_ limit: Int, _ bound: Moment, since: Moment) throws(DatabaseError) -> [ConversationRow] {
        let (from, to) = (ConversationRow.recent(since.time), ConversationRow.recent(bound.time))
        // The index knows no closer in which four seconds the last of them stands.
        let least = try connection.integer(
            """
            SELECT recent FROM conversation WHERE recent BETWEEN ? AND ? AND (last_time, last_hlc) < (?, ?)
            ORDER BY recent DESC LIMIT 1 OFFSET ?
            """, .integer(from), .integer(to), .integer(bound.time), .integer(bound.hlc), .integer(Int64(limit) - 1))
        var rows = try self.rows(
            """
            recent BETWEEN ? AND ? AND (last_time, last_hlc) < (?, ?)
            ORDER BY last_time DESC, last_hlc DESC, conversation DESC LIMIT ?
            """, [least ?? from, to, bound.time, bound.hlc, Int64(limit)])
        guard rows.count == limit, let last = rows.last else { return rows }
        let end = last.sum.last
        rows += try self.rows(
            "recent = ? AND last_time = ? AND last_hlc = ? AND conversation < ?",
            [ConversationRow.recent(end.time), end.time, end.hlc, last.conversation])
        return rows
    }

    private func rows(_ condition: String, _ values: [Int64]) throws(DatabaseError) -> [ConversationRow] {
        try connection.all(
            "SELECT \(ConversationRow.columns) FROM conversation WHERE \(condition)",
            values.map { .integer($0) }, ConversationRow.init)
    }
}
