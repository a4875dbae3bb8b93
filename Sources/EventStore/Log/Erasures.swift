/// What the erasure events of a log let go (D27; FORMATS.md, section 2). Only an event that one of them covers may have lost its payload.
/// A node lets go what stands in its own log, and wherever it stands what it has recorded itself, in any of its origins. No peer can
/// blank what others have recorded, but where that node confirms the peer's erasure with one of its own.
struct Erasures {
    /// What is asked of an event before its payload may be missing.
    struct Place {
        let dot: Dot
        /// Whose origin it is.
        let node: NodeID
        let hlc: HybridTime
        let type: String
        let user: String
        let author: String
        let conversation: String?
    }

    private struct Key: Hashable {
        enum Kind {
            case user, author, conversation
            /// But for what holds for others (``SharedType``).
            case ofUserAlone, ofAuthorAlone
            /// What others say of events of the user, or written by the user, that are erased.
            case ofOthers
        }
        let node: NodeID
        let kind: Kind
        let text: ByteText
    }

    /// Whose log it is; `nil`: nobody's, and each erasure covers only what its node has recorded.
    var keeper: NodeID?
    /// The latest erasure of each, by what it covers.
    private var times: [Key: HybridTime] = [:]
    private var dots: [NodeID: Set<Dot>] = [:]

    init(keeper: NodeID? = nil) { self.keeper = keeper }

    /// Whether nothing is covered.
    var isEmpty: Bool { times.isEmpty && dots.isEmpty }

    /// Takes note of an event of `node`, if it is an erasure.
    mutating func take(_ event: Event, of node: NodeID) {
        guard let erasure = Erasure(event) else { return }
        let hlc = min(event.header.hlc, erasure.before ?? event.header.hlc)
        switch erasure.subject {
        case .user(let name):
            let isWhole = erasure.isWithShared
            note(Key(node: node, kind: isWhole ? .user : .ofUserAlone, text: ByteText(name)), hlc)
            if erasure.isWithAuthored {
                note(Key(node: node, kind: isWhole ? .author : .ofAuthorAlone, text: ByteText(name)), hlc)
            }
            if erasure.isWithReplies { note(Key(node: node, kind: .ofOthers, text: ByteText(name)), hlc) }
        case .conversation(let name): note(Key(node: node, kind: .conversation, text: ByteText(name)), hlc)
        case nil: break
        }
        if !erasure.events.isEmpty { dots[node, default: []].formUnion(erasure.events) }
    }

    /// Those that the keeper of a log has recorded in it, up to a position.
    init(keeper: NodeID?, among all: [StoredErasure], through last: UInt64 = .max) {
        self.keeper = keeper
        for one in all where one.node == keeper && one.position <= last { take(one.event, of: one.node) }
    }

    private mutating func note(_ key: Key, _ hlc: HybridTime) { times[key] = max(times[key] ?? hlc, hlc) }

    /// Whether the event at this place may have lost its payload. What nodes say for themselves stays: without it neither keys nor
    /// erasures could be checked.
    func covers(_ place: Place) -> Bool {
        guard !isEmpty, !ReservedType.contains(place.type) else { return false }
        let isShared = SharedType.contains(place.type)
        if covers(place, place.node, isShared: isShared) { return true }
        guard let keeper, keeper != place.node else { return false }
        return covers(place, keeper, isShared: isShared)
    }

    /// Whether an edit, a retraction or a transcript goes with the erased event that it is about. It does where this node has erased that
    /// by its name, with its conversation, or with what others say of it, and where it is the erased user's own, or its author's, whenever it
    /// was made.
    func covers(_ amendment: Place, of message: Place) -> Bool {
        guard let keeper, !ReservedType.contains(amendment.type) else { return false }
        if isNamed(message, keeper) || covers(amendment, keeper, isShared: false) { return true }
        // What a machine heard is what the author said.
        if amendment.type == AmendmentRule.transcribed { return covers(message, keeper, isShared: false) }
        if isPast(message, keeper, .ofOthers, message.user) || isPast(message, keeper, .ofOthers, message.author) {
            return true
        }
        return amendment.author.hasSameBytes(as: message.author) && covers(message, keeper, isShared: false)
    }

    private func isNamed(_ place: Place, _ node: NodeID) -> Bool {
        dots[node]?.contains(place.dot) ?? false
            || place.conversation.map { isPast(place, node, .conversation, $0) } ?? false
    }

    private func isPast(_ place: Place, _ node: NodeID, _ kind: Key.Kind, _ text: String) -> Bool {
        times[Key(node: node, kind: kind, text: ByteText(text))].map { place.hlc < $0 } ?? false
    }

    private func covers(_ place: Place, _ node: NodeID, isShared: Bool) -> Bool {
        isNamed(place, node) || isPast(place, node, .user, place.user) || isPast(place, node, .author, place.author)
            || !isShared
                && (isPast(place, node, .ofUserAlone, place.user)
                    || isPast(place, node, .ofAuthorAlone, place.author))
    }

