import EventStore
import TestSupport
import Testing

@testable import SyncEngine

/// Who sends what to whom, where every node is connected with every other.
struct MeshTests {
    /// A full mesh; the links' latencies differ, so that what depends on what arrives in every order.
    private func mesh(_ count: Int, latency: UInt64 = 1_000) -> VirtualNetwork {
        let network = VirtualNetwork()
        for _ in 0..<count { network.addNode() }
        for a in 0..<count {
            for b in a + 1..<count { network.connect(a, b, latency: latency * UInt64(1 + (a * 7 + b * 3) % 5)) }
        }
        return network
    }

    private func areEqual(_ nodes: [VirtualNode]) -> Bool {
        nodes.dropFirst().allSatisfy {
            $0.log.count == nodes[0].log.count && $0.vector.vector == nodes[0].vector.vector
        }
    }

    /// Bodies that came for each event of others.
    private func copies(_ node: VirtualNode) -> Double {
        let foreign = node.log.filter { $0.dot.origin != node.local.origin }.count
        return Double(node.bodies) / Double(max(1, foreign))
    }

    @Test("Five nodes write for ten seconds: each body goes at most 1.1 times to each", arguments: [1_000, 20_000])
    func live(latency: UInt64) {
        let network = mesh(5, latency: latency)
        var random = SplitMix64(state: latency)
        for _ in 0..<2_000 {
            let node = Int.random(in: 0..<5, using: &random)
            let count = Int.random(in: 1...3, using: &random)
            network.after(.random(in: 0..<10_000_000, using: &random)) { [unowned network] in
                network.append(node, count)
            }
        }
        network.run(milliseconds: 10_000)
        #expect(network.run(until: { areEqual(network.nodes) }, limit: 5_000))
        for node in network.nodes {
            #expect(copies(node) <= 1.1, "\(copies(node))")
            #expect(node.closed.isEmpty, "\(node.closed)")
        }
        // Equal nodes are silent but for keepalives.
        network.run(milliseconds: 1_000)
        let before = network.nodes.map { $0.sent.values.reduce(0, +) }
        network.run(milliseconds: 60_000)
        for (node, count) in zip(network.nodes, before) {
            #expect(node.sent.values.reduce(0, +) - count <= 4 * 24)
        }
    }

    @Test("A node that joins with nothing gets the backlog once; so do those that come with backlogs of their own")
    func joining() {
        let network = VirtualNetwork()
        for index in 0..<5 {
            network.addNode()
            network.append(index, 4_000, bytes: 300)
        }
        for a in 0..<4 { for b in a + 1..<4 { network.connect(a, b) } }
        for index in 0..<4 {
            network.after(1_000_000) { [unowned network] in network.append(index, 3_000) }
        }
        #expect(
            network.run(until: { areEqual(Array(network.nodes.prefix(4))) && network.nodes[0].log.count == 28_000 }))
        for b in 0..<4 { network.connect(4, b) }
        #expect(network.run(until: { areEqual(network.nodes) }))
        for node in network.nodes { #expect(copies(node) <= 1.1, "\(copies(node))") }
        #expect(network.nodes.allSatisfy { $0.closed.isEmpty }, "\(network.nodes.map(\.closed))")
    }

    @Test("A source that falls silent is replaced within three seconds, and closed within thirty")
    func stalled() {
        let network = mesh(5)
        for index in 0..<5 { network.append(index, 10) }
        #expect(network.run(until: { areEqual(network.nodes) }))
        network.run(milliseconds: 3_000)
        let (writer, reader) = (network.nodes[2], network.nodes[4])
        #expect(reader.plan.source(of: writer.local.origin) == writer.local.node)
        network.silence(2, 4)
        network.append(2, 1)
        let dot = Dot(origin: writer.local.origin, seq: 11)
        let written = network.clock
        #expect(network.run(until: { reader.arrived[dot] != nil }, limit: 4_000))
        #expect((reader.arrived[dot] ?? .max) - written <= 3_000_000)
        // From then on there is no more waiting.
        for _ in 0..<20 {
            network.append(2, 1)
            network.run(milliseconds: 100)
        }
        #expect(areEqual(network.nodes))
        let found = network.run(until: { reader.closed[2] != nil }, limit: 30_000)
        #expect(found && network.clock - written <= 30_000_000)
        #expect("\(reader.closed[2].map(\.description) ?? "")".hasPrefix("IDLE_TIMEOUT"))
        #expect(copies(reader) <= 1.1)
    }

