internal import CLinux
internal import CLibuuid

/// Random bytes from the kernel, fetched 64 at first, then 4 KiB at a time: a batch of one must not pay for a thousand.
/// No copies: they would give the same bytes twice.
struct RandomSource: ~Copyable {
    private var buffer: [UInt8] = []
    private var index = 0
    /// In place of the kernel; `nil` but for a simulated node.
    private var simulated: SeededGenerator?

    /// - Parameter seed: What all numbers follow from. For simulated nodes alone.
    init(seed: UInt64? = nil) { simulated = seed.map { SeededGenerator(seed: $0) } }

    var isSimulated: Bool { simulated != nil }

    mutating func uuidBits() -> UUIDBits { UUIDBits(high: next(), low: next()) }

    mutating func next() -> UInt64 {
        if let number = simulated?.next() { return number }
        if index + 8 > buffer.count { refill() }
        defer { index += 8 }
        return buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: UInt64.self) }
    }

    private mutating func refill() {
        if buffer.count < 4096 { buffer = [UInt8](repeating: 0, count: buffer.isEmpty ? 64 : 4096) }
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return getrandom(rest.baseAddress, rest.count, 0)
            }
            if count > 0 { filled += count }
        }
        index = 0
    }
}

/// SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014). Same seed, same numbers.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var word = state
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
        return word ^ (word >> 31)
    }
}

extension OriginID {
    /// A new origin; a simulated node's is made of its numbers.
    static func random(from source: inout RandomSource) -> OriginID {
        source.isSimulated ? OriginID(source.uuidBits()) : .random()
    }

    /// A new random origin (libuuid).
    static func random() -> OriginID {
        var uuid: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        return withUnsafeMutableBytes(of: &uuid) { raw in
            if let first = raw.assumingMemoryBound(to: UInt8.self).baseAddress { uuid_generate_random(first) }
            return OriginID(UUIDBits(bytes: raw) ?? UUIDBits(high: 0, low: 0))
        }
    }
}

/// Makes time-ordered event ids: UUIDv7 (RFC 9562 §5.7) with a counter in `rand_a`, strictly ascending.
struct EventIDGenerator: ~Copyable {
    var random: RandomSource
    private var last = UInt64(0)

    init(_ random: consuming RandomSource) { self.random = random }

    mutating func next(milliseconds: Int64) -> EventID {
        let stamp = UInt64(clamping: milliseconds) << 12
        last = stamp > last ? stamp : last + 1
        let high = (last >> 12) << 16 | 0x7000 | (last & 0xfff)
        return EventID(UUIDBits(high: high, low: random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000))
    }
}
