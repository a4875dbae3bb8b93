/// The names of one piece of a snapshot after the other: their refs in the log, their numbers in the piece, their bytes.
/// Refs are small integers, so this is a table and not a dictionary; refs beyond its bound are kept for one piece only.
struct PieceNames {
    private static let most = 1 << 20
    private static let mostBytes = 32 << 20
    /// Names read at once.
    private static let block = 256

    /// Passes on the names with refs from the first argument on, at most as many as the second says.
    typealias Source = (
        _ ref: Int64, _ count: Int, _ each: (Int64, UnsafeRawBufferPointer) -> Void
    ) throws(SQLiteError) -> Void

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

    /// Says that the number of `ref` is about to be asked for.
    func expect(_ ref: Int64) {
        guard ref > 0, ref < Int64(slots.count) else { return }
        slots.withUnsafeBufferPointer { slots in
            if let start = slots.baseAddress { prefetch(start + Int(ref)) }
        }
    }

    /// Says that it is asked for next; ``expect(_:)`` was called before.
    func expectText(_ ref: Int64) {
        guard ref > 0, ref < Int64(slots.count) else { return }
        let start = Int(slots[Int(ref)].start)
        texts.withUnsafeBytes { texts in if let first = texts.baseAddress { prefetch(first + start) } }
    }

    /// The number of `ref` if it has one in this piece already, as most have.
    func known(_ ref: Int64) -> UInt64? {
        guard ref > 0, ref < Int64(slots.count), slots[Int(ref)].piece == piece else { return nil }
        return UInt64(slots[Int(ref)].number)
    }

    /// The number of `ref` in this piece. When it is new, its length and bytes are appended to `out`.
    mutating func number(
        _ ref: Int64, to out: inout [UInt8], text: Source
    ) throws(SQLiteError) -> UInt64 {
        guard ref > 0, ref < Self.most else { return try other(ref, to: &out, text: text) }
        let index = Int(ref)
        if index >= slots.count {
            slots.append(contentsOf: repeatElement(Slot(), count: max(index + 1, slots.count) - slots.count + 1_024))
        }
        if slots[index].piece == piece { return UInt64(slots[index].number) }
        if slots[index].start == 0 { try load(from: ref, text) }
        slots[index].piece = piece
        slots[index].number = count
        count += 1
        let text = Int(slots[index].start)..<Int(slots[index].end)
        texts.withUnsafeBytes { out.append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[text])) }
        return UInt64(count) - 1
    }

    /// Names are interned as they are met, so those with the refs that follow are about to be asked for.
    private mutating func load(from ref: Int64, _ text: Source) throws(SQLiteError) {
        var (found, texts, slots) = (false, texts, slots)
        self.texts = []
        self.slots = []
        defer { (self.texts, self.slots) = (texts, slots) }
        try text(ref, min(Self.block, Self.most - Int(ref))) { ref, bytes in
            let index = Int(ref)
            if index >= slots.count { slots.append(contentsOf: repeatElement(Slot(), count: 1_024)) }
            guard index < slots.count, slots[index].start == 0 else { return }
            slots[index].start = UInt32(texts.count)
            texts.appendVarint(UInt64(bytes.count))
            texts.append(contentsOf: bytes)
            slots[index].end = UInt32(texts.count)
            found = true
        }
        guard found, slots[Int(ref)].start > 0 else {
            throw SQLiteError(extendedCode: 11, message: "name \(ref) is missing", context: "name")
        }
    }

    private mutating func other(
        _ ref: Int64, to out: inout [UInt8], text: Source
    ) throws(SQLiteError) -> UInt64 {
        if let known = others[ref] { return UInt64(known) }
        var found = false
        try text(ref, 1) { _, bytes in
            out.appendVarint(UInt64(bytes.count))
            out.append(contentsOf: bytes)
            found = true
        }
        guard found else {
            throw SQLiteError(extendedCode: 11, message: "name \(ref) is missing", context: "name")
        }
        others[ref] = count
        count += 1
        return UInt64(count) - 1
    }
}
