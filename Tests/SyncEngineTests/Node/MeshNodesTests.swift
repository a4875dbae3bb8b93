import EventStore
import Foundation
import Testing

@testable import SyncEngine

@Suite(.serialized)
struct MeshNodesTests {
    @Test("Five real nodes, each connected with each: a body goes at most 1.1 times to each receiver")
    func fullMesh() throws {
        let nodes = try (0..<5).map { try TestNode("n\($0)") }
        for (index, node) in nodes.enumerated() {
            // Of two nodes the later one calls.
            node.node.setPeers(nodes.enumerated().filter { $0.offset != index }.map { $1.peer(calling: $0 < index) })
        }
        #expect(
            eventually { nodes.allSatisfy { $0.node.standings().peers.filter(\.isConnected).count == 4 } },
            "\(nodes.map { $0.node.standings().peers.map(\.isConnected) })")
        for round in 0..<40 {
            for (index, node) in nodes.enumerated() { try node.append(1 + (round + index) % 3, "\(round)") }
        }
        #expect(
            try eventually(seconds: 60) {
                let first = try nodes[0].vector()
                return try first.entries.count == 5 && nodes.allSatisfy { try $0.vector() == first }
            })
        let events = try nodes[0].vector().entries.reduce(0) { $0 + $1.seq }
        let sent = nodes.reduce(0) { sum, node in
            sum + node.node.status().peers.reduce(0) { $0 + $1.eventsSent }
        }
        #expect(Double(sent) <= 1.1 * Double(events * 4), "\(sent) bodies for \(events) events to 4 receivers")
        #expect(sent >= events * 4)
        #expect(eventually { nodes.allSatisfy { $0.node.status().peers.allSatisfy { $0.lacks == 0 } } })
        for node in nodes { node.stop() }
    }
}
