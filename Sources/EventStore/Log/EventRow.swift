/// The columns of table `event` and what stands in them.
enum EventRow {
    /// What an event is made of. The payload, which is last in the row, comes first: SQLite looks for the places of all
    /// columns at once then.
    /// A literal: each statement that names them is made of it without an allocation.
    static let columns = """
        payload, position, user, conversation, time, hlc, origin, seq, type, author, id, cause, dependencies, version, \
        unknown, twin, salt, digest, actor
        """
    /// ``columns``, with nothing for a payload, whatever it is: it is not read.
    static let headerColumns = "''" + columns.dropFirst("payload".utf8.count)
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
        static let actor = 18
        static let leaf = 19
    }

    /// Reads the event in the statement's current row; the statement selects ``columns`` first.
    static func read(
        _ row: Statement, names: inout InternedStrings, on connection: Connection
    ) throws(DatabaseError) -> StoredEvent {
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
            conversation: try row.int64IfAny(Column.conversation).map { ref throws(DatabaseError) in
                try names.text(ref, on: connection)
            },
            user: user,
            author: try row.int64IfAny(Column.author).map { ref throws(DatabaseError) in
                try names.text(ref, on: connection)
            } ?? user,
            cause: row.uuid(Column.cause).map(EventID.init),
            dependencies: row.isNull(Column.dependencies)
                ? []
                : try dependencies(
                    row.bytes(Column.dependencies), at: row.uint64(Column.position), names: &names, on: connection),
            version: row.int64IfAny(Column.version).map { UInt32(truncatingIfNeeded: $0) } ?? 1,
            actor: try actor(row, names: &names, on: connection),
            unknownFields: row.bytes(Column.unknown))
        return try stored(header, row)
    }

    private static func actor(
        _ row: Statement, names: inout InternedStrings, on connection: Connection
    ) throws(DatabaseError) -> EventActor? {
        let ref = row.int64(Column.actor)
        // NULL reads as 0, which is no ref.
        if ref == 0 { return nil }
        guard let actor = try names.actor(ref, on: connection) else { throw damaged(row, "its actor is none") }
        return actor
    }

    /// A header that could not be read stands whole in column `unknown`; its place stands in columns of its own, too.
    private static func readOpaque(
        _ row: Statement, names: inout InternedStrings, on connection: Connection
    ) throws(DatabaseError) -> StoredEvent {
        guard let header = EventHeader(opaque: row.bytes(Column.unknown)),
            header.dot.seq == row.uint64(Column.seq), header.hlc.rawValue == row.uint64(Column.hlc),
            header.dot.origin == (try names.origin(row.int64(Column.origin), on: connection)),
            header.id.bits == row.uuid(Column.id)
        else { throw damaged(row, "its header does not stand at its place") }
        return try stored(header, row)
    }

    private static func stored(_ header: consuming EventHeader, _ row: Statement) throws(DatabaseError) -> StoredEvent
    {
        let position = row.uint64(Column.position)
        try check(header, at: position)
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
            position: position, event: Event(header: consume header, body: body),
            twinOf: row.int64IfAny(Column.twin).map(UInt64.init(bitPattern:)))
    }

    /// Refuses numbers that no writer stores: a changed file must not make its reader trap or read for ever (D22).
    private static func check(_ header: borrowing EventHeader, at position: UInt64) throws(DatabaseError) {
        func isNumber(_ value: UInt64) -> Bool { value > 0 && value <= Limits.number }
        func damaged(_ what: String) -> DatabaseError { .damaged(.event(position), what) }
        guard isNumber(position) else { throw damaged("there is no such position") }
        guard isNumber(header.dot.seq) else { throw damaged("its seq is out of range") }
        guard header.hlc.rawValue <= Limits.stamp else { throw damaged("its hlc is out of range") }
        guard Limits.clock.contains(header.time) else { throw damaged("its time is out of range") }
    }

    private static func damaged(_ row: Statement, _ what: String) -> DatabaseError {
        .damaged(.event(row.uint64(Column.position)), what)
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
        var actor: Int64?
        var origin: Int64

        /// Interns the texts of `header`.
        init(
            _ header: EventHeader, origin: Int64, names: inout StringInterner, on connection: Connection
        ) throws(DatabaseError) {
            self.origin = origin
            user = try names.ref(header.user, on: connection)
            if let text = header.conversation { conversation = try names.ref(text, on: connection) }
            type = try names.ref(header.type, on: connection)
            if !header.author.hasSameBytes(as: header.user) {
                author = try names.ref(header.author, on: connection)
            }
            if let actor = header.actor { self.actor = try names.ref(actor, on: connection) }
        }
    }

    /// Puts rows in, in order. Where one may not be, those before it stay: they are the changes of the statement.
    static func insert(rows: Int) -> String {
        let values = (0..<rows).map { row in
            "(" + (1...parameters).map { "?\(row * parameters + $0)" }.joined(separator: ",") + ")"
        }
        return "INSERT OR FAIL INTO event(\(parameterColumns)) VALUES\(values.joined(separator: ","))"
    }

    /// Puts one row in, with its seal as parameter ``seal``.
    static let insertSealed =
        "INSERT OR FAIL INTO event(\(parameterColumns), seal) VALUES("
        + (1...parameters + 1).map { "?\($0)" }.joined(separator: ",") + ")"
    static let seal = parameters + 1

    private static let parameterColumns = """
        position, user, conversation, time, hlc, origin, seq, type, author, id, cause, dependencies, version, unknown, \
        twin, leaf, salt, digest, actor, payload
        """
    private static let parameters = 20

    /// Runs a statement of ``insert(rows:)`` for one event.
    static func store(
        _ header: EventHeader, _ body: EventBody, position: UInt64, refs: Refs, dependencies: [UInt8], twin: UInt64?,
        leaf: Digest, with insert: Statement
    ) throws(DatabaseError) {
        try bind(
            header, body, position: position, refs: refs, dependencies: dependencies, twin: twin, leaf: leaf,
            to: insert)
        try run(insert, rows: 1) { _ in body }
    }

    /// Runs a statement of ``insert(rows:)`` whose rows are bound, of events with these bodies.
    static func run(_ insert: Statement, rows: Int, _ body: (Int) -> EventBody) throws(DatabaseError) {
        try insert.run(rows: rows, binding: parameters) { row in
            if case .present(_, let payload) = body(row) { payload } else { nil }
        }
    }

    /// Binds an event to the `row`-th row of a statement of ``insert(rows:)``: all but a payload, which it is run with.
    static func bind(
        _ header: EventHeader, _ body: EventBody, position: UInt64, refs: Refs, dependencies: [UInt8] = [],
        twin: UInt64? = nil, leaf: Digest, to insert: Statement, row: Int = 0
    ) throws(DatabaseError) {
        let first = row * parameters + 1
        try insert.bind(first, position)
        try insert.bind(first + 1, refs.user)
        try insert.bind(optional: first + 2, refs.conversation)
        try insert.bind(optional: first + 3, header.time == header.hlc.milliseconds ? nil : header.time)
        try insert.bind(first + 4, header.hlc.rawValue)
        try insert.bind(first + 5, refs.origin)
        try insert.bind(first + 6, header.dot.seq)
        try insert.bind(first + 7, refs.type)
        try insert.bind(optional: first + 8, refs.author)
        try insert.bind(first + 9, header.id.bits)
        if let cause = header.cause {
            try insert.bind(first + 10, cause.bits)
        } else {
            try insert.bindNull(first + 10)
        }
        try insert.bind(unlessEmpty: first + 11, dependencies)
        try insert.bind(optional: first + 12, header.version == 1 ? nil : Int64(header.version))
        try insert.bind(unlessEmpty: first + 13, header.unknownFields)
        try insert.bind(optional: first + 14, twin.map(Int64.init(bitPattern:)))
        try insert.bind(first + 15, leafCheck(leaf))
        try insert.bind(optional: first + 18, refs.actor)
        switch body {
        case .present(let salt, _):
            try insert.bind(first + 16, salt)
            try insert.bindNull(first + 17)
        case .unreadable(let salt, let bytes):
            try insert.bind(first + 16, salt)
            try insert.bindNull(first + 17)
            try insert.bind(first + 19, blob: bytes)
        case .erased(let digest):
            try insert.bindNull(first + 16)
            try insert.bind(first + 17, blob: digest.bytes)
            try insert.bindNull(first + 19)
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

    /// What column `dependencies` of the event at `position` says.
    static func dependencies(
        _ bytes: [UInt8], at position: UInt64, names: inout InternedStrings, on connection: Connection
    ) throws(DatabaseError) -> [Dot] {
        var reader = ProtobufReader(bytes)
        var dots: [Dot] = []
        while let (ref, seq) = try dependency(&reader, at: position) {
            dots.append(Dot(origin: try names.origin(ref, on: connection), seq: seq))
        }
        return dots.sorted()
    }

    /// The next pair of column `dependencies`; `nil` at the end.
    static func dependency(
        _ reader: inout ProtobufReader, at position: UInt64
    ) throws(DatabaseError) -> (ref: Int64, seq: UInt64)? {
        guard reader.index < reader.end else { return nil }
        do throws(ProtobufError) {
            return (Int64(bitPattern: try reader.varint()), try reader.varint())
        } catch {
            throw .damaged(.event(position), "dependencies: \(error)")
        }
    }
}

extension Statement {
    func bind(unlessEmpty index: Int, _ bytes: [UInt8]) throws(DatabaseError) {
        if bytes.isEmpty { try bindNull(index) } else { try bind(index, blob: bytes) }
    }

    func bind(optional index: Int, _ value: Int64?) throws(DatabaseError) {
        if let value { try bind(index, value) } else { try bindNull(index) }
    }
}

/// The statements that put events into their table: 1, 2, 4, 8 or 16 in one. Half of what a row costs that comes alone is what SQLite
/// does once for each statement.
struct EventInsertion {
    private static let most = 16
    private let connection: Connection
    /// By the logarithm of their rows; those that were needed.
    private var statements = [Statement?](repeating: nil, count: most.trailingZeroBitCount + 1)

    private var lone: Statement?

    init(_ connection: Connection) { self.connection = connection }

    /// A statement for one row with its seal, ``EventRow/seal``.
    mutating func sealed() throws(DatabaseError) -> Statement {
        if let lone { return lone }
        let made = try connection.statement(EventRow.insertSealed)
        lone = made
        return made
    }

    /// A statement for as many of the next `count` rows as fit.
    mutating func statement(for count: Int) throws(DatabaseError) -> (statement: Statement, rows: Int) {
        var level = 0
        while level + 1 < statements.count, 2 << level <= count { level += 1 }
        if let known = statements[level] { return (known, 1 << level) }
        let made = try connection.statement(EventRow.insert(rows: 1 << level))
        statements[level] = made
        return (made, 1 << level)
    }
}
