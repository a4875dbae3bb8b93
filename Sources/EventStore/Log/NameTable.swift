/// Texts and their refs in two blocks of memory, found by open addressing. Every event asks for three or four of them: a
/// `Dictionary` with `String` keys took a seventh of the writer's time.
struct NameTable {
    private struct Slot {
        /// 0 where the slot is free.
        var hash: UInt64 = 0
        var offset: UInt32 = 0
        var count: UInt32 = 0
        var ref: Int64 = 0
    }

    /// Half of a power of two: with one more there would be twice as many slots, 12 MiB.
    private static let capacity = 1 << 17
    private static let textCapacity = 16 << 20
    private var slots = [Slot](repeating: Slot(), count: 1_024)
    /// One after the other, in the order in which they came.
    private(set) var texts: [UInt8] = []
    private var used = 0
    /// Drawn for each table, so that no peer can choose ids that all land in one place.
    private let seed: UInt64

    init() { self.init(seed: .random(in: .min ... .max)) }

    private init(seed: UInt64) { self.seed = seed }

    /// The ref of `text`, if it is here.
    subscript(text: String) -> Int64? { text.withUTF8Bytes { self[$0, hash($0)] } }

    /// The ref of the text of these bytes with this ``hash(_:)``, if it is here.
    subscript(bytes: UnsafeRawBufferPointer, hash: UInt64) -> Int64? {
        let slot = slots[place(of: bytes, hash)]
        return slot.hash == 0 ? nil : slot.ref
    }

    /// Says that a text with this hash is about to be asked for.
    func expect(_ hash: UInt64) {
        slots.withUnsafeBufferPointer { slots in
            if let start = slots.baseAddress { prefetch(start + (Int(truncatingIfNeeded: hash) & (slots.count - 1))) }
        }
    }

    /// Says that a text with this hash is asked for next; ``expect(_:)`` came before.
    func expectText(_ hash: UInt64) {
        let offset = Int(slots[Int(truncatingIfNeeded: hash) & (slots.count - 1)].offset)
        texts.withUnsafeBytes { texts in if let start = texts.baseAddress { prefetch(start + offset) } }
    }

    /// Whether a text of so many bytes can be taken in, and nothing is forgotten for it.
    func hasRoom(for count: Int) -> Bool { used < Self.capacity && texts.count + count <= Self.textCapacity }

    /// Takes in a text that is not here. What was here is forgotten when that would be too much.
    mutating func insert(_ text: String, _ ref: Int64) {
        let count = text.utf8.count
        if !hasRoom(for: count) { self = NameTable(seed: seed) }
        if used * 2 >= slots.count { grow() }
        text.withUTF8Bytes { bytes in
            let hash = hash(bytes)
            slots[place(of: bytes, hash)] = Slot(
                hash: hash, offset: UInt32(texts.count), count: UInt32(count), ref: ref)
            texts.append(contentsOf: bytes)
        }
        used += 1
    }

    private mutating func grow() {
        let old = slots
        slots = [Slot](repeating: Slot(), count: old.count * 2)
        for slot in old where slot.hash != 0 {
            var index = Int(truncatingIfNeeded: slot.hash) & (slots.count - 1)
            while slots[index].hash != 0 { index = (index + 1) & (slots.count - 1) }
            slots[index] = slot
        }
    }

    /// Where the text is, or the free slot where it would be.
    private func place(of bytes: UnsafeRawBufferPointer, _ hash: UInt64) -> Int {
        var index = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[index].hash != 0 {
            if slots[index].hash == hash, isText(slots[index], bytes) { return index }
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    private func isText(_ slot: Slot, _ bytes: UnsafeRawBufferPointer) -> Bool {
        texts.withUnsafeBytes { texts in
            let start = Int(slot.offset)
            return hasEqualBytes(UnsafeRawBufferPointer(rebasing: texts[start..<start + Int(slot.count)]), bytes)
        }
    }

    /// Eight bytes at a time, each folded in by a 64 × 64 → 128 bit product (the mixing step of wyhash, Wang Yi 2019),
    /// never 0.
    func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = seed ^ UInt64(bytes.count)
        func load<T: FixedWidthInteger>(_ index: Int, as type: T.Type) -> UInt64 {
            UInt64(bytes.loadUnaligned(fromByteOffset: index, as: type))
        }
        func fold(_ word: UInt64) {
            let product = (hash ^ 0xa076_1d64_78bd_642f).multipliedFullWidth(by: word ^ 0xe703_7ed1_a0b4_28db)
            hash = product.high ^ product.low ^ seed
        }
        var index = 0
        while index + 8 <= bytes.count {
            fold(load(index, as: UInt64.self))
            index += 8
        }
        // The rest with bytes before it or twice, so that nothing depends on how many they are.
        switch bytes.count {
        case 8...: fold(load(bytes.count - 8, as: UInt64.self))
        case 4...: fold(load(0, as: UInt32.self) << 32 | load(bytes.count - 4, as: UInt32.self))
        case 1...: fold(UInt64(bytes[0]) << 16 | UInt64(bytes[bytes.count / 2]) << 8 | UInt64(bytes[bytes.count - 1]))
        default: fold(0)
        }
        return hash | 1 << 63
    }
}
