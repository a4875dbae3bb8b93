/// Rows as pages of table `event`, and what its indexes will say of them.
struct RowLeaves: Sendable {
    var leaves = LeafRun()
    /// `(id's halves, position)`, ascending.
    private(set) var ids: [IndexEntry] = []
    /// `(ref of the origin, seq, position)`, ascending.
    private(set) var dots: [IndexEntry] = []

    /// Becomes these rows. The memory of those that were here is used again.
    mutating func fill(_ sequenced: SequencedRows) {
        let checked = sequenced.checked
        leaves.empty(capacity: checked.rows.size + checked.list.count * 48)
        ids.removeAll(keepingCapacity: true)
        dots.removeAll(keepingCapacity: true)
        ids.reserveCapacity(checked.list.count)
        dots.reserveCapacity(checked.list.count)
        let record = UnsafeMutableRawPointer.allocate(
            byteCount: Limits.carriedPayload + 2 * Limits.header, alignment: 16)
        defer { record.deallocate() }
        checked.rows.withBytes { bytes in
            let writer = RecordWriter(sequenced: sequenced, bytes: bytes, out: record)
            var position = sequenced.first
            for (number, row) in checked.list.enumerated() {
                if !sequenced.skipped.isEmpty, sequenced.skipped.contains(number) { continue }
                leaves.add(Int64(position), UnsafeRawBufferPointer(start: record, count: writer.write(row)))
                ids.append(IndexEntry(a: row.id.high, b: row.id.low, position: position))
                dots.append(
                    IndexEntry(a: UInt64(sequenced.origins[Int(row.run)]), b: row.seq, position: position))
                position += 1
            }
        }
        leaves.finish()
        ids.sortIfNeeded()
        dots.sortIfNeeded()
    }
}

/// A row of table `event` as SQLite's record (file format, section 2.1).
private struct RecordWriter {
    let sequenced: SequencedRows
    let bytes: RowBytes
    let out: UnsafeMutableRawPointer

    /// Writes a row and returns its size.
    func write(_ row: CheckedRows.Row) -> Int {
        typealias Flag = SnapshotRows.Flag
        let extra = row.extra >= 0 ? sequenced.checked.extras[Int(row.extra)] : CheckedRows.Extra()
        let dependencies = row.has(Flag.dependencies) ? sequenced.dependencies[Int(row.extra)] : []
        let isErased = row.has(Flag.erased)
        let uuid = UInt64(16 * 2 + 12)
        // The header's length goes first; with 21 columns it is below 128.
        var record = Record(out)
        record.null()  // position: the key itself
        record.integer(sequenced.names[Int(row.user)])
        if row.has(Flag.conversation) {
            record.integer(sequenced.names[Int(row.conversation)])
        } else {
            record.null()
        }
        if row.has(Flag.time) { record.integer(row.time) } else { record.null() }
        record.integer(Int64(bitPattern: row.hlc))
        record.integer(sequenced.origins[Int(row.run)])
        record.integer(Int64(bitPattern: row.seq))
        record.integer(sequenced.names[Int(row.type)])
        if row.has(Flag.author) { record.integer(sequenced.names[Int(row.author)]) } else { record.null() }
        record.type(uuid)
        record.type(row.has(Flag.cause) ? uuid : 0)
        record.type(dependencies.isEmpty ? 0 : UInt64(dependencies.count * 2 + 12))
        if row.has(Flag.version) { record.integer(Int64(row.version)) } else { record.null() }
        record.type(extra.rest.isEmpty ? 0 : UInt64(extra.rest.count * 2 + 12))
        record.null()  // twin: found when the ids are sorted
        let leaf = EventRow.leafCheck(row.leaf)
        record.integer(leaf)
        record.type(isErased ? 0 : uuid)
        record.type(isErased ? UInt64(32 * 2 + 12) : 0)
        // Text, or a blob where the bytes are no payload.
        record.type(isErased ? 0 : UInt64(Int(row.payloadCount) * 2 + (row.isUnreadable ? 12 : 13)))
        let actor = extra.actor >= 0 ? sequenced.actors[Int(extra.actor)] : nil
        if let actor {
            record.null()  // seal: of own events alone
            record.integer(actor)
        }
        record.headerEnded()

        record.body(sequenced.names[Int(row.user)])
        if row.has(Flag.conversation) { record.body(sequenced.names[Int(row.conversation)]) }
        if row.has(Flag.time) { record.body(row.time) }
        record.body(Int64(bitPattern: row.hlc))
        record.body(sequenced.origins[Int(row.run)])
        record.body(Int64(bitPattern: row.seq))
        record.body(sequenced.names[Int(row.type)])
        if row.has(Flag.author) { record.body(sequenced.names[Int(row.author)]) }
        record.body(row.id)
        if row.has(Flag.cause) { record.body(row.cause) }
        dependencies.withUnsafeBytes { record.body($0) }
        if row.has(Flag.version) { record.body(Int64(row.version)) }
        extra.rest.withUnsafeBytes { record.body($0) }
        record.body(leaf)
        record.body(bytes.salts, Int(row.salt)..<Int(row.salt) + (isErased ? 32 : 16))
        record.body(bytes.payloads, row.payloadRange)
        if let actor { record.body(actor) }
        return record.count
    }
}

/// Writes a record: first the serial types, then the values.
struct Record {
    private let out: UnsafeMutableRawPointer
    private(set) var count = 1

    init(_ out: UnsafeMutableRawPointer) { self.out = out }

    @inline(__always)
    mutating func null() { type(0) }
    @inline(__always)
    mutating func type(_ type: UInt64) { count = PageFormat.putVarint(type, out, count) }
    @inline(__always)
    mutating func integer(_ value: Int64) { type(UInt64(PageFormat.integer(value).type)) }
    @inline(__always)
    mutating func headerEnded() { _ = PageFormat.putVarint(UInt64(count), out, 0) }

    @inline(__always)
    mutating func body(_ value: Int64) {
        count = PageFormat.putInteger(value, bytes: PageFormat.integer(value).bytes, out, count)
    }

    @inline(__always)
    mutating func body(_ bits: UUIDBits) {
        out.storeBytes(of: bits.high.bigEndian, toByteOffset: count, as: UInt64.self)
        out.storeBytes(of: bits.low.bigEndian, toByteOffset: count + 8, as: UInt64.self)
        count += 16
    }

    @inline(__always)
    mutating func body(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        (out + count).copyMemory(from: start, byteCount: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    mutating func body(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        body(UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
}
