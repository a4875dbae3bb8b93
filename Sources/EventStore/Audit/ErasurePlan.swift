/// What an erasure would take away, before anyone orders it: counted in the log, by what an operator has to decide.
package struct ErasurePlan: Sendable {
    /// Whose events are to go.
    package enum Target: Hashable, Sendable {
        case user(String)
        case conversation(String)
        case events([EventID])
    }

    /// Which of them.
    package enum Part: String, CaseIterable, Sendable {
        /// In the history of the user, in the conversation, or named by id: these go.
        case own
        /// What the user has written in the histories of others.
        case authored
        /// What others have written in reply to the user, outside of the user's history.
        case replies
    }

    /// Events that still have their payload, by part and type.
    package private(set) var counts: [Part: [String: UInt64]] = [:]
    /// Conversations with an event that goes.
    package private(set) var conversations = 0
    /// Events of part ``Part/own`` by the node that recorded them.
    package private(set) var nodes: [NodeID: UInt64] = [:]
    /// Events whose payload is gone already.
    package private(set) var gone: UInt64 = 0
    /// Events with a stamp ahead of this node's clock: they are erased by name.
    package private(set) var ahead: UInt64 = 0
    /// Ids of the target that no event has which can be erased.
    package private(set) var missing: [EventID] = []
    /// The log's last position when it was looked through.
    package private(set) var top: UInt64 = 0
    package let target: Target
    private var named: [Dot] = []
    private var authoredAhead: [Dot] = []
    private var replies: [Dot] = []

    /// How many events of this part there are.
    package func count(_ part: Part) -> UInt64 { counts[part, default: [:]].values.reduce(0, +) }

    /// Says whether two plans take the same away: 16 hexadecimal digits.
    package var fingerprint: String {
        var text = "sillok-erasure-plan-v1\n\(target)\n"
        for part in Part.allCases {
            for (type, count) in counts[part, default: [:]].sorted(by: { $0.key < $1.key }) {
                text += "\(part.rawValue) \(type) \(count)\n"
            }
        }
        return String(SHA256().digest(Array(text.utf8)).description.prefix(16))
    }

    /// Looks through the log.
    ///
    /// - Parameter progress: Told of positions: how far it is, and how far it goes.
    package init(_ target: Target, _ log: LogReader, progress: (UInt64, UInt64) -> Void = { _, _ in })
        throws(StoreError)
    {
        self.target = target
        top = try log.top()
        var survey = try ErasureSurvey(target, log)
        while survey.cursor < top {
            try mapped { () throws(DatabaseError) in try survey.step(through: top, log, &self) }
            progress(survey.cursor, top)
        }
        conversations = survey.conversations.count
        if case .events(let ids) = target { missing = ids.filter { survey.missing.contains($0.bits) } }
    }

    /// Whether something would go.
    package var isEmpty: Bool { Part.allCases.allSatisfy { count($0) == 0 } }

    fileprivate mutating func add(_ part: Part, _ type: String, _ dot: Dot, _ node: NodeID, isAhead: Bool) {
        counts[part, default: [:]][type, default: 0] += 1
        if part == .own { nodes[node, default: 0] += 1 }
        if isAhead { ahead += 1 }
        switch part {
        case .own:
            if case .events = target { named.append(dot) } else if isAhead { named.append(dot) }
        case .authored: if isAhead { authoredAhead.append(dot) }
        case .replies: replies.append(dot)
        }
    }

    fileprivate mutating func addGone() { gone += 1 }

    /// The erasures that do what was decided.
    ///
    /// - Parameters:
    ///   - authored: Whether part ``Part/authored`` goes.
    ///   - withReplies: Whether part ``Part/replies`` goes.
    package func erasures(authored: Bool, withReplies: Bool, reason: String, who: String) -> [Erasure] {
        var first: Erasure
        switch target {
        case .user(let name): first = Erasure(subject: .user(name))
        case .conversation(let name): first = Erasure(subject: .conversation(name))
        case .events: first = Erasure(subject: nil)
        }
        first.isWithAuthored = authored
        var rest = named + (authored ? authoredAhead : []) + (withReplies ? replies : [])
        first.events = Array(rest.prefix(Erasure.mostEvents))
        rest.removeFirst(first.events.count)
        var all = [first]
        while !rest.isEmpty {
            var next = Erasure(subject: nil)
            next.events = Array(rest.prefix(Erasure.mostEvents))
            rest.removeFirst(next.events.count)
            all.append(next)
        }
        for index in all.indices {
            all[index].reason = reason
            all[index].who = who
        }
        return all
    }
}

/// One pass over the headers of a log.
private struct ErasureSurvey {
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
    private let now = WallClock.now
    /// Of the user's events, to know replies by.
    private var ids: Set<UUIDBits> = []

    init(_ target: ErasurePlan.Target, _ log: LogReader) throws(StoreError) {
        var (person, talk, wanted): (Int64?, Int64?, Set<UUIDBits>) = (nil, nil, [])
        switch target {
        // A text that no event has matches no row.
        case .user(let name): person = try log.ref(name) ?? -1
        case .conversation(let name): talk = try log.ref(name) ?? -1
        case .events(let ids): wanted = Set(ids.map(\.bits))
        }
        (self.person, self.talk, self.wanted, missing) = (person, talk, wanted, wanted)
        reserved = try mapped { () throws(DatabaseError) in
            Set(
                try log.connection.all("SELECT DISTINCT ref, text FROM name WHERE text GLOB '*.*'") { row in
                    ReservedType.contains(row.text(1)) ? row.int64(0) : nil
                }.compactMap { $0 })
        }
    }

    mutating func step(through top: UInt64, _ log: LogReader, _ plan: inout ErasurePlan) throws(DatabaseError) {
        let select = try log.connection.statement(
            """
            SELECT \(ErasedRow.columns), digest IS NULL, event.id, cause FROM event JOIN origin ON ref = event.origin
            WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
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
            guard let part = part(of: row, select), !reserved.contains(select.int64(6)) else { continue }
            if !missing.isEmpty, let id = select.uuid(10) { missing.remove(id) }
            guard select.int64(9) == 1 else {
                plan.addGone()
                continue
            }
            if let conversation = row.conversation { conversations.insert(conversation) }
            guard let node = row.node else { continue }
            let dot = Dot(origin: try log.names.origin(row.origin, on: log.connection), seq: row.seq)
            let type = try log.names.text(select.int64(6), on: log.connection)
            plan.add(part, type, dot, node, isAhead: row.hlc.milliseconds > now)
        }
        if count < Self.rows { cursor = top }
    }

    private mutating func part(of row: ErasedRow, _ select: Statement) -> ErasurePlan.Part? {
        if let talk { return row.conversation == talk ? .own : nil }
        guard let person else { return select.uuid(10).map(wanted.contains) ?? false ? .own : nil }
        let isOwn = row.user == person
        if isOwn || row.author == person {
            if let id = select.uuid(10) { ids.insert(id) }
            return isOwn ? .own : .authored
        }
        return select.uuid(11).map(ids.contains) ?? false ? .replies : nil
    }
}
