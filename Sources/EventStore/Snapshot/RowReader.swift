/// Walks bytes that a peer sent; every step is checked.
struct ByteCursor {
    let bytes: [UInt8]
    private(set) var index = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { index == bytes.count }

    mutating func byte() throws(SnapshotError) -> UInt8 {
        guard index < bytes.count else { throw .malformed("it ends in the middle of a row") }
        defer { index += 1 }
        return bytes[index]
    }

    /// A varint in its shortest form.
    mutating func varint() throws(SnapshotError) -> UInt64 {
        let first = try byte()
        if first < 0x80 { return UInt64(first) }
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
    mutating func number(below limit: Int) throws(SnapshotError) -> Int32 {
        let value = try varint()
        guard value < UInt64(limit) else { throw .malformed("a reference goes nowhere") }
        return Int32(truncatingIfNeeded: value)
    }

    mutating func skip(_ count: Int) throws(SnapshotError) {
        guard count <= bytes.count - index else { throw .malformed("it ends in the middle of a row") }
        index += count
    }

    /// Eight bytes, most significant first.
    mutating func fixed64() throws(SnapshotError) -> UInt64 {
        let at = index
        try skip(8)
        return bytes.withUnsafeBytes { UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt64.self)) }
    }

    mutating func uuid() throws(SnapshotError) -> UUIDBits {
        UUIDBits(high: try fixed64(), low: try fixed64())
    }
}

/// Reads ``SnapshotRows`` row by row, and encodes each row's canonical header into one block of memory.
struct RowReader {
    private let rows: SnapshotRows
    private let names: [(start: Int, text: Int, end: Int)]
    private var columns: ByteCursor
    private var ids: ByteCursor
    private var salt = 0
    private var payload = 0
    /// The next seq of each run.
    private var seqs: [UInt64]
    /// 0x00, the header, and room for the payload's digest: what a leaf's hash is over.
    private var encoded = ProtobufWriter()

    init(rows: SnapshotRows, names: [(start: Int, text: Int, end: Int)]) {
        self.rows = rows
        self.names = names
        columns = ByteCursor(rows.columns)
        ids = ByteCursor(rows.ids)
        seqs = rows.runs.map(\.first)
        encoded.bytes.reserveCapacity(1_024)
    }

    var isAtEnd: Bool {
        columns.isAtEnd && ids.isAtEnd && salt == rows.salts.count && payload == rows.payloads.count
    }

    mutating func next(_ extras: inout [CheckedRows.Extra]) throws(SnapshotError) -> CheckedRows.Row {
        typealias Flag = SnapshotRows.Flag
        var row = CheckedRows.Row(leaf: Digest.zero)
        row.flags = try columns.byte()
        row.run = try columns.number(below: rows.runs.count)
        row.seq = seqs[Int(row.run)]
        guard row.seq < UInt64(Int64.max) else { throw .malformed("a seq is too large") }
        seqs[Int(row.run)] += 1
        row.hlc = try columns.fixed64()
        row.type = try columns.number(below: names.count)
        row.user = try columns.number(below: names.count)
        if row.has(Flag.conversation) { row.conversation = try columns.number(below: names.count) }
        if row.has(Flag.time) { row.time = Int64(bitPattern: try columns.fixed64()) }
        if row.has(Flag.author) { row.author = try columns.number(below: names.count) }
        if row.has(Flag.cause) { row.cause = try columns.uuid() }
        if row.has(Flag.dependencies | Flag.unknown | Flag.version) { try readRare(&row, &extras) }
        row.id = try ids.uuid()
        row.salt = Int32(truncatingIfNeeded: salt)
        salt += row.has(Flag.erased) ? 32 : 16
        row.payload = Int32(truncatingIfNeeded: payload)
        if !row.has(Flag.erased) {
            let count = try columns.varint()
            guard count <= UInt64(rows.payloads.count - payload) else { throw .malformed("a payload is missing") }
            row.payloadCount = Int32(truncatingIfNeeded: count)
            payload += Int(count)
        }
        guard salt <= rows.salts.count else { throw .malformed("a salt is missing") }
        return row
    }

