import EventStore
import Testing

@testable import SyncEngine

/// A node of the first release of the protocol, and one of this.
struct EarlierReleaseTests {
    @Test("They exchange everything both ways and hear what is durable", arguments: [[0, 1], [1, 0]])
    func interoperates(order: [Int]) {
        let network = VirtualNetwork()
        for index in order { network.addNode(features: index == 0 ? [] : VirtualNode.all) }
        for number in 0..<50 { network.append(number % 2, 20, origin: VirtualNode.origin(900 + UInt64(number))) }
        for _ in 0..<2 {
            network.connect(0, 1)
            network.append(0, 10)
            network.append(1, 10)
            #expect(network.run(until: { network.nodes[0].vector.vector == network.nodes[1].vector.vector }))
            network.append(0, 1)
            network.append(1, 1)
            network.run(milliseconds: 1_000)
            #expect(network.nodes[0].vector.vector == network.nodes[1].vector.vector)
            for (node, other) in [(0, 1), (1, 0)] {
                guard case .open(_, let outgoing, _)? = network.nodes[node].sessions[other]?.state else {
                    Issue.record("\(network.nodes[node].closed)")
                    continue
                }
                #expect(outgoing.durable == network.nodes[node].vector.vector)
                let types = Set(network.nodes[node].sent.keys)
                #expect(types.isDisjoint(with: [9, 10, 11, 12]))
                #expect(types.isSuperset(of: [1, 2, 3, 4, 5]))
            }
            network.disconnect(0, 1)
            network.append(0, 3)
        }
    }
}
