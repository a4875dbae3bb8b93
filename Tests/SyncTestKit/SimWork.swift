internal import EventStore
internal import Subscriptions
internal import SyncEngine

/// What a worker holds of a delivery: its token.
struct SimDelivery {
    let subscription: EventID
    let run: UInt64
    let number: UInt64
    let dot: Dot
}

enum SimSettling {
    case ack, extend, park
    case release(delay: UInt64?)
}

enum SimRequest {
    case make(SubscriptionDefinition)
    case move, retry
    /// Other members, as JSON; another place.
    case change(String)
    case seek(SubscriptionDefinition.Start)
    case pull(worker: UInt64, most: Int, wait: UInt64, ([SimDelivery]) -> Void)
    case stream(worker: UInt64, window: Int, ([SimDelivery]) -> Void)
    case settle(SimSettling, [SimDelivery])

    var isMove: Bool { if case .move = self { true } else { false } }

    var isWork: Bool {
        switch self {
        case .pull, .stream, .settle: true
        case .make, .move, .retry, .change, .seek: false
        }
    }
}

enum SimAnswer {
    case settled, stale, missing, failed
    case elsewhere(NodeID)
}

/// Subscriptions of a run: who makes them, who works on them, who moves and forges them; and what must hold of what is handed out (INV-14 to
/// 16), seen from outside. What it draws disturbs no other part of a run.
final class SimWork {
    private unowned let sim: Simulation
    var random: SimRandom
    private var lastWorker = UInt64(0)
    private var names: [String] = []
    private var isResting = false
    let bounds: SubscriptionMachine.Bounds

    /// What became of the events of one subscription.
    private struct Fate {
        var homes: Set<NodeID> = []
        /// Every node is one.
        var isLocal = false
        var acked: Set<Dot> = []
        /// Events whose content is that of one that was acked, set aside, or there at the beginning.
        var done: Set<EventID> = []
        var parked: Set<Dot> = []
        var retried: Set<Dot> = []
        /// What each of its places is behind.
        var bases: [EventID: VersionVector] = [:]
    }

    private var fates: [EventID: Fate] = [:]
    /// Who has lied: nothing is promised where one of them becomes a home.
    private var forgers: Set<NodeID> = []

    init(sim: Simulation) {
        self.sim = sim
        random = SimRandom(seed: sim.plan.seed, purpose: 5)
        // Drawn apart, so that a seed is what it was.
        var apart = SimRandom(seed: sim.plan.seed, purpose: 9)
        var bounds = SubscriptionMachine.Bounds()
        if apart.chance(0.5) {
            (bounds.capacity, bounds.share, bounds.behind) = (
                apart.pick(2...12), apart.pick(1...3), apart.pick(1...40)
            )
        }
        self.bounds = bounds
    }

    // MARK: The plan

