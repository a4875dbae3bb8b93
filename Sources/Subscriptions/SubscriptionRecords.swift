package import EventStore

/// All subscriptions that the log tells of, kept up to date by reading what came since.
///
/// Of two with one name the one that was made first stands. Its home is the node that has moved it to itself last: by term, then by the time
/// of the event. Only its homes say what is done, parked, changed or ended; a node speaks for itself alone (INV-15).
package struct SubscriptionRecords: Sendable {
    private static let types = [
        SubscriptionRecord.created, SubscriptionRecord.moved, SubscriptionRecord.deleted, SubscriptionRecord.parked,
        SubscriptionRecord.retried, SubscriptionRecord.placed, SubscriptionRecord.changed, SubscriptionRecord.sought,
    ]

    private struct Made {
        let record: SubscriptionRecord
        let hlc: HybridTime
    }

    private struct Move: Hashable {
        let term: UInt64
        let key: DisplayKey
        let node: NodeID
    }

    /// Other members, or another place, as an event sets them.
    private struct Setting: Hashable {
        enum Kind: Hashable {
            case changed(SubscriptionDefinition)
            case sought(SubscriptionDefinition.Start)
        }

        let header: EventHeader
        let through: VersionVector
        let kind: Kind

        func isBefore(_ other: Setting) -> Bool {
            (header.hlc, header.dot) < (other.header.hlc, other.header.dot)
        }
    }

    /// What one node has said of one subscription.
    private struct Word {
        var isDeleted = false
        /// What it said last, under the event that set the place.
        var placed: (place: EventID, state: SubscriptionState, at: HybridTime)?
        var settings: [Dot: Setting] = [:]
        var turns: [Dot: [Turn]] = [:]
    }

    /// An event was set aside, or is to be handed out once more, or is parked no more.
    struct Turn {
        enum Kind {
            case parked(ParkedEvent)
            /// Parked no more, by whichever of these events it was.
            case freed(parkedBy: Set<Dot>)
        }

        /// The event that says so.
        let proof: Dot
        let at: HybridTime
        let kind: Kind

        var parked: ParkedEvent? { if case .parked(let event) = kind { event } else { nil } }

        /// What stands of all that befell an event: the last by the clocks of those who say so. The clock of a node is behind those of all
        /// that it had, but for clocks too far ahead to be followed: what an event names as over is so, whatever the clocks say.
        static func last(_ turns: [Turn]) -> Turn? {
            let over = turns.reduce(into: Set<Dot>()) { over, turn in
                if case .freed(let parkedBy) = turn.kind { over.formUnion(parkedBy) }
            }
            return turns.filter { $0.parked == nil || !over.contains($0.proof) }
                .max { ($0.at, $0.proof) < ($1.at, $1.proof) }
        }
    }

    private var made: [EventID: Made] = [:]
    private var moves: [EventID: Set<Move>] = [:]
    private var words: [EventID: [NodeID: Word]] = [:]
    private var events: NodeEvents

    /// By their names.
    package private(set) var all: [String: SubscriptionRecord] = [:]
    private var homes: [EventID: Set<NodeID>] = [:]
    /// Those that each node delivers.
    private var local: Set<EventID> = []
    /// Places of subscriptions, now and before.
    private var places: [EventID: EventID] = [:]

    /// Nothing was read yet.
    package init() { events = NodeEvents(types: Self.types) }

    // MARK: Asking

    /// Whether the node was home of the subscription with this id at some time.
    package func isHome(_ node: NodeID, of id: EventID) -> Bool {
        local.contains(id) || homes[id]?.contains(node) == true
    }

    /// The subscription whose place was set by this event at some time.
    package func subscription(placedBy place: EventID) -> EventID? { places[place] }

    package func record(_ id: EventID) -> SubscriptionRecord? {
        made[id].flatMap { all[$0.record.name] }.flatMap { $0.id == id ? $0 : nil }
    }

    /// What its homes have told to be done since its place was set, put together.
    package func placed(_ record: SubscriptionRecord) -> SubscriptionState? {
        told(record).reduce(nil) { sum, state in
            var merged = sum ?? state
            merged.merge(state)
            return merged
        }
    }

    /// What is set aside.
    package func parked(_ id: EventID) -> [Dot: ParkedEvent] {
        turns(id).compactMapValues { Turn.last($0)?.parked }
    }

    /// The events by which these were set aside, each time: what frees them names them.
    package func proofs(of dots: [Dot], _ id: EventID) -> [Dot] {
        let turns = turns(id)
        return dots.flatMap { dot in (turns[dot] ?? []).filter { $0.parked != nil }.map(\.proof) }.sorted()
    }

    /// All that befell the events of a subscription that were set aside at some time.
    func turns(_ id: EventID) -> [Dot: [Turn]] {
        heard(id).reduce(into: [:]) { all, word in all.merge(word.turns, uniquingKeysWith: +) }
    }

    /// What each home has told in the log to be done.
    package func told(_ record: SubscriptionRecord) -> [SubscriptionState] {
        heard(record.id).compactMap(\.placed).filter { $0.place == record.place }.map { record.admit($0.state) }
    }

    /// Those of what a worker says to be done, and was not open, that are set aside: they are to be taken out.
    package func parked(_ id: EventID, among dots: [Dot]) -> [Dot] {
        guard !dots.isEmpty, case let parked = parked(id), !parked.isEmpty else { return [] }
        return Set(dots).filter { parked[$0] != nil }.sorted()
    }

    private func heard(_ id: EventID) -> [Word] {
        (words[id] ?? [:]).filter { isHome($0.key, of: id) }.map(\.value)
    }

    // MARK: Reading

    /// Reads what nodes have written since the last time.
    package mutating func update(_ views: ViewReader) throws(StoreError) {
        var events = events
        try events.update(views) { header, object, node in
            if let object { take(header, object, node) }
        }
        self.events = events
        settle()
    }

    /// Reads what nodes have written, each of these events by the node whose origin it is of.
    package mutating func update(_ events: [(EventHeader, JSONObject, NodeID)]) {
        for (header, object, node) in events { take(header, object, node) }
        settle()
    }

    private mutating func take(_ header: EventHeader, _ object: JSONObject, _ node: NodeID) {
        if header.type == SubscriptionRecord.created {
            guard let name = object.string("name"), SubscriptionRecord.isName(name),
                let definition = try? SubscriptionDefinition(object, besides: ["name"])
            else { return }
            let record = SubscriptionRecord(
                name: name, definition: definition, owner: header.actor, id: header.id, dot: header.dot, home: node)
            made[header.id] = Made(record: record, hlc: header.hlc)
            return
        }
        guard let id = object.string("subscription").flatMap({ EventID(text: $0) }) else { return }
        switch header.type {
        case SubscriptionRecord.moved:
            guard let term = object.integer("term"), term > 0 else { return }
            moves[id, default: []].insert(Move(term: UInt64(term), key: header.displayKey, node: node))
        case SubscriptionRecord.deleted: words[id, default: [:]][node, default: Word()].isDeleted = true
        case SubscriptionRecord.parked:
            guard let dot = SubscriptionRecord.dot(object.string("dot")),
                let event = object.string("event").flatMap({ EventID(text: $0) })
            else { return }
            let parked = ParkedEvent(
                dot: dot, event: event, attempts: Int(clamping: object.integer("attempts") ?? 0),
                reason: object.string("reason") ?? "", error: object.string("error"), at: header.hlc.milliseconds,
                proof: header.dot)
            words[id, default: [:]][node, default: Word()].turns[dot, default: []].append(
                Turn(proof: header.dot, at: header.hlc, kind: .parked(parked)))
        case SubscriptionRecord.retried:
            let parkedBy = Set(SubscriptionRecord.dots(object, "parked_by"))
            for dot in SubscriptionRecord.dots(object, "dots") {
                words[id, default: [:]][node, default: Word()].turns[dot, default: []].append(
                    Turn(proof: header.dot, at: header.hlc, kind: .freed(parkedBy: parkedBy)))
            }
        case SubscriptionRecord.placed:
            let bytes = object.string("state").flatMap { base64Bytes($0) }
            guard let state = bytes.flatMap(SubscriptionState.init(bytes:)) else { return }
            // What it said before it has not forgotten; and what it learnt not to be done must not be done again.
            guard words[id]?[node]?.placed.map({ $0.at < header.hlc }) != false else { return }
            let place = object.string("place").flatMap { EventID(text: $0) } ?? id
            words[id, default: [:]][node, default: Word()].placed = (place, state, header.hlc)
        case SubscriptionRecord.changed, SubscriptionRecord.sought:
            guard let setting = Self.setting(header, object) else { return }
            words[id, default: [:]][node, default: Word()].settings[header.dot] = setting
        default: break
        }
    }

    private static func setting(_ header: EventHeader, _ object: JSONObject) -> Setting? {
        guard let through = object.string("through").flatMap({ VersionVector(text: $0) }) else { return nil }
        if header.type == SubscriptionRecord.sought {
            guard let start = try? SubscriptionDefinition.start(object), start != .now else { return nil }
            return Setting(header: header, through: through, kind: .sought(start))
        }
        let definition = try? SubscriptionDefinition(object, besides: ["subscription", "name", "through"])
        return definition.map { Setting(header: header, through: through, kind: .changed($0)) }
    }

    /// Which stand, and where they are at home.
    private mutating func settle() {
        all = [:]
        homes = [:]
        places = [:]
        local = Set(made.values.lazy.map(\.record).filter { $0.definition.home == .local }.map(\.id))
        let inOrder = made.values.sorted { ($0.hlc, $0.record.dot) < ($1.hlc, $1.record.dot) }
        for one in inOrder {
            var record = one.record
            homes[record.id] = [record.home]
            // A term counts that follows one which counts: no node can take one that no other node can exceed.
            for move in (moves[record.id] ?? []).sorted(by: { ($0.term, $0.key) < ($1.term, $1.key) })
            where move.term <= record.term + 1 {
                homes[record.id]?.insert(move.node)
                record.move(to: move.node, term: move.term)
            }
            set(&record)
            let isDeleted = heard(record.id).contains(where: \.isDeleted)
            if !isDeleted, all[record.name] == nil { all[record.name] = record }
        }
    }

    /// With what was changed, and from the place that was set last. What was changed before that counts for all events now.
    private mutating func set(_ record: inout SubscriptionRecord) {
        let settings = heard(record.id).flatMap(\.settings.values).sorted { $0.isBefore($1) }
        places[record.id] = record.id
        var sought: Setting?
        for setting in settings {
            guard case .sought = setting.kind else { continue }
            places[setting.header.id] = record.id
            sought = setting
        }
        var definition = record.definition
        var changes: [SubscriptionRecord.Change] = []
        for setting in settings {
            guard case .changed(var changed) = setting.kind else { continue }
            (changed.start, changed.home, changed.replaced) = (definition.start, definition.home, definition.replaced)
            if sought?.through.contains(setting.header.dot) != true {
                changed.replaced.append(
                    .init(filter: definition.filter, late: definition.late, through: setting.through))
                changes.append(.init(dot: setting.header.dot, through: setting.through))
            }
            definition = changed
        }
        if let sought, case .sought(let start) = sought.kind {
            definition.start = start
            record.set(place: sought.header.id, behind: sought.through)
        }
        record.set(definition, changes: changes)
    }
}