    /// What the erasures of `keeper` speak of: texts that stand in headers, and events by name.
    var subjects: (people: Set<ByteText>, conversations: Set<ByteText>, events: Set<Dot>) {
        let own = times.keys.filter { $0.node == keeper }
        return (
            Set(own.filter { $0.kind != .conversation }.map(\.text)),
            Set(own.filter { $0.kind == .conversation }.map(\.text)), keeper.flatMap { dots[$0] } ?? []
        )
    }
}

extension LogReader {
    /// Whose log this is; `nil` where the log does not say.
    func keeper() throws(StoreError) -> NodeID? {
        try mapped { () throws(DatabaseError) in try connection.keeper() }
    }

    /// Calls `body` with the erasure events of the log, and whose they are. Reads the types of all rows.
    func eachErasure(_ body: (Event, NodeID) -> Void) throws(DatabaseError) {
        var refs: [String] = []
        for type in [ReservedType.userErased, ReservedType.conversationErased] {
            if let ref = try names.ref(type, on: connection) { refs.append(String(ref)) }
        }
        guard !refs.isEmpty else { return }
        let nodes = try connection.nodes()
        try connection.rows(
            "SELECT \(EventRow.columns) FROM event WHERE type IN (\(refs.joined(separator: ",")))"
        ) { row throws(DatabaseError) in
            let event = try EventRow.read(row, names: &names, on: connection).event
            if let node = nodes[event.header.dot.origin] { body(event, node) }
        }
    }

    /// Events without their payload that no erasure covers, the first `limit` of them by position: what a peer that has them whole can
    /// heal. Reads the whole log.
    package func uncoveredErasures(limit: Int = 1_000) throws(StoreError) -> [Dot] {
        try mapped { () throws(DatabaseError) in
            var erasures = Erasures(keeper: try connection.keeper())
            try eachErasure { erasures.take($0, of: $1) }
            var dots: [Dot] = []
            try connection.eachErased { (row) throws(DatabaseError) in
                guard dots.count < limit, try !row.isCovered(by: erasures, &names, connection) else { return }
                dots.append(Dot(origin: try names.origin(row.origin, on: connection), seq: row.seq))
            }
            return dots
        }
    }
}

extension Erasures.Place {
    /// - Parameter node: Whose the event's origin is.
    init(_ header: borrowing EventHeader, of node: NodeID) {
        self.init(
            dot: header.dot, node: node, hlc: header.hlc, type: header.type, user: header.user,
            author: header.author, conversation: header.conversation)
    }
}

/// What of a row says whether its payload may go.
struct ErasedRow {
    static let columns = "position, event.origin, seq, hlc, user, conversation, type, author, node"

    let position: UInt64
    let origin: Int64
    let seq: UInt64
    /// Of which node; `nil` where the origin's row is damaged.
    let node: NodeID?
    let hlc: HybridTime
    let type: Int64
    let user: Int64
    let author: Int64
    let conversation: Int64?

    /// Reads ``columns``, from the first on.
    init(_ row: Statement) {
        position = row.uint64(0)
        origin = row.int64(1)
        seq = row.uint64(2)
        hlc = HybridTime(rawValue: row.uint64(3))
        user = row.int64(4)
        conversation = row.int64IfAny(5)
        type = row.int64(6)
        author = row.int64IfAny(7) ?? user
        node = row.digest(8).map(NodeID.init)
    }

    func isCovered(
        by erasures: Erasures, _ names: inout InternedStrings, _ connection: Connection
    ) throws(DatabaseError) -> Bool {
        guard !erasures.isEmpty, let place = try place(&names, connection) else { return false }
        return erasures.covers(place)
    }

    /// What erasures ask of it; `nil` where the origin's row is damaged.
    func place(
        _ names: inout InternedStrings, _ connection: Connection
    ) throws(DatabaseError) -> Erasures.Place? {
        guard let node else { return nil }
        let text = try conversation.map { (ref) throws(DatabaseError) in try names.text(ref, on: connection) }
        return Erasures.Place(
            dot: Dot(origin: try names.origin(origin, on: connection), seq: seq), node: node, hlc: hlc,
            type: try names.text(type, on: connection), user: try names.text(user, on: connection),
            author: try names.text(author, on: connection), conversation: text)
    }
}

extension Connection {
    /// Whose log this is, by table `meta`; `nil` where that does not say.
    func keeper() throws(DatabaseError) -> NodeID? {
        try first("SELECT node FROM origin WHERE ref = (SELECT value FROM meta WHERE key = 'origin')") { row in
            row.digest(0).map(NodeID.init)
        }
    }

    /// Calls `body` with every row of the log that has no payload, or with every one that has, up to position `top`.
    func eachErased(
        isErased: Bool = true, through top: Int64 = .max, _ body: (ErasedRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try rows(
            """
            SELECT \(ErasedRow.columns) FROM event LEFT JOIN origin ON ref = event.origin
            WHERE position <= ? AND digest IS \(isErased ? "NOT " : "")NULL ORDER BY position
            """, [.integer(top)]
        ) { row throws(DatabaseError) in try body(ErasedRow(row)) }
    }
}
