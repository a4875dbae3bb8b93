/// A row that is compared. Ordered by its key.
struct ComparedRow: Comparable {
    let key: [Cell]
    let values: [Cell]

    static func < (a: ComparedRow, b: ComparedRow) -> Bool { a.key.lexicographicallyPrecedes(b.key) }
    static func == (a: ComparedRow, b: ComparedRow) -> Bool { a.key == b.key }
}

/// Rows one after the other.
final class ComparedRows {
    private let step: () throws(DatabaseError) -> ComparedRow?

    init(_ step: @escaping () throws(DatabaseError) -> ComparedRow?) { self.step = step }

    func next() throws(DatabaseError) -> ComparedRow? { try step() }

    /// Those of a query whose first columns are the key.
    static func query(
        _ sql: String, _ connection: Connection, key: Int, values: Int
    ) throws(DatabaseError) -> ComparedRows {
        let select = try connection.statement(sql)
        select.reset()
        var isAtEnd = false
        return ComparedRows { () throws(DatabaseError) in
            guard !isAtEnd, try select.step() else {
                // Another step would begin anew.
                isAtEnd = true
                select.reset()
                return nil
            }
            return ComparedRow(
                key: (0..<key).map(select.cell), values: (key..<key + values).map(select.cell))
        }
    }

    /// Those of an ordered table, whether they stand in the run or in the tail.
    static func ordered(
        _ table: SortedTable, _ connection: Connection
    ) throws(DatabaseError) -> ComparedRows {
        var pending: [SortedRow] = []
        try table.pending(connection) { pending.append($0) }
        pending.sort(by: >)
        let select = try connection.statement(table.allSQL)
        select.reset()
        var block: [SortedRow] = []
        var isAtEnd = false
        func run() throws(DatabaseError) -> SortedRow? {
            while block.isEmpty, !isAtEnd {
                guard try select.step() else {
                    // Another step would begin anew.
                    isAtEnd = true
                    select.reset()
                    return nil
                }
                block = try table.rows(select, owner: select.int64(4)).reversed()
            }
            return block.last
        }
        return ComparedRows { () throws(DatabaseError) in
            let first = try run()
            let row: SortedRow
            switch (first, pending.last) {
            case (let a?, let b?): row = a < b ? a : b
            case (let a?, nil): row = a
            case (nil, let b?): row = b
            case (nil, nil): return nil
            }
            if row == first { block.removeLast() }
            if row == pending.last { pending.removeLast() }
            return ComparedRow(
                key: [
                    .integer(row.owner), .integer(row.time), .integer(row.hlc),
                    .integer(Int64(bitPattern: row.position)),
                ],
                values: [
                    .integer(row.tags.type), .integer(row.tags.author), .integer(row.tags.context),
                    .integer(row.tags.isMessage ? 1 : 0), .integer(row.tags.isUncounted ? 0 : 1),
                    .integer(row.isHidden ? 1 : 0),
                ])
        }
    }

    /// Who said how much, with what the tail adds to it.
    static func speakers(_ connection: Connection, _ names: ViewNames) throws(DatabaseError) -> ComparedRows {
        var pending: [PendingSum] = []
        for (conversation, counts) in try pendingSpeakers(connection) {
            for (user, messages) in counts.messages {
                let name = Cell.text(Array(names.text(user).utf8))
                pending.append(PendingSum(key: [.integer(conversation), name], value: messages))
            }
        }
        let sql = "SELECT conversation, user, messages FROM speaker ORDER BY conversation, user"
        return try query(sql, connection, key: 2, values: 1).joined(with: pending, +)
    }

    /// How many take part in each conversation, with those whom the tail adds.
    static func people(_ connection: Connection, _ names: ViewNames) throws(DatabaseError) -> ComparedRows {
        var pending: [PendingSum] = []
        for (conversation, counts) in try pendingSpeakers(connection) {
            var people = PeopleChange(of: conversation)
            for user in counts.messages.keys { try people.speaksSince(names.text(user), connection) }
            if people.change != 0 { pending.append(PendingSum(key: [.integer(conversation)], value: people.change)) }
        }
        let sql = "SELECT conversation, number FROM people WHERE number <> 0 ORDER BY conversation"
        return try query(sql, connection, key: 1, values: 1).joined(with: pending, +)
    }

    /// Users' own rooms, with what the tail adds to them.
    static func ownRooms(_ connection: Connection) throws(DatabaseError) -> ComparedRows {
        var rooms: [Int64: OwnRooms] = [:]
        try SortedTable.history.pending(connection) { rooms[$0.owner, default: OwnRooms()].add($0) }
        var pending: [PendingSum] = []
        for (user, rooms) in rooms {
            for (conversation, hour) in rooms.hours {
                pending.append(PendingSum(key: [.integer(user), .integer(conversation)], value: hour))
            }
        }
        let sql = "SELECT user, conversation, hour FROM own_room ORDER BY user, conversation"
        return try query(sql, connection, key: 2, values: 1).joined(with: pending, max)
    }

