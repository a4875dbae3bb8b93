/// Checks that rows of a snapshot are events in canonical form, and makes their headers. Used while their bytes stay where
/// they are.
struct RowValidation: ~Copyable {
    private let runs: [SnapshotRows.Run]
    private let bytes: RowBytes
    private let names: [CheckedRows.Name]
    private var header = HeaderBlock()
    /// The fields above 12 of the row that was checked last, but for its actor's; those of an opaque row are its header.
    private(set) var unknown: [UInt8] = []
    /// Its actor.
    private(set) var actor: EventActor?
    /// An actor that was checked, and its field: most rows that have one have the same.
    private var known: (field: [UInt8], actor: EventActor)?

    init(_ bytes: RowBytes, _ runs: [SnapshotRows.Run], _ names: [CheckedRows.Name]) {
        self.runs = runs
        self.bytes = bytes
        self.names = names
    }

    private typealias Row = CheckedRows.Row
    private typealias Flag = SnapshotRows.Flag

    /// Checks a row and makes its header.
    mutating func check(_ row: inout CheckedRows.Row, _ extras: [CheckedRows.Extra]) throws(SnapshotError) {
        guard row.hlc <= UInt64(Int64.max) else { throw malformed(row, "its hlc") }
        row.isOpaque = names[Int(row.type)].count == 0
        (actor, unknown) = (nil, [])
        if row.isOpaque { try checkOpaque(row, extras) } else { try checkHeader(row, extras) }
        try checkPayload(&row)
    }

    private func malformed(_ row: Row, _ reason: String) -> SnapshotError {
        .malformed("event \(dot(row)): \(reason)")
    }

    private func dot(_ row: Row) -> Dot { Dot(origin: runs[Int(row.run)].origin, seq: row.seq) }

    // MARK: The header

    private mutating func checkHeader(_ row: Row, _ extras: [CheckedRows.Extra]) throws(SnapshotError) {
        let isNamed =
            names[Int(row.type)].count <= Limits.type && names[Int(row.user)].count > 0
            && (!row.has(Flag.conversation) || names[Int(row.conversation)].count > 0)
            && (!row.has(Flag.author) || (names[Int(row.author)].count > 0 && !isSame(row.author, row.user)))
        guard isNamed else { throw malformed(row, "its type, user, author or conversation") }
        if row.has(Flag.time) {
            let isInRange = row.time >= -62_135_596_800_000 && row.time <= 253_402_300_799_999
            guard isInRange, row.time != HybridTime(rawValue: row.hlc).milliseconds else {
                throw malformed(row, "its time")
            }
        }
        if row.has(Flag.version), row.version <= 1 { throw malformed(row, "its version") }
        let (names, bytes) = (names, bytes.names)
        header.encode(row, of: runs[Int(row.run)].origin) { index in
            let name = names[Int(index)]
            return UnsafeRawBufferPointer(rebasing: bytes[name.start..<name.end])
        }
        if row.extra >= 0 { try addRare(row, extras[Int(row.extra)]) }
    }

    /// Fields 11 and above.
    private mutating func addRare(_ row: Row, _ extra: CheckedRows.Extra) throws(SnapshotError) {
        if row.has(Flag.dependencies) { try check(extra.dependencies, row) }
        var rest = ProtobufWriter()
        for dependency in extra.dependencies {
            rest.message(11) { inner in
                inner.uuid(1, dependency.origin.bits)
                inner.uint(2, dependency.seq)
            }
        }
        if row.has(Flag.version) { rest.uint(12, UInt64(row.version)) }
        rest.bytes.append(contentsOf: bytes.columns[extra.unknown])
        try rest.bytes.withUnsafeBytes { raw in Result { () throws(SnapshotError) in try header.append(raw) } }.get()
        guard row.has(Flag.unknown) else { return }
        let field = UnsafeRawBufferPointer(rebasing: bytes.columns[extra.unknown])
        if let known, known.field.withUnsafeBytes({ hasEqualBytes($0, field) }) { return actor = known.actor }
        do { try take(EventHeader(canonicalBytes: header.bytes)) } catch { throw .event(.header(error)) }
    }

    private mutating func take(_ read: EventHeader) {
        (actor, unknown) = (read.actor, read.unknownFields)
        if let actor, unknown.isEmpty { known = (actor.field, actor) }
    }

