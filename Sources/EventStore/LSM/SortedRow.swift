/// A row of a sorted table. Its key is all but the tag.
struct SortedRow: Comparable {
    /// Whose row it is: rows of one owner stand together.
    let owner: Int64
    /// Unix milliseconds.
    let time: Int64
    /// ``HybridTime/ordered``.
    let hlc: Int64
    /// Of the event in the log; below 2^62, as every log's are.
    let position: UInt64
    /// A number that comes with the row and means nothing here.
    let tag: Int64

    init(owner: Int64, time: Int64, hlc: Int64, position: UInt64, tag: Int64 = 0) {
        (self.owner, self.time, self.hlc, self.position, self.tag) = (owner, time, hlc, position, tag)
    }

    /// Before every row: refs begin at 1.
    static let zero = SortedRow(owner: 0, time: 0, hlc: 0, position: 0)

    /// Before every row of an owner.
    static func first(of owner: Int64) -> SortedRow {
        SortedRow(owner: owner, time: .min, hlc: .min, position: 0)
    }

    /// After every row of an owner.
    static func last(of owner: Int64) -> SortedRow {
        SortedRow(owner: owner, time: .max, hlc: .max, position: UInt64(Int64.max))
    }

    static func < (a: SortedRow, b: SortedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) < (b.owner, b.time, b.hlc, b.position)
    }

    static func == (a: SortedRow, b: SortedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) == (b.owner, b.time, b.hlc, b.position)
    }

    /// Whether only their dots tell which of them comes first.
    func isTied(with other: SortedRow) -> Bool { time == other.time && hlc == other.hlc }
}

extension SortedRow {
    /// Rows in a piece of a tail, in order of position, each a varint for the owner, then the ``RowDifference`` to the row before,
    /// which is all zero before the first.
    static func pack(_ rows: ArraySlice<SortedRow>) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: rows.count * RowDifference.longest) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            var writer = RawWriter(start)
            var previous = zero
            for row in rows {
                writer.varint(UInt64(bitPattern: row.owner))
                RowDifference(from: previous, to: row, tag: row.tag).write(.position, to: &writer)
                previous = row
            }
            count = writer.count
        }
    }

    /// Calls `body` with the rows in `raw` whose owner is `owner`, or with all. Returns false where the bytes end too early.
    static func unpack(_ raw: UnsafeRawBufferPointer, owner: Int64? = nil, _ body: (SortedRow) -> Void) -> Bool {
        var (time, ahead, position) = (Int64(0), Int64(0), UInt64(0))
        var offset = 0
        while offset < raw.count {
            guard let found = raw.varint(at: &offset), let step = RowDifference(raw, at: &offset, .position) else {
                return false
            }
            time &+= step.time
            ahead &+= step.ahead
            position &+= step.position
            let row = SortedRow(
                owner: Int64(bitPattern: found), time: time, hlc: ahead &+ time << 16, position: position,
                tag: step.tag)
            if owner == nil || row.owner == owner { body(row) }
        }
        return true
    }
}
