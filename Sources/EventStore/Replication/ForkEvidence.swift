internal import Glibc

/// One of the two histories of a forked origin: its signed head, and the first event in which they differ with the proof
/// that it belongs to that head. Without payload: evidence may outlive the erasure of what was said (D14).
///
/// Where the events of one history are not here, the roots of as many events of both stand for the event.
package struct ForkBranch: Hashable, Sendable {
    /// What is signed here and otherwise there.
    package enum Content: Hashable, Sendable {
        /// The event's header as it was signed, canonical or one that this release cannot read, and SHA-256(salt ‖ payload).
        case event(header: [UInt8], payloadDigest: Digest)
        /// The root of the first events, the last of which need not be here.
        case root(Digest)
    }

    /// A head of at least that event.
    package let head: SignedHead
    package let content: Content
    /// The RFC 6962 audit path from the event's leaf to the head, or the consistency proof from the root.
    package let proof: [Digest]

    /// A branch of these parts; nothing is checked here.
    package init(head: SignedHead, header: [UInt8], payloadDigest: Digest, proof: [Digest]) {
        (self.head, self.proof, content) = (head, proof, .event(header: header, payloadDigest: payloadDigest))
    }

    /// A branch whose events need not be here; nothing is checked here.
    package init(root: Digest, of coverage: Coverage) {
        (head, proof, content) = (coverage.head, coverage.proof, .root(root))
    }

    /// What tells the branches apart: the Merkle leaf of the event, or the root.
    package func mark(_ sha: SHA256) -> Digest {
        switch content {
        case .event(let header, let payloadDigest): sha.leaf(header: header, payloadDigest: payloadDigest)
        case .root(let root): root
        }
    }

    /// Whether it shows an event, not a root of events.
    var hasEvent: Bool {
        if case .event = content { true } else { false }
    }

    /// Whether the origin's key signed a history whose event `seq` is this one, or whose first `seq` events have this root.
    package func isValid(_ dot: Dot, key: VerifyingKey) -> Bool {
        guard head.head.origin == dot.origin, dot.seq > 0, proof.count <= MerkleProof.longestInclusion else {
            return false
        }
        return isShown(dot, SHA256()) && head.isValid(for: key)
    }

    private func isShown(_ dot: Dot, _ sha: SHA256) -> Bool {
        let (size, signed) = (head.head.size, head.head.root)
        switch content {
        case .root(let root):
            return MerkleProof.isConsistent(
                old: dot.seq, oldRoot: root, new: size, newRoot: signed, proof: proof, using: sha)
        case .event(let header, _):
            return (try? EventHeader(received: header))?.dot == dot
                && MerkleProof.isIncluded(
                    mark(sha), index: dot.seq - 1, size: size, root: signed, proof: proof, using: sha)
        }
    }
}

