/// What a row says beside its key: numbers that mean nothing to the tree, as the included columns of a covering index do.
struct RowTags: Hashable {
    var kind = Int64(0)
    var author = Int64(0)
    var context = Int64(0)

    static let none = RowTags()
}

/// A row of a sorted table. Its key is its owner, its times and its position.
struct SortedRow: Comparable {
    /// Whose row it is: rows of one owner stand together.
    let owner: Int64
    /// Unix milliseconds.
    let time: Int64
    /// ``HybridTime/ordered``.
    let hlc: Int64
    /// Of the event in the log; below 2^62, as every log's are.
    let position: UInt64
    var tags = RowTags.none
    /// Whether queries pass it over that do not ask for such rows.
    var isHidden = false

    /// The same, hidden.
    var hidden: SortedRow {
        var row = self
        row.isHidden = true
        return row
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
                RowDifference(from: previous, to: row, telling: .later).write(.position, to: &writer)
                previous = row
            }
            count = writer.count
        }
    }

    /// Calls `body` with the rows in `raw` whose owner is `owner`, or with all. Returns false where the bytes end too early.
    static func unpack(_ raw: UnsafeRawBufferPointer, owner: Int64? = nil, _ body: (SortedRow) -> Void) -> Bool {
        var (time, ahead, position, tags) = (Int64(0), Int64(0), UInt64(0), RowTags.none)
        var offset = 0
        while offset < raw.count {
            guard let found = raw.varint(at: &offset),
                let step = RowDifference(raw, at: &offset, .position, beside: tags)
            else { return false }
            time &+= step.time
            ahead &+= step.ahead
            position &+= step.position
            tags = step.said.tags
            let row = SortedRow(
                owner: Int64(bitPattern: found), time: time, hlc: ahead &+ time << 16, position: position,
                tags: tags, isHidden: step.said.isHidden)
            if owner == nil || row.owner == owner { body(row) }
        }
        return true
    }
}
