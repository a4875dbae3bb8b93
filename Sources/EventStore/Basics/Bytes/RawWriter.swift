/// Where varints can be written one after the other.
protocol VarintSink {
    /// LEB128, least significant group first, at most ten bytes.
    mutating func appendVarint(_ value: UInt64)
}

extension [UInt8]: VarintSink {}

extension RawWriter: VarintSink {
    @inline(__always)
    mutating func appendVarint(_ value: UInt64) { varint(value) }
}

/// Writes numbers and bytes into memory in which its owner has made sure of room.
struct RawWriter {
    private let out: UnsafeMutableRawPointer
    private(set) var count = 0

    init(_ out: UnsafeMutableRawPointer) { self.out = out }

    /// What was written.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: out, count: count) }

    @inline(__always)
    mutating func byte(_ value: UInt8) {
        out.storeBytes(of: value, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// LEB128, at most ten bytes.
    @inline(__always)
    mutating func varint(_ value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            byte(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        byte(UInt8(truncatingIfNeeded: rest))
    }

    @inline(__always)
    mutating func littleEndian(_ value: UInt64) {
        out.storeBytes(of: value.littleEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    @inline(__always)
    mutating func bigEndian(_ value: UInt64) {
        out.storeBytes(of: value.bigEndian, toByteOffset: count, as: UInt64.self)
        count += 8
    }

    @inline(__always)
    mutating func bytes(_ value: UnsafeRawBufferPointer) {
        if let start = value.baseAddress { (out + count).copyMemory(from: start, byteCount: value.count) }
        count += value.count
    }
}
