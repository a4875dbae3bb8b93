/// The columns of table `event` and what stands in them.
enum EventRow {
    /// What an event is made of. The payload, which is last in the row, comes first: SQLite looks for the places of all
    /// columns at once then.
    static let columns = """
        payload, position, user, conversation, time, hlc, origin, seq, type, author, id, cause, dependencies, version, \
        unknown, twin, salt, digest
        """
    /// ``columns``, and what is checked only.
    static let allColumns = columns + ", leaf"

    enum Column {
        static let payload = 0
        static let position = 1
        static let user = 2
        static let conversation = 3
        static let time = 4
        static let hlc = 5
        static let origin = 6
        static let seq = 7
        static let type = 8
        static let author = 9
        static let id = 10
        static let cause = 11
        static let dependencies = 12
        static let version = 13
        static let unknown = 14
        static let twin = 15
        static let salt = 16
        static let digest = 17
        static let leaf = 18
    }

    /// Reads the event in the statement's current row; the statement selects ``columns`` first.
    static func read(
        _ row: Statement, names: inout NameReader, on connection: Connection
    ) throws(SQLiteError) -> StoredEvent {
        let type = try names.text(row.int64(Column.type), on: connection)
        if type.isEmpty { return try readOpaque(row, names: &names, on: connection) }
        let hlc = HybridTime(rawValue: row.uint64(Column.hlc))
        guard let id = row.uuid(Column.id) else { throw damaged(row, "its id is not 16 bytes") }
        let user = try names.text(row.int64(Column.user), on: connection)
        let header = EventHeader(
            dot: Dot(origin: try names.origin(row.int64(Column.origin), on: connection), seq: row.uint64(Column.seq)),
            hlc: hlc,
            time: row.int64IfAny(Column.time),
            id: EventID(id),
            type: type,
            conversation: try row.int64IfAny(Column.conversation).map { ref throws(SQLiteError) in
                try names.text(ref, on: connection)
            },
            user: user,
            author: try row.int64IfAny(Column.author).map { ref throws(SQLiteError) in
                try names.text(ref, on: connection)
            } ?? user,
            cause: row.uuid(Column.cause).map(EventID.init),
            dependencies: row.isNull(Column.dependencies)
                ? [] : try dependencies(row.bytes(Column.dependencies), names: &names, on: connection),
            version: row.int64IfAny(Column.version).map { UInt32(truncatingIfNeeded: $0) } ?? 1,
            unknownFields: row.bytes(Column.unknown))
        return try stored(header, row)
    }

    /// A header that could not be read stands whole in column `unknown`; its place stands in columns of its own, too.
    private static func readOpaque(
        _ row: Statement, names: inout NameReader, on connection: Connection
    ) throws(SQLiteError) -> StoredEvent {
        guard let header = EventHeader(opaque: row.bytes(Column.unknown)),
            header.dot.seq == row.uint64(Column.seq), header.hlc.rawValue == row.uint64(Column.hlc),
            header.dot.origin == (try names.origin(row.int64(Column.origin), on: connection)),
            header.id.bits == row.uuid(Column.id)
        else { throw damaged(row, "its header does not stand at its place") }
        return try stored(header, row)
    }

    private static func stored(_ header: consuming EventHeader, _ row: Statement) throws(SQLiteError) -> StoredEvent {
        let body: EventBody
        if let digest = row.digest(Column.digest) {
            body = .erased(payloadDigest: digest)
        } else {
            guard let salt = row.uuid(Column.salt) else { throw damaged(row, "its salt is not 16 bytes") }
            let bytes = row.bytes(Column.payload)
            body =
                row.isBlob(Column.payload)
                ? .unreadable(salt: salt, bytes: bytes) : .present(salt: salt, payload: bytes)
        }
        return StoredEvent(
            position: row.uint64(Column.position), event: Event(header: header, body: body),
            twinOf: row.int64IfAny(Column.twin).map(UInt64.init(bitPattern:)))
    }

    private static func damaged(_ row: Statement, _ what: String) -> SQLiteError {
        SQLiteError(extendedCode: 11, message: "event \(row.int64(Column.position)): \(what)", context: "event")
    }

    /// The stored first four bytes of the leaf, of the current row of a statement that selects ``allColumns`` first.
    static func leafCheck(_ row: Statement) -> Int64 { row.int64(Column.leaf) }

