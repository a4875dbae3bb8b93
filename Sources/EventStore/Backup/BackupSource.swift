/// What a backup reads of a log that may be written meanwhile: everything in short transactions, so that no copy keeps the WAL from beginning
/// anew. Not Sendable.
package final class BackupSource {
    /// Whose log it is.
    package let identity: StoreIdentity
    private let files: StoreFiles
    let log: LogReader
    private let rows: SnapshotReader
    private let sha = SHA256()
    /// What lets payloads of the log go, as far as it has been read.
    private var known = Erasures()

    /// Bytes of a piece.
    static let piece = 512 << 10
    /// Rows that are looked at in one transaction.
    fileprivate static let slice: UInt64 = 8_192

    package init(_ files: StoreFiles) throws(StoreError) {
        guard files.exists else { throw .notFound(path: files.folder) }
        self.files = files
        log = try LogReader(files)
        identity = try StoreIdentity(log)
        rows = SnapshotReader(log)
    }

    /// Throws `E_CORRUPT` where something else than the node has written what it would sign.
    package func checkForSigning(_ key: SigningKey?) throws(StoreError) { try log.checkForSigning(files, key) }

    /// The last position.
    package func top() throws(StoreError) -> UInt64 { try log.top() }

    /// Up to which position signed heads cover everything, and what vouches for it.
    package func extent() throws(StoreError) -> (position: UInt64, origins: [BackupOrigin]) {
        var (position, origins) = (UInt64(0), [BackupOrigin]())
        // What replaces a head while this looks would leave a proof to one that is gone.
        try log.inOneTransaction { () throws(StoreError) in
            let plan = try log.plan(ownHead: nil)
            let coverage = try log.coverage(of: plan, ownHead: nil)
            let keys = Dictionary(uniqueKeysWithValues: try log.origins().map { ($0.id, $0.key) })
            position = plan.through
            for (entry, cover) in zip(plan.progress, coverage) {
                guard let key = keys[entry.origin] else { throw .corrupt("origin \(entry.origin) has no key") }
                let root = try log.root(of: entry.origin, size: entry.seq)
                origins.append(
                    BackupOrigin(
                        key: key, progress: BackupProgress(origin: entry.origin, size: entry.seq, root: root),
                        coverage: cover))
            }
        }
        return (position, origins)
    }

    /// The histories of all origins up to a position.
    package func chain(through position: UInt64) throws(StoreError) -> RowChain {
        position == 0 ? RowChain() : try RowChain(of: log, through: position)
    }

    /// Whether the log goes on from what a backup of `node` says of its end.
    package func continues(_ node: NodeID, _ position: UInt64, _ progress: [BackupProgress]) throws(StoreError)
        -> Bool
    {
        let top = try log.top()
        guard node == identity.node, position <= top else { return false }
        return try chain(through: position).progress(using: sha) == progress
    }

    /// The next rows up to `through`, and when they came.
    package func piece(after: UInt64, through: UInt64) throws(StoreError) -> BackupPiece {
        let rows = try rows.rows(after: after, through: through, bytes: Self.piece)
        return BackupPiece(rows: rows, arrivals: try log.arrivals(after: after, through: rows.last))
    }

    /// Up to where this node's erasures have been applied, and the last of them that is in the log.
    package func erasures() throws(StoreError) -> (applied: UInt64, last: UInt64) {
        (try log.erasedThrough(), try log.lastErasure(of: identity.node))
    }

    /// What lets payloads of this log go, with what proves it, but for what a backup of `origins` has in its rows: what was recorded here, and
    /// what a log that was restored has not recorded yet. Without those that no head covers.
    package func erasures(behind origins: [BackupOrigin]) throws(StoreError) -> [ProvenErasure] {
        func isReached(_ dot: Dot) -> Bool {
            origins.contains { $0.progress.origin == dot.origin && $0.progress.size >= dot.seq }
        }
        let own = try log.erasures().filter { $0.node == identity.node && $0.erasure != nil }.map(\.event)
        var later = try log.proven(own.filter { !isReached($0.header.dot) })
        for lost in try ProvenErasure.kept(files) ?? [] where !isReached(lost.dot) {
            if !later.contains(where: { $0.dot == lost.dot }) { later.append(lost) }
        }
        return later
    }

    /// The first of these events, which have no payload, that no erasure covers. What has come since counts: an erasure may be applied while
    /// rows are read.
    ///
    /// - Parameter owners: Whose the origins are.
    package func uncovered(
        _ headers: [EventHeader], _ owners: [OriginID: NodeID]
    ) throws(StoreError) -> Dot? {
        func first() -> Dot? {
            headers.first { header in
                owners[header.dot.origin].map { !known.covers(Erasures.Place(header, of: $0)) } ?? true
            }?.dot
        }
        guard first() != nil else { return nil }
        known = Erasures(keeper: identity.node)
        for found in try log.erasures() { known.take(found.event, of: found.node) }
        for lost in try ProvenErasure.kept(files) ?? [] {
            if let event = lost.event(of: identity.node, using: sha) { known.take(event, of: identity.node) }
        }
        return first()
    }

    /// Which of these attachments events of the log name. Reads the whole log.
    package func named(_ digests: Set<Digest>) throws(StoreError) -> Set<Digest> {
        digests.isEmpty ? [] : try log.namedAttachments().intersection(digests)
    }

    /// The first row of a range with a payload that an erasure of this node has let go.
    package func firstPutBack(after: UInt64, through: UInt64) throws(StoreError) -> UInt64? {
        let erasures = try OwnErasures(log)
        var found: UInt64?
        try log.scan(after: after, through: through, limit: .max) { stored in
            if erasures.refusal(ofPutBack: stored.event) != nil { found = stored.position }
            return found == nil
        }
        return found
    }

    /// Which rows of a range have no payload.
    package func holes(after: UInt64, through: UInt64) throws(StoreError) -> Holes {
        let holes = HoleTally()
        var done = after
        while done < through {
            let end = min(done + Self.slice, through)
            for position in try log.holes(after: done, through: end) { holes.add(position) }
            done = end
        }
        return holes.finish()
    }
}