    private mutating func readRare(
        _ row: inout CheckedRows.Row, _ extras: inout [CheckedRows.Extra]
    ) throws(SnapshotError) {
        typealias Flag = SnapshotRows.Flag
        var extra = CheckedRows.Extra()
        if row.has(Flag.dependencies) {
            let count = try columns.varint()
            guard count <= UInt64(columns.bytes.count / 17) else { throw .malformed("too many dependencies") }
            for _ in 0..<count {
                extra.dependencies.append(Dot(origin: OriginID(try columns.uuid()), seq: try columns.varint()))
            }
        }
        if row.has(Flag.version) {
            guard let version = UInt32(exactly: try columns.varint()) else { throw .malformed("a version") }
            row.version = version
        }
        if row.has(Flag.unknown) {
            let count = try columns.count()
            guard count > 0 else { throw .malformed("no unknown fields") }
            extra.unknown = columns.index..<columns.index + count
            try columns.skip(count)
        }
        row.extra = Int32(extras.count)
        extras.append(extra)
    }

    // MARK: The canonical header (docs/sync.proto, EventHeader)

    var headerCount: Int { encoded.bytes.count - 1 }
    var header: [UInt8] { Array(encoded.bytes[1...]) }

    mutating func encodeHeader(of row: CheckedRows.Row, _ extras: [CheckedRows.Extra]) {
        typealias Flag = SnapshotRows.Flag
        encoded.bytes.removeAll(keepingCapacity: true)
        encoded.bytes.append(0)
        encoded.uuid(1, rows.runs[Int(row.run)].origin.bits)
        encoded.uint(2, row.seq)
        encoded.fixed64(3, row.hlc)
        if row.has(Flag.time) { encoded.presentSint(4, row.time) }
        encoded.uuid(5, row.id)
        putName(6, row.type)
        if row.has(Flag.conversation) { putName(7, row.conversation) }
        putName(8, row.user)
        if row.has(Flag.author) { putName(9, row.author) }
        if row.has(Flag.cause) { encoded.uuid(10, row.cause) }
        guard row.extra >= 0 else { return }
        let extra = extras[Int(row.extra)]
        for dependency in extra.dependencies {
            encoded.message(11) { inner in
                inner.uuid(1, dependency.origin.bits)
                inner.uint(2, dependency.seq)
            }
        }
        if row.has(Flag.version) { encoded.uint(12, UInt64(row.version)) }
        encoded.bytes.append(contentsOf: rows.columns[extra.unknown])
    }

    /// Takes a header as it is.
    mutating func takeHeader(_ bytes: ArraySlice<UInt8>) {
        encoded.bytes.removeAll(keepingCapacity: true)
        encoded.bytes.append(0)
        encoded.bytes.append(contentsOf: bytes)
    }

    /// A name stands here as it stands in a header: its length, its bytes.
    private mutating func putName(_ field: UInt8, _ index: Int32) {
        let name = names[Int(index)]
        encoded.bytes.append(field << 3 | 2)
        encoded.bytes.append(contentsOf: rows.names[name.start..<name.end])
    }

    mutating func leaf(of row: CheckedRows.Row, _ sha: SHA256) -> Digest {
        if row.has(SnapshotRows.Flag.erased) {
            encoded.bytes.append(contentsOf: rows.salts[Int(row.salt)..<Int(row.salt) + 32])
        } else {
            let digest = rows.salts.withUnsafeBytes { salts in
                rows.payloads.withUnsafeBytes { payloads in
                    sha.digest(
                        UnsafeRawBufferPointer(rebasing: salts[Int(row.salt)..<Int(row.salt) + 16]),
                        UnsafeRawBufferPointer(
                            rebasing: payloads[Int(row.payload)..<Int(row.payload + row.payloadCount)]))
                }
            }
            digest.append(to: &encoded.bytes)
        }
        let leaf = encoded.bytes.withUnsafeBytes { sha.digest($0, UnsafeRawBufferPointer(start: nil, count: 0)) }
        encoded.bytes.removeLast(32)
        return leaf
    }
}
