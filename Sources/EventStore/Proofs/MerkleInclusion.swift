extension MerkleProof {
    /// Longest inclusion proof in a tree whose size has 64 bits.
    package static let longestInclusion = 64

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
