/// Some rows of one owner, one after the other in display order, as they stand in one row of an ordered table.
///
/// The first row is the key of the block, and its speaker the first varint (LEB128, least significant group first). Each
/// further row is three varints or four: the difference of `time` to the row before it; of `hlc - time * 65536`,
/// zigzag-coded; twice the difference of `position`, zigzag-coded, with one added if the speaker follows. Differences are modulo
/// 2^64. A row of a live conversation takes ten bytes so, where a key of its own in a B-tree takes 45.
struct Block {
    /// What a block takes at most, so that eight of them fit a page of the database. A single row may need more.
    static let limit = 480

    let first: SortedRow
    private(set) var last: SortedRow
    /// The first row's speaker, and the rows after it.
    private(set) var bytes: [UInt8] = []

    /// A block of one row.
    init(_ row: SortedRow) {
        (first, last) = (row, row)
        bytes.appendVarint(UInt64(bitPattern: row.speaker))
    }

    /// A block as it was stored; `nil` if it is damaged.
    init?(first: SortedRow, raw: UnsafeRawBufferPointer) {
        self.first = first
        last = first
        guard Self.unpack(first, raw, { last = $0 }) else { return nil }
        bytes = Array(raw)
    }

    /// Blocks for `rows`, which are one owner's and in order, each but the last as full as can be.
    static func filled(_ rows: some Sequence<SortedRow>) -> [Block] {
        var blocks: [Block] = []
        for row in rows {
            if let end = blocks.indices.last, blocks[end].append(row) { continue }
            blocks.append(Block(row))
        }
        return blocks
    }

    /// Adds a row behind all others. Returns false, and changes nothing, if the block is full.
    mutating func append(_ row: SortedRow) -> Bool {
        let count = bytes.count
        bytes.appendVarint(UInt64(bitPattern: row.time &- last.time))
        bytes.appendVarint(zigzag(row.aheadOfTime &- last.aheadOfTime))
        bytes.append(zigzag(Int64(bitPattern: row.position &- last.position)), row.speaker)
        guard bytes.count <= Self.limit else {
            bytes.removeLast(bytes.count - count)
            return false
        }
        last = row
        return true
    }

    /// All its rows.
    var rows: [SortedRow] {
        var rows: [SortedRow] = []
        _ = bytes.withUnsafeBytes { Self.unpack(first, $0) { rows.append($0) } }
        return rows
    }

    /// Calls `body` with the row of the key `first` and all that follow it in `raw`. Returns false where the bytes end too
    /// early.
    static func unpack(_ first: SortedRow, _ raw: UnsafeRawBufferPointer, _ body: (SortedRow) -> Void) -> Bool {
        let owner = first.owner
        var (time, ahead, position) = (first.time, first.aheadOfTime, first.position)
        var offset = 0
        guard let speaker = raw.varint(at: &offset) else { return false }
        body(
            SortedRow(
                owner: owner, time: time, hlc: first.hlc, position: position, speaker: Int64(bitPattern: speaker)))
        while offset < raw.count {
            guard let later = raw.varint(at: &offset), let aheadBy = raw.varint(at: &offset),
                let (further, speaker) = raw.distance(at: &offset)
            else { return false }
            time &+= Int64(bitPattern: later)
            ahead &+= unzigzag(aheadBy)
            position &+= UInt64(bitPattern: unzigzag(further))
            body(
                SortedRow(
                    owner: owner, time: time, hlc: ahead &+ time << 16, position: position, speaker: speaker))
        }
        return true
    }
}

/// Writes LEB128 numbers, ten bytes at most, one after the other into memory that has room for them.
struct VarintWriter {
    private let raw: UnsafeMutableRawBufferPointer
    /// Where the next one begins.
    private(set) var count: Int

    init(_ raw: UnsafeMutableRawBufferPointer, at start: Int = 0) { (self.raw, count) = (raw, start) }

    @inline(__always)
    mutating func put(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            raw[count] = UInt8(truncatingIfNeeded: rest) | 0x80
            count += 1
            rest >>= 7
        }
        raw[count] = UInt8(rest)
        count += 1
    }

    /// What ``Array/append(_:_:)`` appends.
    mutating func put(_ distance: UInt64, speaker: Int64) {
        put(distance << 1 | (speaker == 0 ? 0 : 1))
        if speaker != 0 { put(UInt64(bitPattern: speaker)) }
    }
}

extension [UInt8] {
    /// Appends how far a row's position is from the one before, below 2^63, and its speaker if there is one.
    mutating func append(_ distance: UInt64, _ speaker: Int64) {
        appendVarint(distance << 1 | (speaker == 0 ? 0 : 1))
        if speaker != 0 { appendVarint(UInt64(bitPattern: speaker)) }
    }
}

extension UnsafeRawBufferPointer {
    /// What ``Array/append(_:_:)`` wrote; `nil` where the bytes end too early.
    func distance(at offset: inout Int) -> (distance: UInt64, speaker: Int64)? {
        guard let coded = varint(at: &offset) else { return nil }
        guard coded & 1 == 1 else { return (coded >> 1, 0) }
        guard let speaker = varint(at: &offset) else { return nil }
        return (coded >> 1, Int64(bitPattern: speaker))
    }
}

extension SortedRow {
    /// How far the hybrid time is ahead of the display time, modulo 2^64: next to nothing unless events were recorded later
    /// than they say they happened.
    var aheadOfTime: Int64 { hlc &- time << 16 }
}
