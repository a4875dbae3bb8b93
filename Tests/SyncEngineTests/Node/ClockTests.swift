import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// A clock that a test sets wrong and right again.
final class TestClock: Sendable {
    private let offset = Lock(Int64(0))

    var wall: WallTime { { WallClock.now + self.offset.withLock { $0 } } }
    func set(_ milliseconds: Int64) { offset.withLock { $0 = milliseconds } }
}

/// Clocks that are wrong (D7).
@Suite(.serialized)
struct ClockTests {
    private static let tenYears: Int64 = 10 * 365 * 86_400_000

    private func notices(_ node: TestNode) -> [NodeNotice] {
        node.node.status().notices.filter { $0.code == .clock }
    }

    private func flagged(_ node: TestNode) throws -> [FlaggedOrigin] {
        try LogReader(node.store.files).flaggedOrigins()
    }

    private func lastStamp(_ node: TestNode) throws -> Int64 {
        try #require(node.store.lastStamp).milliseconds - WallClock.now
    }

    @Test("A node ten years ahead poisons nobody; when its clock is right again it goes on with sane stamps")
    func tenYearsAhead() throws {
        let clock = TestClock()
        clock.set(Self.tenYears)
        let a = try TestNode("a", wall: clock.wall)
        let b = try TestNode("b", peers: [a.peer()])
        let c = try TestNode("c", peers: [a.peer(), b.peer()])
        a.node.setPeers([b.peer(calling: false), c.peer(calling: false)])
        b.node.setPeers([a.peer(), c.peer(calling: false)])
        let wrong = a.store.identity.origin
        for _ in 0..<3 {
            for node in [a, b, c] { try node.append(4) }
            #expect(try eventually { try a.vector() == b.vector() && b.vector() == c.vector() })
        }
        // The events are there; the clocks of the others have not moved; the origin is flagged, by how much.
        for node in [b, c] {
            #expect(try node.vector()[wrong] == 13)
            #expect(try abs(lastStamp(node)) < HybridClock.bound)
            let flag = try #require(try flagged(node).first)
            #expect(flag.origin == wrong && flag.node == a.store.identity.node)
            #expect(abs(flag.skew.ahead - Self.tenYears) < HybridClock.bound)
            #expect(try flagged(node).count == 1)
            // One wrong clock of two is no majority; while there is no other peer, it is.
            #expect(
                eventually {
                    node.node.checkClock()
                    return notices(node).isEmpty
                })
        }
        #expect(try flagged(a).isEmpty)
        // The node itself is warned, by all of its peers.
        #expect(eventually { a.node.status().peers.allSatisfy { $0.phase == .connected } })
        a.node.checkClock()
        let warning = try #require(notices(a).first)
        #expect(warning.severity == .warning && warning.text.contains("2 of 2 connected peers"))
        #expect(a.store.identity.origin == wrong)

        // Right again: its peers agree, its own last stamp does not.
        clock.set(0)
        a.node.stop()
        let again = try SyncNode(
            store: a.store, listen: nil, peers: [b.peer(), c.peer()], software: "test")
        #expect(
            eventually {
                again.checkClock()
                return a.store.identity.origin != wrong
            })
        try a.append(2)
        #expect(try abs(lastStamp(a)) < HybridClock.bound)
        #expect(try eventually { try a.vector() == b.vector() && b.vector() == c.vector() })
        let own = try LogReader(a.store.files).origins(of: a.store.identity.node)
        #expect(own.last?.succession?.change == .clock)
        #expect(try flagged(b).map(\.origin) == [wrong])
        again.checkClock()
        #expect(again.status().notices.filter { $0.code == .clock }.isEmpty)
        again.stop()
        for node in [b, c] { node.node.stop() }
        for node in [a, b, c] {
            node.store.close()
            #expect(try Verifier(node.store.files).run().findings.isEmpty)
        }
        // What was seen is remembered, and the sane clock too.
        let reopened = try EventStore(opening: a.folder)
        _ = try reopened.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        #expect(abs((reopened.lastStamp?.milliseconds ?? 0) - WallClock.now) < HybridClock.bound)
        #expect(try LogReader(StoreFiles(b.folder)).flaggedOrigins().count == 1)
    }

    @Test("Alone with a stamp far ahead a node warns, and starts nothing: perhaps its clock is wrong now")
    func alone() throws {
        let clock = TestClock()
        clock.set(Self.tenYears)
        let a = try TestNode("a", wall: clock.wall)
        try a.append(1)
        #expect(notices(a).isEmpty)
        clock.set(0)
        a.node.checkClock()
        #expect(notices(a).first?.text.contains("last stamp") == true)
        let origin = a.store.identity.origin
        try a.append(1)
        #expect(a.store.identity.origin == origin)
        a.stop()
    }

    @Test("One wrong peer of three does not make this node doubt itself")
    func minority() throws {
        let clock = TestClock()
        clock.set(-Self.tenYears)
        let a = try TestNode("a")
        let wrong = try TestNode("wrong", peers: [a.peer()], wall: clock.wall)
        let others = try (0..<2).map { try TestNode("n\($0)", peers: [a.peer()]) }
        a.node.setPeers(([wrong] + others).map { $0.peer(calling: false) })
        #expect(eventually { a.node.status().peers.allSatisfy { $0.phase == .connected } })
        a.node.checkClock()
        #expect(notices(a).isEmpty)
        wrong.node.checkClock()
        #expect(notices(wrong).first?.text.contains("1 of 1") == true)
        let offset = a.node.status().peers.first { $0.peer.name == "wrong" }?.clockOffset ?? 0
        #expect(abs(offset + Self.tenYears) < HybridClock.bound)
        for node in [a, wrong] + others { node.stop() }
    }
}
