/// Turns rows of table `event` into ``SnapshotRows``, column by column, without making events of them.
struct RowEncoder: ~Copyable {
    struct Extent {
        let ref: Int64
        let origin: OriginID
        let first: UInt64
        var count: UInt64
    }

    private(set) var extents: [Extent] = []
    private var after = UInt64(0)
    private var count = 0
    private var runs: [SnapshotRows.Run] = []
    // The byte strings of a piece. Their memory is used again for the next one, if that one is gone.
    private var texts: [UInt8] = []
    private var columns: [UInt8] = []
    private var ids: [UInt8] = []
    private var salts: [UInt8] = []
    private var payloads: [UInt8] = []
    private var names = PieceNames()
    private var indexes: [Int64: Int] = [:]
    /// The origin of the row before, which is mostly that of the next.
    private var last: (ref: Int64, index: Int)?
    /// Room for the columns of a row that most rows have: flags, six references and counts, two stamps, a cause.
    private let room = UnsafeMutableRawPointer.allocate(byteCount: 1 + 6 * 10 + 2 * 8 + 16, alignment: 8)

    deinit { room.deallocate() }

    /// Begins the piece after `after`.
    mutating func begin(after: UInt64) {
        self.after = after
        count = 0
        last = nil
        runs.removeAll(keepingCapacity: true)
        extents.removeAll(keepingCapacity: true)
        indexes.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        columns.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        salts.removeAll(keepingCapacity: true)
        payloads.removeAll(keepingCapacity: true)
        names.begin()
    }

    /// The piece so far.
    func rows(_ heads: [SignedHead]) -> SnapshotRows {
        var rows = SnapshotRows(after: after)
        rows.count = count
        rows.runs = runs
        rows.heads = heads
        rows.names = texts[...]
        rows.columns = columns[...]
        rows.ids = ids[...]
        rows.salts = salts[...]
        rows.payloads = payloads[...]
        return rows
    }

    var isEmpty: Bool { count == 0 }

    /// Bytes of the message so far, with the heads that the runs may still bring.
    var size: Int {
        texts.count + columns.count + ids.count + salts.count + payloads.count + extents.count * 424 + 1_024
    }

    /// What a row is read from, the payload first as in ``EventRow/columns``.
    static let select = """
        SELECT payload, position, origin, seq, hlc, type, user, conversation, time, author, cause, dependencies, version, \
        unknown, id, salt, digest, actor FROM event WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
        """

    private enum Column {
        static let payload = 0
        static let position = 1
        static let origin = 2
        static let seq = 3
        static let hlc = 4
        static let type = 5
        static let user = 6
        static let conversation = 7
        static let time = 8
        static let author = 9
        static let cause = 10
        static let dependencies = 11
        static let version = 12
        static let unknown = 13
        static let id = 14
        static let salt = 15
        static let digest = 16
        static let actor = 17
    }

    private typealias Flag = SnapshotRows.Flag

    /// Adds the row of ``select`` the statement stands at. False: with it the piece might have more than `bytes`.
    mutating func add(_ row: Statement, below bytes: Int, from reader: SnapshotReader) throws(DatabaseError) -> Bool {
        let body = row.value(Column.payload)
        let payload = body.count
        let dependencies = row.value(Column.dependencies).count
        let actor = try reader.actor(row.int64(Column.actor))
        let unknown = row.value(Column.unknown).count + actor.count
        let most = 4 * (Limits.identifier + 2) + 600 + payload + unknown + dependencies * 9
        if count > 0, size + most > bytes { return false }
        guard row.uint64(Column.position) == position else { throw damaged("there is none at this position") }
        let (user, conversation) = (row.int64(Column.user), row.int64(Column.conversation))
        names.expect(user)
        names.expect(conversation)
        let isErased = try addBody(row, body, payload)
        let start = columns.count
        var flags = isErased ? Flag.erased : 0
        var fields = RawWriter(room)
        fields.byte(0)
        fields.varint(UInt64(try run(row.int64(Column.origin), row.uint64(Column.seq), reader)))
        fields.bigEndian(row.uint64(Column.hlc))
        fields.varint(try name(row.int64(Column.type), reader))
        fields.varint(try name(user, reader))
        // NULL reads as 0 or as no bytes; where that is a value too, the type is asked for.
        if conversation != 0 {
            flags |= Flag.conversation
            fields.varint(try name(conversation, reader))
        }
        let time = row.value(Column.time)
        if time.int64 != 0 || !time.isNull {
            flags |= Flag.time
            fields.bigEndian(time.uint64)
        }
        let author = row.int64(Column.author)
        if author != 0 {
            flags |= Flag.author
            fields.varint(try name(author, reader))
        }
        if row.value(Column.cause).count > 0 {
            guard let cause = row.uuid(Column.cause) else { throw damaged("the id of its cause is not 16 bytes") }
            flags |= Flag.cause
            fields.uuid(cause)
        }
        let version = row.uint64(Column.version)
        if dependencies > 0 || version != 0 || unknown > 0 {
            columns.append(contentsOf: fields.bytes)
            fields = RawWriter(room)
            if dependencies > 0 {
                flags |= Flag.dependencies
                try addDependencies(row.bytes(Column.dependencies), reader)
            }
            if version != 0 {
                flags |= Flag.version
                columns.appendVarint(version)
            }
            if unknown > 0 {
                flags |= Flag.unknown
                columns.appendVarint(UInt64(unknown))
                addLater(row.bytes(Column.unknown), actor)
            }
        }
        if !isErased { fields.varint(UInt64(payload)) }
        columns.append(contentsOf: fields.bytes)
        columns[start] = flags
        count += 1
        return true
    }

