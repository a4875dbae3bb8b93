/// A block of memory for one row's canonical header (sync.proto, EventHeader) after the other, with what a leaf's hash is
/// over around it: 0x00 before, the payload's digest behind.
struct HeaderBlock: ~Copyable {
    /// The zero, the longest header, a digest.
    private let memory = UnsafeMutableRawPointer.allocate(byteCount: 1 + Limits.header + 32, alignment: 16)
    private(set) var count = 0

    init() { memory.storeBytes(of: 0, as: UInt8.self) }

    deinit { memory.deallocate() }

    /// The header.
    var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: memory + 1, count: count)) }

    /// Takes a header as it is.
    mutating func take(_ header: UnsafeRawBufferPointer) throws(SnapshotError) {
        count = 0
        try append(header)
    }

    /// Adds fields behind those that are here.
    mutating func append(_ fields: UnsafeRawBufferPointer) throws(SnapshotError) {
        guard count + fields.count <= Limits.header else {
            throw .event(.header(.limits(.headerTooLarge(bytes: count + fields.count))))
        }
        if let start = fields.baseAddress { (memory + 1 + count).copyMemory(from: start, byteCount: fields.count) }
        count += fields.count
    }

    /// Writes a header's fields up to 10, which always fit.
    mutating func encode(_ row: CheckedRows.Row, of origin: OriginID, _ name: (Int32) -> UnsafeRawBufferPointer) {
        typealias Flag = SnapshotRows.Flag
        var fields = RawWriter(memory + 1)
        fields.uuid(1, origin.bits)
        fields.varint(2, row.seq)
        if row.hlc != 0 { fields.fixed64(3, row.hlc) }
        if row.has(Flag.time) { fields.varint(4, zigzag(row.time)) }
        fields.uuid(5, row.id)
        // A name stands in a piece as it stands in a header: its length, its bytes.
        fields.bytes(6, name(row.type))
        if row.has(Flag.conversation) { fields.bytes(7, name(row.conversation)) }
        fields.bytes(8, name(row.user))
        if row.has(Flag.author) { fields.bytes(9, name(row.author)) }
        if row.has(Flag.cause) { fields.uuid(10, row.cause) }
        count = fields.count
    }

    /// The leaf of the event with this header and the payload digest that `digest` writes.
    func leaf(_ sha: SHA256, digest: (UnsafeMutableRawBufferPointer) -> Void) -> Digest {
        digest(UnsafeMutableRawBufferPointer(start: memory + 1 + count, count: 32))
        return sha.digest(UnsafeRawBufferPointer(start: memory, count: 1 + count + 32))
    }
}

extension RawWriter {
    @inline(__always)
    mutating func uuid(_ value: UUIDBits) {
        bigEndian(value.high)
        bigEndian(value.low)
    }
}

/// Protocol Buffers fields with numbers below 16.
extension RawWriter {
    fileprivate mutating func varint(_ field: UInt8, _ value: UInt64) {
        byte(field << 3)
        varint(value)
    }

    fileprivate mutating func fixed64(_ field: UInt8, _ value: UInt64) {
        byte(field << 3 | 1)
        littleEndian(value)
    }

    fileprivate mutating func uuid(_ field: UInt8, _ value: UUIDBits) {
        byte(field << 3 | 2)
        byte(16)
        uuid(value)
    }

    /// - Parameter value: The length and the bytes.
    fileprivate mutating func bytes(_ field: UInt8, _ value: UnsafeRawBufferPointer) {
        byte(field << 3 | 2)
        bytes(value)
    }
}
