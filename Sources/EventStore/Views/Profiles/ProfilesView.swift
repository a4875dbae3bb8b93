/// Profile fields. The value is the last writer's by display order. Beside it stay the causally maximal writes, those that no later write
/// knew of. Several with different values are a conflict that people can see until an author who has seen all of them writes again
/// (multi-value register, Shapiro et al., "A comprehensive study of Convergent and Commutative Replicated Data Types", 2011, §3.2.2).
final class ProfilesView: View {
    static let name = "profiles"
    static let version: Int64 = 2
    static let tables = ["profile", UserNames.table, OriginClocks.table]
    static let schema =
        """
        CREATE TABLE profile(
          user INTEGER, field TEXT, stamp BLOB, position INTEGER NOT NULL, author INTEGER NOT NULL,
          value TEXT NOT NULL, maximal INTEGER NOT NULL,
          PRIMARY KEY(user, field, stamp)
        ) WITHOUT ROWID;
        """ + UserNames.schema + OriginClocks.schema
    static let isWatching = true

    struct Write: CausalWrite {
        let stamp: Stamp
        let position: UInt64
        let author: Int64
        /// JSON as it was written.
        let value: String
        var isMaximal: Bool
    }

    private struct Key: Hashable, Comparable {
        let user: Int64
        let field: ByteText
        static func < (a: Key, b: Key) -> Bool { (a.user, a.field) < (b.user, b.field) }
    }

    var digest = DigestSum()
    /// The writes of a field, as they are stored and as a batch makes them.
    private var touched: [Key: (stored: [Write], now: [Write])] = [:]
    private var clocks: OriginClocks?

    func load(_ store: ViewStore) throws(DatabaseError) { clocks = try OriginClocks(store.connection) }

    func watch(_ event: ProjectedEvent, _ store: ViewStore) throws(DatabaseError) { clocks?.apply(event) }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard event.type == .profileChanged, change.amount >= 0, let payload = event.payload else {
            return nil
        }
        guard let fields = payload.object("fields") else { return Self.refusal(payload) }
        let stamp = Stamp(event.key)
        for member in fields {
            let key = Key(user: event.user, field: ByteText(member.name))
            let known =
                try touched[key].orLoad { () throws(DatabaseError) in
                    let stored = try Self.load(key.user, key.field.text, store.connection)
                    return (stored, stored)
                } ?? ([], [])
            let write = Write(
                stamp: stamp, position: event.position, author: event.author,
                value: String(decoding: member.value.raw, as: UTF8.self), isMaximal: true)
            let writes = CausalWrites.adding(write, to: known.now) {
                clocks?.happenedBefore($0, event.key.dot) ?? false
            }
            touched[key] = (known.stored, writes)
        }
        return nil
    }

    /// Why a payload is not of the form that is read; `nil` if it is.
    static func refusal(_ payload: JSONObject) -> String? {
        payload.object("fields") == nil ? "fields is missing or not an object" : nil
    }

    static func load(_ user: Int64, _ field: String, _ connection: Connection) throws(DatabaseError) -> [Write] {
        try connection.all(
            "SELECT stamp, position, author, value, maximal FROM profile WHERE user = ? AND field = ? ORDER BY stamp",
            [.integer(user), .text(field)]
        ) { row in
            row.stamp(0).map { stamp in
                Write(
                    stamp: stamp, position: row.uint64(1), author: row.int64(2), value: row.text(3),
                    isMaximal: row.int64(4) != 0)
            }
        }
    }

    /// The writes of each field of a user, by its name, as of the open transaction.
    static func fields(
        of user: Int64, _ connection: Connection
    ) throws(DatabaseError) -> [(name: String, writes: [Write])] {
        let names = try connection.all(
            "SELECT DISTINCT field FROM profile WHERE user = ? ORDER BY field", [.integer(user)]
        ) { $0.text(0) }
        return try names.map { name throws(DatabaseError) in (name, try load(user, name, connection)) }
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for (key, writes) in touched.sorted(by: { $0.key < $1.key }) {
            for write in writes.stored { digest.remove(try fields(key, write, store)) }
            try store.connection.run(
                "DELETE FROM profile WHERE user = ? AND field = ?", .integer(key.user), .text(key.field.text))
            for write in writes.now {
                digest.add(try fields(key, write, store))
                try store.connection.run(
                    "INSERT INTO profile VALUES(?,?,?,?,?,?,?)", .integer(key.user), .text(key.field.text),
                    .blob(write.stamp.bytes), .unsigned(write.position), .integer(write.author),
                    .text(write.value), .integer(write.isMaximal ? 1 : 0))
            }
        }
        try rename(store)
        try clocks?.save(store.connection)
        touched = [:]
    }

    /// Puts users where they stand by their names.
    private func rename(_ store: ViewStore) throws(DatabaseError) {
        for (key, writes) in touched where key.field.text == UserNames.field {
            let old = writes.stored.last.flatMap { UserNames.folded(json: $0.value) }
            let new = writes.now.last.flatMap { UserNames.folded(json: $0.value) }
            try UserNames.change(try store.text(key.user), from: old, to: new, store.connection)
        }
    }

    private func fields(_ key: Key, _ write: Write, _ store: ViewStore) throws(DatabaseError) -> [DigestSum.Field] {
        [
            .text(try store.text(key.user)), .text(key.field.text), .dot(write.stamp.key.dot),
            .text(try store.text(write.author)), .text(write.value), .text(write.isMaximal ? "1" : "0"),
        ]
    }
}