extension Event {
    /// What its payload names. One that is too odd to be read names nothing, nor does it in the views.
    fileprivate var attachments: [Digest] {
        guard let payload, AttachmentNaming.isLikely(payload) else { return [] }
        return (try? AttachmentNaming.items(type: header.type, JSONObject(validated: payload)).map(\.digest)) ?? []
    }
}

extension CheckedRows {
    /// The attachments that payloads of these rows name, by position.
    package func attachments() throws(SnapshotError) -> [(position: UInt64, digests: [Digest])] {
        let isLikely = rows.withBytes { AttachmentNaming.isLikely($0.payloads) }
        guard isLikely else { return [] }
        return try events().enumerated().compactMap { index, event in
            let digests = event.attachments
            return digests.isEmpty ? nil : (rows.after + UInt64(index) + 1, digests)
        }
    }

    /// The headers of rows without payload.
    package func emptied() throws(SnapshotError) -> [EventHeader] {
        guard list.contains(where: { $0.has(SnapshotRows.Flag.erased) }) else { return [] }
        return try events().filter(\.isErased).map(\.header)
    }
}

/// Which rows of a segment have no payload: how many, and the SHA-256 of their positions, eight bytes each.
package struct Holes: Hashable, Sendable {
    package let count: UInt64
    package let digest: Digest

    package init(count: UInt64, digest: Digest) { (self.count, self.digest) = (count, digest) }
}

/// Counts rows without payload. Not Sendable.
package final class HoleTally {
    private var count: UInt64 = 0
    private let digest = RunningSHA256()

    package init() {}

    func add(_ position: UInt64) {
        count += 1
        withUnsafeBytes(of: position.bigEndian) { digest.add($0) }
    }

    /// Counts those of a piece.
    package func add(_ checked: CheckedRows) {
        for (index, row) in checked.list.enumerated() where row.has(SnapshotRows.Flag.erased) {
            add(checked.rows.after + UInt64(index) + 1)
        }
    }

    /// What was counted. Nothing may be added after it.
    package func finish() -> Holes { Holes(count: count, digest: digest.finish()) }
}

/// A piece of a segment: rows, and when they came to the node.
package struct BackupPiece: Sendable {
    package let rows: SnapshotRows
    /// Rows of table `arrival` whose positions lie in the piece; in the first piece of a log, perhaps none.
    package let arrivals: [Arrival]

    package init(rows: SnapshotRows, arrivals: [Arrival]) { (self.rows, self.arrivals) = (rows, arrivals) }
}

/// The event at `position`, and those up to the next of these within a second, came at `time`, Unix milliseconds.
package struct Arrival: Hashable, Sendable {
    package let position: UInt64
    package let time: Int64

    package init(position: UInt64, time: Int64) { (self.position, self.time) = (position, time) }
}

extension LogReader {
    /// All attachments that payloads name. Reads the whole log, in short transactions.
    package func namedAttachments() throws(StoreError) -> Set<Digest> {
        let end = try top()
        var (named, done): (Set<Digest>, UInt64) = ([], 0)
        while done < end {
            let last = try scan(after: done, through: end, limit: Int(BackupSource.slice)) { stored in
                named.formUnion(stored.event.attachments)
                return true
            }
            guard last > done else { break }
            done = last
        }
        return named
    }

    /// The tree of an origin's first `size` events.
    func tree(ofFirst size: UInt64, of origin: StoredOrigin) throws(StoreError) -> MerkleRange {
        try mapped { () throws(DatabaseError) in
            try MerkleStore(connection: connection, sha: SHA256()).range(
                origin: origin.ref, size: size, names: &names)
        }
    }

    fileprivate func arrivals(after: UInt64, through: UInt64) throws(StoreError) -> [Arrival] {
        try mapped { () throws(DatabaseError) in
            guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'arrival'") != nil else {
                return []
            }
            return try connection.all(
                "SELECT position, time FROM arrival WHERE position > ? AND position <= ? ORDER BY position",
                [.unsigned(after), .unsigned(through)]
            ) { row in Arrival(position: row.uint64(0), time: row.int64(1)) }
        }
    }

    fileprivate func holes(after: UInt64, through: UInt64) throws(StoreError) -> [UInt64] {
        try mapped { () throws(DatabaseError) in
            try connection.all(
                "SELECT position FROM event WHERE position > ? AND position <= ? AND digest IS NOT NULL ORDER BY position",
                [.unsigned(after), .unsigned(through)]
            ) { row in row.uint64(0) }
        }
    }
}
