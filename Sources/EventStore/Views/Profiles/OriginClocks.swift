/// Each origin's version vector as of its last event applied, so that it can be told what happened before what. The log has the
/// differences; this is their sum.
final class OriginClocks {
    static let table = "clock"
    static let schema = """
        CREATE TABLE clock(origin BLOB, other BLOB, seq INTEGER NOT NULL, PRIMARY KEY(origin, other)) WITHOUT ROWID;
        """

    private var vectors: [OriginID: [OriginID: UInt64]] = [:]
    private var changed: Set<Dot> = []

    init(_ connection: Connection) throws(DatabaseError) {
        try connection.rows("SELECT origin, other, seq FROM clock") { row in
            guard let origin = row.uuid(0), let other = row.uuid(1) else { return }
            vectors[OriginID(origin), default: [:]][OriginID(other)] = row.uint64(2)
        }
    }

    /// Takes note of what an event's origin had applied.
    func apply(_ event: ProjectedEvent, _ store: ViewStore) throws(DatabaseError) {
        let origin = event.key.dot.origin
        for dependency in event.dependencies where dependency.origin != origin {
            vectors[origin, default: [:]][dependency.origin] = dependency.seq
            try store.connection.run(
                "INSERT OR REPLACE INTO clock(origin, other, seq) VALUES(?, ?, ?)", .blob(origin.bytes),
                .blob(dependency.origin.bytes), .unsigned(dependency.seq))
        }
    }

    /// Whether the origin of `event` had applied `earlier` when it appended `event`. Valid while `event` is the last
    /// one applied of its origin.
    func happenedBefore(_ earlier: Dot, _ event: Dot) -> Bool {
        if earlier.origin == event.origin { return earlier.seq < event.seq }
        return vectors[event.origin]?[earlier.origin] ?? 0 >= earlier.seq
    }
}
