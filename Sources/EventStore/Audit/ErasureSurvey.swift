/// An event that a plan is about.
struct FoundEvent {
    let type: String
    let dot: Dot
    let node: NodeID
    let hlc: HybridTime
    let isAhead: Bool
    /// Whether no erasure of the target covers it, and it goes by name.
    let isNamed: Bool
    /// Whether it is in the plan's vector.
    let isSeen: Bool
}

/// The events with the latest stamps, so many as may be named.
struct LatestEvents: Sendable {
    private var events: [(hlc: HybridTime, dot: Dot)] = []
    /// Below it some were left out.
    private var floor: HybridTime?

    mutating func add(_ dot: Dot, _ hlc: HybridTime) {
        events.append((hlc, dot))
        guard events.count > 2 * ErasurePlan.mostNamed else { return }
        events.sort { $0.hlc > $1.hlc }
        floor = events[ErasurePlan.mostNamed].hlc
        events.removeLast(events.count - ErasurePlan.mostNamed)
    }

    /// Those that are not before `hlc`; `nil` if not all of them are known any more.
    func dots(from hlc: HybridTime) -> [Dot]? {
        if let floor, floor >= hlc { return nil }
        return events.filter { $0.hlc >= hlc }.map(\.dot)
    }
}

/// Looks through the headers of a log, and the payloads of edits and retractions. What one event says of another may stand before it, as where
/// a peer brought it first: so the log is looked through again.
struct ErasureSurvey {
    /// Rows that are read in one transaction.
    private static let rows: Int64 = 16_384

    private(set) var cursor: UInt64 = 0
    private(set) var conversations: Set<Int64> = []
    private let person: Int64?
    private let talk: Int64?
    private let wanted: Set<UUIDBits>
    /// Those of them that were not met yet.
    private(set) var missing: Set<UUIDBits>
    private let reserved: Set<Int64>
    /// The types of edits and retractions.
    private let edits: Set<Int64>
    private let now = WallClock.now
    /// By origin, up to which seq its events are in the plan's vector.
    private let limits: [Int64: UInt64]
    /// The latest stamp of those.
    private(set) var last = HybridTime(rawValue: 0)
    /// Of the target's events, and of replies to them: by these others are known.
    private var (ids, replies): (Set<UUIDBits>, Set<UUIDBits>) = ([], [])
    /// Where the events stand that are met only by what they name.
    private var named: Set<UInt64> = []
    private var isAgain = false
    /// Whether replies were found that events before them may amend.
    private var hasMore = false

    init(_ target: ErasurePlan.Target, _ log: LogReader, _ limits: [Int64: UInt64]) throws(StoreError) {
        self.limits = limits
        var (person, talk, wanted): (Int64?, Int64?, Set<UUIDBits>) = (nil, nil, [])
        switch target {
        // A text that no event has matches no row.
        case .user(let name): person = try log.ref(name) ?? -1
        case .conversation(let name): talk = try log.ref(name) ?? -1
        case .events(let ids): wanted = Set(ids.map(\.bits))
        }
        (self.person, self.talk, self.wanted, missing) = (person, talk, wanted, wanted)
        edits = Set([try log.ref(AmendmentRule.edited), try log.ref(AmendmentRule.retracted)].compactMap(\.self))
        reserved = try mapped { () throws(DatabaseError) in
            Set(
                try log.connection.all("SELECT DISTINCT ref, text FROM name WHERE text GLOB '*.*'") { row in
                    ReservedType.contains(row.text(1)) ? row.int64(0) : nil
                }.compactMap { $0 })
        }
    }

    /// Goes back to the start, where what was found may be named by what was passed over; false: all is found.
    mutating func startAgain() -> Bool {
        guard hasMore else { return false }
        (cursor, isAgain, hasMore) = (0, true, false)
        return true
    }

    mutating func step(through top: UInt64, _ log: LogReader, _ plan: inout ErasurePlan) throws(DatabaseError) {
        let amending = "type IN (\(edits.sorted().map(String.init).joined(separator: ",")))"
        let select = try log.connection.statement(
            """
            SELECT \(ErasedRow.columns), digest IS NULL, event.id, cause, CASE WHEN \(amending) THEN payload END
            FROM event JOIN origin ON ref = event.origin WHERE position > ? AND position <= ?
            \(isAgain ? "AND (cause NOT NULL OR \(amending))" : "") ORDER BY position LIMIT ?
            """)
        defer { select.reset() }
        try select.bind(1, cursor)
        try select.bind(2, top)
        try select.bind(3, Self.rows)
        var count = Int64(0)
        while try select.step() {
            count += 1
            let row = ErasedRow(select)
            cursor = row.position
            let isSeen = row.seq <= limits[row.origin] ?? 0
            let isAhead = row.hlc.milliseconds > now
            if isSeen, !isAhead { last = max(last, row.hlc) }
            guard !reserved.contains(row.type), let (part, isNamed) = part(of: row, select) else { continue }
            guard select.int64(9) == 1 else {
                plan.addGone()
                continue
            }
            if isSeen, let conversation = row.conversation { conversations.insert(conversation) }
            guard let node = row.node else { continue }
            let dot = Dot(origin: try log.names.origin(row.origin, on: log.connection), seq: row.seq)
            let type = try log.names.text(row.type, on: log.connection)
            plan.add(
                part,
                FoundEvent(
                    type: type, dot: dot, node: node, hlc: row.hlc, isAhead: isAhead, isNamed: isNamed || isAhead,
                    isSeen: isSeen))
        }
        if count < Self.rows { cursor = top }
    }

    private mutating func part(
        of row: ErasedRow, _ select: Statement
    ) -> (part: ErasurePlan.Part, isNamed: Bool)? {
        let id = select.uuid(10)
        if let part = part(of: row, id) {
            guard !isAgain else { return nil }
            if let id { ids.insert(id) }
            hasMore = true
            return (part, !wanted.isEmpty)
        }
        guard let part = part(naming: select, row.type), named.insert(row.position).inserted else { return nil }
        if part == .own {
            if let id { ids.insert(id) }
        } else {
            if let id { replies.insert(id) }
            // Only what is no edit is amended.
            if !edits.contains(row.type) { hasMore = true }
        }
        return (part, true)
    }

    /// What the row itself says.
    private mutating func part(of row: ErasedRow, _ id: UUIDBits?) -> ErasurePlan.Part? {
        if let person { return row.user == person ? .own : row.author == person ? .authored : nil }
        if let talk { return row.conversation == talk ? .own : nil }
        guard let id, wanted.contains(id) else { return nil }
        missing.remove(id)
        return .own
    }

    /// What other events say that the row names. An edit has the text of its message once more.
    private func part(naming select: Statement, _ type: Int64) -> ErasurePlan.Part? {
        let cause = select.uuid(11)
        if person != nil, let cause, ids.contains(cause) { return .replies }
        guard edits.contains(type), !select.isNull(12), !select.isBlob(12),
            let target = AmendmentRule.target(
                JSONObject(validated: select.bytes(12)), cause: cause.map { EventID($0) })
        else { return nil }
        guard person != nil else { return ids.contains(target.bits) ? .own : nil }
        return ids.contains(target.bits) || replies.contains(target.bits) ? .replies : nil
    }
}
