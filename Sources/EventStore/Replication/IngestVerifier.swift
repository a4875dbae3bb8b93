/// Why events of a peer are refused. Nothing of the batch is stored.
package enum IngestError: Error, Hashable, Sendable {
    /// A header that does not even name its dot, or is longer than any may be.
    case header(InvalidHeader)
    /// `seq` is not the next one: events are missing in between.
    case gap(Dot, have: UInt64)
    /// Its hlc is not after that of the event before it.
    case stampOrder(Dot)
    /// A dependency is not here.
    case causalGap(Dot, needs: Dot)
    /// The first event of an origin does not say whose it is.
    case originStart(OriginID)
    /// There is no head for an origin in the batch, or one for fewer events.
    case notCovered(OriginID)
    /// The head's signature is not that of the origin's node.
    case badSignature(OriginID, size: UInt64)
    /// The events are not those the origin signed: changed on the way, or by their sender; or the origin's history
    /// has two branches.
    case badProof(OriginID, size: UInt64)
    /// The head is signed, and its hlc is not that of its last event.
    case badTime(OriginID, size: UInt64)
    /// A peer has events of this node's own origin that this node has not, and a head of `known` events that this node's key
    /// has signed: it has lost its memory.
    case amnesia(Dot, known: UInt64)
    /// The store could not take them.
    case store(StoreError)
}

extension IngestError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .header(let error): "malformed header: \(error)"
        case .gap(let dot, let have): "event \(dot) follows \(have): a gap"
        case .stampOrder(let dot): "the hlc of event \(dot) is not after that of the event before it"
        case .causalGap(let dot, let needs): "event \(dot) came before its dependency \(needs)"
        case .originStart(let origin): "origin \(origin) does not begin with whose it is"
        case .notCovered(let origin): "no signed head covers the events of origin \(origin)"
        case .badSignature(let origin, let size): "the head of origin \(origin) at \(size) has a wrong signature"
        case .badProof(let origin, let size):
            "the events of origin \(origin) up to \(size) are not those it signed"
        case .badTime(let origin, let size):
            "the head of origin \(origin) at \(size) has another hlc than its last event"
        case .amnesia(let dot, _): "a peer has event \(dot) of this node's own origin, which this node lacks"
        case .store(let error): error.description
        }
    }
}

/// A received event, checked and hashed.
struct VerifiedEvent: Sendable {
    let event: Event
    let leaf: Digest
    /// For the first event of an origin: whose it is.
    let start: OriginStart?
}

/// Received events that their origins have signed, and the heads that say so.
package struct VerifiedBatch: Sendable {
    var events: [VerifiedEvent] = []
    var heads: [SignedHead] = []
    /// Where a batch ended before the head that covers it.
    var reaches: [PendingCoverage] = []
    /// Origins of which there is another history somewhere: it has a signed head of this size, which these events
    /// contradict.
    package var contradicted: [Dot] = []
    /// Proofs of forks that could not be checked before these events came.
    package var proven: [ForkEvidence] = []
    /// Proofs in heads that these events contradict.
    package var contradictions: [ForkEvidence] = []
    /// How far each origin that occurred is known once the batch is stored, ascending by origin.
    package var progress: [OriginProgress] = []
    /// The last dot of each origin in what was received, ascending: so much the sender has.
    package var carried: [Dot] = []
    /// What it counts on.
    package var lineage = BatchChain()

    package var count: Int { events.count }

    /// Whether some of the events are without their payloads.
    package var hasErased: Bool { events.contains { if case .erased = $0.event.body { true } else { false } } }
}

