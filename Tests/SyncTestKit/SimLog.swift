package import EventStore

/// The log of a simulated node, in memory: what `log.db` holds, under the same rules. A value: a copy of it is a copy of
/// the file.
package struct SimLog {
    package struct Origin {
        package let key: VerifyingKey
        package var leaves: [Digest] = []
        /// Position of each event, by seq − 1.
        package var positions: [UInt64] = []
        package var range = MerkleRange()
        package var hlc = HybridTime(rawValue: 0)
        /// Ascending by size.
        package var heads: [SignedHead] = []
        package var reach: PendingCoverage?

        package var size: UInt64 { UInt64(positions.count) }
    }

    package private(set) var events: [StoredEvent] = []
    package private(set) var origins: [OriginID: Origin] = [:]
    /// In the order in which the log met them.
    package private(set) var metOrigins: [OriginID] = []
    private var firstOfID: [EventID: UInt64] = [:]
    package var clock = HybridClock()
    /// Origins that advanced since the last own event: what its dependencies will name.
    private var dirty: Set<OriginID> = []
    package internal(set) var own: OriginID

    package init(own: OriginID, key: VerifyingKey) {
        self.own = own
        origins[own] = Origin(key: key)
        metOrigins = [own]
    }

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

    package func event(id: EventID) -> StoredEvent? { firstOfID[id].map { events[Int($0) - 1] } }

    package func progress(of id: OriginID, using sha: SHA256) -> OriginProgress? {
        guard let origin = origins[id], origin.size > 0 else { return nil }
        return OriginProgress(origin: id, seq: origin.size, rootPrefix: origin.range.root(using: sha).prefix64)
    }

    /// How far each origin is, in the order in which the log met them.
    package func progress(using sha: SHA256) -> [OriginProgress] {
        metOrigins.compactMap { progress(of: $0, using: sha) }
    }

    /// The position of each origin's last event.
    package var lastPositions: [OriginID: UInt64] { origins.compactMapValues(\.positions.last) }

    /// The root of an origin's first `size` events.
    package func root(of id: OriginID, size: UInt64, using sha: SHA256) -> Digest? {
        guard let origin = origins[id], origin.size >= size else { return nil }
        if origin.size == size { return origin.range.root(using: sha) }
        var range = MerkleRange()
        for leaf in origin.leaves.prefix(Int(size)) { range.append(leaf, using: sha) }
        return range.root(using: sha)
    }

    // MARK: Writing

    /// Appends a draft with an id to the own origin. `nil`: the id stands for other content.
    mutating func append(
        _ draft: EventDraft, id: EventID, salt: UUIDBits, wall: Int64, using sha: SHA256, isForgetful: Bool = false
    ) -> Dot? {
        if let known = firstOfID[id] {
            let event = events[Int(known) - 1].event
            return event.payload == draft.payload && event.header.type == draft.type ? event.header.dot : nil
        }
        if isForgetful { dirty = [] }
        let dependencies = dirty.sorted().map { Dot(origin: $0, seq: size(of: $0)) }
        let hlc = clock.tick(wall: wall)
        let header = EventHeader(
            dot: Dot(origin: own, seq: size(of: own) + 1), hlc: hlc, time: draft.time, id: id, type: draft.type,
            conversation: draft.conversation, user: draft.user, author: draft.author, cause: draft.cause,
            dependencies: dependencies, version: draft.version)
        let event = Event(header: header, body: .present(salt: salt, payload: draft.payload))
        insert(event, leaf: sha.leaf(of: event), using: sha)
        dirty = []
        return header.dot
    }

    /// The next own event names all that is here, but for `left`.
    mutating func dependOnEverything(but left: [OriginID]) {
        dirty = Set(origins.filter { $0.value.size > 0 }.keys).subtracting(left)
    }

    /// Stores a verified event of another origin. False: there is a gap, and nothing was stored.
    mutating func ingest(_ event: Event, leaf: Digest, key: VerifyingKey?, wall: Int64, using sha: SHA256) -> Bool {
        let dot = event.header.dot
        if origins[dot.origin] == nil {
            guard let key else { return false }
            add(dot.origin, key)
        }
        if dot.seq <= size(of: dot.origin) { return true }
        guard dot.seq == size(of: dot.origin) + 1 else { return false }
        _ = clock.observe(event.header.hlc, wall: wall)
        insert(event, leaf: leaf, using: sha)
        if dot.origin != own { dirty.insert(dot.origin) }
        return true
    }

    mutating func add(_ id: OriginID, _ key: VerifyingKey) {
        origins[id] = Origin(key: key)
        metOrigins.append(id)
    }

    /// Stores a head; of those in one block of 4,096 sizes only the last is kept.
    mutating func store(_ signed: SignedHead) {
        guard let origin = origins[signed.head.origin], signed.head.size <= origin.size else { return }
        let size = signed.head.size
        let block = (size - 1) / 4_096 * 4_096
        var heads = origin.heads.filter { $0.head.size <= block || $0.head.size >= size }
        if !heads.contains(where: { $0.head.size == size }) { heads.append(signed) }
        heads.sort { $0.head.size < $1.head.size }
        origins[signed.head.origin]?.heads = heads
    }

    /// Stores an event under a dot that is taken: what the store must never do.
    mutating func duplicate(_ event: Event, leaf: Digest, using sha: SHA256) { insert(event, leaf: leaf, using: sha) }

    /// Stores how far a head reaches beyond the events that are here.
    mutating func store(_ reach: PendingCoverage) {
        if size(of: reach.origin) == reach.size { origins[reach.origin]?.reach = reach }
    }

    private mutating func insert(_ event: Event, leaf: Digest, using sha: SHA256) {
        let header = event.header
        let position = top + 1
        events.append(StoredEvent(position: position, event: event, twinOf: firstOfID[header.id]))
        if firstOfID[header.id] == nil { firstOfID[header.id] = position }
        origins[header.dot.origin]?.leaves.append(leaf)
        origins[header.dot.origin]?.positions.append(position)
        origins[header.dot.origin]?.range.append(leaf, using: sha)
        origins[header.dot.origin]?.hlc = header.hlc
    }

    // MARK: Damage and recovery

    /// Changes what lies on the disk without the store's knowledge.
    mutating func overwrite(_ position: UInt64, with body: EventBody) {
        let old = events[Int(position) - 1]
        events[Int(position) - 1] = StoredEvent(
            position: position, event: Event(header: old.event.header, body: body), twinOf: old.twinOf)
    }

    /// What opening the file finds: trees and clock are made anew from the events.
    func reopened(wall: Int64, using sha: SHA256) -> SimLog {
        var log = self
        for (id, origin) in origins {
            var range = MerkleRange()
            var leaves: [Digest] = []
            for position in origin.positions {
                let leaf = sha.leaf(of: events[Int(position) - 1].event)
                leaves.append(leaf)
                range.append(leaf, using: sha)
            }
            log.origins[id]?.range = range
            log.origins[id]?.leaves = leaves
        }
        log.clock = HybridClock(last: origins[own]?.hlc ?? HybridTime(rawValue: 0))
        for id in originIDs { _ = log.clock.observe(origins[id]?.hlc ?? HybridTime(rawValue: 0), wall: wall) }
        let last = origins[own]?.positions.last ?? 0
        log.dirty = Set(events.suffix(Int(top - last)).map(\.event.header.dot.origin)).subtracting([own])
        return log
    }
}