    /// What column `leaf` holds for a leaf: its first four bytes as a signed integer, so that a damaged event can be
    /// named and not only the range of its Merkle node.
    static func leafCheck(_ leaf: Digest) -> Int64 {
        Int64(Int32(truncatingIfNeeded: leaf.prefix64 >> 32))
    }

    /// Interned columns of an event about to be inserted.
    struct Refs {
        var user: Int64
        var conversation: Int64?
        var type: Int64
        /// `nil` where it is the user.
        var author: Int64?
        var origin: Int64

        /// Interns the texts of `header`.
        init(
            _ header: EventHeader, origin: Int64, names: inout NameWriter, on connection: Connection
        ) throws(SQLiteError) {
            self.origin = origin
            user = try names.ref(header.user, on: connection)
            if let text = header.conversation { conversation = try names.ref(text, on: connection) }
            type = try names.ref(header.type, on: connection)
            let author = try names.ref(header.author, on: connection)
            if author != user { self.author = author }
        }
    }

    static let insert = """
        INSERT INTO event(\(allColumns)) VALUES(?19,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?17,?18,?16)
        """

    /// Runs `insert`, a statement of ``insert``, for an event.
    static func store(
        _ header: EventHeader, _ body: EventBody, position: UInt64, refs: Refs, dependencies: [UInt8], twin: UInt64?,
        leaf: Digest, with insert: Statement
    ) throws(SQLiteError) {
        try insert.bind(1, position)
        try insert.bind(2, refs.user)
        try insert.bind(optional: 3, refs.conversation)
        try insert.bind(optional: 4, header.time == header.hlc.milliseconds ? nil : header.time)
        try insert.bind(5, header.hlc.rawValue)
        try insert.bind(6, refs.origin)
        try insert.bind(7, header.dot.seq)
        try insert.bind(8, refs.type)
        try insert.bind(optional: 9, refs.author)
        try insert.bind(10, header.id.bits)
        if let cause = header.cause { try insert.bind(11, cause.bits) } else { try insert.bindNull(11) }
        if dependencies.isEmpty { try insert.bindNull(12) } else { try insert.bind(12, blob: dependencies) }
        try insert.bind(optional: 13, header.version == 1 ? nil : Int64(header.version))
        if header.unknownFields.isEmpty {
            try insert.bindNull(14)
        } else {
            try insert.bind(14, blob: header.unknownFields)
        }
        try insert.bind(optional: 15, twin.map(Int64.init(bitPattern:)))
        try insert.bind(16, leafCheck(leaf))
        switch body {
        case .present(let salt, let payload):
            try insert.bind(17, salt)
            try insert.bindNull(18)
            try insert.run(binding: 19, text: payload)
        case .unreadable(let salt, let bytes):
            try insert.bind(17, salt)
            try insert.bindNull(18)
            try insert.bind(19, blob: bytes)
            try insert.run()
        case .erased(let digest):
            try insert.bindNull(17)
            try insert.bind(18, blob: digest.bytes)
            try insert.bindNull(19)
            try insert.run()
        }
    }

    /// Column `dependencies`: pairs of varints, the origin's ref and the seq.
    static func dependencyBytes(_ pairs: [(ref: Int64, seq: UInt64)]) -> [UInt8] {
        var writer = ProtobufWriter()
        for pair in pairs {
            writer.varint(UInt64(bitPattern: pair.ref))
            writer.varint(pair.seq)
        }
        return writer.bytes
    }

    static func dependencies(
        _ bytes: [UInt8], names: inout NameReader, on connection: Connection
    ) throws(SQLiteError) -> [Dot] {
        var reader = ProtobufReader(bytes)
        var dots: [Dot] = []
        while reader.index < reader.end {
            do throws(ProtobufError) {
                let ref = Int64(bitPattern: try reader.varint())
                let seq = try reader.varint()
                do throws(SQLiteError) {
                    dots.append(Dot(origin: try names.origin(ref, on: connection), seq: seq))
                } catch {
                    throw ProtobufError.missing(field: UInt64(bitPattern: ref))
                }
            } catch {
                throw SQLiteError(extendedCode: 11, message: "dependencies: \(error)", context: "event")
            }
        }
        return dots.sorted()
    }
}

extension Statement {
    func bind(optional index: Int, _ value: Int64?) throws(SQLiteError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }
}
