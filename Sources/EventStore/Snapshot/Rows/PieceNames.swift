/// The names of one piece of a snapshot after the other: their refs in the log, their numbers in the piece, their bytes.
/// Refs are small integers, so this is a table and not a dictionary; refs beyond its bound are kept for one piece only.
///
/// The table is larger than the processor's cache and is asked for names all over it: a short name stands in its slot.
struct PieceNames: ~Copyable {
    private static let most = 1 << 20
    private static let mostBytes = 32 << 20
    /// Names read at once.
    private static let block = 256

    /// Passes on the names with refs from the first argument on, at most as many as the second says.
    typealias Source = (
        _ ref: Int64, _ count: Int, _ each: (Int64, UnsafeRawBufferPointer) -> Void
    ) throws(DatabaseError) -> Void

    /// What is known of one ref.
    private struct Slot {
        /// The piece the number is for.
        var piece: UInt32 = 0
        var number: UInt32 = 0
        /// Bytes of length and text; 0: not known.
        var size: UInt32 = 0
        /// Length and text if they fit; else first where they stand in ``texts``.
        var text: (UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0)

        static let room = 20
        static let textOffset = 12

        /// No slot lies across two lines of the cache.
        static func allocate(_ count: Int) -> UnsafeMutablePointer<Slot> {
            UnsafeMutableRawPointer.allocate(byteCount: count * MemoryLayout<Slot>.stride, alignment: 64)
                .bindMemory(to: Slot.self, capacity: count)
        }
    }

    private var slots = Slot.allocate(0)
    private var capacity = 0
    /// Lengths and texts of long names.
    private var texts: [UInt8] = []
    private var others: [Int64: UInt32] = [:]
    private var piece: UInt32 = 0
    private var count: UInt32 = 0

    init() {}

    deinit { slots.deallocate() }

    /// From now on numbers are those of the next piece.
    mutating func begin() {
        piece &+= 1
        count = 0
        others.removeAll(keepingCapacity: true)
        if texts.count > Self.mostBytes || piece == 0 {
            piece = 1
            texts = []
            slots.update(repeating: Slot(), count: capacity)
        }
    }

    /// Says that the number of `ref` is about to be asked for.
    @inline(__always)
    func expect(_ ref: Int64) {
        if ref > 0, ref < Int64(capacity) { prefetch(slots + Int(ref)) }
    }

    /// The number of `ref` in this piece, if it has one or its text is known; then, when it is new here, length and bytes are
    /// appended to `out`.
    mutating func number(_ ref: Int64, to out: inout [UInt8]) -> UInt64? {
        guard ref > 0, ref < Int64(capacity) else { return nil }
        let slot = slots + Int(ref)
        if slot.pointee.piece == piece { return UInt64(slot.pointee.number) }
        let size = Int(slot.pointee.size)
        guard size > 0 else { return nil }
        slot.pointee.piece = piece
        slot.pointee.number = count
        count += 1
        if size <= Slot.room {
            let text = UnsafeRawPointer(slot) + Slot.textOffset
            out.append(contentsOf: UnsafeRawBufferPointer(start: text, count: size))
        } else {
            let start = Int(slot.pointee.text.0)
            out.append(contentsOf: texts[start..<start + size])
        }
        return UInt64(count) - 1
    }

    /// As ``number(_:to:)``, with the text of `text` if it is not known.
    mutating func number(_ ref: Int64, to out: inout [UInt8], text: Source) throws(DatabaseError) -> UInt64 {
        guard ref > 0, ref < Self.most else { return try other(ref, to: &out, text) }
        if let known = number(ref, to: &out) { return known }
        try load(from: ref, text)
        guard let loaded = number(ref, to: &out) else { throw missing(ref) }
        return loaded
    }

    /// Names are interned as they are met, so those with the refs that follow are about to be asked for.
    private mutating func load(from ref: Int64, _ text: Source) throws(DatabaseError) {
        let end = min(Int(ref) + Self.block, Self.most)
        grow(to: end)
        let slots = slots
        var texts = texts
        self.texts = []
        defer { self.texts = texts }
        try text(ref, end - Int(ref)) { ref, bytes in
            guard ref > 0, ref < Int64(end), slots[Int(ref)].size == 0 else { return }
            let slot = slots + Int(ref)
            let start = texts.count
            texts.appendVarint(UInt64(bytes.count))
            texts.append(contentsOf: bytes)
            let size = texts.count - start
            slot.pointee.size = UInt32(size)
            guard size <= Slot.room else {
                slot.pointee.text.0 = UInt32(start)
                return
            }
            texts.withUnsafeBytes { raw in
                UnsafeMutableRawBufferPointer(start: UnsafeMutableRawPointer(slot) + Slot.textOffset, count: size)
                    .copyBytes(from: raw[start...])
            }
            texts.removeLast(size)
        }
    }

    private mutating func grow(to least: Int) {
        guard least > capacity else { return }
        let larger = max(least, min(2 * capacity, Self.most), 1_024)
        let grown = Slot.allocate(larger)
        grown.moveInitialize(from: slots, count: capacity)
        (grown + capacity).initialize(repeating: Slot(), count: larger - capacity)
        slots.deallocate()
        (slots, capacity) = (grown, larger)
    }

    private mutating func other(_ ref: Int64, to out: inout [UInt8], _ text: Source) throws(DatabaseError) -> UInt64 {
        if let known = others[ref] { return UInt64(known) }
        var found = false
        try text(ref, 1) { _, bytes in
            out.appendVarint(UInt64(bytes.count))
            out.append(contentsOf: bytes)
            found = true
        }
        guard found else { throw missing(ref) }
        others[ref] = count
        count += 1
        return UInt64(count) - 1
    }

    private func missing(_ ref: Int64) -> DatabaseError {
        .damaged(.table("name"), "there is no name \(ref)")
    }
}
