/// A last-writer-wins register.
struct Register<Value> {
    var value: Value
    var stamp: Stamp
}

/// What a conversation began with.
struct Opening {
    /// Who started it.
    let starter: Int64
    /// Who may retract what others said there: a JSON list of texts, or null.
    let moderators: String?

    /// Whether `user` is one of the moderators.
    func isModerator(_ user: String) -> Bool {
        guard let moderators else { return false }
        let json = Array(moderators.utf8)
        let users = JSONValue(bytes: json, range: 0..<json.count).elements ?? []
        return users.contains { $0.string.map { $0.hasSameBytes(as: user) } ?? false }
    }
}

/// A conversation as it stands in its table: what was said of it, and the sum of its rows in the run of the timeline.
struct ConversationRow {
    let conversation: Int64
    var title: Register<String>?
    var category: Register<String>?
    /// Of its `conversation.started` the one that was recorded first; a time that an author states does not count, lest one who comes
    /// later make himself a moderator.
    var opening: Register<Opening>?
    var sum = ConversationSum()

    static let tables = """
        CREATE TABLE conversation(
          conversation INTEGER PRIMARY KEY,
          events INTEGER NOT NULL, messages INTEGER NOT NULL,
          title TEXT, title_stamp BLOB, category TEXT, category_stamp BLOB,
          starter INTEGER, moderators TEXT, opening_stamp BLOB,
          first_time INTEGER NOT NULL, first_hlc INTEGER NOT NULL,
          last_time INTEGER NOT NULL, last_hlc INTEGER NOT NULL, recent INTEGER
        );
        CREATE INDEX conversation_recent ON conversation(recent);
        """

    /// The columns that ``init(_:)`` reads.
    static let columns = """
        conversation, events, messages, title, title_stamp, category, category_stamp, starter, moderators, opening_stamp,
        first_time, first_hlc, last_time, last_hlc
        """

    /// What column `recent` holds: the last time without its 12 lowest bits, NULL if there is no event. Within those four
    /// seconds readers sort.
    static func recent(_ lastTime: Int64) -> Int64 { lastTime >> 12 }

    /// Whether there is anything to tell. A row without events is what twins that do not count have said of the conversation,
    /// or waits for rows of the tail.
    var isKnown: Bool { sum.events > 0 || isNamed }
    /// Whether an event said something of it.
    var isNamed: Bool { title != nil || category != nil || opening != nil }

    /// One of which nothing is known.
    init(_ conversation: Int64) { self.conversation = conversation }

    /// The row that `select` stands on.
    init(_ select: Statement) {
        conversation = select.int64(0)
        title = select.stamp(4).map { Register(value: select.text(3), stamp: $0) }
        category = select.stamp(6).map { Register(value: select.text(5), stamp: $0) }
        opening = select.stamp(9).map { stamp in
            let moderators = select.isNull(8) ? nil : select.text(8)
            return Register(value: Opening(starter: select.int64(7), moderators: moderators), stamp: stamp)
        }
        sum = ConversationSum(
            events: select.int64(1), messages: select.int64(2),
            first: .init(time: select.int64(10), hlc: select.int64(11)),
            last: .init(time: select.int64(12), hlc: select.int64(13)))
    }

    /// The conversation's row, as of the open transaction; an empty one if there is none.
    static func load(_ conversation: Int64, _ connection: Connection) throws(DatabaseError) -> ConversationRow {
        let select = try connection.statement("SELECT \(columns) FROM conversation WHERE conversation = ?")
        defer { select.reset() }
        try select.bind(1, conversation)
        return try select.step() ? ConversationRow(select) : ConversationRow(conversation)
    }

