import EventStore
import Testing

@testable import SyncEngine

/// What it costs to meet again.
struct ReconnectTests {
    /// Two nodes with `count` origins that have met, and parted.
    private func acquainted(_ count: Int) -> VirtualNetwork {
        let network = VirtualNetwork()
        network.addNode()
        network.addNode()
        for number in 0..<count {
            network.append(number % 2, 1, origin: VirtualNode.origin(1_000 + UInt64(number)))
        }
        network.append(0, 3)
        network.append(1, 3)
        network.connect(0, 1)
        #expect(network.run(until: { Self.areEqual(network) }))
        network.run(milliseconds: 1_000)
        network.disconnect(0, 1)
        return network
    }

    private static func areEqual(_ network: VirtualNetwork) -> Bool {
        network.nodes[0].log.count == network.nodes[1].log.count
            && network.nodes[0].vector.vector == network.nodes[1].vector.vector
    }

    private static func isOpen(_ network: VirtualNetwork, _ a: Int, _ b: Int) -> Bool {
        if case .open? = network.nodes[a].sessions[b]?.state { true } else { false }
    }

    /// Connects, and returns the bytes each way and the microseconds until both sides are open.
    private func meet(_ network: VirtualNetwork, latency: UInt64 = 50_000) -> (bytes: [Int], time: UInt64) {
        network.connect(0, 1, latency: latency)
        let start = network.clock
        #expect(
            network.run(until: { Self.isOpen(network, 0, 1) && Self.isOpen(network, 1, 0) }),
            "\(network.nodes.map(\.closed))")
        let time = network.clock - start
        // Pings of an idle connection come later.
        network.run(milliseconds: 2_000)
        return ([(0, 1), (1, 0)].map { network.links[.init(from: $0, to: $1)]?.total ?? 0 }, time)
    }

    @Test("Nothing changed: at most 512 bytes each way and one round trip, with 10,000 origins")
    func nothingChanged() {
        let network = acquainted(10_000)
        let (bytes, time) = meet(network)
        #expect(bytes.allSatisfy { $0 > 0 && $0 <= 512 }, "\(bytes)")
        #expect(time <= 102_000, "\(time) µs at a round trip of 100,000")
        #expect(Self.areEqual(network))
    }

    @Test("k changes cost at most 512 + 24 k bytes, beside the events", arguments: [1, 20, 10_000])
    func someChanged(changes: Int) {
        let network = acquainted(10_000)
        for number in 0..<changes { network.append(0, 2, origin: VirtualNode.origin(1_000 + UInt64(number))) }
        network.connect(0, 1, latency: 50_000)
        let link = network.links[.init(from: 0, to: 1)]
        #expect(network.run(until: { Self.isOpen(network, 0, 1) && Self.isOpen(network, 1, 0) }))
        let bytes = link?.total ?? 0
        #expect(bytes > 0 && bytes <= 512 + 24 * changes, "\(bytes) bytes")
        #expect(network.links[.init(from: 1, to: 0)]?.total ?? 1_000 <= 512)
        #expect(network.run(until: { Self.areEqual(network) }))
    }

    @Test("A node that was started anew remembers nothing and is told everything; the other way a difference will do")
    func restarted() {
        let network = acquainted(2_000)
        network.nodes[1].restart()
        network.append(0, 5)
        let (bytes, _) = meet(network)
        #expect(bytes[0] > 2_000 * 20)
        #expect(bytes[1] <= 700)
        #expect(Self.areEqual(network))
        network.disconnect(0, 1)
        #expect(meet(network).bytes.allSatisfy { $0 <= 512 })
    }

    @Test("Another incarnation, a rewound log and a wrong memory are all answered with everything")
    func doubtful() {
        let network = acquainted(300)
        // Node 1 is another store now: what node 0 remembers is of no use.
        let old = network.nodes[1].local
        network.nodes[1].local = SyncSession.Local(
            StoreIdentity(
                node: old.node, name: old.name, cluster: old.cluster, origin: old.origin, incarnation: 77),
            software: "test")
        #expect(meet(network).bytes[1] > 300 * 20)
        #expect(network.nodes[0].memories[1]?.incarnation != 77)
        network.disconnect(0, 1)
        #expect(network.nodes[0].memories[1]?.incarnation == 77)
        // Node 0 believes to remember what node 1 never said.
        network.append(1, 1)
        var wrong = PeerMemory(incarnation: 77)
        let through = network.nodes[1].vector.top
        _ = try? wrong.apply(
            StateDelta(
                entries: (0..<302).map { StateEntry(.new(VirtualNode.origin(5_000 + $0)), seq: 9, root: 9) },
                isWhole: true, since: 0, through: through - 1), isFirst: true)
        network.nodes[0].memories[1] = wrong
        let (bytes, _) = meet(network)
        #expect(bytes[1] > 300 * 20)
        #expect(network.nodes[0].sent[MessageType.resync.rawValue] == 1)
        #expect(Self.areEqual(network))
        #expect(network.nodes[0].sessions[1]?.memory?.vector == network.nodes[1].vector.vector)
        network.disconnect(0, 1)
        // A state that node 1 never reached.
        network.nodes[0].memories[1] = nil
        var future = PeerMemory(incarnation: 77)
        _ = try? future.apply(StateDelta(entries: [], isWhole: true, since: 0, through: 1 << 40), isFirst: true)
        network.nodes[0].memories[1] = future
        #expect(meet(network).bytes[1] > 300 * 20)
    }

    @Test("100,000 origins are stated in parts; a peer with small frames takes them")
    func large() {
        let network = VirtualNetwork()
        let limits = WireLimits(maxBody: 64 << 10)
        network.addNode(limits: limits)
        network.addNode(limits: limits)
        let count = 100_000
        for number in 0..<count { network.append(0, 1, origin: VirtualNode.origin(1_000 + UInt64(number))) }
        network.connect(0, 1)
        #expect(network.run(until: { Self.isOpen(network, 0, 1) && Self.isOpen(network, 1, 0) }))
        let bytes = network.links[.init(from: 0, to: 1)]?.bytes[MessageType.stateDelta.rawValue] ?? 0
        #expect(bytes > 3_000_000)
        #expect(network.nodes[1].sessions[0]?.memory?.entries.count == count)
        network.disconnect(0, 1)
        #expect(network.nodes[1].memories[0]?.remembered?.origins == UInt32(count))
    }

    @Test("On a link of 50 kbit/s a long statement neither runs out of time nor of patience")
    func largeAndSlow() {
        let network = VirtualNetwork()
        network.addNode()
        network.addNode()
        for number in 0..<10_000 { network.append(0, 1, origin: VirtualNode.origin(1_000 + UInt64(number))) }
        network.connect(0, 1, bandwidth: 6_250, latency: 100_000)
        #expect(
            network.run(until: { Self.isOpen(network, 0, 1) && Self.isOpen(network, 1, 0) }, limit: 120_000))
        #expect(network.nodes.allSatisfy { $0.closed.isEmpty })
    }

    @Test("Statements go on during a connection: what was learned in it need not be told again")
    func learnedMeanwhile() {
        let network = acquainted(10)
        _ = meet(network, latency: 200)
        for round in 0..<50 {
            network.append(round % 2, 7)
            network.append(0, 1, origin: VirtualNode.origin(3_000 + UInt64(round)))
            network.run(milliseconds: 40)
        }
        #expect(network.run(until: { Self.areEqual(network) }))
        network.run(milliseconds: 1_000)
        for (a, b) in [(0, 1), (1, 0)] {
            #expect(network.nodes[a].sessions[b]?.memory?.vector == network.nodes[b].vector.vector)
        }
        network.disconnect(0, 1)
        #expect(meet(network).bytes.allSatisfy { $0 <= 512 })
        // Each body went once, and nothing goes on between equals but pings.
        #expect(network.nodes[0].bodies + network.nodes[1].bodies == 16 + 50 * 8)
        let before = network.nodes.map { $0.sent.values.reduce(0, +) }
        network.run(milliseconds: 60_000)
        let after = network.nodes.map { $0.sent.values.reduce(0, +) }
        #expect(zip(before, after).allSatisfy { $1 - $0 <= 24 })
    }

    @Test("A connection cut at any moment leaves memories that hold or are found out")
    func cutAnywhere() {
        for moment in stride(from: UInt64(0), to: 60, by: 3) {
            let network = acquainted(20)
            network.connect(0, 1, latency: 5_000)
            for round in 0..<10 {
                network.after(UInt64(round) * 6_000) { [unowned network] in
                    network.append(round % 2, 2, origin: VirtualNode.origin(2_000 + UInt64(round) + moment * 100))
                    network.append(1 - round % 2, 1)
                }
            }
            network.run(milliseconds: moment)
            network.disconnect(0, 1)
            network.run(milliseconds: 100)
            _ = meet(network, latency: 1_000)
            #expect(network.run(until: { Self.areEqual(network) }), "cut after \(moment) ms")
            network.run(milliseconds: 200)
            #expect(network.nodes[0].sessions[1]?.memory?.vector == network.nodes[1].vector.vector)
            #expect(network.nodes.allSatisfy { $0.sent[MessageType.resync.rawValue] == nil })
        }
    }
}
