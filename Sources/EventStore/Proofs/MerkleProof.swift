/// Proofs that one tree is a prefix of another (RFC 6962 §2.1.2, verified as RFC 9162 §2.1.4.2 says).
package enum MerkleProof {
    /// Gives the root of the perfect subtree of 2^level leaves that is the `index`-th of its level.
    package typealias NodeSource<Failure: Error> = (_ level: Int, _ index: UInt64) throws(Failure) -> Digest

    /// The consistency proof between the trees of the first `old` and the first `new` leaves.
    package static func consistency<Failure: Error>(
        from old: UInt64, to new: UInt64, using sha: SHA256, nodes: NodeSource<Failure>
    ) throws(Failure) -> [Digest] {
        precondition(old <= new)
        guard old > 0, old < new else { return [] }
        return try subproof(old, 0, new, whole: true, sha, nodes)
    }

    /// The root over leaves `start ..< end`, where `start` is a multiple of the largest power of two below the count.
    package static func root<Failure: Error>(
        _ start: UInt64, _ end: UInt64, using sha: SHA256, nodes: NodeSource<Failure>
    ) throws(Failure) -> Digest {
        let peaks = try self.peaks(start, end, nodes: nodes)
        guard var root = peaks.last else { return sha.digest([]) }
        for peak in peaks.dropLast().reversed() { root = sha.node(peak, root) }
        return root
    }

    /// The perfect subtrees of leaves `start ..< end` from left to right.
    package static func peaks<Failure: Error>(
        _ start: UInt64, _ end: UInt64, nodes: NodeSource<Failure>
    ) throws(Failure) -> [Digest] {
        var peaks: [Digest] = []
        var at = start
        while at < end {
            let level = 63 - (end - at).leadingZeroBitCount
            peaks.append(try nodes(level, at >> UInt64(level)))
            at += 1 << UInt64(level)
        }
        return peaks
    }

    private static func subproof<Failure: Error>(
        _ old: UInt64, _ start: UInt64, _ end: UInt64, whole: Bool, _ sha: SHA256, _ nodes: NodeSource<Failure>
    ) throws(Failure) -> [Digest] {
        let count = end - start
        if old == count {
            return whole ? [] : [try root(start, end, using: sha, nodes: nodes)]
        }
        let split = UInt64(1) << UInt64(63 - (count - 1).leadingZeroBitCount)
        if old <= split {
            return try subproof(old, start, start + split, whole: whole, sha, nodes)
                + [try root(start + split, end, using: sha, nodes: nodes)]
        }
        return try subproof(old - split, start + split, end, whole: false, sha, nodes)
            + [try root(start, start + split, using: sha, nodes: nodes)]
    }

    /// Whether `proof` shows that the tree of `old` leaves with `oldRoot` is a prefix of that of `new` with `newRoot`.
    package static func isConsistent(
        old: UInt64, oldRoot: Digest, new: UInt64, newRoot: Digest, proof: [Digest], using sha: SHA256
    ) -> Bool {
        guard old <= new else { return false }
        if old == new { return proof.isEmpty && oldRoot == newRoot }
        if old == 0 { return proof.isEmpty }
        var path = proof[...]
        var first = old - 1, last = new - 1
        while first & 1 == 1 {
            first >>= 1
            last >>= 1
        }
        let seed = old.nonzeroBitCount == 1 ? oldRoot : path.popFirst()
        guard let seed else { return false }
        var oldSide = seed, newSide = seed
        for node in path {
            guard last != 0 else { return false }
            if first & 1 == 1 || first == last {
                oldSide = sha.node(node, oldSide)
                newSide = sha.node(node, newSide)
                while first & 1 == 0, first != 0 {
                    first >>= 1
                    last >>= 1
                }
            } else {
                newSide = sha.node(newSide, node)
            }
            first >>= 1
            last >>= 1
        }
        return last == 0 && oldSide == oldRoot && newSide == newRoot
    }
}