    /// Adds the fields of later formats, and the actor's in its place among them.
    private mutating func addLater(_ unknown: [UInt8], _ actor: [UInt8]) {
        let critical = actor.isEmpty ? unknown.count : EventHeader.criticalCount(unknown)
        columns.append(contentsOf: unknown[..<critical])
        columns.append(contentsOf: actor)
        columns.append(contentsOf: unknown[critical...])
    }

    /// Adds id, salt and payload, or id and digest: then the row is erased.
    private mutating func addBody(
        _ row: Statement, _ body: Statement.Value, _ payload: Int
    ) throws(DatabaseError) -> Bool {
        guard row.value(Column.id).append(count: 16, to: &ids) else { throw damaged("its id is not 16 bytes") }
        if row.value(Column.digest).isNull {
            guard row.value(Column.salt).append(count: 16, to: &salts) else {
                throw damaged("it has neither a salt nor a digest")
            }
            guard body.append(count: payload, to: &payloads) else { throw damaged("its payload is missing") }
            return false
        }
        // With its salt alone a guess at what was erased can be tried (INV-11).
        guard body.isNull, row.value(Column.salt).isNull else {
            throw damaged("it has \(body.isNull ? "a salt" : "a payload"), and the digest of an erased one")
        }
        guard row.value(Column.digest).append(count: 32, to: &salts) else {
            throw damaged("its digest is not 32 bytes")
        }
        return true
    }

    /// The position of the row at hand, if none is missing.
    private var position: UInt64 { after + UInt64(count) + 1 }

    private func damaged(_ what: String) -> DatabaseError { .damaged(.event(position), what) }

    /// The origin's number here.
    private mutating func run(
        _ ref: Int64, _ seq: UInt64, _ reader: SnapshotReader
    ) throws(DatabaseError) -> Int {
        if let last, last.ref == ref {
            extents[last.index].count += 1
            return last.index
        }
        if let index = indexes[ref] {
            extents[index].count += 1
            last = (ref, index)
            return index
        }
        let id = try reader.origin(ref)
        runs.append(SnapshotRows.Run(origin: id, first: seq))
        extents.append(Extent(ref: ref, origin: id, first: seq, count: 1))
        indexes[ref] = extents.count - 1
        last = (ref, extents.count - 1)
        return extents.count - 1
    }

    private mutating func name(_ ref: Int64, _ reader: SnapshotReader) throws(DatabaseError) -> UInt64 {
        if let known = names.number(ref, to: &texts) { return known }
        return try names.number(ref, to: &texts, text: reader.texts)
    }

    private mutating func addDependencies(
        _ bytes: [UInt8], _ reader: SnapshotReader
    ) throws(DatabaseError) {
        var fields = ProtobufReader(bytes)
        var pairs: [Dot] = []
        while let (ref, seq) = try EventRow.dependency(&fields, at: position) {
            pairs.append(Dot(origin: try reader.origin(ref), seq: seq))
        }
        columns.appendVarint(UInt64(pairs.count))
        for pair in pairs {
            pair.origin.bits.append(to: &columns)
            columns.appendVarint(pair.seq)
        }
    }
}
