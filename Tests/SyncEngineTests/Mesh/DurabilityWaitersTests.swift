import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// Those who wait do not hold up the thread that the peers share, however long their vectors are (INV-9).
struct DurabilityWaitersTests {
    /// Counts how often it is asked.
    private final class Count {
        var value = 0
    }

    private func holder(_ number: UInt8, _ count: Count, upTo seq: UInt64) throws -> Holder {
        let node = try #require(NodeID(bytes: [UInt8](repeating: number, count: 32)))
        return Holder(node: node, name: "n\(number)") { _ in
            count.value += 1
            return seq
        }
    }

    private func long() -> VersionVector {
        VersionVector(
            (0..<DurabilityWaiters.mostOrigins).map {
                Dot(origin: OriginID(UUIDBits(high: 1, low: UInt64($0))), seq: 5)
            })
    }

    @Test("One look compares a bounded part of each vector; a short wait is answered between two parts of long ones")
    func slices() throws {
        let count = Count()
        let holders = try (1...3).map { try holder($0, count, upTo: 9) }
        var waiters = DurabilityWaiters()
        let vector = long()
        // Their time is over all at once; they hold what they wait for on three nodes of nine.
        for _ in 0..<20 {
            let id = waiters.add(DurabilityWaiters.Waiter(vector, nodes: 9, until: 100))
            #expect(id != nil)
        }
        let dot = Dot(origin: vector.entries[0].origin, seq: 1)
        let added = waiters.add(DurabilityWaiters.Waiter(VersionVector([dot]), nodes: 9, until: 100))
        let short = try #require(added)
        var answered: [UInt64] = []
        for look in 0..<1_000 where !waiters.isEmpty {
            let before = count.value
            let found = waiters.check(holders, now: 100)
            #expect(count.value - before <= 21 * (DurabilityWaiters.slice + 3))
            if look == 0 { #expect(found.answers.map(\.id) == [short]) }
            #expect(found.hasMore == !waiters.isEmpty)
            #expect(found.answers.allSatisfy { $0.holders.nodes.count == 3 && !$0.holders.isReached })
            answered += found.answers.map(\.id)
        }
        #expect(answered.count == 21 && waiters.isEmpty)
    }

    @Test("One whose time is over is answered, also where the clock of the next look is a moment behind")
    func expired() throws {
        var waiters = DurabilityWaiters()
        let dot = Dot(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: 5)
        let added = waiters.add(DurabilityWaiters.Waiter(VersionVector([dot]), nodes: 2, until: 100))
        let id = try #require(added)
        let holders = [try holder(1, Count(), upTo: 5)]
        #expect(waiters.check(holders, now: 99).answers.isEmpty)
        waiters.expire(id)
        #expect(waiters.check(holders, now: 99).answers.map(\.id) == [id])
    }

    @Test("What a node has lost again before the answer does not count (INV-7)")
    func lost() throws {
        var waiters = DurabilityWaiters()
        let dot = Dot(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: 5)
        let added = waiters.add(DurabilityWaiters.Waiter(VersionVector([dot]), nodes: 2, until: 100))
        let id = try #require(added)
        let (one, two) = (try holder(1, Count(), upTo: 5), try holder(2, Count(), upTo: 4))
        #expect(waiters.check([one, two], now: 1).answers.isEmpty)
        // The first has it no more when the second has.
        let changed = [try holder(1, Count(), upTo: 4), try holder(2, Count(), upTo: 5)]
        #expect(waiters.check(changed, now: 2).answers.isEmpty)
        let last = waiters.check([try holder(2, Count(), upTo: 5)], now: 100)
        #expect(last.answers.map(\.id) == [id] && !last.hasMore)
        #expect(last.answers.first?.holders == Holders(nodes: ["n2"], isReached: false))
    }
}