/// Proof that one key has signed two histories of one origin. Anyone who has the key can check it; no one without the private
/// key can make it up.
package struct ForkEvidence: Hashable, Sendable {
    /// Whose.
    package let origin: OriginID
    /// The first event in which the histories differ; by roots, up to which they do.
    package let seq: UInt64
    /// Both, ascending by what tells them apart: the same on every node.
    package let branches: [ForkBranch]

    /// The evidence in two branches that differ at `dot`; `nil` if `key` did not sign both, or they do not differ.
    package init?(_ dot: Dot, _ one: ForkBranch, _ other: ForkBranch, key: VerifyingKey) {
        let sha = SHA256()
        let marks = [one.mark(sha), other.mark(sha)].map(\.bytes)
        guard marks[0] != marks[1], one.hasEvent == other.hasEvent, one.isValid(dot, key: key),
            other.isValid(dot, key: key)
        else { return nil }
        origin = dot.origin
        seq = dot.seq
        branches = marks[0].lexicographicallyPrecedes(marks[1]) ? [one, other] : [other, one]
    }

    /// The evidence in a head that was heard of, where the log has reached its size (INV-3): `root` is that of so many events here, which
    /// `coverage` vouches for. `nil` if they are those that the head speaks of.
    init?(_ heard: SignedHead, against root: Digest, _ coverage: Coverage, key: VerifyingKey) {
        guard heard.head.root != root else { return nil }
        let theirs = ForkBranch(root: heard.head.root, of: Coverage(head: heard, proof: []))
        let dot = Dot(origin: heard.head.origin, seq: heard.head.size)
        self.init(dot, theirs, ForkBranch(root: root, of: coverage), key: key)
    }

    /// Whether it shows the first event that differs. Only then it is passed on, and excuses what depends on the other history: peers ask for
    /// that event when they meet the other history, and such a proof follows.
    package var namesEvent: Bool { branches.allSatisfy(\.hasEvent) }

    /// Where the histories part.
    package var dot: Dot { Dot(origin: origin, seq: seq) }

    /// The same fork has the same name on every node: `fork-<origin>-<seq>-<8 digits of a leaf or root>-<8 of the other>`.
    package var name: String {
        let marks = branches.map { String($0.mark(SHA256()).description.prefix(8)) }
        return "fork-\(origin)-\(seq)-" + marks.joined(separator: "-")
    }

    /// When it can have come about at the earliest, Unix milliseconds: the later of the two stamps that differ. Roots do not tell.
    package var stamp: Int64 {
        let stamps = branches.map { branch -> Int64 in
            guard case .event(let header, _) = branch.content else { return .max }
            return (try? EventHeader(received: header))?.hlc.milliseconds ?? .max
        }
        return stamps.max() ?? .max
    }

    /// Which of ``branches`` is the one in `log`; `nil` if it has neither.
    package func branch(in log: LogReader) throws(StoreError) -> Int? {
        guard let event = try log.event(dot)?.event else { return nil }
        let sha = SHA256()
        let mark = namesEvent ? sha.leaf(of: event) : try log.root(of: origin, size: seq)
        return branches.firstIndex { $0.mark(sha) == mark }
    }
}

extension LogReader {
    /// This log's history of an origin as a branch that differs at `dot`; `nil` if the event or a head of it is not here.
    /// `ownHead` vouches for the newest events of this node's own origin.
    package func branch(at dot: Dot, ownHead: SignedHead?) throws(StoreError) -> ForkBranch? {
        guard dot.seq > 0, let event = try event(dot)?.event else { return nil }
        let own = ownHead.flatMap { $0.head.origin == dot.origin ? $0 : nil }
        var head = try head(of: dot.origin, atLeast: dot.seq) ?? own
        var bridge = head.flatMap { MerkleBridge(have: $0.head.size, whole: $0.head.size, proof: []) }
        if head?.head.size ?? 0 < dot.seq, let reach = try reach(of: dot.origin), reach.size >= dot.seq {
            // The batch that brought the event ended before the head that covers it.
            (head, bridge) = (reach.coverage.head, reach.bridge)
        }
        guard let head, head.head.size >= dot.seq else { return nil }
        let sha = SHA256()
        let proof = try mapped { () throws(DatabaseError) -> [Digest]? in
            guard let ref = try names.originRef(dot.origin, on: connection) else { return nil }
            let merkle = MerkleStore(connection: connection, sha: sha)
            return try bridge?.inclusion(of: dot.seq - 1, using: sha) { (level, index) throws(DatabaseError) in
                try merkle.node(origin: ref, level: level, index: index, names: &names)
            }
        }
        guard let proof else { return nil }
        return ForkBranch(
            head: head, header: event.header.canonicalBytes, payloadDigest: sha.payloadDigest(event.body),
            proof: proof)
    }

    /// The key that signs an origin's heads; `nil` if nothing of the origin is here.
    package func key(of origin: OriginID) throws(StoreError) -> VerifyingKey? {
        try mapped { () throws(DatabaseError) in
            try connection.first("SELECT key FROM origin WHERE id = ?", [.blob(origin.bytes)]) {
                VerifyingKey(rawBytes: $0.bytes(0))
            }
        }
    }
}
