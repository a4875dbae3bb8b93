/// Some rows of one owner, one after the other in key order, as they stand in one row of a sorted table.
///
/// The first row is the key of the block, and what it says beside that comes first, as a ``SaidByRow``. Each further row is a
/// ``RowDifference``. A row close to the one before it takes ten bytes so, where a key of its own in a B-tree takes 45.
struct Block {
    /// What a block takes at most, so that eight of them fit a page of the database. A single row may need more.
    static let limit = 480

    let first: SortedRow
    private(set) var last: SortedRow
    /// What the first row says, and the rows after it.
    private(set) var bytes: [UInt8] = []

    /// A block of one row.
    init(_ row: SortedRow) {
        (first, last) = (row, row)
        SaidByRow(row, beside: .none).write(to: &bytes)
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
        RowDifference(from: last, to: row, telling: .later).write(.key, to: &bytes)
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
        var offset = 0
        guard let said = SaidByRow(raw, at: &offset, beside: .none) else { return false }
        var row = SortedRow(
            owner: first.owner, time: first.time, hlc: first.hlc, position: first.position, tags: said.tags,
            isHidden: said.isHidden)
        body(row)
        while offset < raw.count {
            guard let difference = RowDifference(raw, at: &offset, .key, beside: row.tags) else { return false }
            row = row.following(difference)
            body(row)
        }
        return true
    }
}
