/// Events on their way to a peer, with the heads that vouch for them.
package struct OutgoingBatch: Sendable {
    /// In position order, which is causal order.
    package var events: [EncodedEvent] = []
    /// One for each origin that occurs, ascending by origin.
    package var coverage: [Coverage] = []
    /// The last dot of each origin that occurs.
    package var advanced: [Dot] = []
    /// Everything up to here that the peer lacked is in this batch or in earlier ones.
    package var through: UInt64 = 0
    /// Whether there was nothing more to read.
    package var isAtTop = false
    /// ``OutgoingSelection/isSound``.
    package var isSound = true
}

extension Coverage {
    /// No coverage of an origin with so many events takes more bytes in a message: a head and a proof of a digest for each
    /// level of the tree.
    package static func maximumBytes(_ size: UInt64) -> Int {
        160 + 34 * (UInt64.bitWidth - size.leadingZeroBitCount + 1)
    }
}

/// How much to put into a batch.
package struct OutgoingLimits: Sendable {
    package var events: Int
    /// Bytes of headers, payloads and coverage, before compression. The last event may go beyond it.
    package var bytes: Int
    /// Bytes that must not be passed unless a single event does so.
    package var frame: Int
    /// Nothing after this position, even if it is committed already.
    package var through: UInt64

    package init(
        events: Int = 4_096, bytes: Int = 256 << 10, frame: Int = 1 << 20, through: UInt64 = .max
    ) {
        self.through = through
        self.events = events
        self.bytes = bytes
        self.frame = frame
    }
}

/// What ``OutgoingReader`` asks of a log: its reader answers it, or ``RecentCommits`` does from memory.
package protocol OutgoingLog {
    /// The last position; 0 for an empty log.
    func top() throws(StoreError) -> UInt64
    /// What the log has of each origin.
    func vector() throws(StoreError) -> VersionVector
    /// The event with this dot.
    func event(_ dot: Dot) throws(StoreError) -> StoredEvent?
    /// Calls `body` with the events after `position` in order, at most `limit` of them, until it returns false. Returns
    /// the last position seen.
    func scan(after position: UInt64, limit: Int, _ body: (StoredEvent) -> Bool) throws(StoreError) -> UInt64
    /// The smallest stored head of at least `size` events, or the largest of those.
    func head(of origin: OriginID, atLeast size: UInt64, largest: Bool) throws(StoreError) -> SignedHead?
    /// The proof that an origin's first `old` events are a prefix of its first `new`.
    func consistency(
        of origin: OriginID, from old: UInt64, to new: UInt64, using sha: SHA256
    ) throws(StoreError) -> [Digest]
    /// How far the last head of an origin reaches beyond its events, if one ever did.
    func reach(of origin: OriginID) throws(StoreError) -> PendingCoverage?
    /// What vouches for the first `old` events of the origin of `reach`.
    func coverage(ofFirst old: UInt64, by reach: PendingCoverage, using sha: SHA256) throws(StoreError) -> Coverage?
}

extension LogReader: OutgoingLog {}

