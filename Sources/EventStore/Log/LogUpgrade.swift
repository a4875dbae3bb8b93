/// Reads again what earlier releases could not (D13): opaque headers, fields of later formats, payloads that were none.
///
/// Runs when a store is opened for writing by a release that reads more than the last one did. What the event is, its
/// canonical header, its payload and its leaf, does not change; only the columns are filled in that the earlier release
/// had to leave empty. One transaction: an upgrade is done or not begun.
struct LogUpgrade {
    /// Raised whenever this release reads headers or payloads that the one before kept as they came.
    static let reads: Int64 = 2
    /// The release that reads ancillary fields, which the one before took for critical ones.
    private static let readsAncillary: Int64 = 2
    /// Key of `meta`: the release, by ``reads``, that has looked through the log.
    static let looked = "reads"
    /// Key of `meta`: how often rows were filled in; views built before that are of another log (``LogReader/viewMark()``).
    static let rereads = "rereads"

    private let connection: Connection
    /// What looked through the log before.
    private let before: Int64
    private var names = StringInterner()
    private var reader = InternedStrings()

    /// Looks through the log unless this release has done so before. Returns how many events it could read anew.
    @discardableResult
    static func run(on connection: Connection) throws(DatabaseError) -> Int {
        guard try !isDone(on: connection) else { return 0 }
        return try connection.transaction { () throws(DatabaseError) in
            var upgrade = LogUpgrade(connection: connection, before: try meta(looked, connection) ?? 0)
            let count = try upgrade.reread()
            if count > 0 { try noteReread(on: connection) }
            try Schema.setMeta(looked, .integer(reads), on: connection)
            return count
        }
    }

    /// Whether this release, or a later one, has looked through the log.
    static func isDone(on connection: Connection) throws(DatabaseError) -> Bool {
        (try meta(looked, connection) ?? 0) >= reads
    }

    private init(connection: Connection, before: Int64) {
        self.connection = connection
        self.before = before
    }

    private static func meta(_ key: String, _ connection: Connection) throws(DatabaseError) -> Int64? {
        try connection.integer("SELECT value FROM meta WHERE key = ?", .text(key))
    }

    /// Rows have other content than before: views that were built so far are of another log.
    static func noteReread(on connection: Connection) throws(DatabaseError) {
        try Schema.setMeta(rereads, .integer((try meta(rereads, connection) ?? 0) + 1), on: connection)
    }

    private mutating func reread() throws(DatabaseError) -> Int {
        var last = Int64(0)
        var count = 0
        while let position = try next(after: last) {
            last = position
            if try reread(position) { count += 1 }
        }
        return count
    }

    private func next(after position: Int64) throws(DatabaseError) -> Int64? {
        try connection.integer(
            """
            SELECT position FROM event WHERE position > ? AND (unknown IS NOT NULL OR typeof(payload) = 'blob')
            ORDER BY position LIMIT 1
            """, .integer(position))
    }

    private mutating func reread(_ position: Int64) throws(DatabaseError) -> Bool {
        let select = try connection.statement("SELECT \(EventRow.columns) FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else { return false }
        let stored = try EventRow.read(select, names: &reader, on: connection).event
        let header: EventHeader
        do {
            header = try EventHeader(received: stored.header.canonicalBytes)
        } catch {
            throw .damaged(.event(UInt64(bitPattern: position)), error.description)
        }
        let event = Event(header: header, body: stored.body.judged)
        if event == stored { return before < Self.readsAncillary && header.hasAncillaryAlone }
        guard let dependencies = try dependencies(header) else { return false }
        let ref = select.int64(EventRow.Column.origin)
        select.reset()
        let refs = try EventRow.Refs(header, origin: ref, names: &names, on: connection)
        try connection.run("DELETE FROM event WHERE position = ?", .integer(position))
        try EventRow.store(
            header, event.body, position: UInt64(bitPattern: position), refs: refs, dependencies: dependencies,
            twin: try first(with: header.id, orAt: position), leaf: SHA256().leaf(of: event),
            with: try connection.statement(EventRow.insert(rows: 1)))
        return true
    }

    /// Column `dependencies`; `nil` if an origin is not here: then they are not checked, and the event stays as it is.
    private func dependencies(_ header: EventHeader) throws(DatabaseError) -> [UInt8]? {
        var pairs: [(ref: Int64, seq: UInt64)] = []
        for dot in header.dependencies {
            guard let ref = try reader.originRef(dot.origin, on: connection) else { return nil }
            pairs.append((ref, dot.seq))
        }
        return EventRow.dependencyBytes(pairs)
    }

    /// Where the first event with this id stands, if that is before `position`; later ones become its twins.
    private func first(with id: EventID, orAt position: Int64) throws(DatabaseError) -> UInt64? {
        let found = try connection.integer(
            "SELECT position FROM event WHERE id = ? AND twin IS NULL", .blob(id.bytes))
        guard let found else { return nil }
        if found < position { return UInt64(bitPattern: found) }
        try connection.run(
            "UPDATE event SET twin = ?1 WHERE position = ?2 OR twin = ?2", .integer(position), .integer(found))
        return nil
    }
}