    /// The same with what the rows of its timeline add that are not in the run.
    ///
    /// - Parameter known: What was taken from memory *before* the transaction began.
    static func load(
        _ conversation: Int64, known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> ConversationRow {
        var row = try load(conversation, connection)
        row.sum = row.sum + ConversationSum(try SortedTable.timeline.pending(conversation, known: known, connection))
        return row
    }

    /// Replaces the conversation's row by it, or takes that away if there is nothing to tell.
    func save(_ connection: Connection) throws(DatabaseError) {
        guard isKnown else {
            return try connection.run("DELETE FROM conversation WHERE conversation = ?", .integer(conversation))
        }
        let values: [Binding] = [
            .integer(conversation), .integer(sum.events), .integer(sum.messages), .optional(title?.value),
            .optional(title?.stamp), .optional(category?.value), .optional(category?.stamp),
            opening.map { .integer($0.value.starter) } ?? .null, .optional(opening?.value.moderators),
            .optional(opening?.stamp), .integer(sum.first.time), .integer(sum.first.hlc), .integer(sum.last.time),
            .integer(sum.last.hlc),
            sum.events > 0 ? .integer(Self.recent(sum.last.time)) : .null,
        ]
        try connection.run("INSERT OR REPLACE INTO conversation VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", values)
    }

    /// Adds the sum of rows that come into the run. The row is not read before.
    static func add(_ sum: ConversationSum, to conversation: Int64, _ connection: Connection) throws(DatabaseError) {
        guard sum.events > 0 else { return }
        // Under load the next generation is merged within those four seconds: the rows are the last ones, and no index changes.
        let extend = try connection.statement(
            """
            UPDATE conversation SET events = events + ?2, messages = messages + ?3, last_time = ?6, last_hlc = ?7
            WHERE conversation = ?1 AND recent = ?8 AND (last_time < ?6 OR last_time = ?6 AND last_hlc <= ?7)
              AND (first_time < ?4 OR first_time = ?4 AND first_hlc <= ?5)
            """)
        try run(extend, sum, conversation)
        guard connection.changes == 0 else { return }
        let add = try connection.statement(
            """
            INSERT INTO conversation
              (conversation, events, messages, first_time, first_hlc, last_time, last_hlc, recent)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT DO UPDATE SET
              events = events + ?2, messages = messages + ?3,
              first_hlc = CASE WHEN ?4 < first_time THEN ?5
                WHEN ?4 > first_time THEN first_hlc ELSE min(first_hlc, ?5) END,
              first_time = min(first_time, ?4),
              last_hlc = CASE WHEN ?6 > last_time THEN ?7
                WHEN ?6 < last_time THEN last_hlc ELSE max(last_hlc, ?7) END,
              last_time = max(last_time, ?6), recent = max(ifnull(recent, ?8), ?8)
            """)
        try run(add, sum, conversation)
    }

    private static func run(
        _ statement: Statement, _ sum: ConversationSum, _ conversation: Int64
    ) throws(DatabaseError) {
        try statement.bind(1, conversation)
        try statement.bind(2, sum.events)
        try statement.bind(3, sum.messages)
        try statement.bind(4, sum.first.time)
        try statement.bind(5, sum.first.hlc)
        try statement.bind(6, sum.last.time)
        try statement.bind(7, sum.last.hlc)
        try statement.bind(8, recent(sum.last.time))
        try statement.run()
    }

    /// Counts again after `rows` of the run were hidden: they may have been the first or the last.
    static func hid(
        _ rows: [SortedRow], of conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        let gone = ConversationSum(rows)
        guard gone.events > 0 else { return }
        var found = try load(conversation, connection)
        var ends: [SortedRow] = []
        for isBackward in [false, true] {
            let all = RowRange.all(of: conversation, isBackward: isBackward)
            _ = try SortedTable.timeline.walk(all, connection) { row in
                if row.isCounted { ends.append(row) }
                return !row.isCounted
            }
        }
        let rest = ConversationSum(ends)
        found.sum = ConversationSum(
            events: found.sum.events - gone.events, messages: found.sum.messages - gone.messages, first: rest.first,
            last: rest.last)
        try found.save(connection)
    }
}

extension Binding {
    static func optional(_ text: String?) -> Binding { text.map { .text($0) } ?? .null }
    static func optional(_ stamp: Stamp?) -> Binding { stamp.map { .blob($0.bytes) } ?? .null }
}
