/// The byte strings of ``SnapshotRows`` where they stand in memory.
struct RowBytes {
    let names: UnsafeRawBufferPointer
    let columns: UnsafeRawBufferPointer
    let ids: UnsafeRawBufferPointer
    let salts: UnsafeRawBufferPointer
    let payloads: UnsafeRawBufferPointer
}

extension SnapshotRows {
    /// Calls `body` with the byte strings, which stay where they are meanwhile.
    func withBytes<Success, Failure>(_ body: (RowBytes) throws(Failure) -> Success) throws(Failure) -> Success {
        let result = names.withUnsafeBytes { names in
            columns.withUnsafeBytes { columns in
                ids.withUnsafeBytes { ids in
                    salts.withUnsafeBytes { salts in
                        payloads.withUnsafeBytes { payloads in
                            let bytes = RowBytes(
                                names: names, columns: columns, ids: ids, salts: salts, payloads: payloads)
                            return Result { () throws(Failure) -> Success in try body(bytes) }
                        }
                    }
                }
            }
        }
        return try result.get()
    }
}

/// Reads ``SnapshotRows`` row by row.
struct RowDecoder {
    private let bytes: RowBytes
    private let nameCount: Int
    private var columns: ByteCursor
    private var ids: ByteCursor
    private var salt = 0
    private var payload = 0
    /// The next seq of each run.
    private var seqs: [UInt64]

    init(_ bytes: RowBytes, _ runs: [SnapshotRows.Run], nameCount: Int) {
        self.bytes = bytes
        self.nameCount = nameCount
        columns = ByteCursor(bytes.columns)
        ids = ByteCursor(bytes.ids)
        seqs = runs.map(\.first)
    }

    var isAtEnd: Bool {
        columns.isAtEnd && ids.isAtEnd && salt == bytes.salts.count && payload == bytes.payloads.count
    }

    mutating func next(_ extras: inout [CheckedRows.Extra]) throws(SnapshotError) -> CheckedRows.Row {
        typealias Flag = SnapshotRows.Flag
        var row = CheckedRows.Row(leaf: Digest.zero)
        row.flags = try columns.byte()
        row.run = try columns.number(below: seqs.count)
        row.seq = seqs[Int(row.run)]
        guard row.seq < UInt64(Int64.max) else { throw .malformed("a seq is too large") }
        seqs[Int(row.run)] += 1
        row.hlc = try columns.fixed64()
        row.type = try columns.number(below: nameCount)
        row.user = try columns.number(below: nameCount)
        if row.has(Flag.conversation) { row.conversation = try columns.number(below: nameCount) }
        if row.has(Flag.time) { row.time = Int64(bitPattern: try columns.fixed64()) }
        if row.has(Flag.author) { row.author = try columns.number(below: nameCount) }
        if row.has(Flag.cause) { row.cause = try columns.uuid() }
        if row.has(Flag.dependencies | Flag.unknown | Flag.version) { try readRare(&row, &extras) }
        row.id = try ids.uuid()
        row.salt = Int32(truncatingIfNeeded: salt)
        salt += row.has(Flag.erased) ? 32 : 16
        row.payload = Int32(truncatingIfNeeded: payload)
        if !row.has(Flag.erased) {
            let count = try columns.varint()
            guard count <= UInt64(bytes.payloads.count - payload) else { throw .malformed("a payload is missing") }
            row.payloadCount = Int32(truncatingIfNeeded: count)
            payload += Int(count)
        }
        guard salt <= bytes.salts.count else { throw .malformed("a salt is missing") }
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
}