    private func check(_ dependencies: [Dot], _ row: Row) throws(SnapshotError) {
        let origin = dot(row).origin
        guard !dependencies.isEmpty,
            zip(dependencies, dependencies.dropFirst()).allSatisfy({ $0.origin < $1.origin }),
            dependencies.allSatisfy({ $0.origin != origin && $0.seq > 0 })
        else { throw malformed(row, "its dependencies") }
    }

    /// The header of an event that no node on the way could read is among the unknown fields, and the columns say what can be
    /// read of it. If this release could read it, the sender's columns would not do.
    private mutating func checkOpaque(_ row: Row, _ extras: [CheckedRows.Extra]) throws(SnapshotError) {
        let others = Flag.conversation | Flag.time | Flag.author | Flag.cause | Flag.version
        guard names[Int(row.user)].count == 0, !row.has(others), row.has(Flag.unknown) else {
            throw malformed(row, "columns of a header that cannot be read")
        }
        let extra = extras[Int(row.extra)]
        try header.take(UnsafeRawBufferPointer(rebasing: bytes.columns[extra.unknown]))
        let read: EventHeader
        do { read = try EventHeader(received: header.bytes) } catch { throw .event(.header(error)) }
        guard read.isOpaque, read.dot == dot(row), read.hlc.rawValue == row.hlc, read.id.bits == row.id,
            read.dependencies == extra.dependencies
        else { throw malformed(row, "its header says something else, or can be read here") }
        unknown = header.bytes
    }

    private func isSame(_ a: Int32, _ b: Int32) -> Bool {
        let (a, b) = (names[Int(a)], names[Int(b)])
        return hasEqualBytes(
            UnsafeRawBufferPointer(rebasing: bytes.names[a.text..<a.end]),
            UnsafeRawBufferPointer(rebasing: bytes.names[b.text..<b.end]))
    }

    // MARK: The payload

    /// A payload that is none is kept as the bytes it is, as if it had come with the others.
    private mutating func checkPayload(_ row: inout Row) throws(SnapshotError) {
        guard !row.has(Flag.erased) else { return }
        guard row.payloadCount > 0, row.payloadCount <= Limits.carriedPayload else {
            throw malformed(row, "a payload of \(row.payloadCount) bytes")
        }
        row.isUnreadable = row.payloadCount > Limits.payload
        if row.isUnreadable { return }
        var scanner = JSONTextScanner(
            ByteView(UnsafeRawBufferPointer(rebasing: bytes.payloads[row.payloadRange])))
        do throws(JSONError) { try scanner.checkObject() } catch { row.isUnreadable = true }
    }

    // MARK: What comes of the row that was checked last

    /// Its leaf.
    func leaf(of row: CheckedRows.Row, _ sha: SHA256) -> Digest {
        let start = Int(row.salt)
        return header.leaf(sha) { out in
            if row.has(Flag.erased) {
                out.copyBytes(from: bytes.salts[start..<start + 32])
            } else {
                sha.digest(
                    UnsafeRawBufferPointer(rebasing: bytes.salts[start..<start + 16]),
                    UnsafeRawBufferPointer(rebasing: bytes.payloads[row.payloadRange]), to: out)
            }
        }
    }

    /// Whose origin begins with it.
    func start(_ row: CheckedRows.Row) throws(SnapshotError) -> OriginStart {
        let origin = dot(row).origin
        guard !row.isOpaque, let event = try? event(row), let start = OriginStart(event) else {
            throw .event(.originStart(origin))
        }
        return start
    }

    /// The event.
    func event(_ row: CheckedRows.Row) throws(SnapshotError) -> Event {
        do { return Event(header: try EventHeader(received: header.bytes), body: body(row)) } catch {
            throw .event(.header(error))
        }
    }

    private func body(_ row: Row) -> EventBody {
        let salt = bytes.salts[Int(row.salt)...]
        if row.has(Flag.erased) { return .erased(payloadDigest: Digest(bytes: salt.prefix(32)) ?? .zero) }
        let payload = Array(bytes.payloads[row.payloadRange])
        let bits = UUIDBits(bytes: salt.prefix(16)) ?? UUIDBits(high: 0, low: 0)
        return row.isUnreadable ? .unreadable(salt: bits, bytes: payload) : .present(salt: bits, payload: payload)
    }
}