/// Reads what a peer lacks. Not Sendable: one for each thread that serves peers.
package final class OutgoingReader {
    private let log: any OutgoingLog
    /// A head of everything this node has appended; signed when it is asked for.
    private let ownHead: () -> SignedHead?
    private let sha = SHA256()
    /// Bytes around an event in a message, at most.
    private static let framing = 48

    /// Reads from `log`, whose node signs what it appended in `ownHead`.
    package init(_ log: any OutgoingLog, ownHead: @escaping () -> SignedHead?) {
        self.log = log
        self.ownHead = ownHead
    }

    /// The position after which everything that `known` lacks of the `wanted` origins (`nil`: of all) stands.
    package func start(for known: VersionVector, wanted: Set<OriginID>? = nil) throws(StoreError) -> UInt64 {
        var first: UInt64?
        // Before the vector: what is committed between the two reads must not be passed over.
        let top = try log.top()
        for last in try log.vector().entries where last.seq > known[last.origin] {
            guard wanted?.contains(last.origin) ?? true else { continue }
            let position = try log.event(Dot(origin: last.origin, seq: known[last.origin] + 1))?.position
            if let position { first = min(first ?? position, position) }
        }
        return first.map { $0 - 1 } ?? top
    }

    /// The next events after `position` that `known` does not contain.
    ///
    /// Only events that a signed head covers leave the node: those of other origins as far as a head vouches for them that
    /// was received, our own always. The batch ends before the first event that is not covered yet.
    ///
    /// - Parameter sound: What the peer has, or will have from sound batches alone.
    /// - Parameter kind: Which of them.
    package func batch(
        after position: UInt64, lacking known: VersionVector, sound: VersionVector = VersionVector(),
        kind: OutgoingSelection.Kind = .everything,
        limits: OutgoingLimits
    ) throws(StoreError) -> OutgoingBatch {
        var batch = OutgoingBatch()
        var bytes = 0
        var ends = Ends(sign: ownHead)
        var selection = OutgoingSelection(known: known, sound: sound, kind: kind)
        var isFull = false
        // The event that was read last begins the next batch.
        var isCut = false
        var isBlocked = false
        var failure: StoreError?
        // A scan is one short read transaction: the WAL must not wait for a slow peer.
        let chunk = limits.events
        var scanned = 0
        batch.through = try log.scan(after: position, limit: chunk) { stored in
            scanned += 1
            guard stored.position <= limits.through else {
                isBlocked = true
                return false
            }
            let dot = stored.event.header.dot
            let dependencies = stored.event.header.dependencies
            switch selection.answer(dot, dependencies: dependencies) {
            case .passedOver: return true
            case .nextBatch:
                isCut = true
                return false
            case .taken: break
            }
            let covered: UInt64
            do throws(StoreError) {
                covered = try ends.covered(dot.origin, log)
                guard dot.seq <= covered else {
                    isBlocked = true
                    return false
                }
            } catch {
                failure = error
                return false
            }
            let encoded = EncodedEvent(stored.event)
            bytes += encoded.header.count + stored.event.body.count + Self.framing
            if !selection.includes(dot.origin) { bytes += Coverage.maximumBytes(covered) }
            guard batch.events.isEmpty || bytes <= limits.frame else {
                isCut = true
                return false
            }
            selection.take(dot, dependencies)
            batch.events.append(encoded)
            isFull = bytes >= limits.bytes || bytes >= limits.bytes / 2 && Self.endsSubtree(dot, limits)
            return !isFull
        }
        if let failure { throw failure }
        if isBlocked || isCut { batch.through -= 1 }
        batch.isAtTop = !isFull && !isCut && (isBlocked || scanned < chunk)
        batch.isSound = selection.isSound
        batch.advanced = selection.advanced
        for dot in batch.advanced { batch.coverage.append(try log.coverage(of: dot, ends.own, using: sha)) }
        return batch
    }

    /// Whether the log keeps the roots of all there is up to here, so that a proof from here on needs no leaves to be hashed
    /// once more. Small frames, for slow lines, end where they are full.
    private static func endsSubtree(_ dot: Dot, _ limits: OutgoingLimits) -> Bool {
        dot.seq % (1 << UInt64(MerkleStore.levelStep)) == 0 && limits.bytes >= 128 << 10
    }

    /// How far each origin may be sent.
    private struct Ends {
        let sign: () -> SignedHead?
        /// Signed when the first event is about to leave.
        lazy var own = sign()
        private var limits: [OriginID: UInt64] = [:]
        /// The one that was asked for last.
        private var latest: Dot?

        init(sign: @escaping () -> SignedHead?) { self.sign = sign }

        mutating func covered(_ origin: OriginID, _ log: any OutgoingLog) throws(StoreError) -> UInt64 {
            if let latest, latest.origin == origin { return latest.seq }
            let size: UInt64
            if let known = limits[origin] { size = known } else { size = try log.covered(origin, own) }
            limits[origin] = size
            latest = Dot(origin: origin, seq: size)
            return size
        }
    }
}