    private static func pendingSpeakers(_ connection: Connection) throws(DatabaseError) -> [Int64: SpeakerCounts] {
        var sums: [Int64: SpeakerCounts] = [:]
        try SortedTable.timeline.pending(connection) { sums[$0.owner, default: SpeakerCounts()].add($0) }
        return sums
    }

    /// What a tail adds to a row that has one number.
    private struct PendingSum {
        let key: [Cell]
        let value: Int64
    }

    /// These with what a tail adds to them.
    private func joined(with pending: [PendingSum], _ join: @escaping (Int64, Int64) -> Int64) -> ComparedRows {
        var rest = pending.map { ComparedRow(key: $0.key, values: [.integer($0.value)]) }.sorted(by: >)
        var stored: ComparedRow?
        return ComparedRows { () throws(DatabaseError) in
            if stored == nil { stored = try self.next() }
            guard let found = stored, rest.last.map({ found <= $0 }) ?? true else { return rest.popLast() }
            stored = nil
            guard let more = rest.last, more == found else { return found }
            rest.removeLast()
            guard case (.integer(let a)?, .integer(let b)?) = (found.values.first, more.values.first) else {
                return found
            }
            return ComparedRow(key: found.key, values: [.integer(join(a, b))])
        }
    }

    /// Conversations with what the tail adds to their rows.
    static func conversations(_ connection: Connection) throws(DatabaseError) -> ComparedRows {
        let sums = try ConversationSum.pending(connection)
        var pending = sums.keys.sorted(by: >)
        let select = try connection.statement(
            "SELECT \(ConversationRow.columns), recent FROM conversation ORDER BY conversation")
        select.reset()
        var stored: (row: ConversationRow, recent: Cell)?
        func advance() throws(DatabaseError) {
            stored = nil
            guard try select.step() else { return select.reset() }
            stored = (ConversationRow(select), select.cell(14))
        }
        var hasBegun = false
        return ComparedRows { () throws(DatabaseError) in
            if !hasBegun { try advance() }
            hasBegun = true
            while stored != nil || !pending.isEmpty {
                var row: ConversationRow
                var recent = Cell.null
                if let found = stored, pending.last.map({ found.row.conversation <= $0 }) ?? true {
                    row = found.row
                    // What the index goes by follows from the sum of the run.
                    let right: Cell = row.sum.events > 0 ? .integer(ConversationRow.recent(row.sum.last.time)) : .null
                    recent = found.recent == right ? .null : found.recent
                    try advance()
                } else {
                    row = ConversationRow(pending.last ?? 0)
                }
                if pending.last == row.conversation { pending.removeLast() }
                if let sum = sums[row.conversation] { row.sum = row.sum + sum }
                if row.isKnown { return ComparedRow(row, recent) }
            }
            return nil
        }
    }
}

extension ComparedRow {
    /// - Parameter recent: NULL if it is what follows from the row.
    fileprivate init(_ row: ConversationRow, _ recent: Cell) {
        func stamp<Value>(_ register: Register<Value>?) -> Cell { register.map { .blob($0.stamp.bytes) } ?? .null }
        func text(_ text: String?) -> Cell { text.map { .text(Array($0.utf8)) } ?? .null }
        let (sum, opening) = (row.sum, row.opening?.value)
        key = [.integer(row.conversation)]
        values = [
            .integer(sum.events), .integer(sum.messages), text(row.title?.value), stamp(row.title),
            text(row.category?.value), stamp(row.category), opening.map { .integer($0.starter) } ?? .null,
            text(opening?.moderators), stamp(row.opening), .integer(sum.first.time), .integer(sum.first.hlc),
            .integer(sum.last.time), .integer(sum.last.hlc), recent,
        ]
    }
}

extension ComparedTable {
    /// No tail is compacted further than events were applied, or rows that come later would be taken for compacted, and never be seen.
    static func merges(
        _ found: Connection, through position: UInt64, _ report: inout ViewsReport
    ) throws(DatabaseError) {
        for table in [SortedTable.timeline, .history] {
            let compaction = try table.compaction(found)
            if compaction.applied <= compaction.end, compaction.end <= position { continue }
            report.add(
                ViewDifference(
                    view: table.name, row: "views.db", field: "merging", found: "\(compaction.end)",
                    expected: "from \(compaction.applied) to \(position)"))
        }
    }

    /// Compares tables, indexes and triggers, and asks SQLite whether pages and indexes are sound.
    static func database(
        _ found: Connection, _ expected: Connection, _ report: inout ViewsReport
    ) throws(DatabaseError) {
        let schema = ComparedTable(
            view: "database", key: [Field("type"), Field("name")], values: [Field("sql")],
            rows: { connection, _ throws(DatabaseError) in
                try .query(
                    "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name", connection, key: 2, values: 1)
            })
        let names = ViewNames(nil)
        try schema.compare(found, expected, names, &report)
        try found.rows("PRAGMA integrity_check(10)") { row in
            let text = row.text(0)
            if text == "ok" { return }
            report.add(ViewDifference(view: "database", row: "views.db", field: nil, found: text, expected: nil))
        }
    }
}
