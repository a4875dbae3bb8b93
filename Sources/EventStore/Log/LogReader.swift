internal import Glibc

/// Reads `log.db`. Not Sendable: one for each thread. Each call is a short read transaction of its own, so that the WAL
/// can be truncated between them; a reader that saw position p has seen all below it (INV-2).
package final class LogReader {
    let connection: Connection
    var names = InternedStrings()
    /// Subtrees of recent proofs. One batch after the other is proven to be part of the same head, and what is perfect never
    /// changes.
    var proofNodes: [ProofNode: Digest] = [:]

    /// Opens the log of the store in `files`; with no writer around and a read-only medium it reads the file as it is.
    package convenience init(_ files: StoreFiles) throws(StoreError) {
        try self.init(path: files.log)
    }

    /// Opens the log in the file at `path`.
    init(path: String) throws(StoreError) {
        connection = try openForReading(path)
        try Schema.check(connection)
        try mapped { () throws(DatabaseError) in try Schema.readAsCurrent(connection) }
    }

    /// Reads over a connection of another.
    init(_ connection: Connection) { self.connection = connection }

    /// Refuses a log whose definitions would let what is appended to it be changed, lost or stored twice.
    func checkForWriting() throws(StoreError) { try Schema.checkForWriting(connection) }

    /// The last position; 0 for an empty log.
    package func top() throws(StoreError) -> UInt64 {
        let top = try mapped { () throws(DatabaseError) in
            UInt64(bitPattern: try connection.integer("SELECT max(position) FROM event") ?? 0)
        }
        guard top <= Limits.number else {
            throw .corrupt("event \(Int64(bitPattern: top)): there is no such position")
        }
        return top
    }

    /// A value of table `meta`.
    package func meta(_ key: String) throws(StoreError) -> String? {
        try mapped { () throws(DatabaseError) in
            try connection.first("SELECT value FROM meta WHERE key = ?", [.text(key)]) { $0.text(0) }
        }
    }

    /// What views of this log are marked with: they are of this log, as it has been read so far (``LogUpgrade``).
    func viewMark() throws(StoreError) -> String {
        let incarnation = try meta("incarnation") ?? ""
        guard let rereads = try meta(LogUpgrade.rereads) else { return incarnation }
        return "\(incarnation)+\(rereads)"
    }

    /// Calls `body` with the events after `position` in order, at most `limit` of them, until it returns false. Returns
    /// the last position seen. ``LogReplay`` reads much of a log faster.
    @discardableResult
    package func scan(
        after position: UInt64, limit: Int, _ body: (StoredEvent) -> Bool
    ) throws(StoreError) -> UInt64 {
        try scan(after: position, through: UInt64(Int64.max), limit: limit) { body($0) }
    }

    /// As ``scan(after:limit:_:)``, with no event after `end`.
    @discardableResult
    func scan(
        after position: UInt64, through end: UInt64, limit: Int, _ body: (consuming StoredEvent) -> Bool
    ) throws(StoreError) -> UInt64 {
        try mapped { () throws(DatabaseError) in
            let select = try connection.statement(
                "SELECT \(EventRow.columns) FROM event WHERE position > ? AND position <= ? ORDER BY position LIMIT ?"
            )
            defer { select.reset() }
            try select.bind(1, position)
            try select.bind(2, end)
            try select.bind(3, Int64(limit))
            var last = position
            while try select.step() {
                let event = try EventRow.read(select, names: &names, on: connection)
                last = event.position
                if !body(event) { break }
            }
            return last
        }
    }

    /// Reads several things in one short read transaction: SQLite takes and gives back its locks once for all of them. It begins with the
    /// first thing that is read: what views name is there, if they are read before.
    package func inOneTransaction<Value>(_ body: () throws(StoreError) -> Value) throws(StoreError) -> Value {
        guard !connection.isInTransaction else { return try body() }
        try mapped { () throws(DatabaseError) in try connection.statement("BEGIN").run() }
        do {
            let value = try body()
            try mapped { () throws(DatabaseError) in try connection.statement("COMMIT").run() }
            return value
        } catch {
            connection.rollback()
            throw error
        }
    }

    /// The dot of the event at `position`, which is there.
    func dot(at position: UInt64) throws(DatabaseError) -> Dot {
        let select = try connection.statement("SELECT origin, seq FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else { throw .damaged(.event(position), "there is none at this position") }
        return Dot(origin: try names.origin(select.int64(0), on: connection), seq: select.uint64(1))
    }

    /// The event at `position`.
    package func event(at position: UInt64) throws(StoreError) -> StoredEvent? {
        try mapped { () throws(DatabaseError) in try stored(at: position) }
    }

    func stored(at position: UInt64) throws(DatabaseError) -> StoredEvent? {
        let select = try connection.statement("SELECT \(EventRow.columns) FROM event WHERE position = ?")
        defer { select.reset() }
        try select.bind(1, position)
        return try select.step() ? try EventRow.read(select, names: &names, on: connection) : nil
    }

    /// The header of the event at `position`, without a look at its payload.
    func header(at position: UInt64) throws(StoreError) -> EventHeader? {
        try mapped { () throws(DatabaseError) in
            let select = try connection.statement("SELECT \(EventRow.headerColumns) FROM event WHERE position = ?")
            defer { select.reset() }
            try select.bind(1, position)
            return try select.step() ? try EventRow.read(select, names: &names, on: connection).event.header : nil
        }
    }

    /// Rows asked for by one run of a statement, a page of a history: to begin and end it costs as much as half a row.
    private static let atOnce = 50
    private static let several = """
        SELECT \(EventRow.columns)
        FROM (VALUES \((1...atOnce).map { "(?\($0))" }.joined(separator: ","))) AS wanted
        CROSS JOIN event ON position = wanted.column1
        """

    /// Calls `body` with the events at `positions`, in that order, until it returns false. Positions where there is none are
    /// passed over. Returns how many of the positions were dealt with.
    func events(at positions: [UInt64], _ body: (consuming StoredEvent) -> Bool) throws(StoreError) -> Int {
        try rows(at: positions) { _, row throws(DatabaseError) in
            body(try EventRow.read(row, names: &names, on: connection))
        }
    }

    /// The events at the first of `positions`, until their payloads come to `bytes` or `term` is due. Says also how many of the positions were
    /// dealt with: more than there are events if the log has none at one of them.
    func events(
        at positions: [UInt64], bytes: Int, _ term: AnswerTerm? = nil
    ) throws(StoreError) -> (events: [StoredEvent], dealtWith: Int) {
        var events: [StoredEvent] = []
        events.reserveCapacity(positions.count)
        var left = bytes
        let dealtWith = try rows(at: positions) { index, row throws(DatabaseError) in
            guard index == events.count else { return false }
            left -= row.count(EventRow.Column.payload)
            events.append(try EventRow.read(row, names: &names, on: connection))
            // Each may lie on a page of its own that the disk has to find.
            return left > 0 && (events.count % 16 != 0 || term?.isDue != true)
        }
        return (events, dealtWith)
    }

    /// Calls `body` with the rows of the events at `positions`, in that order and with their indexes in it, until it returns
    /// false. Returns how many of the positions were dealt with.
    private func rows(
        at positions: [UInt64], _ body: (Int, Statement) throws(DatabaseError) -> Bool
    ) throws(StoreError) -> Int {
        try mapped { () throws(DatabaseError) in
            let select = try connection.statement(Self.several)
            defer { select.reset() }
            var index = 0
            for start in stride(from: 0, to: positions.count, by: Self.atOnce) {
                select.reset()
                let end = min(start + Self.atOnce, positions.count)
                if end < start + Self.atOnce { select.unbind() }
                for at in start..<end { try select.bind(at - start + 1, positions[at]) }
                while try select.step() {
                    let position = select.uint64(EventRow.Column.position)
                    while index < end, positions[index] != position { index += 1 }
                    index += 1
                    if index <= end, try !body(index - 1, select) { return index }
                }
            }
            return positions.count
        }
    }

    /// The first event stored here with this id.
    package func event(id: EventID) throws(StoreError) -> StoredEvent? {
        try first("id = ? AND twin IS NULL", .blob(id.bytes))
    }

    /// All events with this id: the first and, if other origins appended it too, its twins, by position.
    package func events(id: EventID) throws(StoreError) -> [StoredEvent] {
        guard let event = try event(id: id) else { return [] }
        return [event] + (try twins(of: event.position))
    }

    /// The later events with the id of the event at `position`.
    package func twins(of position: UInt64) throws(StoreError) -> [StoredEvent] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                "SELECT \(EventRow.columns) FROM event WHERE twin = ? ORDER BY position", [.unsigned(position)]
            ) { row throws(DatabaseError) in try EventRow.read(row, names: &names, on: connection) }
        }
    }

    /// The event with this dot.
    package func event(_ dot: Dot) throws(StoreError) -> StoredEvent? {
        guard let ref = try mapped({ () throws(DatabaseError) in try names.originRef(dot.origin, on: connection) })
        else {
            return nil
        }
        return try first("origin = ? AND seq = ?", .integer(ref), .unsigned(dot.seq))
    }

    /// What the log has of each origin.
    package func vector() throws(StoreError) -> VersionVector {
        VersionVector(try origins().map { Dot(origin: $0.id, seq: $0.size) })
    }

    /// Every origin with its node, key and number of events, ascending by id.
    package func origins() throws(StoreError) -> [StoredOrigin] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                """
                SELECT ref, id, node, key, (SELECT max(seq) FROM event WHERE event.origin = origin.ref)
                FROM origin ORDER BY id
                """
            ) { row throws(DatabaseError) in
                guard let id = row.uuid(1), let node = row.digest(2), let key = VerifyingKey(rawBytes: row.bytes(3))
                else { throw .damagedOrigin(row.int64(0)) }
                return StoredOrigin(
                    ref: row.int64(0), id: OriginID(id), node: NodeID(node), key: key, size: row.uint64(4))
            }
        }
    }

    /// The position of each origin's last event.
    package func lastPositions() throws(StoreError) -> [OriginID: UInt64] {
        try mapped { () throws(DatabaseError) in
            var positions: [OriginID: UInt64] = [:]
            try connection.rows(
                """
                SELECT id, (SELECT position FROM event WHERE event.origin = origin.ref ORDER BY seq DESC LIMIT 1)
                FROM origin
                """
            ) { row throws(DatabaseError) in
                guard let id = row.uuid(0) else { throw .damaged(.table("origin"), "an id is not 16 bytes") }
                positions[OriginID(id)] = row.uint64(1)
            }
            return positions
        }
    }

    /// Whether the text is the name of any user, conversation or type of the log.
    package func knows(_ text: String) throws(StoreError) -> Bool { try ref(text) != nil }

    /// The interned ref of `text`, if any event uses it.
    func ref(_ text: String) throws(StoreError) -> Int64? {
        try mapped { () throws(DatabaseError) in try names.ref(text, on: connection) }
    }

    /// The text of an interned ref.
    func text(_ ref: Int64) throws(StoreError) -> String {
        try mapped { () throws(DatabaseError) in try names.text(ref, on: connection) }
    }

    private func first(_ condition: String, _ bindings: Binding...) throws(StoreError) -> StoredEvent? {
        try mapped { () throws(DatabaseError) in
            try connection.first("SELECT \(EventRow.columns) FROM event WHERE \(condition)", bindings) {
                row throws(DatabaseError) in try EventRow.read(row, names: &names, on: connection)
            }
        }
    }
}

