import TestSupport
import Testing

@testable import EventStore

/// Rows packed in blocks: what goes in comes out, in order, whatever the order in which it came.
struct BlockTests {
    @Test("A block gives back its rows, and knows when it is full")
    func packs() throws {
        var random = SplitMix64(state: 7)
        let edges: [Int64] = [.min, .min + 1, -1, 0, 1, 1_700_000_000_000, .max - 1, .max]
        for _ in 0..<300 {
            let rows = Set(
                (0..<200).map { _ in
                    SortedRow(
                        owner: 3, time: Bool.random(using: &random) ? edges.randomElement(using: &random)! : 5,
                        hlc: Bool.random(using: &random) ? edges.randomElement(using: &random)! : 7 << 16,
                        position: UInt64.random(in: 1..<1 << 62, using: &random),
                        tags: RowTags(
                            kind: Int64.random(in: 0...3, using: &random),
                            author: Bool.random(using: &random) ? Int64.random(in: 1...90_000, using: &random) : 0,
                            context: Int64.random(in: 0...1, using: &random) * .max),
                        isHidden: Int.random(in: 0..<9, using: &random) == 0)
                }.map(\.key)
            ).map(\.row).sorted()
            let blocks = Block.filled(rows)
            #expect(blocks.flatMap(\.rows) == rows)
            #expect(blocks.flatMap(\.rows).map(\.key) == rows.map(\.key))
            #expect(blocks.allSatisfy { $0.bytes.count <= Block.limit && $0.rows.last == $0.last })
            for (block, next) in zip(blocks, blocks.dropFirst()) {
                var full = block
                let isTaken = full.append(next.first)
                #expect(!isTaken)
                #expect(full.bytes == block.bytes && full.last == block.last)
                let read = block.bytes.withUnsafeBytes { Block(first: block.first, raw: $0) }
                #expect(read?.last == block.last && read?.bytes == block.bytes)
            }
        }
    }

    @Test("The rows of a live conversation take eight bytes each at most")
    func live() throws {
        let rows = (0..<50).map { number in
            let time = Int64(1_700_000_000_000 + number * 61_000)
            return SortedRow(
                owner: 1, time: time, hlc: HybridTime(milliseconds: time, counter: 0).ordered,
                position: UInt64(1_000 + number * 9_000))
        }
        let block = try #require(Block.filled(rows).first)
        #expect(block.rows.count == 50)
        // The second row also tells how far the stamps are from the times: signed stamps begin at -2^63.
        #expect(block.bytes.count <= 49 * 8)
    }

    @Test("A piece of a tail gives back its rows, of all owners or of one, and tells when it is damaged")
    func tail() {
        var random = SplitMix64(state: 5)
        var position = UInt64(900)
        let rows = (0..<2_000).map { number in
            position += UInt64.random(in: 1...3, using: &random)
            let time = number % 50 == 0 ? Int64.random(in: .min ... .max, using: &random) : 1_700_000_000_000
            return SortedRow(
                owner: Int64.random(in: 1...70_000, using: &random), time: time,
                hlc: Int64.random(in: .min ... .max, using: &random) >> Int64(number % 60), position: position,
                tags: RowTags(kind: Int64(number % 3), author: Int64(number % 700), context: 9),
                isHidden: number % 40 == 0)
        }
        let bytes = SortedRow.pack(rows[...])
        var found: [SortedRow] = []
        #expect(bytes.withUnsafeBytes { SortedRow.unpack($0) { found.append($0) } })
        #expect(found == rows)
        #expect(found.map(\.key) == rows.map(\.key))
        found = []
        #expect(bytes.withUnsafeBytes { SortedRow.unpack($0, owner: rows[7].owner) { found.append($0) } })
        #expect(found == rows.filter { $0.owner == rows[7].owner })
        #expect(!bytes.dropLast().withUnsafeBytes { SortedRow.unpack($0) { _ in } })
    }

