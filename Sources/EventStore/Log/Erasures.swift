/// What the erasure events of a log let go (D27; FORMATS.md, section 2). Only an event that one of them covers may have lost its
/// payload. A node lets go what it has recorded itself, in this origin and in earlier ones: what others have recorded no peer can blank.
struct Erasures {
    static let user = ReservedType.userErased
    static let conversation = ReservedType.conversationErased

    /// What one node says of one user or conversation.
    private struct Subject: Hashable {
        let node: NodeID
        let text: String
    }

    /// The latest erasure of each, by its hlc.
    private var users: [Subject: HybridTime] = [:]
    private var conversations: [Subject: HybridTime] = [:]

    /// Takes note of an event of `node`, if it is an erasure.
    mutating func take(_ event: Event, of node: NodeID) {
        switch event.header.type {
        case Self.user: note(event, of: node, "user", event.header.user, in: &users)
        case Self.conversation: note(event, of: node, "conversation", event.header.conversation, in: &conversations)
        default: break
        }
    }

    private func note(
        _ event: Event, of node: NodeID, _ member: String, _ own: String?, in times: inout [Subject: HybridTime]
    ) {
        // What is gone or cannot be read says nothing, and neither does a member of another form.
        guard let payload = event.payload else { return }
        let named = JSONObject(validated: payload)[member]
        guard let text = named == nil ? own : named?.text else { return }
        let subject = Subject(node: node, text: text)
        times[subject] = max(times[subject] ?? event.header.hlc, event.header.hlc)
    }

    /// Whether an event of `node` with this hlc, of this user in this conversation, may have lost its payload.
    func covers(_ hlc: HybridTime, of node: NodeID, user: String, conversation: String?) -> Bool {
        if let time = users[Subject(node: node, text: user)], hlc < time { return true }
        guard let conversation else { return false }
        return conversations[Subject(node: node, text: conversation)].map { hlc < $0 } ?? false
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
        return try mapped { () throws(DatabaseError) in
            if !refs.isEmpty {
                let list = refs.map(String.init).joined(separator: ",")
                let nodes = try connection.nodes()
                try connection.rows("SELECT \(EventRow.columns) FROM event WHERE type IN (\(list))") {
                    row throws(DatabaseError) in
                    let event = try EventRow.read(row, names: &names, on: connection).event
                    if let node = nodes[event.header.dot.origin] { erasures.take(event, of: node) }
                }
            }
            var dots: [Dot] = []
            try connection.eachErased { (row) throws(DatabaseError) in
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
    /// Of which node; `nil` where the origin's row is damaged.
    private let node: NodeID?
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
        node = row.digest(6).map(NodeID.init)
    }

    func isCovered(
        by erasures: Erasures, _ names: inout InternedStrings, _ connection: Connection
    ) throws(DatabaseError) -> Bool {
        guard let node else { return false }
        let text = try conversation.map { (ref) throws(DatabaseError) in try names.text(ref, on: connection) }
        return erasures.covers(hlc, of: node, user: try names.text(user, on: connection), conversation: text)
    }
}

extension Connection {
    /// Calls `body` with every row of the log that has no payload, up to position `top`.
    func eachErased(
        through top: Int64 = .max, _ body: (ErasedRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try rows(
            """
            SELECT position, origin, seq, hlc, user, conversation, node FROM event LEFT JOIN origin ON ref = origin
            WHERE position <= ? AND digest IS NOT NULL ORDER BY position
            """, [.integer(top)]
        ) { row throws(DatabaseError) in try body(ErasedRow(row)) }
    }
}