/// Each origin's version vector as of its last event applied, so that it can be told what happened before what. The log has the
/// differences; this is their sum.
final class OriginClocks {
    static let table = "clock"
    static let schema = schema(of: table)

    static func schema(of table: String) -> String {
        """
        CREATE TABLE \(table)(origin BLOB, other BLOB, seq INTEGER NOT NULL, PRIMARY KEY(origin, other)) WITHOUT ROWID;
        """
    }

    private let insertion: String
    private var vectors: [OriginID: [OriginID: UInt64]] = [:]
    /// Of which origin's vector which part is not stored yet.
    private struct Part: Hashable {
        let origin: OriginID
        let other: OriginID
    }
    private var changed: Set<Part> = []

    /// - Parameter table: Another one of this form, of a view that is built anew for itself.
    init(_ connection: Connection, table: String = OriginClocks.table) throws(DatabaseError) {
        insertion = "INSERT OR REPLACE INTO \(table)(origin, other, seq) VALUES(?, ?, ?)"
        try connection.rows("SELECT origin, other, seq FROM \(table)") { row in
            guard let origin = row.uuid(0), let other = row.uuid(1) else { return }
            vectors[OriginID(origin), default: [:]][OriginID(other)] = row.uint64(2)
        }
    }

    /// Takes note of what an event's origin had applied.
    func apply(_ event: ProjectedEvent) {
        let origin = event.key.dot.origin
        for dependency in event.dependencies where dependency.origin != origin {
            vectors[origin, default: [:]][dependency.origin] = dependency.seq
            changed.insert(Part(origin: origin, other: dependency.origin))
        }
    }

    /// Stores what has changed, once for a batch.
    func save(_ connection: Connection) throws(DatabaseError) {
        for part in changed {
            guard let seq = vectors[part.origin]?[part.other] else { continue }
            try connection.run(
                insertion, .blob(part.origin.bytes), .blob(part.other.bytes), .unsigned(seq))
        }
        changed.removeAll(keepingCapacity: true)
    }

    /// Whether the origin of `event` had applied `earlier` when it appended `event`. Valid while `event` is the last
    /// one applied of its origin.
    func happenedBefore(_ earlier: Dot, _ event: Dot) -> Bool {
        if earlier.origin == event.origin { return earlier.seq < event.seq }
        return vectors[event.origin]?[earlier.origin] ?? 0 >= earlier.seq
    }
}
