extension MerkleProof {
    /// Longest inclusion proof in a tree whose size has 64 bits.
    package static let longestInclusion = 64

    /// The audit path of leaf `index` (from 0) in the tree of the first `size` leaves (RFC 6962 §2.1.1), from the leaf up.
    package static func inclusion<Failure: Error>(
        of index: UInt64, size: UInt64, using sha: SHA256, nodes: NodeSource<Failure>
    ) throws(Failure) -> [Digest] {
        precondition(index < size)
        var path: [Digest] = []
        var start = UInt64(0), end = size
        // From the root down: the half without the leaf goes into the path.
        while end - start > 1 {
            let split = start + UInt64(1) << UInt64(63 - (end - start - 1).leadingZeroBitCount)
            if index < split {
                path.append(try root(split, end, using: sha, nodes: nodes))
                end = split
            } else {
                path.append(try root(start, split, using: sha, nodes: nodes))
                start = split
            }
        }
        return path.reversed()
    }

    /// Whether `proof` shows that `leaf` is number `index` (from 0) in the tree of `size` leaves with `root`
    /// (RFC 9162 §2.1.3.2).
    package static func isIncluded(
        _ leaf: Digest, index: UInt64, size: UInt64, root: Digest, proof: [Digest], using sha: SHA256
    ) -> Bool {
        guard index < size else { return false }
        var first = index, last = size - 1
        var node = leaf
        for sibling in proof {
            guard last != 0 else { return false }
            if first & 1 == 1 || first == last {
                node = sha.node(sibling, node)
                while first & 1 == 0, first != 0 {
                    first >>= 1
                    last >>= 1
                }
            } else {
                node = sha.node(node, sibling)
            }
            first >>= 1
            last >>= 1
        }
        return last == 0 && node == root
    }
}