    func begin() {
        guard sim.draws(.subscriptions) else { return }
        sim.coverage.reached(.subscriptions)
        for index in 0..<random.pick(1...2) {
            let name = "bot-\(index)"
            names.append(name)
            let definition = definition()
            // Now and then two nodes make one of this name.
            for _ in 0..<random.pick([1, 1, 1, 2]) { make(name, definition) }
            for _ in 0..<random.pick(1...4) { Worker(self, name, definition).begin() }
            for _ in 0..<random.pick(0...4) {
                later(random.pick(1_000...sim.plan.duration)) { [self] in ask(anyNode(), name, .move) { _ in } }
            }
            for _ in 0..<random.pick(0...6) {
                later(random.pick(1_000...sim.plan.duration)) { [self] in ask(anyNode(), name, .retry) { _ in } }
            }
            for _ in 0..<random.pick(0...2) {
                later(random.pick(1_000...sim.plan.duration)) { [self] in forge() }
            }
            for _ in 0..<random.pick([0, 0, 1, 3]) {
                later(random.pick(1_000...sim.plan.duration)) { [self] in
                    let types = random.pick([#""message.*""#, #""message.posted""#, #""bot.*""#])
                    let members = random.chance(0.7) ? #""filter":{"type":[\#(types)]}"# : #""attempts":3"#
                    ask(anyNode(), name, .change("{\(members)}")) { _ in }
                }
            }
            for _ in 0..<random.pick([0, 0, 1, 2]) {
                later(random.pick(1_000...sim.plan.duration)) { [self] in
                    ask(anyNode(), name, .seek(random.pick([.first, .now]))) { _ in }
                }
            }
        }
    }

    private func definition() -> SubscriptionDefinition {
        var definition = SubscriptionDefinition(start: random.pick([.first, .first, .now]))
        definition.filter.types = random.pick([["message.*"], ["message.posted"], []])
        if random.chance(0.2) { definition.filter.conversations = ["c1", "c2"] }
        definition.ackWait = random.pick([1_000, 5_000, 30_000])
        definition.attempts = random.pick(1...5)
        definition.backoff = random.pick([[0], [100, 500], [1_000, 5_000, 30_000]])
        definition.order = random.chance(0.8) ? .conversation : .none
        definition.home = random.chance(0.2) ? .local : .single
        return definition
    }

    private func make(_ name: String, _ definition: SubscriptionDefinition) {
        later(random.pick(1...10_000)) { [self] in
            let node = anyNode()
            ask(node, name, .make(definition)) { _ in }
            // One node must make it.
            later(2_000) { [self] in
                if !fates.values.contains(where: { !$0.homes.isEmpty }), sim.isFaulty { make(name, definition) }
            }
        }
    }

    /// A node that is no home says that all is done; or one says so in the name of a home.
    private func forge() {
        guard let id = fates.keys.sorted().first, let fate = fates[id] else { return }
        let node = anyNode()
        guard node.isUp, !node.isPaused else { return }
        var state = SubscriptionState()
        for entry in node.store.log.vector.entries { state.through.advance(to: entry) }
        let other = fate.homes.sorted().first { $0 != node.id }
        guard let said = fate.homes.contains(node.id) ? other : node.id else { return }
        forgers.insert(node.id)
        node.share([
            SharedState(key: id.bits, node: said, number: Limits.number, value: state.bytes, signing: node.key)
        ])
    }

    // MARK: Clients

    func later(_ milliseconds: UInt64, _ body: @escaping () -> Void) {
        sim.schedule(after: milliseconds * 1_000, body)
    }

    private func anyNode() -> SimNode { random.pick(sim.nodes) }

    /// Asks a node, if it is there. The answer may be lost, with the request or without.
    private func ask(
        _ node: SimNode, _ name: String, _ action: SimRequest, _ answer: @escaping (SimAnswer) -> Void
    ) {
        guard node.isUp, let desk = node.desk, !(sim.isFaulty && random.chance(0.02)) else { return }
        node.whenAwake { [self] in
            guard node.desk === desk else { return }
            desk.ask(name, action) { [self] result in
                if sim.isFaulty, random.chance(0.02) { return }
                later(random.pick(1...20)) { answer(result) }
            }
        }
    }

    /// A program that works on a subscription, at the node it found it at last.
    private final class Worker {
        private let work: SimWork
        private let name: String
        private let definition: SubscriptionDefinition
        private let isStream: Bool
        private var node: SimNode
        private var id = UInt64(0)
        /// Counts lives: what an earlier one had in mind does not happen.
        private var life = 0
        private var lastHeard = UInt64(0)

        private var sim: Simulation { work.sim }

        init(_ work: SimWork, _ name: String, _ definition: SubscriptionDefinition) {
            (self.work, self.name, self.definition) = (work, name, definition)
            isStream = work.random.chance(0.4)
            node = work.anyNode()
        }

        func begin() { later(work.random.pick(500...15_000)) { [self] in request() } }

        private func later(_ milliseconds: UInt64, _ body: @escaping () -> Void) {
            let life = life
            work.later(milliseconds) { [self] in if self.life == life { body() } }
        }

        private func request() {
            guard !work.isResting else { return }
            if node.isRetired || sim.damaged.contains(node.index) || sim.isFaulty && work.random.chance(0.03) {
                node = work.anyNode()
            }
            work.lastWorker += 1
            id = work.lastWorker
            life += 1
            lastHeard = sim.now
            let asked = node
            let given: ([SimDelivery]) -> Void = { [self] deliveries in
                later(work.random.pick(1...20)) { [self] in take(deliveries) }
            }
            let action: SimRequest =
                isStream
                ? .stream(worker: id, window: work.random.pick(1...8), given)
                : .pull(worker: id, most: work.random.pick(1...8), wait: work.random.pick([0, 500, 5_000]), given)
            work.ask(node, name, action) { [self] answer in
                guard asked === node else { return }
                switch answer {
                case .elsewhere(let home): sent(home)
                case .missing:
                    // It may never hear of it: a cluster may have parted for good.
                    node = work.anyNode()
                    again()
                case .settled, .stale, .failed: break
                }
            }
            watch(asked.epoch)
        }

        /// After a while without a word, or when the connection is gone, it asks again, maybe another node.
        private func watch(_ epoch: Int) {
            later(2_000) { [self] in
                let isGone = !node.isUp || node.epoch != epoch
                guard isGone || sim.now - lastHeard > (isStream ? 40_000_000 : 8_000_000) else { return watch(epoch) }
                node.desk?.leave(id)
                if isGone, work.random.chance(0.5) { node = work.anyNode() }
                again()
            }
        }

        private func again() {
            life += 1
            later(work.random.pick(10...1_000)) { [self] in request() }
        }

        private func sent(_ home: NodeID) {
            sim.coverage.count(.askedElsewhere)
            // Who stays where it is may make that node the home in the end.
            let isThere = sim.nodes.first { $0.id == home && !$0.isRetired && $0.isUp && $0.knownAs == $0.index }
            if let isThere, work.random.chance(sim.isFaulty ? 0.6 : 0.9) { node = isThere }
            life += 1
            later(work.random.pick(200...2_000)) { [self] in request() }
        }

        private func take(_ deliveries: [SimDelivery]) {
            lastHeard = sim.now
            // The worker dies of its work, or is slow; it may be started again.
            if sim.isFaulty, !deliveries.isEmpty, work.random.chance(0.1) {
                if work.random.chance(0.5) { node.desk?.leave(id) }
                life += 1
                return later(work.random.pick(1_000...20_000)) { [self] in request() }
            }
            for delivery in deliveries { work.settle(delivery, name, definition, at: node) }
            if !isStream { again() }
        }
    }

    private func settle(
        _ delivery: SimDelivery, _ name: String, _ definition: SubscriptionDefinition, at node: SimNode
    ) {
        let soon = random.pick(1...800)
        guard sim.isFaulty else {
            return later(UInt64(soon % 100)) { [self] in ack(delivery, name, at: node, tries: 3) }
        }
        switch random.pick(0...11) {
        case 0...4: later(UInt64(soon)) { [self] in ack(delivery, name, at: node, tries: 3) }
        case 5:
            // Late, and maybe for the second time.
            ack(delivery, name, at: node, tries: random.pick(0...1))
            later(definition.ackWait + UInt64(soon)) { [self] in ack(delivery, name, at: node, tries: 2) }
        case 6: later(UInt64(soon)) { [self] in ack(delivery, name, at: anyNode(), tries: 2) }
        case 7:
            let delay: UInt64? = random.chance(0.5) ? random.pick([0, 100, 60_000]) : nil
            later(UInt64(soon)) { [self] in ask(node, name, .settle(.release(delay: delay), [delivery])) { _ in } }
        case 8:
            ask(node, name, .settle(.extend, [delivery])) { _ in }
            later(definition.ackWait * 3 / 2) { [self] in ack(delivery, name, at: node, tries: 2) }
        case 9: later(UInt64(soon)) { [self] in ask(node, name, .settle(.park, [delivery])) { _ in } }
        case 10: later(definition.ackWait + UInt64(soon)) { [self] in ack(delivery, name, at: node, tries: 2) }
        default: break
        }
    }

    private func ack(_ delivery: SimDelivery, _ name: String, at node: SimNode, tries: Int) {
        guard tries > 0 else { return }
        ask(node, name, .settle(.ack, [delivery])) { [self] answer in
            guard case .elsewhere(let home) = answer, let there = sim.nodes.first(where: { $0.id == home }) else {
                return
            }
            ack(delivery, name, at: there, tries: tries - 1)
        }
    }

    // MARK: What happened

    /// An event of the node's own is stored: also where the process dies before it hears of that.
    func committed(_ event: Event, at node: SimNode) {
        guard event.header.type.hasPrefix("subscription."), let payload = event.payload else { return }
        let object = JSONObject(validated: payload)
        sim.note { "\(node.name): \(event.header.type) \(object.string("name") ?? "")" }
        func dot(_ text: String) -> Dot? { VersionVector(text: text)?.entries.first }
        guard let id = object.string("subscription").flatMap({ EventID(text: $0) }) else {
            fates[event.header.id, default: Fate()].homes.insert(node.id)
            fates[event.header.id]?.isLocal = object.string("home") == "local"
            return
        }
        switch event.header.type {
        case SubscriptionRecord.changed: sim.coverage.count(.changes)
        case SubscriptionRecord.sought: sim.coverage.count(.seeks)
        case SubscriptionRecord.moved: fates[id, default: Fate()].homes.insert(node.id)
        case SubscriptionRecord.parked:
            guard let dot = object.string("dot").flatMap(dot), let stored = node.store.log.event(dot) else { return }
            parked(id, stored.event.header)
        case SubscriptionRecord.retried:
            for dot in (object.strings("dots") ?? []).compactMap(dot) { retried(id, dot) }
        default: break
        }
    }

    func moved(isTakenOver: Bool) { sim.coverage.count(isTakenOver ? .takeovers : .moves) }

    func acked(_ one: SimDelivery, isLate: Bool) {
        sim.coverage.count(isLate ? .lateAcks : .acks)
        sim.note { "\(one.dot) is acked" }
        fates[one.subscription, default: Fate()].acked.insert(one.dot)
        for node in sim.nodes {
            guard let stored = node.store.log.event(one.dot) else { continue }
            // Where an origin has two histories a dot names two events.
            fates[one.subscription]?.done.insert(stored.event.header.id)
        }
    }

    private func parked(_ id: EventID, _ header: EventHeader) {
        sim.coverage.count(.parkedEvents)
        sim.note { "\(header.dot) is parked" }
        fates[id, default: Fate()].parked.insert(header.dot)
        fates[id]?.done.insert(header.id)
    }

    private func retried(_ id: EventID, _ dot: Dot) {
        sim.coverage.count(.retriedEvents)
        sim.note { "\(dot) is tried again" }
        fates[id, default: Fate()].retried.insert(dot)
    }

    // MARK: What must hold

    private func isDone(_ header: EventHeader, _ fate: Fate) -> Bool {
        fate.acked.contains(header.dot) || fate.done.contains(header.id)
    }

    /// With which events it begins: what its making, or its place, had not in its past, the same at all nodes.
    private func base(_ record: SubscriptionRecord, at node: SimNode) -> VersionVector {
        if let base = fates[record.id]?.bases[record.place] { return base }
        var base = VersionVector()
        switch record.definition.start {
        case .vector(let vector): base = vector
        case .now:
            guard let log = try? node.store.logReader(), let clock = try? log.clock(of: record.dot) else {
                return base
            }
            base = clock
        case .first, .time: return base
        }
        fates[record.id, default: Fate()].bases[record.place] = base
        for stored in node.store.log.events where base.contains(stored.event.header.dot) {
            fates[record.id]?.done.insert(stored.event.header.id)
        }
        return base
    }

    /// Whether nothing is promised for what this node says: it lost its memory, was copied, or lies.
    private func isUnsound(_ node: SimNode) -> Bool {
        if sim.damaged.contains(node.index) || node.disguise.isHostile || sim.checks.hasForgotten(node) {
            return true
        }
        if forgers.contains(node.id) { return true }
        let isCopied = sim.nodes.contains { $0 !== node && $0.id == node.id }
        return isCopied || sim.checks.isTainted(node.identity.origin)
    }

    private func isUnsound(_ fate: Fate) -> Bool {
        sim.nodes.contains { (fate.isLocal || fate.homes.contains($0.id)) && isUnsound($0) }
    }

    /// INV-16: what stands before it in the log of this node and has the same key is done, or was never to be handed out. Of an origin with
    /// two histories a dot names two events: another home may have done the other one.
    func handed(_ given: SubscriptionMachine.Given, of record: SubscriptionRecord, at node: SimNode) {
        sim.coverage.count(.deliveries)
        let log = node.store.log
        let base = base(record, at: node)
        guard let fate = fates[record.id], !isUnsound(fate), let stored = log.event(given.dot) else { return }
        let definition = record.definition
        sim.note { "\(node.name): \(record.name) hands out \(given.dot), attempt \(given.attempt)" }
        guard definition.wants(stored.event.header) || fate.retried.contains(given.dot) else {
            return sim.violate("INV-14", "\(node.name): \(given.dot) is handed out and was not asked for")
        }
        guard !fate.retried.contains(given.dot) else { return }
        let key = definition.key(of: stored.event.header)
        for earlier in log.events.prefix(Int(stored.position) - 1) {
            let header = earlier.event.header
            guard definition.key(of: header) == key, header.id != stored.event.header.id, definition.wants(header),
                !base.contains(header.dot), !isDone(header, fate), !sim.checks.isTainted(header.dot.origin)
            else { continue }
            return sim.violate("INV-16", "\(node.name): \(given.dot) overtakes \(header.dot)")
        }
    }

    /// INV-15: a home calls done only what was acked, set aside or passed over by a rule.
    func checkDone(_ state: SubscriptionState, of record: SubscriptionRecord, at node: SimNode, _ verb: String) {
        let base = base(record, at: node)
        guard let fate = fates[record.id], !isUnsound(fate) else { return }
        guard record.isHome(node.id) || fate.homes.contains(node.id) else {
            return sim.violate("INV-15", "\(node.name) \(verb) what is done and was never home")
        }
        for stored in node.store.log.events {
            let header = stored.event.header
            guard state.isDone(header.dot, of: ConversationMark(of: header)), record.definition.wants(header),
                !base.contains(header.dot), !isDone(header, fate),
                !sim.checks.isTainted(header.dot.origin)
            else { continue }
            return sim.violate("INV-15", "\(node.name) \(verb) \(header.dot) as done, which no worker has done")
        }
    }

    /// INV-14 at rest: of each subscription all that it wants is acked, or set aside.
    func open() -> String? {
        let sound = sim.nodes.filter { !$0.isRetired && $0.isUp && !isUnsound($0) }
        guard let node = sound.first, let desk = node.desk else { return nil }
        let records = desk.allRecords()
        for (name, record) in records.all.sorted(by: { $0.key < $1.key }) {
            guard let fate = fates[record.id], !isUnsound(fate), !sim.checks.isTainted(record.dot.origin) else {
                continue
            }
            // A node whose history parted from that of the others may have one of this name for itself, and all workers.
            let isElsewhere = sim.nodes.contains { other in
                guard other.isUp, !other.isRetired, isUnsound(other) else { return false }
                return other.desk?.readRecords().all[name].map { $0.id != record.id } ?? false
            }
            if isElsewhere { continue }
            // Where a node has failed, or has left, those that are left may never meet: any of them may be the one that knows, also of a
            // place that was set since.
            let bases = sound.compactMap { other in
                (other.desk?.readRecords().record(record.id)).map { base($0, at: other) }
            }
            let told = sound.compactMap { $0.desk?.readRecords().parked(record.id).values.map(\.event) }
            let parked = Set(told.joined())
            for other in sound {
                guard let dot = other.desk?.acked(record).first else { continue }
                return "\(name): \(dot) is parked, and \(other.name) knows its ack"
            }
            for stored in node.store.log.events {
                let header = stored.event.header
                guard record.definition.wants(header), !bases.contains(where: { $0.contains(header.dot) }),
                    !sim.checks.isTainted(header.dot.origin), !fate.acked.contains(header.dot),
                    !parked.contains(header.id)
                else { continue }
                // Its home may be one of those that it cannot reach.
                guard sound.allSatisfy({ $0.store.log.event(header.dot) != nil }) else { continue }
                // One of two of the same.
                if isTwinDone(header, fate, bases) { continue }
                return "\(name): \(header.dot) is neither acked nor parked"
            }
        }
        return nil
    }

    private func isTwinDone(_ header: EventHeader, _ fate: Fate, _ bases: [VersionVector]) -> Bool {
        // The home may have the other one of an origin with two histories, which not all nodes get.
        sim.nodes.contains { other in
            other.store.log.events.contains { stored in
                let dot = stored.event.header.dot
                return stored.event.header.id == header.id
                    && (fate.acked.contains(dot) || bases.contains { $0.contains(dot) })
            }
        }
    }

    /// Whether all subscriptions that are checked could be: for the table of what was met.
    func rest() {
        isResting = true
        guard !names.isEmpty else { return }
        let checked = fates.values.filter { !$0.homes.isEmpty && !isUnsound($0) }.count
        sim.coverage.count(.subscriptionsAtRest, checked)
    }
}