    @Test("A source that is connected and says nothing of an origin is replaced too; when it is gone, at once")
    func replacedOrGone() {
        let network = mesh(4)
        network.append(0, 5)
        #expect(network.run(until: { areEqual(network.nodes) }))
        // Node 0 is alive, but its store answers no more: what it announces it does not deliver.
        network.nodes[0].readMicroseconds = 3_600_000_000
        network.append(0, 5)
        network.run(milliseconds: 6_000)
        network.nodes[0].readMicroseconds = 1_000
        #expect(network.run(until: { areEqual(network.nodes) }, limit: 10_000_000))
        for other in 1..<4 { network.disconnect(0, other) }
        network.append(1, 3, origin: network.nodes[0].local.origin)
        #expect(network.run(until: { areEqual(Array(network.nodes.dropFirst())) }, limit: 1_000))
    }

    @Test("What waits for an event that must come the same way makes room for it", arguments: [1, 6_000, 20_000])
    func heldWithoutCredit(bytes: Int) {
        let network = VirtualNetwork()
        var limits = WireLimits()
        limits.window = 16 << 10
        for _ in 0..<3 { network.addNode(limits: limits) }
        network.connect(0, 1)
        network.append(0, 2)
        #expect(network.run(until: { network.nodes[1].log.count == 2 }))
        network.disconnect(0, 1)
        for _ in 0..<12 { network.append(1, 1, bytes: bytes) }
        // Node 2 asks node 0 for its events, and that does not deliver; what depends on them comes from node 1.
        network.nodes[0].readMicroseconds = 3_600_000_000
        network.connect(0, 2)
        network.run(milliseconds: 100)
        network.connect(1, 2)
        #expect(network.run(until: { network.nodes[2].log.count == network.nodes[1].log.count }, limit: 20_000))
        #expect(network.nodes.allSatisfy { $0.closed.isEmpty }, "\(network.nodes.map(\.closed))")
    }

    @Test("What was dropped is asked for once more from its source, also what that has not announced yet")
    func dropped() {
        let network = VirtualNetwork()
        let (peer, second) = (network.addNode().local.node, network.addNode().local.node)
        let (one, other) = (VirtualNode.origin(1), VirtualNode.origin(2))
        var plan = SourcePlan(VersionVector([Dot(origin: one, seq: 1), Dot(origin: other, seq: 1)]))
        plan.opened(peer, [Dot(origin: one, seq: 1)], own: nil, now: 0)
        plan.opened(second, [Dot(origin: one, seq: 1), Dot(origin: other, seq: 1)], own: nil, now: 0)
        _ = plan.takeChanges()
        // An event of `one` came before the statement that speaks of it.
        plan.dropped([one, other, one], from: peer)
        #expect(plan.takeChanges() == [SourcePlan.Change(peer: peer, take: [one], leave: [])])
        plan.closed(peer, now: 0)
        _ = plan.takeChanges()
        plan.dropped([one], from: peer)
        #expect(plan.takeChanges().isEmpty)
    }

    @Test(
        "Random cuts, joins and writes end in equal nodes (INV-5, INV-12)",
        arguments: [0, 1, 2, 3, 25, 34, 35, 92, 95, 112])
    func chaos(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let network = VirtualNetwork()
        let count = 4
        for index in 0..<count { network.addNode(features: index == 3 && seed % 3 == 0 ? [] : VirtualNode.all) }
        var connected: Set<[Int]> = []
        for _ in 0..<120 {
            let (a, b) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
            let pair = [min(a, b), max(a, b)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<3 where a != b && !connected.contains(pair):
                connected.insert(pair)
                network.connect(
                    pair[0], pair[1], bandwidth: [20_000, 1_000_000, 100_000_000].randomElement(using: &random) ?? 1,
                    latency: .random(in: 100...50_000, using: &random))
            case 3 where connected.remove(pair) != nil: network.disconnect(pair[0], pair[1])
            case 4 where Int.random(in: 0..<8, using: &random) == 0:
                for other in 0..<count where connected.remove([min(a, other), max(a, other)]) != nil {
                    network.disconnect(min(a, other), max(a, other))
                }
                network.nodes[a].restart()
            default:
                network.append(a, .random(in: 1...40, using: &random), bytes: .random(in: 10...3_000, using: &random))
            }
            network.run(milliseconds: .random(in: 0...400, using: &random))
        }
        for a in 0..<count {
            for b in a + 1..<count where !connected.contains([a, b]) { network.connect(a, b) }
        }
        #expect(network.run(until: { areEqual(network.nodes) }, limit: 400_000), "seed \(seed)")
        #expect(network.nodes.allSatisfy { $0.closed.isEmpty }, "seed \(seed): \(network.nodes.map(\.closed))")
    }
}
