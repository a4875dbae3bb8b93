/// One row for each conversation: what it is called, how much was said, when first and last.
///
/// A batch gathers what it adds to a conversation. Mostly these are events at its end, which the database adds up without
/// reading the row first.
final class ConversationsView: View {
    static let name = "conversations"
    static let tables = """
        CREATE TABLE conversation(
          conversation INTEGER PRIMARY KEY,
          events INTEGER NOT NULL, messages INTEGER NOT NULL,
          title TEXT, title_stamp BLOB, category TEXT, category_stamp BLOB,
          starter INTEGER, start_stamp BLOB,
          first_time INTEGER NOT NULL, first_hlc INTEGER NOT NULL,
          last_time INTEGER NOT NULL, last_hlc INTEGER NOT NULL, recent INTEGER NOT NULL
        );
        CREATE INDEX conversation_recent ON conversation(recent);
        """

    /// What column `recent` holds: the last time without its 12 lowest bits. The index of who was active last then changes once
    /// in four seconds for each conversation, not with each event; within those seconds readers sort.
    static func recent(_ lastTime: Int64) -> Int64 { lastTime >> 12 }

    /// A conversation, or what a batch adds to it.
    struct Row {
        var events = Int64(0)
        var messages = Int64(0)
        var title: Register<String>?
        var category: Register<String>?
        /// Who started it: the earliest `conversation.started` counts.
        var start: Register<Int64>?
        var first = (time: Int64.max, hlc: Int64.max)
        var last = (time: Int64.min, hlc: Int64.min)
        /// Whether an event was taken out, which may have been the first or the last.
        var mustRecount = false

        /// Whether it adds events and nothing else.
        fileprivate var isPlain: Bool {
            events > 0 && title == nil && category == nil && start == nil && !mustRecount
        }

        fileprivate mutating func add(_ change: Row) {
            events += change.events
            messages += change.messages
            if change.first < first { first = change.first }
            if change.last > last { last = change.last }
            if let title = change.title { self.title.take(title) }
            if let category = change.category { self.category.take(category) }
            if let start = change.start { self.start.takeEarlier(start) }
            mustRecount = mustRecount || change.mustRecount
        }
    }

    /// A last-writer-wins register.
    struct Register<Value> {
        var value: Value
        var stamp: Stamp
    }

