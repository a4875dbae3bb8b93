package import EventStore

/// Everything a seed decides before a run begins. A shrunk run is the same plan with less in it.
package struct SimPlan: Sendable {
    package enum Topology: String, CaseIterable, Sendable { case pair, chain, ring, star, mesh }

    package struct Edge: Sendable, Hashable {
        let a: Int
        let b: Int
        /// Which side calls: `a`, `b` or both.
        let aCalls: Bool
        let bCalls: Bool
    }

    /// Something that happens at `at`, virtual milliseconds.
    package struct Step: Sendable {
        let at: UInt64
        let action: SimAction
        let fault: SimFault?
    }

    package let seed: UInt64
    package var faults: Set<SimFault>
    package let topology: Topology
    package let nodes: Int
    package let edges: [Edge]
    package var steps: [Step]
    /// Length of the part with faults, virtual milliseconds.
    package let duration: UInt64

    /// The plan of a seed, with these faults among those that are on.
    package init(seed: UInt64, with others: Set<SimFault> = []) {
        var random = SimRandom(seed: seed, purpose: 1)
        self.seed = seed
        topology = random.pick(Topology.allCases)
        let small = random.chance(0.8)
        nodes = topology == .pair ? 2 : small ? random.pick(3...5) : random.pick(6...15)
        edges = SimPlan.edges(topology, nodes, &random)
        // Swarm testing (Groce et al., 2012): runs without a fault find what the fault would hide.
        let share = random.pick([0.08, 0.2, 0.4])
        faults = Set(SimFault.allCases.filter { $0 != .subscriptions && random.chance(share) }).union(others)
        // Drawn apart, so that a seed without them is what it was.
        var apart = SimRandom(seed: seed, purpose: 6)
        if apart.chance(0.4) { faults.insert(.subscriptions) }
        duration = random.pick(20_000...90_000)
        steps = []
        var made = SimPlanner(plan: self, random: random)
        steps = made.steps()
    }

    private static func edges(_ topology: Topology, _ nodes: Int, _ random: inout SimRandom) -> [Edge] {
        var pairs: [(Int, Int)] = []
        switch topology {
        case .pair, .chain: pairs = (1..<nodes).map { ($0 - 1, $0) }
        case .ring: pairs = (1..<nodes).map { ($0 - 1, $0) } + [(nodes - 1, 0)]
        case .star: pairs = (1..<nodes).map { (0, $0) }
        case .mesh:
            for a in 0..<nodes { for b in a + 1..<nodes where nodes <= 7 || b - a <= 3 { pairs.append((a, b)) } }
        }
        return pairs.map { a, b in
            let way = random.pick(0...3)
            return Edge(a: a, b: b, aCalls: way != 1, bCalls: way == 1 || way == 2)
        }
    }
}

/// One thing done to the simulated world.
package enum SimAction: Sendable {
    case append(node: Int, count: Int, kind: AppendKind)
    case crash(node: Int, isPowerCut: Bool, downFor: UInt64)
    case pause(node: Int, for: UInt64)
    case cut(edge: Int)
    case cutAll
    case halfOpen(edge: Int, direction: Int)
    case clog(edge: Int, direction: Int, for: UInt64)
    case isolate(nodes: [Int], oneWay: Bool, for: UInt64)
    case disk(node: Int, fault: DiskRefusal, for: UInt64)
    case flip(node: Int)
    case restore(node: Int, ageShare: Double)
    case clone(node: Int)
    case reformat(node: Int)
    case clock(node: Int, by: Int64)
    case drift(node: Int, millionths: Int64)
    case join(peers: [Int], fromCopyOf: Int?)
    case leave(node: Int)
    case disguise(node: Int, Disguise, for: UInt64)
    case erase(node: Int)

    package enum AppendKind: String, Sendable { case plain, sameID, repeated, strange, large }
}

/// Draws the steps of a plan.
struct SimPlanner {
    let plan: SimPlan
    var random: SimRandom

    private func isOn(_ fault: SimFault) -> Bool { plan.faults.contains(fault) }
    private mutating func node() -> Int { random.pick(0...plan.nodes - 1) }
    private mutating func edge() -> Int { random.pick(0...plan.edges.count - 1) }
    private mutating func time() -> UInt64 { random.pick(500...plan.duration) }

