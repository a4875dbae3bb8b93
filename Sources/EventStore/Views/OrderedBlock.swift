/// Some rows of one owner, one after the other in display order, as they stand in one row of an ordered table.
///
/// The first row is the key of the block. Each further row is three varints (LEB128, least significant group first), the
/// last two zigzag-coded: the difference of `time`, of `hlc - time * 65536`, and of `position` to the row before it, all
/// modulo 2^64. A row of a live conversation takes seven or eight bytes so, where a key of its own in a B-tree takes 45.
struct OrderedBlock {
    /// What a block takes at most, so that eight of them fit a page of the database. A single row may need more.
    static let limit = 480

    let first: OrderedRow
    private(set) var last: OrderedRow
    /// The rows after the first.
    private(set) var bytes: [UInt8] = []

    /// A block of one row.
    init(_ row: OrderedRow) { (first, last) = (row, row) }

    /// A block as it was stored; `nil` if it is damaged.
    init?(first: OrderedRow, raw: UnsafeRawBufferPointer) {
        self.first = first
        last = first
        guard Self.unpack(first, raw, { last = $0 }) else { return nil }
        bytes = Array(raw)
    }

    /// Blocks for `rows`, which are one owner's and in order, each but the last as full as can be.
    static func filled(_ rows: some Sequence<OrderedRow>) -> [OrderedBlock] {
        var blocks: [OrderedBlock] = []
        for row in rows {
            if let end = blocks.indices.last, blocks[end].append(row) { continue }
            blocks.append(OrderedBlock(row))
        }
        return blocks
    }

    /// Adds a row behind all others. Returns false, and changes nothing, if the block is full.
    mutating func append(_ row: OrderedRow) -> Bool {
        let count = bytes.count
        bytes.appendVarint(UInt64(bitPattern: row.time &- last.time))
        bytes.appendVarint(zigzag(row.aheadOfTime &- last.aheadOfTime))
        bytes.appendVarint(zigzag(Int64(bitPattern: row.position &- last.position)))
        guard bytes.count <= Self.limit else {
            bytes.removeLast(bytes.count - count)
            return false
        }
        last = row
        return true
    }

    /// All its rows.
    var rows: [OrderedRow] {
        var rows: [OrderedRow] = []
        _ = bytes.withUnsafeBytes { Self.unpack(first, $0) { rows.append($0) } }
        return rows
    }

    /// Calls `body` with `first` and all that follow it in `raw`. Returns false where the bytes end too early.
    static func unpack(_ first: OrderedRow, _ raw: UnsafeRawBufferPointer, _ body: (OrderedRow) -> Void) -> Bool {
        body(first)
        var (time, ahead, position) = (first.time, first.aheadOfTime, first.position)
        var offset = 0
        while offset < raw.count {
            guard let later = raw.varint(at: &offset), let aheadBy = raw.varint(at: &offset),
                let further = raw.varint(at: &offset)
            else { return false }
            time &+= Int64(bitPattern: later)
            ahead &+= unzigzag(aheadBy)
            position &+= UInt64(bitPattern: unzigzag(further))
            body(OrderedRow(owner: first.owner, time: time, hlc: ahead &+ time << 16, position: position))
        }
        return true
    }
}

extension OrderedRow {
    /// How far the hybrid time is ahead of the display time, modulo 2^64: next to nothing unless events were recorded later
    /// than they say they happened.
    var aheadOfTime: Int64 { hlc &- time << 16 }
}
