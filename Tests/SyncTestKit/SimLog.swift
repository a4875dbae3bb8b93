package import EventStore

/// What an observer reads in the log of a simulated node: made anew from the rows after each commit, not from what the store says of
/// them. A value.
package struct SimLog {
    package struct Origin {
        package var leaves: [Digest] = []
        /// Position of each event, by seq − 1.
        package var positions: [UInt64] = []
        package var range = MerkleRange()

        package var size: UInt64 { UInt64(positions.count) }
    }

    package private(set) var events: [StoredEvent] = []
    package private(set) var origins: [OriginID: Origin] = [:]
    /// In the order in which the log met them.
    private var metOrigins: [OriginID] = []
    /// The origin that the node appends to.
    package private(set) var own: OriginID

    package init(own: OriginID) { self.own = own }

    package var top: UInt64 { UInt64(events.count) }
    package var originIDs: [OriginID] { origins.keys.sorted() }
    package var vector: VersionVector {
        VersionVector(origins.map { Dot(origin: $0.key, seq: $0.value.size) })
    }

    package func size(of origin: OriginID) -> UInt64 { origins[origin]?.size ?? 0 }

    package func event(_ dot: Dot) -> StoredEvent? {
        guard let origin = origins[dot.origin], dot.seq > 0, dot.seq <= origin.size else { return nil }
        return events[Int(origin.positions[Int(dot.seq) - 1]) - 1]
    }

    /// Whose origin it is, as its first event says.
    package func key(of origin: OriginID) -> VerifyingKey? {
        event(Dot(origin: origin, seq: 1)).flatMap { OriginStart($0.event)?.key }
    }

    package func progress(of id: OriginID, using sha: SHA256) -> OriginProgress? {
        guard let origin = origins[id], origin.size > 0 else { return nil }
        return OriginProgress(origin: id, seq: origin.size, rootPrefix: origin.range.root(using: sha).prefix64)
    }

    /// How far each origin is, in the order in which the log met them.
    package func progress(using sha: SHA256) -> [OriginProgress] {
        metOrigins.compactMap { progress(of: $0, using: sha) }
    }

    /// The root of an origin's first `size` events.
    package func root(of id: OriginID, size: UInt64, using sha: SHA256) -> Digest? {
        guard let origin = origins[id], origin.size >= size else { return nil }
        if origin.size == size { return origin.range.root(using: sha) }
        var range = MerkleRange()
        for leaf in origin.leaves.prefix(Int(size)) { range.append(leaf, using: sha) }
        return range.root(using: sha)
    }

    // MARK: Reading

    /// Reads what was added since.
    package mutating func read(_ log: LogReader, own: OriginID, using sha: SHA256) throws(StoreError) {
        self.own = own
        var added: [StoredEvent] = []
        try log.scan(after: top, limit: .max) { stored in
            added.append(stored)
            return true
        }
        for stored in added { add(stored, using: sha) }
    }

    private mutating func add(_ stored: StoredEvent, using sha: SHA256) {
        let origin = stored.event.header.dot.origin
        let leaf = sha.leaf(of: stored.event)
        events.append(stored)
        if origins[origin] == nil { metOrigins.append(origin) }
        origins[origin, default: Origin()].leaves.append(leaf)
        origins[origin]?.positions.append(stored.position)
        origins[origin]?.range.append(leaf, using: sha)
    }

    /// Reads one row again, which has changed on the disk. The trees stay: so far they are what was written.
    package mutating func overwrite(_ position: UInt64, with body: EventBody) {
        let old = events[Int(position) - 1]
        events[Int(position) - 1] = StoredEvent(
            position: position, event: Event(header: old.event.header, body: body), twinOf: old.twinOf)
    }
}

/// A log as it lies on a disk: its bytes, and what an observer reads in it. A copy of it is a copy of the file.
package struct SimFile {
    package let image: [UInt8]
    package let log: SimLog

    init(image: [UInt8], log: SimLog) {
        self.image = image
        self.log = log
    }

    /// A file that no one has read before, and who it says it belongs to.
    static func read(_ image: [UInt8], using sha: SHA256) throws(StoreError) -> (SimFile, StoreIdentity) {
        let reader = try MemoryLog.reader(of: image)
        let identity = try StoreIdentity(reader)
        var log = SimLog(own: identity.origin)
        try log.read(reader, own: log.own, using: sha)
        return (SimFile(image: image, log: log), identity)
    }

    /// Everything in the log, to be taken over by another one, with a head by `key` of what its owner had written.
    func contents(signedBy key: SigningKey, wall: Int64, using sha: SHA256) throws(StoreError) -> VerifiedBatch {
        let live = try MemoryLog(image, key: key, wall: wall, seed: 1)
        var (heads, reaches) = try Self.vouchers(of: log.originIDs, live.reader)
        if let head = live.head() { heads.append(head) }
        let events = log.events.map { (event: $0.event, leaf: sha.leaf(of: $0.event)) }
        return VerifiedBatch(unproved: events, heads: heads, reaches: reaches)
    }

    /// What is stored that vouches for events of these origins.
    static func vouchers(
        of origins: [OriginID], _ reader: LogReader
    ) throws(StoreError) -> (heads: [SignedHead], reaches: [PendingCoverage]) {
        var (heads, reaches): ([SignedHead], [PendingCoverage]) = ([], [])
        for origin in origins {
            heads += try Self.heads(of: origin, reader)
            if let reach = try reader.reach(of: origin) { reaches.append(reach) }
        }
        return (heads, reaches)
    }

    /// All heads of an origin that are stored, ascending by size.
    static func heads(of origin: OriginID, _ reader: LogReader) throws(StoreError) -> [SignedHead] {
        var heads: [SignedHead] = []
        while let next = try reader.head(of: origin, atLeast: (heads.last?.head.size ?? 0) + 1) { heads.append(next) }
        return heads
    }
}