/// An origin as table `origin` has it.
package struct StoredOrigin: Hashable, Sendable {
    let ref: Int64
    package let id: OriginID
    /// The node that writes to it.
    package let node: NodeID
    /// The key that signs its heads.
    package let key: VerifyingKey
    /// How many of its events are stored here.
    package let size: UInt64
}

extension DatabaseError {
    /// The row of an origin has a column of the wrong length.
    static func damagedOrigin(_ ref: Int64) -> DatabaseError {
        .damaged(.table("origin"), "its row \(ref) has a column of the wrong type or length")
    }
}

/// Turns errors of databases into those of the store.
func mapped<Result>(_ body: () throws(DatabaseError) -> Result) throws(StoreError) -> Result {
    do { return try body() } catch { throw StoreError(error) }
}

/// Refuses to read a database without its WAL where commits may stand in that alone: half of the truth would look like all of it.
private func requireNoCommits(besides path: String) throws(StoreError) {
    for file in [path + "-wal", path + "-shm"] where access(file, R_OK) != 0 && errno != ENOENT {
        throw .forbidden(path: file)
    }
    guard let wal = try WALInspection(path: path + "-wal"), wal.commits > 0 else { return }
    throw .io(
        "\(path)-wal holds commits that \(path) lacks, and it can be read only where files may be made beside it: copy both to a "
            + "folder of your own")
}

