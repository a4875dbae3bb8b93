import EventStore
import Testing

@testable import SyncEngine

/// When the loop of the peers is woken for a commit.
struct CommitInboxTests {
    private static func notice(_ top: UInt64) -> CommitNotice { CommitNotice(top: top, advanced: []) }

    @Test("Nobody waits: the loop sleeps, and is woken now and then")
    func unwatched() {
        let inbox = CommitInbox()
        let count = UInt64(CommitInbox.capacity)
        let courses = (1...2 * count).map { inbox.put(Self.notice($0)) }
        #expect(courses.indices.filter { courses[$0] == .due } == [Int(count) - 1, 2 * Int(count) - 1])
        #expect(!courses.contains(.job))
        #expect(inbox.take(watching: false).map(\.top) == Array(1...2 * count))
        #expect(inbox.put(Self.notice(1000)) == .kept)
        #expect(inbox.take(watching: false).count == 1)
        #expect(inbox.take(watching: false).isEmpty)
    }

    @Test("Of commits of one origin the last is kept, whatever came before and comes between")
    func replaced() {
        func notice(_ top: UInt64, _ origins: UInt64...) -> CommitNotice {
            let advanced = origins.map {
                OriginProgress(origin: OriginID(UUIDBits(high: 0, low: $0)), seq: top, rootPrefix: top)
            }
            return CommitNotice(top: top, advanced: advanced)
        }
        let inbox = CommitInbox()
        let notices = [
            notice(1, 1), notice(2, 1), notice(3, 1, 2), notice(4, 1), notice(5, 1), notice(6, 2), notice(7, 1),
            notice(8), notice(9),
        ]
        for notice in notices { #expect(inbox.put(notice) == .kept) }
        let taken = inbox.take(watching: false)
        #expect(taken.map(\.top) == [2, 3, 5, 6, 7, 8, 9])
        // They lead to where all lead.
        var vectors = (LocalVector(), LocalVector())
        for notice in taken { _ = vectors.0.advance(notice) }
        for notice in notices { _ = vectors.1.advance(notice) }
        #expect(vectors.0.digest == vectors.1.digest)
        #expect(vectors.0.top == vectors.1.top)
        for _ in 0..<1_000 { #expect(inbox.put(notice(10, 1)) == .kept) }
        #expect(inbox.take(watching: false).count == 1)
    }

    @Test("Somebody waits: each is a job, until the last of them has arrived and nobody waits any more")
    func watched() {
        let inbox = CommitInbox()
        #expect(inbox.put(Self.notice(1)) == .kept)
        #expect(inbox.take(watching: true).map(\.top) == [1])
        #expect((2...3).map { inbox.put(Self.notice($0)) } == [.job, .job])
        #expect(inbox.take(watching: false).isEmpty)
        // One kept now would be learnt before those two.
        #expect(inbox.put(Self.notice(4)) == .job)
        for _ in 2...3 { inbox.arrived() }
        #expect(inbox.take(watching: false).isEmpty)
        #expect(inbox.put(Self.notice(5)) == .job)
        for _ in 4...5 { inbox.arrived() }
        #expect(inbox.take(watching: false).isEmpty)
        #expect(inbox.put(Self.notice(6)) == .kept)
    }

    @Test("A node that was left asleep states all that it has: to who asks, who waits, and a peer that comes later")
    func asleep() throws {
        let (a, b) = (try TestNode("a"), try TestNode("b"))
        defer {
            a.stop()
            b.stop()
        }
        for number in 0..<10 { try a.append(1, "\(number)") }
        #expect(a.node.standings().mine == (try a.vector()))

        // For the last of two events that are still to come.
        let next = Dot(origin: a.store.identity.origin, seq: (try a.vector())[a.store.identity.origin] + 2)
        let answers = Lock<[Bool]>([])
        let isTaken = a.node.wait(for: VersionVector([next]), nodes: 1, timeout: .seconds(60)) { holders in
            answers.withLock { $0.append(holders.isReached) }
        }
        #expect(isTaken)
        try a.append(1, "one")
        try a.append(1, "two")
        #expect(eventually { answers.withLock { $0 } == [true] })

        for number in 0..<3 { try a.append(1, "\(number) again") }
        a.node.setPeers([b.peer(calling: false)])
        b.node.setPeers([a.peer()])
        #expect(try eventually { try a.vector() == b.vector() })
        try a.append(1, "live")
        #expect(try eventually { try a.vector() == b.vector() })
    }
}
