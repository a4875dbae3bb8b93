import EventStore
import Foundation
import Testing

@testable import SyncEngine

@Suite(.serialized)
struct LagTests {
    /// The one answer of a wait.
    private final class Answer: Sendable {
        private let found = Monitor<Holders?>(nil)
        func set(_ durability: Holders) {
            found.update { found in
                found = durability
                return true
            }
        }
        var value: Holders? { found.withLock { $0 } }
    }

    private func wait(_ node: TestNode, _ vector: VersionVector, _ nodes: Int, _ timeout: Duration) -> Answer {
        let answer = Answer()
        #expect(node.node.wait(for: vector, nodes: nodes, timeout: timeout) { answer.set($0) })
        return answer
    }

    private func lag(_ node: TestNode) throws -> PeerLag {
        let (mine, peers) = node.node.standings()
        return try LagMeter(node.store.files).lag(of: mine, at: peers[0].durable ?? VersionVector())
    }

    @Test(
        "Lag is what the acknowledged vector lacks: events, bytes, age; through blocks and across a broken connection"
    )
    func measured() throws {
        let a = try TestNode("a")
        try a.append(3_000)
        try a.append(3_000)
        try a.append(3_000)
        let b = try TestNode("b")
        a.node.setPeers([b.peer(calling: false)])
        let expected = try LogReader(a.store.files).payloads()
        var lag = try lag(a)
        #expect(lag.events == 9_001 && lag.bytes == expected && lag.origins.count == 1)
        #expect(lag.oldest == (try LogReader(a.store.files).event(at: 1))?.event.header.hlc.milliseconds)
        #expect(a.node.standings().peers[0].durable == nil)

        b.node.setPeers([a.peer()])
        #expect(try eventually { try self.lag(a).events == 0 })
        lag = try self.lag(a)
        #expect(lag.bytes == 0 && lag.oldest == nil && lag.origins.isEmpty)
        b.node.stop()
        #expect(eventually { !a.node.standings().peers[0].isConnected })
        let before = try LogReader(a.store.files).payloads()
        try a.append(10)
        #expect(try eventually { try self.lag(a).events == 10 })
        #expect(try self.lag(a).bytes == LogReader(a.store.files).payloads() - before)
        // Kept sums give the same as counting anew.
        let meter = try LagMeter(a.store.files)
        let own = a.store.identity.origin
        let mine = VersionVector([Dot(origin: own, seq: a.node.standings().mine[own])])
        for start in [0, 1, 4_095, 4_096, 5_000, 8_192, 9_011] as [UInt64] {
            let durable = VersionVector([Dot(origin: own, seq: start)])
            let bytes = try LogReader(a.store.files).payloadBytes(of: own, after: start, through: 9_011)
            for _ in 0..<2 { #expect(try meter.lag(of: mine, at: durable).bytes == bytes) }
        }
        a.stop()
        b.store.close()
    }

    @Test("wait answers when enough nodes hold it, not before, and when its time is over (INV-7)")
    func durability() throws {
        let (a, b, c) = (try TestNode("a"), try TestNode("b"), try TestNode("c"))
        try a.append(100)
        let vector = try a.vector()
        #expect(wait(a, vector, 1, .seconds(60)).value == Holders(nodes: ["a"], isReached: true))
        let two = wait(a, vector, 2, .seconds(60))
        let three = wait(a, vector, 3, .seconds(60))
        let late = wait(a, vector, 2, .milliseconds(1))
        #expect(eventually { late.value == Holders(nodes: ["a"], isReached: false) })
        #expect(two.value == nil)
        a.node.setPeers([b.peer(calling: false), c.peer(calling: false)])
        b.node.setPeers([a.peer()])
        #expect(eventually { two.value == Holders(nodes: ["a", "b"], isReached: true) })
        #expect(try b.vector().covers(vector))
        #expect(three.value == nil)
        c.node.setPeers([a.peer()])
        #expect(eventually { three.value?.isReached == true })
        #expect(try c.vector().covers(vector))
        // Events that are nowhere yet.
        let future = wait(a, VersionVector([Dot(origin: a.store.identity.origin, seq: 150)]), 3, .seconds(60))
        try a.append(48)
        usleep(50_000)
        #expect(future.value == nil)
        try a.append(1)
        #expect(eventually { future.value?.nodes == ["a", "b", "c"] })
        for node in [a, b, c] { node.stop() }
    }

    @Test("A node that may forget when the power fails never counts as a durable copy, nor for itself (INV-7)")
    func volatileNodes() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()], durability: .normal)
        a.node.setPeers([b.peer(calling: false)])
        try a.append(10)
        #expect(try eventually { try a.vector() == b.vector() && b.vector().entries.count == 2 })
        let vector = VersionVector([Dot(origin: a.store.identity.origin, seq: 1)])
        #expect(eventually { a.node.standings().peers[0].durable?.covers(vector) == true })
        let (two, own) = (wait(a, vector, 2, .milliseconds(100)), wait(b, vector, 1, .seconds(60)))
        #expect(eventually { two.value == Holders(nodes: ["a"], isReached: false) })
        #expect(eventually { own.value == Holders(nodes: ["a"], isReached: true) })
        let both = wait(b, vector, 2, .milliseconds(1))
        #expect(eventually { both.value == Holders(nodes: ["a"], isReached: false) })
        for node in [a, b] { node.stop() }
    }

    @Test("No more than so many wait at a time (INV-9)")
    func bounded() throws {
        let a = try TestNode("a")
        let far = VersionVector([Dot(origin: a.store.identity.origin, seq: 1_000)])
        let waits = (0..<DurabilityWaiters.capacity).map { _ in wait(a, far, 1, .seconds(4)) }
        #expect(!a.node.wait(for: far, nodes: 1, timeout: .seconds(1)) { _ in })
        #expect(eventually { waits.allSatisfy { $0.value?.isReached == false } })
        #expect(a.node.wait(for: far, nodes: 1, timeout: .milliseconds(1)) { _ in })
        a.stop()
    }

    @Test("A vector is written and read as text")
    func text() throws {
        let a = try TestNode("a")
        let vector = try a.vector()
        #expect(VersionVector(text: vector.text) == vector)
        let two = VersionVector(vector.entries + [Dot(origin: VirtualNode.origin(7), seq: Limits.number)])
        #expect(VersionVector(text: two.text.split(separator: " ").joined(separator: ",\n")) == two)
        #expect(VersionVector(text: " ") == VersionVector())
        for wrong in ["x", "\(vector.text)/1", "\(vector.entries[0].origin)/0", "\(vector.entries[0].origin)", "/1"] {
            #expect(VersionVector(text: wrong) == nil, "\(wrong)")
        }
        a.stop()
    }
}

extension LogReader {
    /// Bytes of all payloads, added up one by one.
    fileprivate func payloads() throws -> UInt64 {
        var sum = 0
        try scan(after: 0, limit: .max >> 1) { event in
            sum += event.event.payload?.count ?? 0
            return true
        }
        return UInt64(sum)
    }
}