/// Held while a database is opened for reading, and while another takes its place. SQLite opens `-shm` by its name, and locks of one process do not
/// keep its other threads out. So who has opened the old file would begin that of the new one anew, under those who have it mapped: SIGBUS.
let databaseOpening = Lock(())

/// Opens a database of a store for reading, without WAL files if it lies on a read-only medium and they hold nothing.
func openForReading(_ path: String) throws(StoreError) -> Connection {
    try databaseOpening.withLock { _ throws(StoreError) in try openNow(path) }
}

/// Whether this process reads a database that finds no room for files beside it: then it shares the store's lock, and no one can take that.
func isReadOnFullDisk(_ path: String) -> Bool { PrivateIndex.current(path) != nil }

private func openNow(_ path: String) throws(StoreError) -> Connection {
    func open(_ mode: Connection.Mode) throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, mode: mode)
        try connection.execute("PRAGMA query_only = ON; PRAGMA cache_size = -8192;")
        _ = try connection.integer("PRAGMA user_version")
        return connection
    }
    func read(with index: PrivateIndex?) throws(DatabaseError) -> Connection {
        guard let index else { return try open(.read) }
        return try index.opening { () throws(DatabaseError) in try open(.read) }
    }
    do {
        return try read(with: .current(path))
    } catch  where error.isCannotOpen {
        try requireNoCommits(besides: path)
        do { return try open(.immutable) } catch { throw StoreError(error) }
    } catch  where error.isFull {
        let lock = StoreFiles(SmallFile.folder(of: path)).lock
        guard let index = PrivateIndex(path, lock: lock) else { throw StoreError(error) }
        do { return try read(with: index) } catch { throw StoreError(error) }
    } catch {
        throw StoreError(error)
    }
}