    @Test("Bytes that end in the middle of a row, or go on for ever, are damage")
    func damage() throws {
        let first = SortedRow(owner: 1, time: 10, hlc: 10 << 16, position: 4)
        for raw in [
            [], [0x80], [16], [2], [2, 0x80], [1, 1], [1, 1, 1], [1, 1, 1, 0x80], [1, 1, 1, 1], [1, 1, 1, 1, 16],
            [1, 1, 1, 1, 4, 0x80],
            [UInt8](repeating: 0xff, count: 40),
        ] as [[UInt8]] {
            #expect(raw.withUnsafeBytes { Block(first: first, raw: $0) } == nil)
        }
    }

    @Test(
        "A table has what was put in, whatever came first, and hides what is to be hidden",
        arguments: 1...UInt64(cases(2, of: 6)))
    func table(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let folder = TemporaryFolder()
        let connection = try Connection(path: folder.path, mode: .write)
        let table = SortedTable.history
        // One transaction: the disk is not what is tested.
        try connection.execute(table.schema + "BEGIN")
        let blocks = BlockStore(table: table, connection: connection)
        var expected: Set<RowKey> = []
        var position = UInt64(0)
        for _ in 0..<60 {
            let base = Int64.random(in: 0..<2_000, using: &random)
            for owner in Int64(1)...3 {
                var rows: [SortedRow] = []
                for _ in 0..<Int.random(in: 0...120, using: &random) {
                    position += 1
                    let time = base + Int64.random(in: 0..<(seed % 2 == 0 ? 5_000 : 50), using: &random)
                    rows.append(SortedRow(owner: owner, time: time, hlc: time << 16 | 3, position: position))
                }
                try blocks.insert(rows.sorted()[...])
                expected.formUnion(rows.map(\.key))
            }
            for owner in Int64(1)...3 {
                let share = [40, 3][Int.random(in: 0..<2, using: &random)]
                let keys = expected.filter { $0.owner == owner && Int.random(in: 0..<share, using: &random) == 0 }
                // Some of them are not there.
                let strange = SortedRow(owner: owner, time: 25, hlc: 7, position: 1 << 50)
                let rows = (keys.map(\.row) + [strange]).sorted()
                let visible = rows.filter { $0 != strange && !$0.isHidden }
                #expect(try blocks.hide(rows[...]) == visible)
                expected.subtract(visible.map(\.key))
                expected.formUnion(visible.map(\.hidden.key))
            }
        }
        for owner in Int64(1)...3 {
            let all = expected.map(\.row).filter { $0.owner == owner }.sorted()
            for _ in 0..<40 {
                let since = Int64.random(in: -10..<8_000, using: &random)
                let range = RowRange(
                    owner: owner, since: Bool.random(using: &random) ? since : .min,
                    until: Bool.random(using: &random) ? since + Int64.random(in: 0..<4_000, using: &random) : .max,
                    cursor: Bool.random(using: &random) ? all.randomElement(using: &random) : nil,
                    isBackward: Bool.random(using: &random))
                let limit = Int.random(in: 1...200, using: &random)
                var wanted = all.filter(range.contains)
                if range.isBackward { wanted.reverse() }
                var found: [SortedRow] = []
                let isAll = try table.walk(range, connection) { row in
                    found.append(row)
                    return found.count < limit
                }
                #expect(found.map(\.key) == wanted.prefix(limit).map(\.key))
                #expect(isAll == (wanted.count < limit))
            }
        }
        var fill = (rows: 0, blocks: 0)
        let select = try connection.statement(
            "SELECT time, hlc, position, rows, user FROM history ORDER BY user, time, hlc, position")
        while try select.step() {
            fill.blocks += 1
            fill.rows += try table.rows(select, owner: select.int64(4)).count
        }
        #expect(fill.rows == expected.count)
        #expect(fill.rows / fill.blocks >= 15, "\(fill)")
    }
}

/// A row in a set.
private struct RowKey: Hashable {
    let owner: Int64
    let time: Int64
    let hlc: Int64
    let position: UInt64
    let tags: RowTags
    let isHidden: Bool
    var row: SortedRow {
        SortedRow(owner: owner, time: time, hlc: hlc, position: position, tags: tags, isHidden: isHidden)
    }
}

extension SortedRow {
    fileprivate var key: RowKey {
        RowKey(owner: owner, time: time, hlc: hlc, position: position, tags: tags, isHidden: isHidden)
    }
}
