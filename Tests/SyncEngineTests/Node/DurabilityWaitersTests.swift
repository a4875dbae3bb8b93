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
        let (count, answers) = (Count(), Answers())
        let holders = try (1...3).map { try holder($0, count, upTo: 9) }
        var waiters = DurabilityWaiters()
        let vector = long()
        var ids: [UInt64] = []
        for _ in 0..<20 {
            let waiter = DurabilityWaiters.Waiter(vector: vector, nodes: 9) { answers.add("long", $0) }
            let id = waiters.add(waiter)
            ids.append(try #require(id))
        }
        // Their time is over all at once; they hold what they wait for on three nodes of nine.
        for id in ids {
            let before = count.value
            let hasMore = waiters.expire(id, holders)
            #expect(hasMore)
            #expect(count.value - before <= DurabilityWaiters.slice + 3)
        }
        let dot = Dot(origin: vector.entries[0].origin, seq: 1)
        let short = DurabilityWaiters.Waiter(vector: VersionVector([dot]), nodes: 9) { answers.add("short", $0) }
        let shortID = waiters.add(short)
        let hasMore = waiters.expire(try #require(shortID), holders)
        #expect(!hasMore)
        #expect(answers.names == ["short"])
        var looks = 0
        while !waiters.isEmpty, looks < 1_000 {
            looks += 1
            let before = count.value
            _ = waiters.check(holders)
            #expect(count.value - before <= 20 * (DurabilityWaiters.slice + 3))
        }
        #expect(answers.names.count == 21 && answers.all.allSatisfy { $0.nodes.count == 3 && !$0.isReached })
    }

    @Test("What a node has lost again before the answer does not count (INV-7)")
    func lost() throws {
        let answers = Answers()
        var waiters = DurabilityWaiters()
        let dot = Dot(origin: OriginID(UUIDBits(high: 1, low: 1)), seq: 5)
        let waiter = DurabilityWaiters.Waiter(vector: VersionVector([dot]), nodes: 2) { answers.add("w", $0) }
        let added = waiters.add(waiter)
        let (one, two) = (try holder(1, Count(), upTo: 5), try holder(2, Count(), upTo: 4))
        var looks = [waiters.check([one, two])]
        #expect(answers.names.isEmpty)
        // The first has it no more when the second has.
        looks.append(waiters.check([try holder(1, Count(), upTo: 4), try holder(2, Count(), upTo: 5)]))
        #expect(answers.names.isEmpty)
        looks.append(waiters.expire(try #require(added), [try holder(2, Count(), upTo: 5)]))
        #expect(looks == [false, false, false])
        #expect(answers.all.first == Holders(nodes: ["n2"], isReached: false))
    }

    /// What was answered, in this order.
    private final class Answers: Sendable {
        private let kept = Lock<[(String, Holders)]>([])

        func add(_ name: String, _ answer: Holders) { kept.withLock { $0.append((name, answer)) } }
        var names: [String] { kept.withLock { $0.map(\.0) } }
        var all: [Holders] { kept.withLock { $0.map(\.1) } }
    }
}
