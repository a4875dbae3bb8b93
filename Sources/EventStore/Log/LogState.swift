/// What the writer knows of an origin.
struct OriginState: Sendable {
    let ref: Int64
    let id: OriginID
    let key: VerifyingKey
    var tree: GrowingTree
    /// Of its last event, as far as that can be told.
    var hlc: HybridTime
    /// The same, if that event's header can be read.
    var stamp: HybridTime?

    var range: MerkleRange { tree.range }
    var size: UInt64 { range.size }

    /// What a head of all of it says.
    func head(using sha: SHA256) -> TreeHead {
        TreeHead(origin: id, size: size, root: range.root(using: sha), hlc: hlc)
    }
}

/// What the writer knows of the log without asking SQLite. Rebuilt from the file when a transaction fails.
struct LogState: Sendable {
    var position: UInt64 = 0
    var clock = HybridClock()
    /// Index = ref − 1: refs are given out without gaps.
    var origins: [OriginState] = []
    var indexes: [OriginID: Int] = [:]
    /// This node's own origin; `nil` only while a store is being made.
    var own: Int?
    /// Origins that advanced since the last own event: what its dependencies will name.
    var dirty: Set<Int> = []
    /// Origins whose stamps were too far ahead, by index.
    var skews: [Int: ClockSkew] = [:]

    mutating func add(_ origin: OriginState) {
        indexes[origin.id] = origins.count
        origins.append(origin)
    }

    /// What the next own event will name: all of `dirty`, or the first `limit` of them. The others follow with the next
    /// events.
    func nextDependencies(_ limit: Int) -> Set<Int> {
        dirty.count <= limit ? dirty : Set(dirty.sorted().prefix(limit))
    }

    var vector: VersionVector { VersionVector(origins.map { Dot(origin: $0.id, seq: $0.size) }) }

    /// Reads the state from the log.
    static func load(
        from connection: Connection, using sha: SHA256, wall: Int64 = WallClock.now
    ) throws(DatabaseError) -> LogState {
        var state = LogState()
        var names = InternedStrings()
        let merkle = MerkleStore(connection: connection, sha: sha)
        let known = try connection.all("SELECT ref, id, key FROM origin ORDER BY ref") { row throws(DatabaseError) in
            guard let id = row.uuid(1), let key = VerifyingKey(rawBytes: row.bytes(2)) else {
                throw .damagedOrigin(row.int64(0))
            }
            return (ref: row.int64(0), id: OriginID(id), key: key)
        }
        for origin in known {
            guard origin.ref == Int64(state.origins.count) + 1 else {
                throw .damaged(.table("origin"), "its refs have a gap")
            }
            let size = UInt64(
                bitPattern: try connection.integer(
                    "SELECT max(seq) FROM event WHERE origin = ?", .integer(origin.ref)) ?? 0)
            guard size <= Limits.number else {
                throw .damaged(.table("event"), "the last seq of origin \(origin.id) is out of range")
            }
            let (hlc, isReadable) =
                try connection.first(
                    "SELECT hlc, coalesce((SELECT text FROM name WHERE ref = event.type), '') <> '' FROM event "
                        + "WHERE origin = ? AND seq = ?", [.integer(origin.ref), .unsigned(size)]
                ) { ($0.int64(0), $0.int64(1) == 1) } ?? (0, false)
            guard hlc >= 0 else {
                throw .damaged(.table("event"), "the last hlc of origin \(origin.id) is out of range")
            }
            state.add(
                OriginState(
                    ref: origin.ref, id: origin.id, key: origin.key,
                    tree: try merkle.tree(origin: origin.ref, size: size, names: &names),
                    hlc: HybridTime(rawValue: UInt64(bitPattern: hlc)),
                    stamp: isReadable ? HybridTime(rawValue: UInt64(bitPattern: hlc)) : nil))
        }
        state.position = UInt64(bitPattern: try connection.integer("SELECT max(position) FROM event") ?? 0)
        guard state.position <= Limits.number else {
            throw .damaged(.table("event"), "the last position is out of range")
        }
        state.own = try connection.integer("SELECT value FROM meta WHERE key = 'origin'").map { Int($0) - 1 }
        if let own = state.own, !state.origins.indices.contains(own) {
            throw .damaged(.table("meta"), "there is no origin \(own + 1), which it says is this store's")
        }
        try state.restoreClockAndDependencies(from: connection, wall: wall)
        try state.loadSkews(from: connection)
        return state
    }

    private mutating func restoreClockAndDependencies(from connection: Connection, wall: Int64) throws(DatabaseError)
    {
        guard let own else { return }
        clock = HybridClock(last: origins[own].hlc)
        // Stamps that were too far ahead when they arrived must not move the clock now either.
        for origin in origins { _ = clock.observe(origin.hlc, wall: wall) }
        // Positions are in arrival order, and an origin's last event is its latest: what stands after the last own event had
        // not been applied when that was appended.
        let last = try origins.map { (origin) throws(DatabaseError) in
            try connection.integer(
                "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(origin.ref),
                .unsigned(origin.size)) ?? 0
        }
        dirty = Set(origins.indices.filter { last[$0] > last[own] })
    }
}
