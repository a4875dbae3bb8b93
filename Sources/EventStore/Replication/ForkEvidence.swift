internal import Glibc

/// One of the two histories of a forked origin: its signed head, and the first event in which they differ with the proof
/// that it belongs to that head. Without payload: evidence may outlive the erasure of what was said (D14).
package struct ForkBranch: Hashable, Sendable {
    /// A head of at least that event.
    package let head: SignedHead
    /// The event's header as it was signed: canonical, or one that this release cannot read.
    package let header: [UInt8]
    /// SHA-256(salt ‖ payload).
    package let payloadDigest: Digest
    /// The RFC 6962 audit path from the event's leaf to the head.
    package let proof: [Digest]

    /// A branch of these parts; nothing is checked here.
    package init(head: SignedHead, header: [UInt8], payloadDigest: Digest, proof: [Digest]) {
        self.head = head
        self.header = header
        self.payloadDigest = payloadDigest
        self.proof = proof
    }

    /// The Merkle leaf of the event, which tells the branches apart.
    package func leaf(_ sha: SHA256) -> Digest { sha.leaf(header: header, payloadDigest: payloadDigest) }

    /// Whether the origin's key signed a history whose event `seq` is this one.
    package func isValid(_ dot: Dot, key: VerifyingKey) -> Bool {
        let sha = SHA256()
        guard head.head.origin == dot.origin, dot.seq > 0, (try? EventHeader(received: header))?.dot == dot,
            proof.count <= MerkleProof.longestInclusion
        else { return false }
        return MerkleProof.isIncluded(
            leaf(sha), index: dot.seq - 1, size: head.head.size, root: head.head.root, proof: proof, using: sha)
            && head.isValid(for: key)
    }
}

/// Proof that one key has signed two histories of one origin. Anyone who has the key can check it; no one without the private
/// key can make it up.
package struct ForkEvidence: Hashable, Sendable {
    /// Whose.
    package let origin: OriginID
    /// The first event in which the histories differ.
    package let seq: UInt64
    /// Both, ascending by the leaf of that event: the same on every node.
    package let branches: [ForkBranch]

    /// The evidence in two branches that differ at `dot`; `nil` if `key` did not sign both, or they do not differ.
    package init?(_ dot: Dot, _ one: ForkBranch, _ other: ForkBranch, key: VerifyingKey) {
        let sha = SHA256()
        let leaves = [one.leaf(sha), other.leaf(sha)].map(\.bytes)
        guard leaves[0] != leaves[1], one.isValid(dot, key: key), other.isValid(dot, key: key) else { return nil }
        origin = dot.origin
        seq = dot.seq
        branches = leaves[0].lexicographicallyPrecedes(leaves[1]) ? [one, other] : [other, one]
    }

    /// Where the histories part.
    package var dot: Dot { Dot(origin: origin, seq: seq) }

    /// The same fork has the same name on every node: `fork-<origin>-<seq>-<8 digits of a leaf>-<8 of the other>`.
    package var name: String {
        let leaves = branches.map { String($0.leaf(SHA256()).description.prefix(8)) }
        return "fork-\(origin)-\(seq)-" + leaves.joined(separator: "-")
    }

    /// When it can have come about at the earliest, Unix milliseconds: the later of the two stamps that differ.
    package var stamp: Int64 {
        branches.map { (try? EventHeader(received: $0.header))?.hlc.milliseconds ?? .max }.max() ?? .max
    }

    /// Which of ``branches`` is the one in `log`; `nil` if it has neither.
    package func branch(in log: LogReader) throws(StoreError) -> Int? {
        guard let event = try log.event(dot)?.event else { return nil }
        let sha = SHA256()
        let leaf = sha.leaf(of: event)
        return branches.firstIndex { $0.leaf(sha) == leaf }
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
