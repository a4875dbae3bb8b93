/// Rows of many owners in memory, packed: for each owner a chain from its newest row back to its oldest.
///
/// The newest row of an owner stands in a table as it is. Every row that comes leaves a record behind: how far back the
/// record before it in the chain begins, and by how much the row before differs. Those are varints of four numbers, and who spoke:
/// eight to twelve bytes for a row of a live store, where a row as it is takes 40. A first row leaves a zero.
struct RowChains {
    private struct Newest {
        let time: Int64
        let hlc: Int64
        let position: UInt64
        let speaker: Int64
        /// Where its record begins.
        let record: UInt32

        func row(of owner: Int64) -> OrderedRow {
            OrderedRow(owner: owner, time: time, hlc: hlc, position: position, speaker: speaker)
        }
    }

    /// Bytes of a block of records. Blocks of one size are reused for one another; a single array would be copied as it grows.
    private static let block = 1 << 16
    /// The longest record: five varints of ten bytes.
    private static let longest = 50

    private var newest: [Int64: Newest] = [:]
    /// Records; a record stands whole in one block, and the last block is still being filled.
    private var full: [[UInt8]] = []
    private var filling: [UInt8] = []
    /// How many rows there are.
    private(set) var count = 0
    /// The position of the row that came last.
    private(set) var last = UInt64(0)

    var owners: some Collection<Int64> { newest.keys }

    /// About how many bytes of memory it takes: of an owner its place in the table, of which up to half are empty.
    var bytes: Int { full.count * Self.block + filling.count + newest.count * 80 }

    /// Adds a row with a greater position than all before.
    mutating func append(_ row: OrderedRow) {
        if filling.count > Self.block - Self.longest || filling.capacity == 0 {
            if !filling.isEmpty { full.append(filling) }
            filling = []
            filling.reserveCapacity(Self.block)
        }
        let record = full.count * Self.block + filling.count
        let next = Newest(
            time: row.time, hlc: row.hlc, position: row.position, speaker: row.speaker, record: UInt32(record))
        if let before = newest.updateValue(next, forKey: row.owner) {
            let earlier = before.row(of: row.owner)
            filling.appendVarint(UInt64(record) - UInt64(before.record))
            filling.appendVarint(zigzag(row.time &- earlier.time))
            filling.appendVarint(zigzag(row.aheadOfTime &- earlier.aheadOfTime))
            filling.append(row.position &- earlier.position, earlier.speaker)
        } else {
            filling.append(0)
        }
        count += 1
        last = row.position
    }

    /// Calls `body` with the owner's rows, newest first.
    func chain(_ owner: Int64, _ body: (OrderedRow) -> Void) {
        guard let found = newest[owner] else { return }
        var row = found.row(of: owner)
        var record = Int(found.record)
        while true {
            body(row)
            guard let step = step(record) else { return }
            record -= step.back
            let time = row.time &- step.time
            row = OrderedRow(
                owner: owner, time: time, hlc: (row.aheadOfTime &- step.ahead) &+ time << 16,
                position: row.position &- step.position, speaker: step.speaker)
        }
    }

    /// The way from a row to the one before it.
    private struct Step {
        let back: Int
        let time: Int64
        let ahead: Int64
        let position: UInt64
        let speaker: Int64
    }

    /// The record that begins at `index`; `nil` if it is that of a first row.
    private func step(_ index: Int) -> Step? {
        let block = index / Self.block
        return (block < full.count ? full[block] : filling).withUnsafeBytes { raw in
            var offset = index % Self.block
            guard let back = raw.varint(at: &offset) else { return nil }
            if back == 0 { return nil }
            guard let time = raw.varint(at: &offset), let ahead = raw.varint(at: &offset),
                let (position, speaker) = raw.distance(at: &offset)
            else { return nil }
            return Step(
                back: Int(back), time: unzigzag(time), ahead: unzigzag(ahead), position: position, speaker: speaker)
        }
    }
}
