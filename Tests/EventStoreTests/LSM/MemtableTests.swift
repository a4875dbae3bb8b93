import TestSupport
import Testing

@testable import EventStore

/// Rows packed in memory come back as they went in, owner by owner.
struct MemtableTests {
    private func rows(_ chains: Memtable, _ owner: Int64) -> [SortedRow] {
        var rows: [SortedRow] = []
        chains.chain(owner) { rows.append($0) }
        return rows
    }

    @Test(
        "Each owner's rows come back newest first, whatever the order of their times, over many blocks",
        arguments: 1...4)
    func roundTrip(seed: UInt64) {
        var random = SplitMix64(state: seed)
        let owners = [1, 40, 5_000, 30_000][Int(seed) - 1]
        var chains = Memtable()
        var expected: [Int64: [SortedRow]] = [:]
        var batch: [SortedRow] = []
        var position = UInt64(0)
        for number in 0..<30_000 {
            position += UInt64.random(in: 1...3, using: &random)
            // Mostly as of a live store, sometimes far off.
            let time =
                Int.random(in: 0..<50, using: &random) == 0
                ? Int64.random(in: .min ... .max, using: &random)
                : 1_767_225_600_000 + Int64(number)
            let hlc =
                Int.random(in: 0..<50, using: &random) == 0
                ? Int64.random(in: .min ... .max, using: &random)
                : time &<< 16 &+ Int64.random(in: 0..<4, using: &random)
            let owner = Int64.random(in: 1...Int64(owners), using: &random)
            let tags = RowTags(
                kind: Int64.random(in: 0...2, using: &random),
                author: Bool.random(using: &random) ? 0 : Int64.random(in: 1...(1 << 40), using: &random),
                context: Int64.random(in: 0...1, using: &random) * .min)
            let row = SortedRow(
                owner: owner, time: time, hlc: hlc, position: position, tags: tags,
                isHidden: Int.random(in: 0..<9, using: &random) == 0)
            batch.append(row)
            if Int.random(in: 0..<40, using: &random) == 0 || number == 29_999 {
                chains.append(batch[...])
                batch = []
            }
            expected[owner, default: []].append(row)
        }
        #expect(chains.count == 30_000)
        #expect(chains.last == position)
        #expect(Set(chains.owners) == Set(expected.keys))
        for (owner, wanted) in expected {
            #expect(rows(chains, owner) == wanted.reversed())
            #expect(rows(chains, owner).map(\.isHidden) == wanted.reversed().map(\.isHidden))
            #expect(rows(chains, owner).map(\.tags) == wanted.reversed().map(\.tags))
        }
        #expect(rows(chains, Int64(owners) + 1).isEmpty)
        // Several at once, and one that has none.
        var some = Array(expected.keys.shuffled(using: &random).prefix(40))
        some.append(Int64(owners) + 1)
        let found = chains.chains(some[...])
        #expect(found == some.map { Array((expected[$0] ?? []).reversed()) })
        #expect(found.map { $0.map(\.tags) } == some.map { (expected[$0] ?? []).reversed().map(\.tags) })
    }

    @Test(
        "A row of a live store takes less than half of what it takes as it is, and a first one what it takes in a table"
    )
    func size() {
        var chains = Memtable()
        for number in 0..<100_000 {
            let time = 1_767_225_600_000 + Int64(number)
            chains.append(
                SortedRow(
                    owner: Int64(number % 1_000 + 1), time: time, hlc: time << 16, position: UInt64(number + 1),
                    tags: RowTags(kind: Int64(number % 2), author: Int64(number % 7_000 + 1))))
        }
        #expect(chains.bytes < 100_000 * 18)
        var many = Memtable()
        for number in 1...10_000 {
            many.append(SortedRow(owner: Int64(number), time: 0, hlc: 0, position: UInt64(number)))
        }
        #expect(many.bytes < 10_000 * 136)
    }

    @Test("A generation ends when it is large in memory, though it has few rows (INV-9)")
    func bounded() {
        let tail = Memtables()
        let owners = (1...120_000).map { SortedRow(owner: Int64($0), time: 0, hlc: 0, position: UInt64($0)) }
        tail.append(Array(owners.prefix(50_000)))
        #expect(!tail.isFull(1 << 18))
        #expect(tail.isFull(50_000))
        tail.append(Array(owners.dropFirst(50_000)))
        #expect(tail.isFull(1 << 18))
        #expect(tail.freeze().count == 120_000)
        #expect(!tail.isFull(1))
    }
}
