internal import Glibc

/// Makes a store anew from the events of another: each is read, hashed again and appended as what a peer has sent, in the order of the log.
/// Nothing else is taken over but signed heads, when events came, and whose log it is. So the trees of the new log, and the views that are made of it, say whether those of
/// the old one are what its events come to.
///
/// The node's key stays where it is: the new store is read and verified, and no node can be started on it.
package struct StoreReplay {
    /// What was made.
    package struct Report: Sendable {
        /// The last position.
        package let position: UInt64
        /// How many events each origin has there, and the root of its tree.
        package let origins: [Origin]
        /// Origins whose tree is another than that of the log that was replayed.
        package var differing: [OriginID] { origins.filter { $0.root != $0.expected }.map(\.id) }

        package struct Origin: Hashable, Sendable {
            package let id: OriginID
            package let size: UInt64
            package let root: Digest
            /// What the trees of the log that was replayed say.
            package let expected: Digest
        }
    }

    private let files: StoreFiles
    private let source: LogReader
    private let through: UInt64

    /// - Parameter position: The last event that is replayed; `nil`: all that the log has now.
    package init(_ files: StoreFiles, through position: UInt64? = nil) throws(StoreError) {
        self.files = files
        guard files.exists else { throw .notFound(path: files.folder) }
        source = try LogReader(files)
        let top = try source.top()
        through = min(position ?? top, top)
    }

    /// Events that one transaction takes.
    private static let batch = 8_192

    /// Makes the store in `folder`, which must not be there or be empty but for what an interrupted replay has left. It is whole and on the disk
    /// when this returns; of one that was broken off nothing stays.
    ///
    /// - Parameter progress: Runs with the position that was replayed; ends the replay where it returns false.
    /// - Throws: `E_STORE_FILE` if there is something in `folder`; `E_CLOSED` when it was ended.
    package func make(in folder: String, progress: (UInt64) -> Bool = { _ in true }) throws(StoreError) -> Report {
        let copy = StoreFiles(folder)
        let isMade = try Self.make(copy.folder)
        let unfinished = copy.folder + "/" + Self.unfinished
        // Held while it is made, so that no second run takes away what this one writes.
        let lock = open(copy.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw .system(copy.folder) }
        defer { close(lock) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else { throw .locked(path: copy.folder, owner: "another replay") }
        if !isMade { try Self.clear(copy) }
        do throws(StoreError) {
            try mapped { () throws(DatabaseError) in
                let connection = try Connection(path: unfinished, mode: .write)
                try Schema.create(on: connection)
            }
            try fill(unfinished, progress)
            let report = try compare(unfinished)
            try Self.sync(unfinished)
            guard rename(unfinished, copy.log) == 0 else { throw .system(copy.log) }
            try SmallFile.syncFolder(of: copy.log)
            try SmallFile.syncFolder(of: copy.folder)
            return report
        } catch {
            SmallFile.removeDatabase(unfinished)
            if isMade { rmdir(copy.folder) }
            throw error
        }
    }

    /// The log while it is made.
    private static let unfinished = "log.new"

    /// Whether it was not there.
    private static func make(_ folder: String) throws(StoreError) -> Bool {
        if mkdir(folder, 0o700) == 0 { return true }
        guard errno == EEXIST else { throw .system(folder) }
        return false
    }

    /// Takes away what a replay has left that was killed, and sees to it that nothing else is there.
    private static func clear(_ copy: StoreFiles) throws(StoreError) {
        let left = Set(["", "-wal", "-shm", "-journal"].map { unfinished + $0 })
        let others = try SmallFile.names(in: copy.folder).filter { $0 != "." && $0 != ".." && !left.contains($0) }
        guard others.isEmpty else {
            let way =
                copy.exists
                ? "a store is there: of a replay that was ended while it compared the log is whole, as 'syncctl verify' tells; take "
                    + "the folder away, or name another one" : "name a folder that is not there yet, or an empty one"
            throw .badFile("\(copy.folder) is not empty", wayOut: way)
        }
        try StoreLock.requirePrivate(copy.folder)
        SmallFile.removeDatabase("\(copy.folder)/\(unfinished)")
    }

    private static func sync(_ path: String) throws(StoreError) {
        let file = open(path, O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw .system(path) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw .system(path) }
    }

    private func fill(_ path: String, _ progress: (UInt64) -> Bool) throws(StoreError) {
        let connection = try mapped { () throws(DatabaseError) in try Connection(path: path, mode: .write) }
        try mapped { () throws(DatabaseError) in
            // It has no name yet: what is broken off is thrown away. A journal in memory undoes an insertion that finds a twin.
            try connection.execute(
                "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536; BEGIN IMMEDIATE")
        }
        let appender = try mapped { () throws(DatabaseError) in try Appender(connection: connection) }
        let keys = Dictionary(uniqueKeysWithValues: try source.origins().map { ($0.id, $0) })
        let sha = SHA256()
        var batch = VerifiedBatch()
        var failure: StoreError?
        func store(upTo position: UInt64) throws(StoreError) {
            let events = batch
            batch = VerifiedBatch()
            try mapped { () throws(DatabaseError) in
                try appender.ingest(events)
                try connection.execute("COMMIT; BEGIN IMMEDIATE")
            }
            if !progress(position) { throw .closed }
        }
        try LogReplay(files, through: through).forEach { stored in
            do throws(StoreError) {
                let event = try Self.read(stored.event)
                batch.events.append(
                    VerifiedEvent(
                        event: event, leaf: sha.leaf(of: event), start: try Self.start(event, keys)))
                if batch.events.count >= Self.batch { try store(upTo: stored.position) }
            } catch {
                failure = error
            }
            return failure == nil
        }
        if let failure { throw failure }
        try store(upTo: through)
        try mapped { () throws(DatabaseError) in
            try takeOver(appender, connection)
            try connection.execute("COMMIT")
            try ErasureIndex.make(on: connection, nil)
        }
    }

    /// The event as this release reads it: what the log keeps as unreadable need not be so.
    private static func read(_ event: Event) throws(StoreError) -> Event {
        var (header, body) = (event.header, event.body)
        do {
            if !header.unknownFields.isEmpty { header = try EventHeader(received: header.canonicalBytes) }
        } catch { throw .corrupt("event \(event.header.dot): \(error)") }
        if case .unreadable = body { body = body.judged }
        return Event(header: header, body: body)
    }

    /// Whose an origin is, with its first event. One that cannot be read, for a later release wrote it, is the origin's whose key the log has.
    private static func start(
        _ event: Event, _ keys: [OriginID: StoredOrigin]
    ) throws(StoreError) -> OriginStart? {
        let dot = event.header.dot
        guard dot.seq == 1 else { return nil }
        guard let origin = keys[dot.origin] else { throw .corrupt("nothing says whose event \(dot) is") }
        guard let start = OriginStart(event), start.key == origin.key else {
            throw .corrupt("event \(dot) does not say whose its origin is")
        }
        return start
    }

    /// Heads that speak of what is here, each checked; when events came; whose log it is.
    private func takeOver(_ appender: Appender, _ connection: Connection) throws(DatabaseError) {
        var names = InternedStrings()
        for origin in appender.state.origins {
            for signed in try source.heads(of: origin.id, upTo: origin.size) {
                let root = try appender.merkle.root(origin: origin.ref, size: signed.head.size, names: &names)
                guard signed.head.root == root, signed.isValid(for: origin.key) else {
                    throw .damaged(
                        .table("head"),
                        "the head of \(signed.head.size) events of origin \(origin.id) is not of these")
                }
                try appender.merkle.insertHead(signed, origin: origin.ref)
            }
            if let reach = try? source.reach(of: origin.id), reach.size == origin.size {
                try appender.merkle.replaceReach(reach, origin: origin.ref)
            }
        }
        for (position, time) in try source.arrivals(upTo: through) {
            try connection.run("INSERT INTO arrival VALUES(?, ?)", .unsigned(position), .integer(time))
        }
        for key in ["name", "cluster"] {
            if let value = try? source.meta(key) { try Schema.setMeta(key, .text(value), on: connection) }
        }
        var random = RandomSource()
        let incarnation = hexText(withUnsafeBytes(of: random.next().bigEndian) { Array($0) })
        try Schema.setMeta("incarnation", .text(incarnation), on: connection)
        try Schema.setMeta(LogUpgrade.looked, .integer(LogUpgrade.reads), on: connection)
        guard let own = (try? StoreIdentity(source))?.origin, let index = appender.state.indexes[own] else {
            throw .damaged(.table("meta"), "whose log it is cannot be told, or none of its own events is replayed")
        }
        try Schema.setMeta("origin", .integer(appender.state.origins[index].ref), on: connection)
    }

    private func compare(_ path: String) throws(StoreError) -> Report {
        let made = try LogReader(path: path)
        var origins: [Report.Origin] = []
        for origin in try made.origins() {
            origins.append(
                Report.Origin(
                    id: origin.id, size: origin.size, root: try made.root(of: origin.id, size: origin.size),
                    expected: try source.root(of: origin.id, size: origin.size)))
        }
        return Report(position: try made.top(), origins: origins)
    }
}

extension LogReader {
    /// The signed heads of an origin's first `size` events, ascending.
    fileprivate func heads(of origin: OriginID, upTo size: UInt64) throws(DatabaseError) -> [SignedHead] {
        guard let ref = try names.originRef(origin, on: connection) else { return [] }
        return try connection.all(
            "SELECT size, root, hlc, signature FROM head WHERE origin = ? AND size <= ? ORDER BY size",
            [.integer(ref), .unsigned(size)]
        ) { row in
            row.digest(1).map { root in
                SignedHead(
                    head: TreeHead(
                        origin: origin, size: row.uint64(0), root: root, hlc: HybridTime(rawValue: row.uint64(2))),
                    signature: row.bytes(3))
            }
        }.compactMap { $0 }
    }

    /// When events up to a position came: rows of table `arrival`.
    fileprivate func arrivals(upTo position: UInt64) throws(DatabaseError) -> [(UInt64, Int64)] {
        guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'arrival'") != nil else { return [] }
        return try connection.all(
            "SELECT position, time FROM arrival WHERE position <= ? ORDER BY position", [.unsigned(position)]
        ) { ($0.uint64(0), $0.int64(1)) }
    }
}
