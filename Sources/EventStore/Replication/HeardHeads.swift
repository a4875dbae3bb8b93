/// Heads that this node heard of before it had as many events of their origins. Each is compared once, when the log reaches its size, with the
/// tree here (INV-3): while events are verified, when a store is opened, when evidence has been taken in, and by who verifies a log.
extension LogReader {
    /// The proof that an origin has two histories in a head of it that is not of the events here; `nil` if it is, if they are not as many,
    /// or if no other head vouches for them.
    ///
    /// - Parameter ownHead: A head of all that this node has appended.
    package func contradiction(of heard: SignedHead, ownHead: SignedHead? = nil) throws(StoreError) -> ForkEvidence? {
        let head = heard.head
        guard let origin = try origin(head.origin), head.size > 0, head.size <= origin.size,
            heard.isValid(for: origin.key), case let root = try root(of: origin.id, size: head.size),
            root != head.root, try covered(origin.id, ownHead) >= head.size
        else { return nil }
        let coverage = try coverage(of: Dot(origin: origin.id, seq: head.size), ownHead, using: SHA256())
        return ForkEvidence(heard, against: root, coverage, key: origin.key)
    }
}

extension ForkEvidence {
    /// Keeps what table `reach` proves: an earlier release compared no row of it. A table that is not made yet proves nothing, and of damage
    /// `verify` tells.
    static func keepHeard(_ files: StoreFiles, _ reader: LogReader) throws(StoreError) {
        for reach in (try? reader.reaches()) ?? [] {
            guard let evidence = try? reader.contradiction(of: reach.coverage.head) else { continue }
            _ = try evidence.write(files)
        }
    }
}

extension MerkleRange {
    /// The consistency proof from the tree with these leaves to `coverage`, whose proof begins at the tree with `leaves` behind them;
    /// `nil` if that has another shape.
    func proof(to coverage: Coverage, through leaves: [Digest], using sha: SHA256) -> [Digest]? {
        let whole = coverage.head.head.size
        let bridge = MerkleBridge(have: size + UInt64(leaves.count), whole: whole, proof: coverage.proof)
        return bridge?.consistency(from: size, using: sha) { (level, index) throws(Never) in
            let first = index << UInt64(level)
            // Of the first leaves nothing is asked but whole subtrees: those to the left of one are the bits of where it begins.
            guard first >= size else { return peaks[first.nonzeroBitCount] }
            let start = Int(first - size)
            var range = MerkleRange()
            for leaf in leaves[start..<start + (1 << level)] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
    }
}
