/// What the erasure events of a log let go (D27; FORMATS.md, section 2). Only an event that one of them covers may have lost its
/// payload.
struct Erasures {
    static let user = ReservedType.userErased
    static let conversation = ReservedType.conversationErased

    /// The latest erasure of each, by its hlc.
    private var users: [String: HybridTime] = [:]
    private var conversations: [String: HybridTime] = [:]

    /// Takes note of an event, if it is an erasure.
    mutating func take(_ event: Event) {
        switch event.header.type {
        case Self.user: note(event, "user", event.header.user, in: &users)
        case Self.conversation: note(event, "conversation", event.header.conversation, in: &conversations)
        default: break
        }
    }

    private func note(
        _ event: Event, _ member: String, _ own: String?, in times: inout [String: HybridTime]
    ) {
        let named = event.payload.flatMap { JSONObject(validated: $0).string(member) }
        guard let subject = named ?? own else { return }
        times[subject] = max(times[subject] ?? event.header.hlc, event.header.hlc)
    }

    /// Whether an event with this hlc, of this user in this conversation, may have lost its payload.
    func covers(_ hlc: HybridTime, user: String, conversation: String?) -> Bool {
        if let time = users[user], hlc < time { return true }
        if let conversation, let time = conversations[conversation], hlc < time { return true }
        return false
    }
}

extension LogReader {
    /// Events without their payload that no erasure covers, the first `limit` of them by position: what a peer that has them whole can
    /// heal. Reads the whole log.
    package func uncoveredErasures(limit: Int = 1_000) throws(StoreError) -> [Dot] {
        var erasures = Erasures()
        var refs: [Int64] = []
        for type in [Erasures.user, Erasures.conversation] {
            if let ref = try ref(type) { refs.append(ref) }
        }
        return try mapped { () throws(SQLiteError) in
            if !refs.isEmpty {
                let list = refs.map(String.init).joined(separator: ",")
                let select = try connection.statement("SELECT \(EventRow.columns) FROM event WHERE type IN (\(list))")
                defer { select.reset() }
                while try select.step() {
                    erasures.take(try EventRow.read(select, names: &names, on: connection).event)
                }
            }
            var dots: [Dot] = []
            try connection.eachErased { (row) throws(SQLiteError) in
                guard dots.count < limit, try !row.isCovered(by: erasures, &names, connection) else { return }
                dots.append(Dot(origin: try names.origin(row.origin, on: connection), seq: row.seq))
            }
            return dots
        }
    }
}

/// A row without payload.
struct ErasedRow {
    let position: UInt64
    let origin: Int64
    let seq: UInt64
    private let hlc: HybridTime
    private let user: Int64
    private let conversation: Int64?

    fileprivate init(_ row: Statement) {
        position = row.uint64(0)
        origin = row.int64(1)
        seq = row.uint64(2)
        hlc = HybridTime(rawValue: row.uint64(3))
        user = row.int64(4)
        conversation = row.int64IfAny(5)
    }

    func isCovered(
        by erasures: Erasures, _ names: inout InternedStrings, _ connection: Connection
    ) throws(SQLiteError) -> Bool {
        let text = try conversation.map { (ref) throws(SQLiteError) in try names.text(ref, on: connection) }
        return erasures.covers(hlc, user: try names.text(user, on: connection), conversation: text)
    }
}

extension Connection {
    /// Calls `body` with every row of the log that has no payload, up to position `top`.
    func eachErased(
        through top: Int64 = .max, _ body: (ErasedRow) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        let select = try statement(
            """
            SELECT position, origin, seq, hlc, user, conversation FROM event
            WHERE position <= ? AND digest IS NOT NULL ORDER BY position
            """)
        defer { select.reset() }
        try select.bind(1, top)
        while try select.step() { try body(ErasedRow(select)) }
    }
}
