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

/// Looks through the headers of a log, and the payloads of edits, retractions and transcripts. What one event says of another may stand before it, as
/// where a peer brought it first: so the log is looked through again.
struct ErasureSurvey {
    /// Rows that are read in one transaction.
    private static let rows: Int64 = 16_384

    private(set) var cursor: UInt64 = 0
    private(set) var conversations: Set<Int64> = []
    private let person: Int64?
    /// The user of the target.
    private let name: String
    private let talk: Int64?
    private let wanted: Set<UUIDBits>
    /// Those of them that were not met yet.
    private(set) var missing: Set<UUIDBits>
    private let reserved: Set<Int64>
    /// The types of what has the words of another event once more, or takes it back.
    private let amendments: Set<Int64>
    private let retracted: Int64?
    private let transcribed: Int64?
    /// The types of what holds for others (``SharedType``).
    private let lists: Set<Int64>
    private let now = WallClock.now
    /// By origin, up to which seq its events are in the plan's vector.
    private let limits: [Int64: UInt64]
    /// The latest stamp of those.
    private(set) var last = HybridTime(rawValue: 0)
    /// The target's events, replies to them, and what the user has written in the histories of others: by these others are known.
    private var (own, replies, authored) = (MetEvents(), MetEvents(), MetEvents())
    /// Conversations in which another than the user has something: an event in their history, or a place on the list.
    private var crowd = BitSet()
    /// What the user has set for others. What becomes of it shows when all is seen.
    private var shared: [SharedEvent] = []
    /// Where the events stand that are met only by what they name.
    private var named: Set<UInt64> = []
    private var isAgain = false
    /// Whether replies were found that events before them may amend.
    private var hasMore = false