/// Checks what peers send before anything is stored (D5): canonical form, order, dependencies, and that the origin's
/// signed head covers exactly these events. Hashing happens here, off the writer. One for each node, used by one thread;
/// it runs ahead of the writer and is made anew when the writer refuses a batch.
package final class IngestVerifier {
    private struct Tree {
        var range: MerkleRange
        let key: VerifyingKey
        /// Verified heads beyond what is here yet, ascending by size; stored when their size is reached.
        var ahead: [SignedHead] = []
        /// The hlc of the last event, if its header can be read.
        var hlc: HybridTime?
        /// Heads that other events contradict, each with the tree of these, until it is known what vouches for them.
        var contradicting: [(head: SignedHead, here: MerkleRange)] = []

        /// Whether a head of as many events as are here says when the last one was recorded. Of an opaque event that is unknown.
        func agrees(with head: TreeHead) -> Bool { hlc.map { $0 == head.hlc } ?? true }
    }

    /// Of all batches it lets pass.
    package let lineage = BatchChain()
    private let sha = SHA256()
    /// The origin this node appended to when the verifier was made.
    package let own: OriginID
    /// The key of that origin.
    private let ownKey: VerifyingKey?
    /// Origins proven to have two histories: what depends on an event of theirs cannot say on which, so it does not wait
    /// for it.
    private var forked: Set<OriginID>
    /// Proofs of forks in origins that are not here yet: without their keys nothing can be said of them.
    private var claims: [Claim] = []

    private struct Claim {
        let dot: Dot
        let branches: (ForkBranch, ForkBranch)
    }

    /// Most claims that are kept.
    private static let claimCapacity = 16
    /// How many events this node has appended durably: it goes on appending while the verifier lives.
    private let ownSize: () -> UInt64
    /// Of the other origins.
    private var trees: [OriginID: Tree] = [:]
    /// The last seq of each origin in the batch at hand.
    private var carried: [OriginID: UInt64] = [:]

    /// - Parameter reaches: Heads beyond the last events of their origins, verified when they came: what contradicts one
    ///   is another history, also after a restart.
    init(
        state: LogState, own: OriginID, forked: Set<OriginID>, reaches: [PendingCoverage],
        ownSize: @escaping () -> UInt64
    ) {
        self.own = own
        ownKey = state.origins.first { $0.id == own }?.key
        self.forked = forked
        self.ownSize = ownSize
        for origin in state.origins where origin.id != own {
            trees[origin.id] = Tree(range: origin.range, key: origin.key, hlc: origin.stamp)
        }
        for reach in reaches {
            guard let tree = trees[reach.origin], tree.range.size == reach.size,
                reach.coverage.head.isValid(for: tree.key)
            else { continue }
            trees[reach.origin]?.ahead = [reach.coverage.head]
        }
    }

    /// Takes note of what may be proof of a fork in an origin that is not here: it is checked when an event needs it, and when the
    /// origin has come.
    package func claim(_ dot: Dot, _ one: ForkBranch, _ other: ForkBranch) {
        guard one.hasEvent, other.hasEvent else { return }
        claims.removeAll { $0.dot.origin == dot.origin }
        if claims.count == Self.claimCapacity { claims.removeFirst() }
        claims.append(Claim(dot: dot, branches: (one, other)))
    }

    /// The proof of a fork in an origin of which events were verified, stored or not; `nil` if it is none, or there are none.
    package func evidence(_ dot: Dot, _ one: ForkBranch, _ other: ForkBranch) -> ForkEvidence? {
        trees[dot.origin].flatMap { ForkEvidence(dot, one, other, key: $0.key) }
    }

    /// How many events of `origin` have been verified.
    package func size(of origin: OriginID) -> UInt64 {
        origin == own ? ownSize() : trees[origin]?.range.size ?? 0
    }

    /// Checks a batch in the sender's order. What is here already is left out. On error nothing is taken note of.
    package func verify(_ received: [EncodedEvent], _ coverage: [Coverage]) throws(IngestError) -> VerifiedBatch {
        var working: [OriginID: Tree] = [:]
        var batch = VerifiedBatch()
        batch.lineage = lineage
        carried.removeAll(keepingCapacity: true)
        for item in received {
            if let verified = try verify(item, coverage, &working, &batch) { batch.events.append(verified) }
        }
        for origin in working.keys.sorted() {
            guard var tree = working[origin] else { continue }
            guard let cover = coverage.first(where: { $0.head.head.origin == origin }) else {
                throw .notCovered(origin)
            }
            try check(cover, &tree, &batch)
            prove(cover, &tree, &batch)
            working[origin] = tree
        }
        for (origin, tree) in working { trees[origin] = tree }
        lookAtClaims(&batch)
        for evidence in batch.proven { forked.insert(evidence.origin) }
        batch.progress = coverage.compactMap { cover in
            let origin = cover.head.head.origin
            return trees[origin].map { tree in
                OriginProgress(
                    origin: origin, seq: tree.range.size, rootPrefix: tree.range.root(using: sha).prefix64)
            }
        }.sorted { $0.origin < $1.origin }
        batch.carried = carried.map { Dot(origin: $0.key, seq: $0.value) }.sorted()
        return batch
    }

    private func verify(
        _ item: EncodedEvent, _ coverage: [Coverage], _ working: inout [OriginID: Tree], _ batch: inout VerifiedBatch
    ) throws(IngestError) -> VerifiedEvent? {
        let header: EventHeader
        do { header = try EventHeader(received: item.header) } catch { throw .header(error) }
        let dot = header.dot
        carried[dot.origin] = max(carried[dot.origin] ?? 0, dot.seq)
        if dot.origin == own {
            guard dot.seq <= ownSize() else { throw unknown(dot, coverage) }
            return nil
        }
        let tree = working[dot.origin] ?? trees[dot.origin]
        let size = tree?.range.size ?? 0
        if dot.seq <= size { return nil }
        guard dot.seq == size + 1 else { throw .gap(dot, have: size) }
        for needs in header.dependencies where needs.origin != dot.origin {
            let have = working[needs.origin]?.range.size ?? self.size(of: needs.origin)
            // A proof excuses no origin that is not here: its row is where a stored dependency points to.
            guard needs.seq <= have || have > 0 && isForked(needs.origin, working, &batch) else {
                throw .causalGap(dot, needs: needs)
            }
        }
        let event = Event(header: header, body: item.body.judged)
        let start = dot.seq == 1 ? OriginStart(event) : nil
        guard var next = tree ?? start.map({ Tree(range: MerkleRange(), key: $0.key) }) else {
            throw .originStart(dot.origin)
        }
        if !header.isOpaque, let last = next.hlc, header.hlc <= last { throw .stampOrder(dot) }
        let leaf = sha.leaf(header: item.header, payloadDigest: sha.payloadDigest(item.body))
        next.range.append(leaf, using: sha)
        next.hlc = header.isOpaque ? nil : header.hlc
        settle(&next, &batch)
        working[dot.origin] = next
        return VerifiedEvent(event: event, leaf: leaf, start: start)
    }

    /// Only a head that this node's own key has signed shows that there is more of its origin than it has.
    private func unknown(_ dot: Dot, _ coverage: [Coverage]) -> IngestError {
        guard let signed = coverage.first(where: { $0.head.head.origin == own })?.head, signed.head.size >= dot.seq
        else {
            return .notCovered(own)
        }
        guard let ownKey, signed.isValid(for: ownKey) else { return .badSignature(own, size: signed.head.size) }
        return .amnesia(dot, known: signed.head.size)
    }

    /// Whether the origin is known to have two histories, or a claim shows it now that the origin's key is here.
    private func isForked(
        _ origin: OriginID, _ working: [OriginID: Tree], _ batch: inout VerifiedBatch
    ) -> Bool {
        if forked.contains(origin) || batch.proven.contains(where: { $0.origin == origin }) { return true }
        guard let claim = claims.first(where: { $0.dot.origin == origin }),
            let key = (working[origin] ?? trees[origin])?.key,
            let evidence = ForkEvidence(claim.dot, claim.branches.0, claim.branches.1, key: key)
        else { return false }
        batch.proven.append(evidence)
        return true
    }

    /// Checks what was claimed of origins that have come since: also a node that needs no proof is to know of the fork.
    private func lookAtClaims(_ batch: inout VerifiedBatch) {
        guard !claims.isEmpty else { return }
        for claim in claims { _ = isForked(claim.dot.origin, [:], &batch) }
        claims.removeAll { trees[$0.dot.origin] != nil }
    }

    /// Stores a head that was verified earlier, now that its size is reached. If it speaks of another history, so be it:
    /// the one that came is as good, and refusing it would keep everything that follows out for ever. It is reported and proves a fork; so
    /// far one that speaks of another time is reported alone.
    private func settle(_ tree: inout Tree, _ batch: inout VerifiedBatch) {
        while let signed = tree.ahead.first, signed.head.size <= tree.range.size {
            tree.ahead.removeFirst()
            guard signed.head.size == tree.range.size else { continue }
            let isOfThese = signed.head.root == tree.range.root(using: sha)
            if isOfThese, tree.agrees(with: signed.head) {
                batch.heads.append(signed)
            } else {
                batch.contradicted.append(Dot(origin: signed.head.origin, seq: signed.head.size))
            }
            if !isOfThese { tree.contradicting.append((signed, tree.range)) }
        }
    }

    /// Makes proofs of what was found, now that a head vouches for these events: they are kept before the events are, so that a crash
    /// forgets none.
    private func prove(_ cover: Coverage, _ tree: inout Tree, _ batch: inout VerifiedBatch) {
        for (head, here) in tree.contradicting {
            let leaves = batch.events.filter { verified in
                let dot = verified.event.header.dot
                return dot.origin == head.head.origin && dot.seq > here.size
            }.map(\.leaf)
            guard let proof = here.proof(to: cover, through: leaves, using: sha),
                let evidence = ForkEvidence(
                    head, against: here.root(using: sha), Coverage(head: cover.head, proof: proof), key: tree.key)
            else { continue }
            batch.contradictions.append(evidence)
        }
        tree.contradicting = []
    }

    private func check(_ cover: Coverage, _ tree: inout Tree, _ batch: inout VerifiedBatch) throws(IngestError) {
        let head = cover.head.head
        let size = tree.range.size
        guard head.size >= size else { throw .notCovered(head.origin) }
        let isKnown = tree.ahead.contains(cover.head) || batch.heads.contains(cover.head)
        guard isKnown || cover.head.isValid(for: tree.key) else {
            throw .badSignature(head.origin, size: head.size)
        }
        let root = tree.range.root(using: sha)
        guard
            MerkleProof.isConsistent(
                old: size, oldRoot: root, new: head.size, newRoot: head.root, proof: cover.proof, using: sha)
        else { throw .badProof(head.origin, size: size) }
        if head.size == size {
            guard tree.agrees(with: head) else { throw .badTime(head.origin, size: size) }
            if !batch.heads.contains(cover.head) { batch.heads.append(cover.head) }
            return
        }
        // Two heads of one size and two roots: a proof before the events are here, whichever come.
        batch.contradictions += tree.ahead.filter { $0.head.size == head.size }.compactMap {
            ForkEvidence($0, against: head.root, Coverage(head: cover.head, proof: []), key: tree.key)
        }
        batch.reaches.append(PendingCoverage(size: size, coverage: cover))
        if !isKnown, tree.ahead.count < 64 {
            tree.ahead.append(cover.head)
            tree.ahead.sort { $0.head.size < $1.head.size }
        }
    }
}

extension EventBody {
    /// A body as it came from a peer: a payload that is none is kept as the bytes it is (D13), and is no reason to refuse
    /// the events around it.
    package var judged: EventBody {
        switch self {
        case .erased: return self
        case .present(let salt, let bytes), .unreadable(let salt, let bytes):
            do {
                try JSONScanner.validateObject(bytes)
                return .present(salt: salt, payload: bytes)
            } catch {
                return .unreadable(salt: salt, bytes: bytes)
            }
        }
    }
}

/// What ties verified batches together: each counts on those that its verifier let pass before it. When one of them is not
/// stored, those that follow must not be either, for their dependencies and repetitions may be in it (INV-5, INV-7).
package final class BatchChain: Sendable {
    private let broken = Lock(false)

    package init() {}

    /// Whether a batch was not stored: the verifier must be made anew.
    package var isBroken: Bool { broken.withLock { $0 } }

    /// A batch was not stored.
    package func breakOff() { broken.withLock { $0 = true } }
}
