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
        /// In the history of the user, in the conversation, or named by id, and edits and retractions of the latter: these go.
        case own
        /// What the user has written in the histories of others.
        case authored
        /// What others have written in reply to the user, outside of the user's history, and edits of that or of what the user wrote.
        case replies
        /// What the user has set for others: how conversations with them began, who was let in and put out, and which messages that stay were taken
        /// back.
        case shared
    }

    /// What an operator has seen of a plan: when it was made, up to where, and what it listed. That is what is confirmed.
    package struct Seen: Hashable, Sendable {
        package let fingerprint: String
        package let moment: HybridTime
        package let vector: VersionVector

        init(fingerprint: String, moment: HybridTime, vector: VersionVector) {
            (self.fingerprint, self.moment, self.vector) = (fingerprint, moment, vector)
        }

        /// Reads ``text``.
        package init?(text: String) {
            let parts = text.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, parts[0].utf8.count == Self.digits, let moment = HybridTime(text: parts[1]),
                let vector = VersionVector(text: String(parts[2]))
            else { return nil }
            self.init(fingerprint: String(parts[0]), moment: moment, vector: vector)
        }

        /// 16 hexadecimal digits, the moment and the vector.
        package var text: String { "\(fingerprint) \(moment) \(vector.text)" }

        static let digits = 16
    }

    /// How far a confirmed erasure reaches.
    package enum Reach: String, CaseIterable, Sendable {
        /// What the plan lists goes, and nothing that has come since.
        case plan
        /// What the plan lists, and what has come since of the same.
        case now
    }

    /// Events that still have their payload, by part and type, up to ``vector``.
    package private(set) var counts: [Part: [String: UInt64]] = [:]
    /// Those that are not in ``vector``: they have come since.
    package private(set) var later: [Part: UInt64] = [:]
    /// Up to where the plan was made.
    package let vector: VersionVector
    /// When it was made: what others have recorded before, and bring later, goes too.
    package let moment: HybridTime
    /// Whether the log lacks some of what the plan was made of.
    package let isBehind: Bool
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
    private var names = (seen: Names(), later: Names())
    /// The latest stamp in the vector, of any user, but for those ahead of this node's clock.
    private var last = HybridTime(rawValue: 0)
    /// By part: the first stamp of what has come since, and the events with the latest stamps of what was there.
    private var firstLater: [Part: HybridTime] = [:]
    private var latest: [Part: LatestEvents] = [:]

    /// Events that go by name.
    private struct Names {
        var own: [Dot] = []
        var authored: [Dot] = []
        var replies: [Dot] = []
        var shared: [Dot] = []
    }

    /// Most events of a plan that are named because later ones have earlier stamps.
    package static let mostNamed = 10_000

    /// How many events of this part there are.
    package func count(_ part: Part, _ reach: Reach = .plan) -> UInt64 {
        counts[part, default: [:]].values.reduce(0, +) + (reach == .now ? later[part, default: 0] : 0)
    }

    /// Says whether two plans take the same away.
    package var seen: Seen {
        var text = "sillok-erasure-plan-v3\n\(target)\n\(moment) \(vector.text)\n"
        for part in Part.allCases {
            for (type, count) in counts[part, default: [:]].sorted(by: { $0.key < $1.key }) {
                text += "\(part.rawValue) \(type) \(count)\n"
            }
        }
        let digest = SHA256().digest(Array(text.utf8)).description
        return Seen(fingerprint: String(digest.prefix(Seen.digits)), moment: moment, vector: vector)
    }

    /// Looks through the log.
    ///
    /// - Parameters:
    ///   - known: Up to where the plan was made that is looked at again; `nil`: this is a new one.
    ///   - moment: When that was; `nil`: now.
    ///   - progress: Told of positions: how far it is, and how far it goes.
    package init(
        _ target: Target, _ log: LogReader, upTo known: VersionVector? = nil, at moment: HybridTime? = nil,
        progress: (UInt64, UInt64) -> Void = { _, _ in }
    ) throws(StoreError) {
        self.target = target
        self.moment = moment ?? HybridTime(milliseconds: WallClock.now, counter: 0)
        // Of one moment: what comes between the two would be in neither.
        let (top, here) = try log.inOneTransaction { () throws(StoreError) in (try log.top(), try log.origins()) }
        self.top = top
        let whole = VersionVector(here.map { Dot(origin: $0.id, seq: $0.size) })
        vector = known ?? whole
        isBehind = !whole.covers(vector)
        let limits = here.map { ($0.ref, known?[$0.id] ?? $0.size) }
        var survey = try ErasureSurvey(target, log, Dictionary(uniqueKeysWithValues: limits))
        repeat {
            while survey.cursor < top {
                try mapped { () throws(DatabaseError) in try survey.step(through: top, log, &self) }
                progress(survey.cursor, top)
            }
            try mapped { () throws(DatabaseError) in try survey.settle(&self, log) }
        } while survey.startAgain()
        conversations = survey.conversations.count
        last = survey.last
        if case .events(let ids) = target { missing = ids.filter { survey.missing.contains($0.bits) } }
    }

    /// Whether nothing would go.
    package func isEmpty(_ reach: Reach = .plan, withShared: Bool = false) -> Bool {
        Part.allCases.allSatisfy { $0 == .shared && !withShared || count($0, reach) == 0 }
    }

    mutating func add(_ part: Part, _ found: FoundEvent) {
        guard found.isSeen else {
            later[part, default: 0] += 1
            firstLater[part] = min(firstLater[part] ?? found.hlc, found.hlc)
            if found.isNamed { Self.name(found.dot, part, &names.later) }
            return
        }
        counts[part, default: [:]][found.type, default: 0] += 1
        if part == .own { nodes[found.node, default: 0] += 1 }
        if found.isAhead { ahead += 1 }
        if found.isNamed {
            Self.name(found.dot, part, &names.seen)
        } else {
            latest[part, default: LatestEvents()].add(found.dot, found.hlc)
        }
    }

    private static func name(_ dot: Dot, _ part: Part, _ names: inout Names) {
        switch part {
        case .own: names.own.append(dot)
        case .authored: names.authored.append(dot)
        case .replies: names.replies.append(dot)
        case .shared: names.shared.append(dot)
        }
    }

    mutating func addGone() { gone += 1 }

    /// The erasures that do what was decided; `nil` where what has come since is so much older than the plan that too many events of it would
    /// have to be named.
    ///
    /// - Parameters:
    ///   - authored: Whether part ``Part/authored`` goes.
    ///   - withReplies: Whether part ``Part/replies`` goes.
    ///   - withShared: Whether part ``Part/shared`` goes.
    package func erasures(
        authored: Bool, withReplies: Bool, withShared: Bool = false, reason: String, who: String, reach: Reach = .plan
    ) -> [Erasure]? {
        var first: Erasure
        switch target {
        case .user(let name): first = Erasure(subject: .user(name))
        case .conversation(let name): first = Erasure(subject: .conversation(name))
        case .events: first = Erasure(subject: nil)
        }
        first.isWithAuthored = authored
        if case .user = target { (first.isWithShared, first.isWithReplies) = (withShared, withReplies) }
        let parts: [Part] = authored ? [.own, .authored] : [.own]
        var rest: [Dot] = []
        if reach == .plan, first.subject != nil {
            // Below it nothing is here that the plan does not list. What the plan lists above it goes by name.
            let end = max(moment, HybridTime(rawValue: last.rawValue + 1))
            let bounds = parts.compactMap { firstLater[$0] } + [end]
            let before = bounds.min() ?? last
            first.before = before
            for part in parts {
                guard let above = (latest[part] ?? LatestEvents()).dots(from: before) else { return nil }
                rest += above
            }
            guard rest.count <= Self.mostNamed else { return nil }
        }
        for names in reach == .now ? [names.seen, names.later] : [names.seen] {
            rest += names.own + (authored ? names.authored : []) + (withReplies ? names.replies : [])
            rest += withShared ? names.shared : []
        }
        var all: [Erasure] = []
        var next = first
        while true {
            next.events = Array(rest.prefix(Erasure.mostEvents))
            rest.removeFirst(next.events.count)
            (next.reason, next.who) = (reason, who)
            all.append(next)
            guard !rest.isEmpty else { return all }
            next = Erasure(subject: nil)
        }
    }
}
