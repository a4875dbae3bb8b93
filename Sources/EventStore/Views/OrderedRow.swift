/// A row of a table of events in display order, one for each owner: a conversation or a user.
struct OrderedRow: Comparable {
    /// The ref of the conversation or user.
    let owner: Int64
    /// Display time, Unix milliseconds.
    let time: Int64
    /// ``HybridTime/ordered``.
    let hlc: Int64
    let position: UInt64

    /// Before every row: refs begin at 1.
    static let zero = OrderedRow(owner: 0, time: 0, hlc: 0, position: 0)

    /// Before every row of an owner.
    static func first(of owner: Int64) -> OrderedRow {
        OrderedRow(owner: owner, time: .min, hlc: .min, position: 0)
    }

    /// After every row of an owner.
    static func last(of owner: Int64) -> OrderedRow {
        OrderedRow(owner: owner, time: .max, hlc: .max, position: UInt64(Int64.max))
    }

    static func < (a: OrderedRow, b: OrderedRow) -> Bool {
        (a.owner, a.time, a.hlc, a.position) < (b.owner, b.time, b.hlc, b.position)
    }

    /// Whether only their dots tell which of them comes first.
    func isTied(with other: OrderedRow) -> Bool { time == other.time && hlc == other.hlc }
}

extension OrderedRow {
    /// Rows in a piece of a tail, in order of position, four varints each: the owner, then as in an ``OrderedBlock`` the
    /// differences to the row before, which is all zero before the first.
    static func pack(_ rows: ArraySlice<OrderedRow>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(rows.count * 12)
        var previous = zero
        for row in rows {
            bytes.appendVarint(UInt64(bitPattern: row.owner))
            bytes.appendVarint(zigzag(row.time &- previous.time))
            bytes.appendVarint(zigzag(row.aheadOfTime &- previous.aheadOfTime))
            bytes.appendVarint(row.position &- previous.position)
            previous = row
        }
        return bytes
    }

    /// Calls `body` with the rows in `raw` whose owner is `owner`, or with all. Returns false where the bytes end too early.
    static func unpack(_ raw: UnsafeRawBufferPointer, owner: Int64? = nil, _ body: (OrderedRow) -> Void) -> Bool {
        var (time, ahead, position) = (Int64(0), Int64(0), UInt64(0))
        var offset = 0
        while offset < raw.count {
            guard let found = raw.varint(at: &offset), let later = raw.varint(at: &offset),
                let aheadBy = raw.varint(at: &offset), let further = raw.varint(at: &offset)
            else { return false }
            time &+= unzigzag(later)
            ahead &+= unzigzag(aheadBy)
            position &+= further
            let row = OrderedRow(
                owner: Int64(bitPattern: found), time: time, hlc: ahead &+ time << 16, position: position)
            if owner == nil || row.owner == owner { body(row) }
        }
        return true
    }
}
