internal import CLinux
internal import CLibuuid

/// Random bytes from the kernel, fetched 64 at first, then 4 KiB at a time: a batch of one must not pay for a thousand.
struct RandomSource {
    private var buffer: [UInt8] = []
    private var index = 0
    /// Where the bytes come from in place of the kernel; `nil` but for a simulated node.
    private var seed: UInt64?

    /// - Parameter seed: What all numbers follow from: equal seeds give equal ones. For simulated nodes alone.
    init(seed: UInt64? = nil) { self.seed = seed }

    var isSeeded: Bool { seed != nil }

    mutating func uuidBits() -> UUIDBits { UUIDBits(high: next(), low: next()) }

    mutating func next() -> UInt64 {
        if index + 8 > buffer.count { refill() }
        defer { index += 8 }
        return buffer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index, as: UInt64.self) }
    }

    private mutating func refill() {
        if buffer.count < 4096 { buffer = [UInt8](repeating: 0, count: buffer.isEmpty ? 64 : 4096) }
        index = 0
        if let seed { return refill(from: seed) }
        var filled = 0
        while filled < buffer.count {
            let count = buffer.withUnsafeMutableBytes { bytes in
                let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
                return getrandom(rest.baseAddress, rest.count, 0)
            }
            if count > 0 { filled += count }
        }
    }

    /// SplitMix64 (Steele, Lea, Flood, 2014).
    private mutating func refill(from seed: UInt64) {
        var state = seed
        for start in stride(from: 0, to: buffer.count, by: 8) {
            state &+= 0x9e37_79b9_7f4a_7c15
            var word = state
            word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
            word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
            buffer.withUnsafeMutableBytes {
                $0.storeBytes(of: word ^ (word >> 31), toByteOffset: start, as: UInt64.self)
            }
        }
        self.seed = state
    }
}

extension OriginID {
    /// A new origin, of the numbers of a source that follow from a seed, else random.
    static func random(from source: inout RandomSource) -> OriginID {
        source.isSeeded ? OriginID(source.uuidBits()) : .random()
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
struct EventIDGenerator {
    private var random: RandomSource
    private var last = UInt64(0)

    init(_ random: RandomSource = RandomSource()) { self.random = random }

    mutating func next(milliseconds: Int64) -> EventID {
        let stamp = UInt64(clamping: milliseconds) << 12
        last = stamp > last ? stamp : last + 1
        let high = (last >> 12) << 16 | 0x7000 | (last & 0xfff)
        return EventID(UUIDBits(high: high, low: random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000))
    }
}
