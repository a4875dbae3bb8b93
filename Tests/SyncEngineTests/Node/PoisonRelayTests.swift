import EventStore
import Foundation
import Testing

@testable import EventStore
@testable import SyncEngine

@Suite(.serialized)
struct PoisonRelayTests {
    /// What this release cannot read, each between events that it can.
    private static func poisoned() -> ForeignOrigin {
        var origin = ForeignOrigin(name: "later")
        let large = Array(#"{"t":""#.utf8) + [UInt8](repeating: 0x61, count: 890 << 10) + Array(#""}"#.utf8)
        for round in 0..<3 {
            origin.append(origin.header("message.posted"))
            var later = origin.header("message.posted")
            later.unknownFields = [0x6a, 0x02, 1, 2]
            origin.append(later)
            origin.append(origin.header("application.of-its-own"))
            var long = origin.header()
            long.type = String(repeating: "x", count: 500 + round)
            origin.append(long)
            origin.append(origin.header("survey.answered"), Array(#"{"survey":7}"#.utf8))
            origin.append(origin.header(), Array("not JSON".utf8))
            origin.append(origin.header(), large)
        }
        return origin
    }

    @Test(
        "A, B, C in a chain: poison passes through all, everything else flows, nothing lags (INV-5, INV-10, INV-12)")
    func chain() throws {
        let a = try TestNode("a")
        try a.append(10)
        let origin = Self.poisoned()
        try origin.send(to: a.store)
        let b = try TestNode("b", peers: [a.peer()])
        let c = try TestNode("c", peers: [b.peer()])
        a.node.setPeers([b.peer(calling: false)])
        b.node.setPeers([a.peer(), c.peer(calling: false)])
        // Events that depend on poison, from both ends.
        try a.append(20)
        #expect(try eventually { try c.vector() == a.vector() })
        try c.append(20)
        #expect(try eventually { try c.vector() == a.vector() && b.vector() == a.vector() })
        #expect(
            eventually {
                [a, b, c].allSatisfy { node in
                    node.node.status().peers.allSatisfy { $0.phase == .connected && $0.lacks == 0 && $0.owes == 0 }
                }
            })
        let progress = try [a, b, c].map { try $0.store.progressBlocking() }
        #expect(progress[0] == progress[1] && progress[1] == progress[2])
        #expect(progress[2].contains(origin.progress))
        // The same bytes at the end of the chain as at its beginning.
        let log = try LogReader(c.store.files)
        for (index, sent) in origin.events.enumerated() {
            let stored = try #require(try log.event(Dot(origin: origin.id, seq: UInt64(index + 1))))
            #expect(stored.event.header.canonicalBytes == sent.header)
            #expect(stored.event.body.judged == sent.body.judged)
        }
        // Counted, with equal views on all of them.
        var digests: [[ViewDigest]] = []
        for node in [a, b, c] {
            node.stop()
            try Projector(node.store.files).catchUp()
            let reader = try ViewReader(node.store.files)
            #expect(try reader.quarantined() == 15)
            digests.append(try reader.digests())
            #expect(try Verifier(node.store.files).run().findings.isEmpty)
        }
        #expect(digests[0] == digests[1] && digests[1] == digests[2])
    }
}
