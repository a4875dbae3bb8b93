/// The names of one piece of a snapshot after the other: their refs in the log, their numbers in the piece, their bytes.
/// Refs are small integers, so this is a table and not a dictionary; refs beyond its bound are kept for one piece only.
struct PieceNames {
    private static let most = 1 << 20
    private static let mostBytes = 32 << 20

    private struct Slot {
        /// The piece the number is for.
        var piece: UInt32 = 0
        var number: UInt32 = 0
        /// Where length and bytes stand in ``texts``; 0: not known.
        var start: UInt32 = 0
        var end: UInt32 = 0
    }

    private var slots: [Slot] = []
    /// Begins at 1.
    private var texts: [UInt8] = [0]
    private var others: [Int64: UInt32] = [:]
    private var piece: UInt32 = 0
    private var count: UInt32 = 0

    /// From now on numbers are those of the next piece.
    mutating func begin() {
        piece &+= 1
        count = 0
        others.removeAll(keepingCapacity: true)
        if texts.count > Self.mostBytes || piece == 0 { self = PieceNames(piece: 1) }
    }

    init() {}

    private init(piece: UInt32) { self.piece = piece }

    /// The number of `ref` in this piece. When it is new, its length and bytes are appended to `out`.
    mutating func number(
        _ ref: Int64, to out: inout [UInt8], text: (Int64) throws(SQLiteError) -> [UInt8]
    ) throws(SQLiteError) -> UInt64 {
        guard ref > 0, ref < Self.most else { return try other(ref, to: &out, text: text) }
        let index = Int(ref)
        if index >= slots.count {
            slots.append(contentsOf: repeatElement(Slot(), count: max(index + 1, slots.count) - slots.count + 1_024))
        }
        if slots[index].piece == piece { return UInt64(slots[index].number) }
        if slots[index].start == 0 {
            let text = try text(ref)
            slots[index].start = UInt32(texts.count)
            texts.appendVarint(UInt64(text.count))
            texts.append(contentsOf: text)
            slots[index].end = UInt32(texts.count)
        }
        slots[index].piece = piece
        slots[index].number = count
        count += 1
        out.append(contentsOf: texts[Int(slots[index].start)..<Int(slots[index].end)])
        return UInt64(count) - 1
    }

    private mutating func other(
        _ ref: Int64, to out: inout [UInt8], text: (Int64) throws(SQLiteError) -> [UInt8]
    ) throws(SQLiteError) -> UInt64 {
        if let known = others[ref] { return UInt64(known) }
        let text = try text(ref)
        out.appendVarint(UInt64(text.count))
        out.append(contentsOf: text)
        others[ref] = count
        count += 1
        return UInt64(count) - 1
    }
}