extension OutgoingLog {
    /// How many events of an origin are covered by a head or a reach.
    ///
    /// - Parameter ownHead: A head of all that this node has appended.
    func covered(_ origin: OriginID, _ ownHead: SignedHead?) throws(StoreError) -> UInt64 {
        if let ownHead, ownHead.head.origin == origin { return ownHead.head.size }
        let head = try head(of: origin, atLeast: 1, largest: true)?.head.size ?? 0
        return max(head, try reach(of: origin)?.size ?? 0)
    }

    /// What vouches for the events up to `dot`.
    func coverage(
        of dot: Dot, _ ownHead: SignedHead?, using sha: SHA256
    ) throws(StoreError) -> Coverage {
        if let ownHead, ownHead.head.origin == dot.origin, ownHead.head.size == dot.seq {
            return Coverage(head: ownHead, proof: [])
        }
        let stored = try head(of: dot.origin, atLeast: dot.seq, largest: false)
        let isOwn = dot.origin == ownHead?.head.origin
        if stored == nil, !isOwn, let reach = try reach(of: dot.origin), reach.size >= dot.seq {
            if let coverage = try coverage(ofFirst: dot.seq, by: reach, using: sha) { return coverage }
        }
        guard let head = stored ?? (isOwn ? ownHead : nil), head.head.size >= dot.seq else {
            throw .corrupt("no head of origin \(dot.origin) for \(dot.seq) events")
        }
        let proof = try consistency(of: dot.origin, from: dot.seq, to: head.head.size, using: sha)
        return Coverage(head: head, proof: proof)
    }
}

extension LogReader {
    /// A head of at least the events up to `dot`, as its origin signed it.
    ///
    /// - Parameter ownHead: A head of all that this node has appended.
    package func head(of dot: Dot, ownHead: SignedHead?) throws(StoreError) -> SignedHead? {
        let own = ownHead.flatMap { $0.head.origin == dot.origin ? $0 : nil }
        let known = [try head(of: dot.origin, atLeast: dot.seq), try reach(of: dot.origin)?.coverage.head, own]
        return known.compactMap { $0 }.first { $0.head.size >= dot.seq }
    }

    /// The smallest stored head of at least `size` events, or the largest of those.
    package func head(
        of origin: OriginID, atLeast size: UInt64, largest: Bool = false
    ) throws(StoreError) -> SignedHead? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return nil }
            return try MerkleStore(connection: connection, sha: SHA256())
                .head(of: origin, ref: ref, atLeast: size, largest: largest)
        }
    }

    /// The Merkle root of an origin's first `size` events.
    package func root(of origin: OriginID, size: UInt64) throws(StoreError) -> Digest {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return SHA256().digest([]) }
            return try MerkleStore(connection: connection, sha: SHA256()).root(origin: ref, size: size, names: &names)
        }
    }

    /// The proof that an origin's first `old` events are a prefix of its first `new`.
    package func consistency(
        of origin: OriginID, from old: UInt64, to new: UInt64, using sha: SHA256
    ) throws(StoreError) -> [Digest] {
        guard old < new else { return [] }
        return try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return [] }
            let merkle = MerkleStore(connection: connection, sha: sha)
            return try MerkleProof.consistency(from: old, to: new, using: sha) {
                (level, index) throws(DatabaseError) in
                let place = ProofNode(origin: ref, level: level, index: index)
                if let known = proofNodes[place] { return known }
                let node = try merkle.node(origin: ref, level: level, index: index, names: &names)
                if proofNodes.count == 4_096 { proofNodes = [:] }
                proofNodes[place] = node
                return node
            }
        }
    }
}
