internal import EventStore
internal import SyncEngine

/// A cluster in virtual time: network, disks and clocks of chance, decided by one seed.
package final class Simulation {
    package struct Violation: Error, Hashable, Sendable {
        /// INV-n of docs/reference/INVARIANTS.md, or another rule's name.
        package let rule: String
        package let text: String
        /// Virtual milliseconds.
        package let at: UInt64
    }

    package struct Outcome: Sendable {
        package let violation: Violation?
        package let coverage: SimCoverage
        /// Of everything that happened; equal for equal runs.
        package let fingerprint: UInt64
        package let virtualMilliseconds: UInt64
        package let trace: [String]
    }

    let plan: SimPlan
    private let mutation: SimMutation?
    var random: SimRandom
    private(set) var now = UInt64(0)
    private var agenda = Agenda()
    var nodes: [SimNode] = []
    private(set) var links: [Int: SimLink] = [:]
    private var linkCount = 0
    private(set) lazy var checks = SimChecks(sim: self)
    var coverage = SimCoverage()
    private var violation: Violation?
    private var fingerprint = UInt64(0xcbf2_9ce4_8422_2325)
    private let isTracing: Bool
    private var trace: [String] = []
    /// False once the faults are over.
    private(set) var isFaulty = true
    /// What each node announces.
    let limits: WireLimits
    /// Traffic of each pair is held back or lost in these directions until then.
    var blocked: [[Int]: UInt64] = [:]
    var edges: [SimPlan.Edge]
    /// Nodes nothing is promised for.
    var damaged: Set<Int> = []
    private let baseLatency: UInt64
    private let baseBandwidth: UInt64
    let snapshots: SimSnapshots
    private(set) lazy var work = SimWork(sim: self)
    private var isOver = false
    private var dataFrames = 0

    /// Unix milliseconds of the true time.
    var wall: Int64 { 1_800_000_000_000 + Int64(now / 1_000) }

    package init(_ plan: SimPlan, mutation: SimMutation? = nil, tracing: Bool = false) {
        self.plan = plan
        self.mutation = mutation
        isTracing = tracing
        random = SimRandom(seed: plan.seed, purpose: 2)
        var limits = WireLimits()
        limits.window = random.pick([8 << 10, 16 << 10, 128 << 10, 1 << 20])
        self.limits = limits
        edges = plan.edges
        baseLatency = random.pick([100, 1_000, 20_000, 150_000])
        baseBandwidth = random.pick([20_000, 200_000, 10_000_000, 100_000_000])
        snapshots = SimSnapshots(&random)
    }

    // MARK: Running

    package func run() -> Outcome {
        build()
        for step in plan.steps { schedule(at: step.at * 1_000) { [self] in perform(step) } }
        advance(to: plan.duration * 1_000)
        heal()
        converge()
        if violation == nil { finishWork() }
        if violation == nil { rest() }
        checks.promisesKept()
        for node in nodes where !damaged.contains(node.index) && !node.isRetired {
            checks.headsFit(node)
            checks.knowsItsProofs(node)
        }
        isOver = true
        dismantle()
        return Outcome(
            violation: violation, coverage: coverage, fingerprint: fingerprint, virtualMilliseconds: now / 1_000,
            trace: trace)
    }

    /// Everything here holds everything else: what is planned, links, sessions, stores.
    private func dismantle() {
        agenda = Agenda()
        for (_, link) in links { link.dismantle() }
        links = [:]
        for node in nodes { node.dismantle() }
        nodes = []
    }

    private func build() {
        for index in 0..<plan.nodes { addNode(knownAs: index, name: "n\(index)") }
        for edge in edges {
            nodes[edge.a].peers[edge.b] = edge.aCalls
            nodes[edge.b].peers[edge.a] = edge.bCalls
        }
        for node in nodes { node.start() }
        work.begin()
    }

    @discardableResult
    func addNode(knownAs: Int, name: String, over copy: VerifiedBatch? = nil, evidence: [ForkEvidence] = [])
        -> SimNode
    {
        let key = knownAs < nodes.count ? nodes[knownAs].key : SigningKey.seeded(random.bytes(32))
        let node = SimNode(index: nodes.count, knownAs: knownAs, name: name, key: key, sim: self)
        nodes.append(node)
        node.evidence = evidence
        node.format(isFullyDurable: !draws(.powerCut) || random.chance(0.7), over: copy)
        return node
    }

    private func advance(to end: UInt64) {
        while violation == nil, let time = agenda.nextTime, time <= end, let next = agenda.next() {
            now = next.time
            next.action()
        }
        if violation == nil { now = max(now, end) }
    }

    func schedule(at time: UInt64, _ body: @escaping () -> Void) { agenda.add(at: max(time, now), body) }
    func schedule(after time: UInt64, _ body: @escaping () -> Void) { schedule(at: now + time, body) }

    // MARK: Faults over

    private func heal() {
        note { "the faults are over" }
        isFaulty = false
        blocked = [:]
        for node in nodes where !node.isRetired {
            if node.knownAs != node.index { retire(node) }
            node.store.diskFault = nil
            if node.disguise.isHostile { damaged.insert(node.index) } else { reform(node) }
            if node.store.hasFailed { node.crash(isPowerCut: false) }
            node.resume()
            node.start()
        }
        // Who was suspended for what it claimed gets another chance from its operators.
        for node in nodes {
            for other in nodes where !damaged.contains(other.index) { node.resumeExchange(with: other) }
        }
        for (_, link) in links.sorted(by: { $0.key < $1.key }) {
            for side in 0...1 {
                link.pipes[side].cloggedUntil = 0
                link.pipes[side].breaksAfter = nil
            }
        }
    }

    /// INV-12: connected honest nodes converge.
    private func converge() {
        let deadline = now + 400_000_000
        var open = differences()
        while violation == nil, !open.isEmpty, now < deadline {
            advance(to: now + 2_000_000)
            open = differences()
        }
        if violation == nil, let first = open.first { violate("INV-12", "no convergence: \(first)") }
    }

    /// INV-14: when workers do their work, all events get done. What nodes tell of that reaches all nodes.
    private func finishWork() {
        let deadline = now + 600_000_000
        while violation == nil, now < deadline, work.open() != nil { advance(to: now + 5_000_000) }
        if let open = work.open() { violate("INV-14", open) }
        work.rest()
        // Who works lets go of what it has; the last states are told.
        advance(to: now + 60_000_000)
        if violation == nil { converge() }
    }

    private func differences() -> [String] {
        edges.compactMap { edge in
            let (a, b) = (nodes[edge.a], nodes[edge.b])
            guard !a.isRetired, !b.isRetired, !damaged.contains(edge.a), !damaged.contains(edge.b) else { return nil }
            return checks.difference(a, b)
        }
    }

    /// Equal nodes are silent but for keepalives, their bookkeeping says what their stores say, and their followers have
    /// been given everything.
    private func rest() {
        // A node that has not noticed yet that a link is dead (25 s), a key that two processes had (held for a minute) and a peer that
        // waits to dial again (a minute at most) come first.
        advance(to: now + 150_000_000)
        guard damaged.isEmpty, checks.named.isEmpty, violation == nil else { return }
        coverage.count(.quietChecks)
        let before = dataFrames
        advance(to: now + 60_000_000)
        if dataFrames != before { violate("INV-12", "equal nodes go on sending: \(dataFrames - before) frames") }
        for node in nodes where !node.isRetired {
            node.takeCommits()
            if node.progress.entries.map(\.progress) != node.store.log.progress(using: node.store.sha).map(mutated) {
                violate("I9", "\(node.name): what it believes of its log is not what is there")
            }
            if !node.reader.isComplete(node.store.log) {
                violate("INV-10", "\(node.name): the follower did not get everything")
            }
        }
    }

    // MARK: Chance

    func has(_ mutation: SimMutation) -> Bool { self.mutation == mutation }

    /// Whether a fault is on in this run.
    func draws(_ fault: SimFault) -> Bool { plan.faults.contains(fault) }

    func linkLatency() -> UInt64 { baseLatency + (draws(.delay) ? random.pick(0...baseLatency * 3) : 0) }
    func linkBandwidth() -> UInt64 {
        // Slower, what large events there are would not be over within the time that a cluster has to converge.
        draws(.delay) && random.chance(0.2) ? max(baseBandwidth / 20, 20_000) : baseBandwidth
    }

    func mutated(_ progress: OriginProgress) -> OriginProgress {
        if has(.blindToForks) { return OriginProgress(origin: progress.origin, seq: progress.seq, rootPrefix: 0) }
        if has(.staleVector), progress.seq % 5 == 0 {
            return OriginProgress(origin: progress.origin, seq: progress.seq + 1, rootPrefix: progress.rootPrefix)
        }
        return progress
    }

    // MARK: Connections

    func connect(_ from: SimNode, _ to: SimNode, completion: @escaping (SimLink?) -> Void) {
        let roundTrips = baseLatency * 6
        let isReachable = !isBlocked(from.index, to.index) && !isBlocked(to.index, from.index)
        guard isReachable, to.isUp, !to.isPaused else {
            coverage.count(.dialsFailed)
            // No one answers, or the port is closed.
            from.schedule(after: to.isUp || !isReachable ? 5_000_000 : roundTrips) { completion(nil) }
            return
        }
        let epoch = to.epoch
        from.schedule(after: roundTrips) { [self] in
            guard to.isUp, to.epoch == epoch else { return completion(nil) }
            linkCount += 1
            let link = SimLink(number: linkCount, from: from, to: to, sim: self)
            links[linkCount] = link
            coverage.count(.sessions)
            completion(link)
            guard link.isOpen else { return }
            schedule(after: baseLatency) {
                to.whenAwake {
                    guard link.isOpen, link.isLive(1) else { return }
                    to.dialled(over: link)
                }
            }
        }
    }

    func forget(_ link: SimLink) { links[link.number] = nil }

    func died(_ node: SimNode, silently: Bool) {
        coverage.count(.crashes)
        for (_, link) in links.sorted(by: { $0.key < $1.key }) {
            for side in 0...1 where link.nodes[side] === node { link.died(side, silently: silently) }
        }
    }

    private func isBlocked(_ from: Int, _ to: Int) -> Bool { blocked[[from, to]].map { $0 > now } ?? false }

    func received(_ frame: Frame, _ end: SimPeerLink) {
        switch MessageType(rawValue: frame.type) {
        case .vector, .stateDelta, .resync, .want, .events, .ack, .credit, .snapshotOffer, .snapshotGet,
            .snapshotRows, .snapshotEnd, .snapshotDone:
            dataFrames += 1
        default: break
        }
        if frame.type == MessageType.resync.rawValue { coverage.count(.restatements) }
        checks.received(frame, end)
    }

    // MARK: Telling

    func violate(_ rule: String, _ text: String) {
        guard violation == nil, !isOver else { return }
        note { "VIOLATION of \(rule): \(text)" }
        violation = Violation(rule: rule, text: text, at: now / 1_000)
    }

    func note(_ line: () -> String) {
        guard isTracing else { return }
        trace.append("\(now / 1_000).\(String(now % 1_000 + 1_000).dropFirst()) \(line())")
    }

    func mix(_ words: UInt64...) {
        for word in words + [now] { fingerprint = (fingerprint ^ word) &* 0x100_0000_01b3 }
    }
}
