import Testing

@testable import EventStore
@testable import SyncEngine

struct SnapshotArbiterTests {
    private let own = OriginID(UUIDBits(high: 0, low: 9))
    private let busy = SessionFailure(.busy, "another snapshot is being received")
    private let wrong = SessionFailure(.badProof, "E_SNAPSHOT_PROOF")

    private func node(_ byte: UInt8) throws -> NodeID {
        NodeID(try #require(Digest(bytes: [UInt8](repeating: byte, count: 32))))
    }

    private func after(_ turn: SnapshotArbiter, _ node: NodeID, _ progress: [OriginProgress] = []) -> UInt64 {
        turn.policy(for: node, progress: LocalVector(progress), own: own, offers: true, after: 100).after
    }

    @Test("One peer gives, the others end and wait; refused, they are called and its events come one by one")
    func refusal() throws {
        let (a, b) = (try node(1), try node(2))
        let (linkA, linkB) = (LinkID(1), LinkID(2))
        var turn = SnapshotArbiter()
        #expect(after(turn, a) == 100 && after(turn, b) == 100)
        #expect(turn.offered(by: a, linkA) == [.stopOthers(than: a)])
        #expect(turn.obstacle(for: a) == nil && turn.obstacle(for: b) == SnapshotArbiter.reason)
        #expect(after(turn, b) == 0)
        #expect(turn.offered(by: b, linkB) == nil)
        #expect(turn.refused(from: a, linkA, wrong) == [.drop(keepSpool: false), .dial])
        #expect(turn.obstacle(for: b) == nil)
        #expect(after(turn, a) == 0 && after(turn, b) == 100)
    }

    @Test("The refusal on another link, or its end, does not call off the snapshot that is being received")
    func bystanders() throws {
        let (a, b) = (try node(1), try node(2))
        let (linkA, linkB) = (LinkID(1), LinkID(2))
        var turn = SnapshotArbiter()
        _ = turn.offered(by: a, linkA)
        #expect(turn.refused(from: b, linkB, busy) == [])
        #expect(turn.ended(linkB) == [])
        #expect(turn.obstacle(for: b) == SnapshotArbiter.reason)
        // It was refused because of the other one: later it may give one.
        #expect(turn.ended(linkA) == [.drop(keepSpool: true), .dial])
        #expect(after(turn, b) == 100)
    }

    @Test("A second link to the same peer goes on with what came over the first, whose end then means nothing")
    func secondLink() throws {
        let a = try node(1)
        let (old, new) = (LinkID(1), LinkID(2))
        var turn = SnapshotArbiter()
        _ = turn.offered(by: a, old)
        #expect(after(turn, a) == 100)
        #expect(turn.offered(by: a, new) == [.drop(keepSpool: true)])
        #expect(turn.ended(old) == [])
        #expect(turn.refused(from: a, new, busy) == [.drop(keepSpool: true), .dial])
    }

    @Test("Once complete, nobody is let in, nothing is wanted, and nothing that comes late changes that")
    func completion() throws {
        let a = try node(1)
        let link = LinkID(1)
        var turn = SnapshotArbiter()
        _ = turn.offered(by: a, link)
        #expect(turn.completed() == [.reopen])
        #expect(turn.ended(link) == [])
        #expect(turn.offered(by: a, link) == nil)
        #expect(turn.obstacle(for: a) != nil && after(turn, a) == 0)
    }

    @Test("A log with events of others, or with many of its own, wants none and offers one")
    func notEmpty() throws {
        let a = try node(1)
        let turn = SnapshotArbiter()
        let few = OriginProgress(origin: own, seq: EventStore.mostOwnEvents, rootPrefix: 1)
        let many = OriginProgress(origin: own, seq: EventStore.mostOwnEvents + 1, rootPrefix: 1)
        let other = OriginProgress(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: 1, rootPrefix: 1)
        #expect(after(turn, a, [few]) == 100 && after(turn, a, [many]) == 0 && after(turn, a, [few, other]) == 0)
        let policies = [[few], [few, other]].map {
            turn.policy(for: a, progress: LocalVector($0), own: own, offers: true, after: 0).offers
        }
        #expect(policies == [false, true])
    }
}
