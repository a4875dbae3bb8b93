/// Walks bytes that a peer sent; every step is checked. The bytes must stay where they are meanwhile.
struct ByteCursor {
    let bytes: UnsafeRawBufferPointer
    private(set) var index = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    @inline(__always)
    mutating func byte() throws(SnapshotError) -> UInt8 {
        guard index < bytes.count else { throw .malformed("it ends in the middle of a row") }
        defer { index += 1 }
        return bytes[index]
    }

    /// A varint in its shortest form.
    @inline(__always)
    mutating func varint() throws(SnapshotError) -> UInt64 {
        let first = try byte()
        return first < 0x80 ? UInt64(first) : try rest(of: first)
    }

    private mutating func rest(of first: UInt8) throws(SnapshotError) -> UInt64 {
        var value = UInt64(first & 0x7f)
        var shift = UInt64(7)
        while true {
            let byte = try byte()
            guard shift < 63 || byte <= 1 else { throw .malformed("a varint is too long") }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 {
                guard byte != 0 else { throw .malformed("a varint is longer than it need be") }
                return value
            }
            shift += 7
            guard shift <= 63 else { throw .malformed("a varint is too long") }
        }
    }

    /// A varint that counts bytes.
    mutating func count() throws(SnapshotError) -> Int {
        let value = try varint()
        guard value <= UInt64(bytes.count - index) else { throw .malformed("a length goes beyond the end") }
        return Int(value)
    }

    /// A varint below `limit`.
    @inline(__always)
    mutating func number(below limit: Int) throws(SnapshotError) -> Int32 {
        let value = try varint()
        guard value < UInt64(limit) else { throw .malformed("a reference goes nowhere") }
        return Int32(truncatingIfNeeded: value)
    }

    @inline(__always)
    mutating func skip(_ count: Int) throws(SnapshotError) {
        guard count <= bytes.count - index else { throw .malformed("it ends in the middle of a row") }
        index += count
    }

    /// Eight bytes, most significant first.
    @inline(__always)
    mutating func fixed64() throws(SnapshotError) -> UInt64 {
        let at = index
        try skip(8)
        return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }

    @inline(__always)
    mutating func uuid() throws(SnapshotError) -> UUIDBits {
        UUIDBits(high: try fixed64(), low: try fixed64())
    }
}
