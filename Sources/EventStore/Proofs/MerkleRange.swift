/// The Merkle tree over a growing list (RFC 6962 §2.1), kept as its perfect subtrees from left to right: one for each
/// set bit of ``size``.
package struct MerkleRange: Hashable, Sendable {
    /// How many leaves.
    package private(set) var size: UInt64
    /// The roots of the perfect subtrees, largest first.
    package private(set) var peaks: [Digest]

    /// The empty tree.
    package init() {
        size = 0
        peaks = []
    }

    /// A tree of `size` leaves whose perfect subtrees have these roots, largest first.
    init(size: UInt64, peaks: [Digest]) {
        precondition(peaks.count == size.nonzeroBitCount)
        self.size = size
        self.peaks = peaks
    }

    /// Adds a leaf. `completed` hears of each perfect subtree of 2^level leaves that this leaf finishes, its own leaf
    /// (level 0) included; `index` counts the subtrees of that level from 0.
    package mutating func append(
        _ leaf: Digest, using sha: SHA256, completed: (_ level: Int, _ index: UInt64, Digest) -> Void = { _, _, _ in }
    ) {
        var node = leaf
        var level = 0
        var rest = size
        size += 1
        completed(0, size - 1, leaf)
        while rest & 1 == 1 {
            node = sha.node(peaks.removeLast(), node)
            level += 1
            rest >>= 1
            completed(level, (size >> UInt64(level)) - 1, node)
        }
        peaks.append(node)
    }

    /// The root that the tree has with one leaf more.
    func root(adding leaf: Digest, using sha: SHA256) -> Digest {
        peaks.reversed().reduce(leaf) { root, peak in sha.node(peak, root) }
    }

    /// The root over all leaves; SHA-256 of nothing for the empty tree.
    package func root(using sha: SHA256) -> Digest {
        guard var root = peaks.last else { return sha.digest([]) }
        for peak in peaks.dropLast().reversed() { root = sha.node(peak, root) }
        return root
    }
}
