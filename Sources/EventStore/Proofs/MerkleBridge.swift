/// A consistency proof over leaves that are not all here. A node that has the first `have` leaves of a tree and the proof from there to
/// the whole can prove every smaller tree to be a prefix of the whole as well.
///
/// Each digest of an RFC 6962 proof is the root over a range of leaves. The ranges of the proof that is here, together
/// with the leaves that are here, make up the whole tree; so every range of a smaller tree's proof can be put together.
package struct MerkleBridge {
    private struct LeafRange: Hashable {
        let start: UInt64
        let end: UInt64
    }

    private let have: UInt64
    private let whole: UInt64
    private var known: [LeafRange: Digest] = [:]

    /// The proof from the first `have` leaves to `whole`; `nil` if it has another shape.
    package init?(have: UInt64, whole: UInt64, proof: [Digest]) {
        guard have > 0, have <= whole else { return nil }
        let ranges = Self.ranges(have, 0, whole, isWhole: true)
        guard ranges.count == proof.count else { return nil }
        self.have = have
        self.whole = whole
        for (range, digest) in zip(ranges, proof) { known[range] = digest }
    }

    /// The proof from the first `old` leaves, at most those that are here, to the whole; `nodes` knows the perfect
    /// subtrees of the leaves that are here.
    package func consistency<Failure: Error>(
        from old: UInt64, using sha: SHA256, nodes: MerkleProof.NodeSource<Failure>
    ) throws(Failure) -> [Digest]? {
        guard old > 0, old <= have else { return nil }
        var proof: [Digest] = []
        for range in Self.ranges(old, 0, whole, isWhole: true) {
            guard let root = try root(range, sha, nodes) else { return nil }
            proof.append(root)
        }
        return proof
    }

    /// The audit path of leaf `index` (from 0), one of those that are here, in the whole tree, from the leaf up
    /// (RFC 6962 §2.1.1).
    package func inclusion<Failure: Error>(
        of index: UInt64, using sha: SHA256, nodes: MerkleProof.NodeSource<Failure>
    ) throws(Failure) -> [Digest]? {
        guard index < have else { return nil }
        var path: [Digest] = []
        var within = LeafRange(start: 0, end: whole)
        while within.end - within.start > 1 {
            let middle = within.start + Self.split(within.end - within.start)
            let left = LeafRange(start: within.start, end: middle)
            let right = LeafRange(start: middle, end: within.end)
            guard let sibling = try root(index < middle ? right : left, sha, nodes) else { return nil }
            path.append(sibling)
            within = index < middle ? left : right
        }
        return path.reversed()
    }

    private func root<Failure: Error>(
        _ range: LeafRange, _ sha: SHA256, _ nodes: MerkleProof.NodeSource<Failure>
    ) throws(Failure) -> Digest? {
        if range.end <= have { return try MerkleProof.root(range.start, range.end, using: sha, nodes: nodes) }
        if let digest = known[range] { return digest }
        guard range.end - range.start > 1 else { return nil }
        let middle = range.start + Self.split(range.end - range.start)
        guard let left = try root(LeafRange(start: range.start, end: middle), sha, nodes),
            let right = try root(LeafRange(start: middle, end: range.end), sha, nodes)
        else { return nil }
        return sha.node(left, right)
    }

    /// What the digests of a proof stand for, in its order (RFC 6962 §2.1.2).
    private static func ranges(_ old: UInt64, _ start: UInt64, _ end: UInt64, isWhole: Bool) -> [LeafRange] {
        let count = end - start
        if old == count { return isWhole ? [] : [LeafRange(start: start, end: end)] }
        let middle = start + split(count)
        if old <= middle - start {
            return ranges(old, start, middle, isWhole: isWhole) + [LeafRange(start: middle, end: end)]
        }
        return ranges(old - (middle - start), middle, end, isWhole: false) + [LeafRange(start: start, end: middle)]
    }

    /// The largest power of two below `count`.
    private static func split(_ count: UInt64) -> UInt64 { 1 << UInt64(63 - (count - 1).leadingZeroBitCount) }
}
