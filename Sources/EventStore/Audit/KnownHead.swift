/// A head that someone outside of the store has kept, which the log must not contradict: a receipt, or what a peer holds.
package struct KnownHead: Hashable, Sendable {
    /// What it means when the log ends before it.
    package enum Shortfall: Hashable, Sendable {
        /// It was here: something is missing.
        case contradicts
        /// It need not be here yet; then it is not proven.
        case isOpen
        /// Peers are ahead now and then.
        case isUsual
    }

    package let head: TreeHead
    /// Who knows it, as a finding names it.
    package let source: String
    package let shortfall: Shortfall
    /// Whether it may be of the other one of two histories where those are proven.
    package let isExcusedByFork: Bool
    /// Whose key has signed it, by a receipt that proves itself; `nil` where the log's own key was taken.
    let signer: VerifyingKey?

    package init(
        _ head: TreeHead, source: String, shortfall: Shortfall, isExcusedByFork: Bool = false,
        signer: VerifyingKey? = nil
    ) {
        (self.head, self.source, self.shortfall) = (head, source, shortfall)
        (self.isExcusedByFork, self.signer) = (isExcusedByFork, signer)
    }
}

/// Where a log ended by a receipt that its maker has signed: a log only grows.
package struct KnownEnd: Hashable, Sendable {
    /// The last position; 0 by a receipt of another node, whose positions are its own.
    package let position: UInt64
    /// How many events of each origin were there, those under its head and those that no head covered yet.
    package let events: VersionVector
    /// Who knows it, as a finding names it.
    package let source: String
    /// Whether it was here: what another node has counted need not be, and is not proven then.
    package let isOwn: Bool
    /// Of which cluster its maker was; `nil` where that says nothing.
    let cluster: String?

    package init(position: UInt64, events: VersionVector, source: String, isOwn: Bool, cluster: String? = nil) {
        (self.position, self.events, self.source) = (position, events, source)
        (self.isOwn, self.cluster) = (isOwn, cluster)
    }
}

extension LogAudit {
    /// The log is no shorter than it was, and of the same cluster.
    mutating func checkEnds(_ ends: [KnownEnd]) throws(DatabaseError) {
        let cluster = try metaText("cluster")
        for end in ends {
            if let cluster, let other = end.cluster, cluster != other {
                findings.add(.ends, "table meta names cluster \(cluster); \(end.source) was made in cluster \(other)")
            }
            for known in end.events.entries {
                let here = indexesByID[known.origin].map { origins[$0].seq } ?? 0
                guard here < known.seq else { continue }
                let text =
                    "origin \(known.origin) ends at seq \(here); \(end.source) counts \(known.seq) events of it"
                guard end.isOwn else {
                    notes.append(text)
                    continue
                }
                findings.add(VerifyFinding(.ends, text, dot: Dot(origin: known.origin, seq: here + 1)))
            }
            guard UInt64(clamping: top) < end.position else { continue }
            findings.add(
                .ends, "the log ends at position \(top); \(end.source) was made at position \(end.position)")
        }
    }

    /// The log goes on from what others know of it. Of each origin the first contradiction is named.
    mutating func checkKnown(_ known: [KnownHead]) throws(DatabaseError) {
        let byOrigin = Dictionary(grouping: known) { $0.head.origin }
        for (origin, heads) in byOrigin.sorted(by: { $0.key < $1.key }) {
            guard isSigner(heads, of: origin) else { continue }
            var agreed: UInt64 = 0
            for head in heads.sorted(by: { $0.head.size < $1.head.size }) {
                guard try goesOn(from: head, of: origin, &agreed) else { break }
            }
        }
    }

    /// The log has the key of an origin that has signed its heads elsewhere: else it is another's history under the same name.
    private mutating func isSigner(_ heads: [KnownHead], of origin: OriginID) -> Bool {
        guard let key = indexesByID[origin].map({ origins[$0].key }),
            let other = heads.first(where: { $0.signer ?? key != key }), let signer = other.signer
        else { return true }
        let text =
            "origin \(origin) has the key of node \(key.nodeID.short) here; \(other.source) has a head of it that node "
            + "\(signer.nodeID.short) has signed"
        findings.add(VerifyFinding(.ends, text, dot: Dot(origin: origin, seq: 1)))
        return false
    }

    /// False where nothing more can be said of the origin. `agreed` is how many of its events are those that others know.
    private mutating func goesOn(
        from known: KnownHead, of origin: OriginID, _ agreed: inout UInt64
    ) throws(DatabaseError) -> Bool {
        let size = known.head.size
        let here = indexesByID[origin].map { origins[$0].seq } ?? 0
        guard let index = indexesByID[origin], here >= size else {
            let text = known.head.beyond(here, known.source)
            switch known.shortfall {
            case .contradicts: findings.add(VerifyFinding(.ends, text, dot: Dot(origin: origin, seq: here + 1)))
            case .isOpen: notes.append(text)
            case .isUsual: break
            }
            return false
        }
        guard let root = try root(of: index, size: size) else { return false }
        // Of two histories that are proven peers may hold the other one. A receipt was of this log: a fork explains it, and excuses nothing.
        if known.isExcusedByFork, forked.contains(origin) { return true }
        guard root == known.head.root else {
            let text = known.head.otherHistory(known.source, from: agreed + 1)
            findings.add(VerifyFinding(.ends, text, dot: Dot(origin: origin, seq: agreed + 1)))
            return false
        }
        agreed = size
        return true
    }
}