    init(_ target: ErasurePlan.Target, _ log: LogReader, _ limits: [Int64: UInt64]) throws(StoreError) {
        self.limits = limits
        var (person, talk, wanted): (Int64?, Int64?, Set<UUIDBits>) = (nil, nil, [])
        var user = ""
        switch target {
        // A text that no event has matches no row.
        case .user(let name): (user, person) = (name, try log.ref(name) ?? -1)
        case .conversation(let name): talk = try log.ref(name) ?? -1
        case .events(let ids): wanted = Set(ids.map(\.bits))
        }
        (self.person, self.talk, self.wanted, missing) = (person, talk, wanted, wanted)
        name = user
        retracted = try log.ref(AmendmentRule.retracted)
        transcribed = try log.ref(AmendmentRule.transcribed)
        amendments = Set([try log.ref(AmendmentRule.edited), retracted, transcribed].compactMap(\.self))
        lists = Set(
            [try log.ref(SharedType.started), try log.ref(SharedType.joined), try log.ref(SharedType.left)]
                .compactMap(\.self))
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
        let amending = Self.types(amendments)
        let telling = Self.types(amendments.union(lists))
        let select = try log.connection.statement(
            """
            SELECT \(ErasedRow.columns), digest IS NULL, event.id, cause, CASE WHEN \(telling) THEN payload END
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
            guard !reserved.contains(row.type) else { continue }
            let isShared = isShared(row, select)
            let found = isShared ? nil : try part(of: row, select, log)
            guard isShared ? !isAgain : found != nil else { continue }
            guard select.int64(9) == 1 else {
                plan.addGone()
                continue
            }
            guard let node = row.node else { continue }
            let dot = Dot(origin: try log.names.origin(row.origin, on: log.connection), seq: row.seq)
            let type = try log.names.text(row.type, on: log.connection)
            let event = FoundEvent(
                type: type, dot: dot, node: node, hlc: row.hlc, isAhead: isAhead,
                isNamed: isShared || isAhead || found?.isNamed == true, isSeen: isSeen)
            if let found {
                if isSeen, let conversation = row.conversation { conversations.insert(conversation) }
                plan.add(found.part, event)
            } else {
                shared.append(
                    SharedEvent(
                        event: event, row: row, id: select.uuid(10),
                        kind: lists.contains(row.type)
                            ? .list : .amendment(of: target(select, row.type), isRetraction: row.type == retracted)))
            }
        }
        if count < Self.rows { cursor = top }
    }

    /// Whether the user has set by it what holds for others.
    private mutating func isShared(_ row: ErasedRow, _ select: Statement) -> Bool {
        guard let person else { return false }
        if !isAgain, let conversation = row.conversation, row.user != person || namesOther(row, select) {
            crowd.insert(conversation)
        }
        guard row.user == person || row.author == person else { return false }
        return row.type != transcribed && amendments.contains(row.type) || lists.contains(row.type)
    }

    /// Whether it puts another than the user on the list of a conversation, or out of it.
    private func namesOther(_ row: ErasedRow, _ select: Statement) -> Bool {
        guard lists.contains(row.type), !select.isNull(12), !select.isBlob(12) else { return false }
        let object = JSONObject(validated: select.bytes(12))
        let names = ["participants", "moderators"].flatMap { object.strings($0) ?? [] }
        return (names + [object.string("user")].compactMap(\.self)).contains { !$0.hasSameBytes(as: name) }
    }

    /// Says what becomes of what the user has set for others, once the log was looked through. An edit or a retraction goes with its message. What
    /// else the user edited of others changed nothing, and is their own word. What was taken back of others stays so, and so does who takes part
    /// where others have something.
    mutating func settle(_ plan: inout ErasurePlan, _ log: LogReader) throws(DatabaseError) {
        for one in shared {
            let alone = one.row.user == person ? ErasurePlan.Part.own : .authored
            let part =
                switch one.kind {
                case .amendment(let id?, _) where try speaks(one.row, of: id, authored, log):
                    ErasurePlan.Part.authored
                case .amendment(let id?, _) where try speaks(one.row, of: id, own, log): ErasurePlan.Part.own
                case .amendment(_, let isRetraction): isRetraction ? .shared : alone
                case .list: one.row.conversation.map { crowd.contains($0) } == true ? .shared : alone
                }
            if part != .shared, one.event.isSeen, let conversation = one.row.conversation {
                conversations.insert(conversation)
            }
            if part == .own { own.insert(one.id, one.row.position) }
            plan.add(part, one.event)
        }
        shared = []
    }

    private mutating func part(
        of row: ErasedRow, _ select: Statement, _ log: LogReader
    ) throws(DatabaseError) -> (part: ErasurePlan.Part, isNamed: Bool)? {
        let id = select.uuid(10)
        if let part = part(of: row, id) {
            guard !isAgain else { return nil }
            own.insert(id, row.position)
            if part == .authored { authored.insert(id, row.position) }
            hasMore = true
            return (part, !wanted.isEmpty)
        }
        guard let part = try part(of: row, naming: select, log), named.insert(row.position).inserted else {
            return nil
        }
        if part == .own {
            own.insert(id, row.position)
        } else {
            replies.insert(id, row.position)
            // Only what is no edit is amended.
            if !amendments.contains(row.type) { hasMore = true }
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

    /// What other events say that the row names. An edit or a transcript has the words of its message once more, and what a machine heard is
    /// what its author said: no reply.
    private func part(
        of row: ErasedRow, naming select: Statement, _ log: LogReader
    ) throws(DatabaseError) -> ErasurePlan.Part? {
        // What led to an edit or a retraction is not what it is about: a report is no reason to take back what was done about it.
        guard amendments.contains(row.type) else {
            // Nor is who takes part in a conversation, though someone asked for it.
            guard person != nil, !lists.contains(row.type), let cause = select.uuid(11) else { return nil }
            return try speaks(row, of: cause, own, log) ? .replies : nil
        }
        guard let target = target(select, row.type) else { return nil }
        if try speaks(row, of: target, own, log) {
            guard person == nil || row.type == transcribed else { return .replies }
            return try speaks(row, of: target, authored, log) ? .authored : .own
        }
        return try speaks(row, of: target, replies, log) ? .replies : nil
    }

    /// Whether the row is about one of these events, and about none of another that has its id.
    private func speaks(
        _ row: ErasedRow, of id: UUIDBits, _ met: MetEvents, _ log: LogReader
    ) throws(DatabaseError) -> Bool {
        guard met.ids.contains(id), let place = try row.place(&log.names, log.connection) else { return false }
        return try log.speaks(place, of: id) { met.positions.contains($0.position) }
    }

    private static func types(_ refs: Set<Int64>) -> String {
        "type IN (\(refs.sorted().map(String.init).joined(separator: ",")))"
    }

    private func target(_ select: Statement, _ type: Int64) -> UUIDBits? {
        AmendmentRule.named(select, type == transcribed, payload: 12, cause: 11)
    }
}

/// An event by which the user of a plan has set what holds for others.
private struct SharedEvent {
    enum Kind {
        /// Who takes part in a conversation.
        case list
        /// An edit or a retraction of a message; `nil`: no one can say of which.
        case amendment(of: UUIDBits?, isRetraction: Bool)
    }

    let event: FoundEvent
    let row: ErasedRow
    let id: UUIDBits?
    let kind: Kind
}

/// Events by which others are known: an id alone may be that of an event of another, too.
private struct MetEvents {
    private(set) var ids: Set<UUIDBits> = []
    private(set) var positions: Set<UInt64> = []

    mutating func insert(_ id: UUIDBits?, _ position: UInt64) {
        guard let id else { return }
        ids.insert(id)
        positions.insert(position)
    }
}

/// Numbers of table `name`, a bit each: of some million conversations a hundred kilobytes.
private struct BitSet {
    private var words: [UInt64] = []
    /// The table counts on from 1. Of what a hand has written there beyond it nothing is kept.
    private static let most: Int64 = 1 << 28

    func contains(_ ref: Int64) -> Bool {
        let word = Int(ref >> 6)
        return words.indices.contains(word) && words[word] >> (ref & 63) & 1 == 1
    }

    mutating func insert(_ ref: Int64) {
        guard (0..<Self.most).contains(ref) else { return }
        let word = Int(ref >> 6)
        if word >= words.count { words += repeatElement(0, count: word + 1 - words.count) }
        words[word] |= 1 << UInt64(ref & 63)
    }
}