    private var touched: [Int64: Row] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        guard let conversation = event.conversation else {
            guard let type = event.type, type == .conversationStarted || type == .conversationRenamed else {
                return nil
            }
            return "\(type.rawValue) without a conversation"
        }
        if let refusal = Self.refusal(event) { return refusal }
        take(event, change, into: &touched[conversation, default: Row()])
        return nil
    }

    private func take(_ event: ProjectedEvent, _ change: ViewChange, into row: inout Row) {
        row.events += change.amount
        if event.isMessage { row.messages += change.amount }
        switch change {
        case .insert:
            let key = (time: event.key.time, hlc: event.key.hlc.ordered)
            if key < row.first { row.first = key }
            if key > row.last { row.last = key }
        case .remove: row.mustRecount = true
        case .shadow: break
        }
        if change != .remove { register(event, &row) }
    }

    /// Why the payload cannot be read, if so. Such an event does not count here at all.
    private static func refusal(_ event: ProjectedEvent) -> String? {
        guard let payload = event.payload else { return nil }
        switch event.type {
        case .conversationStarted:
            for name in ["title", "category"] {
                if let value = payload[name], !value.isNull, value.string == nil { return "\(name) is not text" }
            }
        case .conversationRenamed:
            if payload.string("title") == nil { return "title is missing or not text" }
        default: break
        }
        return nil
    }

    private func register(_ event: ProjectedEvent, _ row: inout Row) {
        guard let payload = event.payload else { return }
        let stamp = Stamp(event.key)
        switch event.type {
        case .conversationStarted:
            if let title = payload.string("title") { row.title.take(Register(value: title, stamp: stamp)) }
            if let category = payload.string("category") {
                row.category.take(Register(value: category, stamp: stamp))
            }
            row.start.takeEarlier(Register(value: event.author, stamp: stamp))
        case .conversationRenamed:
            if let title = payload.string("title") { row.title.take(Register(value: title, stamp: stamp)) }
        default: break
        }
    }

    func flush(_ store: ViewStore) throws(SQLiteError) {
        for conversation in touched.keys.sorted() {
            guard let change = touched[conversation] else { continue }
            if change.isPlain {
                try add(conversation, change, store)
                continue
            }
            var row = try load(conversation, store) ?? Row()
            row.add(change)
            if row.mustRecount { try recount(conversation, &row, store) }
            // A row without events is only what twins that do not count have said of the conversation.
            if row.events == 0 { (row.first, row.last) = Self.never }
            guard row.events > 0 || row.title != nil || row.category != nil || row.start != nil else {
                try store.run("DELETE FROM conversation WHERE conversation = ?", .integer(conversation))
                continue
            }
            try save(conversation, row, store)
        }
        touched.removeAll(keepingCapacity: touched.count < Self.kept)
    }

    /// A step of live events; larger ones come when the views are behind, and their memory is given back.
    private static let kept = 4_096

    private static let never = (first: (time: Int64.max, hlc: Int64.max), last: (time: Int64.min, hlc: Int64.min))

    /// First and last come from the timeline, which was flushed before; it also has what this view refused.
    private func recount(_ conversation: Int64, _ row: inout Row, _ store: ViewStore) throws(SQLiteError) {
        (row.first, row.last) = Self.never
        var counting: [OrderedRow] = []
        for row in store.timeline.pending(conversation) where try !isRefused(row, store) { counting.append(row) }
        for isBackward in [false, true] {
            let all = OrderedRange.all(of: conversation, isBackward: isBackward)
            _ = try OrderedTable.timeline.walk(all, store.connection) { found throws(SQLiteError) in
                if try isRefused(found, store) { return true }
                counting.append(found)
                return false
            }
        }
        for found in counting {
            let key = (time: found.time, hlc: found.hlc)
            if key < row.first { row.first = key }
            if key > row.last { row.last = key }
        }
    }

    private func isRefused(_ row: OrderedRow, _ store: ViewStore) throws(SQLiteError) -> Bool {
        try store.connection.integer(
            "SELECT 1 FROM quarantine WHERE position = ? AND view IN (?, ?)",
            .integer(Int64(bitPattern: row.position)), .text(Self.name), .text(QuarantinedEvent.everyView)) != nil
    }

    private func load(_ conversation: Int64, _ store: ViewStore) throws(SQLiteError) -> Row? {
        let select = try store.connection.statement(
            """
            SELECT events, messages, title, title_stamp, category, category_stamp, starter, start_stamp,
              first_time, first_hlc, last_time, last_hlc
            FROM conversation WHERE conversation = ?
            """)
        defer { select.reset() }
        try select.bind(1, conversation)
        guard try select.step() else { return nil }
        return Row(
            events: select.int64(0), messages: select.int64(1),
            title: select.stamp(3).map { Register(value: select.text(2), stamp: $0) },
            category: select.stamp(5).map { Register(value: select.text(4), stamp: $0) },
            start: select.stamp(7).map { Register(value: select.int64(6), stamp: $0) },
            first: (select.int64(8), select.int64(9)), last: (select.int64(10), select.int64(11)))
    }

    private func add(_ conversation: Int64, _ change: Row, _ store: ViewStore) throws(SQLiteError) {
        // Mostly the events are the last of a conversation that was active a moment ago: no index changes.
        let extend = try store.connection.statement(
            """
            UPDATE conversation SET events = events + ?2, messages = messages + ?3, last_time = ?6, last_hlc = ?7
            WHERE conversation = ?1 AND recent = ?8 AND (last_time < ?6 OR last_time = ?6 AND last_hlc <= ?7)
              AND (first_time < ?4 OR first_time = ?4 AND first_hlc <= ?5)
            """)
        try bind(extend, conversation, change)
        try extend.run()
        guard store.connection.changes == 0 else { return }
        let add = try store.connection.statement(
            """
            INSERT INTO conversation
              (conversation, events, messages, first_time, first_hlc, last_time, last_hlc, recent)
            VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT DO UPDATE SET
              events = events + excluded.events, messages = messages + excluded.messages,
              first_hlc = CASE WHEN excluded.first_time < first_time THEN excluded.first_hlc
                WHEN excluded.first_time > first_time THEN first_hlc ELSE min(first_hlc, excluded.first_hlc) END,
              first_time = min(first_time, excluded.first_time),
              last_hlc = CASE WHEN excluded.last_time > last_time THEN excluded.last_hlc
                WHEN excluded.last_time < last_time THEN last_hlc ELSE max(last_hlc, excluded.last_hlc) END,
              last_time = max(last_time, excluded.last_time), recent = max(recent, excluded.recent)
            """)
        try bind(add, conversation, change)
        try add.run()
    }

    private func bind(_ statement: Statement, _ conversation: Int64, _ change: Row) throws(SQLiteError) {
        try statement.bind(1, conversation)
        try statement.bind(2, change.events)
        try statement.bind(3, change.messages)
        try statement.bind(4, change.first.time)
        try statement.bind(5, change.first.hlc)
        try statement.bind(6, change.last.time)
        try statement.bind(7, change.last.hlc)
        try statement.bind(8, Self.recent(change.last.time))
    }

    private func save(_ conversation: Int64, _ row: Row, _ store: ViewStore) throws(SQLiteError) {
        try store.run(
            "INSERT OR REPLACE INTO conversation VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?)", .integer(conversation),
            .integer(row.events), .integer(row.messages), .optional(row.title?.value),
            .optional(row.title?.stamp), .optional(row.category?.value), .optional(row.category?.stamp),
            row.start.map { .integer($0.value) } ?? .null, .optional(row.start?.stamp), .integer(row.first.time),
            .integer(row.first.hlc), .integer(row.last.time), .integer(row.last.hlc),
            .integer(Self.recent(row.last.time)))
    }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        var conversations: [Int64] = []
        try store.rows("SELECT conversation FROM conversation") { conversations.append($0.int64(0)) }
        for conversation in conversations {
            guard let row = try load(conversation, store) else { continue }
            digest.add(
                try store.text(conversation), String(row.events), String(row.messages), row.title?.value ?? "",
                row.title?.stamp.key.dot.description ?? "", row.category?.value ?? "",
                row.category?.stamp.key.dot.description ?? "",
                try row.start.map { start throws(SQLiteError) in try store.text(start.value) } ?? "",
                "\(row.first) \(row.last)")
        }
    }
}

extension Optional {
    /// The later of two writes counts.
    fileprivate mutating func take<Value>(_ write: ConversationsView.Register<Value>)
    where Wrapped == ConversationsView.Register<Value> {
        if map({ $0.stamp < write.stamp }) ?? true { self = write }
    }

    /// The earlier of two writes counts.
    fileprivate mutating func takeEarlier<Value>(_ write: ConversationsView.Register<Value>)
    where Wrapped == ConversationsView.Register<Value> {
        if map({ write.stamp < $0.stamp }) ?? true { self = write }
    }
}

extension Binding {
    static func optional(_ text: String?) -> Binding { text.map { .text($0) } ?? .null }
    static func optional(_ stamp: Stamp?) -> Binding { stamp.map { .blob($0.bytes) } ?? .null }
}