    mutating func steps() -> [SimPlan.Step] {
        var steps: [SimPlan.Step] = []
        for _ in 0..<random.pick(8...40) {
            steps.append(SimPlan.Step(at: time(), action: append(), fault: nil))
        }
        for fault in SimFault.allCases where isOn(fault) && fault != .subscriptions {
            for _ in 0..<count(of: fault) {
                guard let action = action(for: fault) else { break }
                steps.append(SimPlan.Step(at: time(), action: action, fault: fault))
            }
        }
        return steps.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
    }

    private mutating func append() -> SimAction {
        let kinds: [SimAction.AppendKind] =
            isOn(.strangeEvents) ? [.plain, .plain, .strange, .large] : [.plain, .plain, .plain, .sameID, .repeated]
        // A hub that only relays has nothing of its own but its first event.
        let relays = isOn(.relayLoss)
        let node = relays ? random.pick(1...plan.nodes - 1) : node()
        let kind = random.pick(kinds)
        let counts = kind == .large ? [1, 2] : [1, 1, 2, 5, 20]
        return .append(node: node, count: random.pick(counts), kind: kind)
    }

    private mutating func count(of fault: SimFault) -> Int {
        switch fault {
        case .powerCut, .halfOpen, .pause, .partition, .diskFault, .delay: random.pick(1...4)
        case .clone, .restore, .bitFlip, .reformat, .copiedStore, .hostileFrames, .neverAcks: 1
        default: random.pick(1...3)
        }
    }

    private mutating func action(for fault: SimFault) -> SimAction? {
        switch fault {
        case .connectionLoss: .cut(edge: edge())
        case .halfOpen: .halfOpen(edge: edge(), direction: random.pick(0...1))
        case .delay: .clog(edge: edge(), direction: random.pick(0...1), for: random.pick(200...25_000))
        case .partition: isolate()
        case .powerCut: .crash(node: node(), isPowerCut: true, downFor: random.pick(200...20_000))
        case .crashBetweenEffects: .crash(node: node(), isPowerCut: false, downFor: random.pick(200...20_000))
        case .diskFault:
            .disk(node: node(), fault: random.pick([.full, .busy, .busy, .io]), for: random.pick(500...15_000))
        case .bitFlip: .flip(node: node())
        case .restore: .restore(node: node(), ageShare: Double(random.pick(0...90)) / 100)
        case .clone: .clone(node: node())
        case .reformat: .reformat(node: node())
        case .clockJump: clock()
        case .membership: random.chance(0.6) ? .join(peers: [node(), node()], fromCopyOf: nil) : .leave(node: node())
        case .versions:
            .disguise(
                node: node(), random.pick([.olderVersion, .newerVersion, .tooNewVersion]),
                for: random.pick(5_000...30_000))
        case .hostileFrames: .disguise(node: node(), random.pick(Disguise.hostile), for: plan.duration)
        case .erasure: .erase(node: node())
        case .pause:
            .pause(node: node(), for: random.chance(0.2) ? 600_000 : random.pick(500...45_000))
        case .relayLoss: random.chance(0.5) ? .reformat(node: 0) : .restore(node: 0, ageShare: 0.5)
        case .reconnectStorm: .cutAll
        case .copiedStore: .join(peers: [node(), node()], fromCopyOf: node())
        case .neverAcks:
            .disguise(node: node(), random.pick([.neverAcks, .neverCredits]), for: random.pick(5_000...40_000))
        case .snapshots:
            random.chance(0.6) ? .join(peers: [node(), node()], fromCopyOf: nil) : .reformat(node: node())
        case .splitReads, .twoPaths, .slowStore, .strangeEvents, .subscriptions: nil
        }
    }

    private mutating func isolate() -> SimAction {
        let single = random.chance(0.5)
        let side = single ? [node()] : (0..<plan.nodes).filter { _ in random.chance(0.5) }
        return .isolate(nodes: side, oneWay: random.chance(0.3), for: random.pick(500...60_000))
    }

    private mutating func clock() -> SimAction {
        if random.chance(0.3) {
            return .drift(node: node(), millionths: Int64(random.pick(0...400_000)) - 200_000)
        }
        let jumps: [Int64] = [1_000, 59_000, 61_000, 3_600_000, 86_400_000, 315_360_000_000]
        return .clock(node: node(), by: random.pick(jumps) * (random.chance(0.5) ? 1 : -1))
    }
}
