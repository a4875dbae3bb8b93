/// What a node says it holds, with the word of its peers (FORMATS.md §9): what an auditor keeps elsewhere, to compare the log with later.
package struct Receipt: Hashable, Sendable {
    /// Who says so.
    package let maker: ReceiptMaker
    /// The origins, ascending.
    package let heads: [WitnessedHead]

    package init(maker: ReceiptMaker, heads: [WitnessedHead]) { (self.maker, self.heads) = (maker, heads) }

    /// The version that this release writes and reads.
    package static let version = 1

    /// How many events of the log no head here covers. An origin without any head has no line.
    package var uncovered: UInt64 {
        maker.position - min(maker.position, heads.saturatedSum(of: \.head.head.size))
    }

    /// How many other nodes than its own hold each of these origins up to at least so many events: the smallest of those numbers.
    package func witnesses(of vector: VersionVector) -> Int {
        let heads = Dictionary(uniqueKeysWithValues: self.heads.map { ($0.head.head.origin, $0) })
        return vector.entries.map { dot in
            heads[dot.origin]?.cosignatures.filter { $0.cosignature.head.size >= dot.seq }.count ?? 0
        }.min() ?? 0
    }
}

/// Which node makes a receipt or a proven answer, and when.
package struct ReceiptMaker: Hashable, Sendable {
    package let key: VerifyingKey
    package let name: String
    package let cluster: String
    /// Unix milliseconds, by that node's clock.
    package let time: Int64
    /// Where its log ended.
    package let position: UInt64

    package init(key: VerifyingKey, name: String, cluster: String, time: Int64, position: UInt64) {
        (self.key, self.name, self.cluster, self.time, self.position) = (key, name, cluster, time, position)
    }
}

/// An origin as a receipt has it.
package struct WitnessedHead: Hashable, Sendable {
    /// The key of the node that writes to it.
    package let key: VerifyingKey
    /// How many of its events the node had.
    package let events: UInt64
    /// A head of so many, or of fewer where none covers the rest yet.
    package let head: SignedHead
    /// When the last event that the head covers came to the node, Unix milliseconds; `nil` where that is not known.
    package let arrived: Int64?
    /// What other nodes than the origin's own hold of it: first those that have signed this head, then the others, each ascending by node.
    package let cosignatures: [ProvenCosignature]

    package init(
        key: VerifyingKey, events: UInt64, head: SignedHead, arrived: Int64?, cosignatures: [ProvenCosignature]
    ) {
        (self.key, self.events, self.head, self.arrived) = (key, events, head, arrived)
        self.cosignatures = cosignatures
    }
}

/// A cosignature, and the proof that it speaks of the same history as a head.
package struct ProvenCosignature: Hashable, Sendable {
    package let cosignature: Cosignature
    package let key: VerifyingKey
    /// The RFC 6962 consistency proof from the smaller of the two trees to the larger one; empty where both have the same size.
    package let proof: [Digest]

    package init(_ cosignature: Cosignature, key: VerifyingKey, proof: [Digest]) {
        (self.cosignature, self.key, self.proof) = (cosignature, key, proof)
    }

    /// The order in a file.
    func stands(before other: ProvenCosignature) -> Bool {
        guard proof.isEmpty == other.proof.isEmpty else { return proof.isEmpty }
        return cosignature.node < other.cosignature.node
    }

    /// Whether the node has said so, of the history of `head`.
    func isValid(for head: TreeHead, using sha: SHA256) -> Bool {
        let other = cosignature.head
        guard other.origin == head.origin, cosignature.isValid(for: key) else { return false }
        if other.size == head.size { return other == head && proof.isEmpty }
        let (old, new) = other.size < head.size ? (other, head) : (head, other)
        return MerkleProof.isConsistent(
            old: old.size, oldRoot: old.root, new: new.size, newRoot: new.root, proof: proof, using: sha)
    }
}

/// Whose events an answer has.
package enum AnswerScope: Hashable, Sendable {
    case user(String)
    case conversation(String)
    case event(EventID)

    /// The member of the first line that says so.
    package var member: (name: String, value: String) {
        switch self {
        case .user(let user): ("user", user)
        case .conversation(let id): ("conversation", id)
        case .event(let id): ("event", id.description)
        }
    }

    /// Whether an event with this header belongs to it. Texts are equal when their bytes are; what cannot be read has no user.
    package func contains(_ header: EventHeader) -> Bool {
        switch self {
        case .user(let user): !header.isOpaque && header.user.hasSameBytes(as: user)
        case .conversation(let id): header.conversation?.hasSameBytes(as: id) ?? false
        case .event(let id): header.id == id
        }
    }
}
