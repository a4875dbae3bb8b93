/// What a node can hand to an empty one: its log up to a position at which signed heads cover everything.
package struct SnapshotPlan: Hashable, Sendable {
    /// The last position.
    package let through: UInt64
    /// How far each origin is there, ascending by origin.
    package let progress: [OriginProgress]

    package init(through: UInt64, progress: [OriginProgress]) {
        self.through = through
        self.progress = progress
    }

    /// How many events.
    package var events: UInt64 { progress.reduce(0) { $0 + $1.seq } }

    /// Names the snapshot: the first 16 bytes of SHA-256 over "sillok-snapshot-v1", the node's id and incarnation, the
    /// position, and for each origin its id, seq and root; numbers of eight bytes, most significant first.
    package func id(node: NodeID, incarnation: UInt64) -> UUIDBits {
        var bytes = Array("sillok-snapshot-v1".utf8) + node.digest.bytes
        bytes.appendBigEndian(incarnation)
        bytes.appendBigEndian(through)
        for entry in progress {
            entry.origin.bits.append(to: &bytes)
            bytes.appendBigEndian(entry.seq)
            bytes.appendBigEndian(entry.rootPrefix)
        }
        let digest = SHA256().digest(bytes)
        return UUIDBits(high: digest.words.0, low: digest.words.1)
    }
}

extension SnapshotReader {
    /// Bytes of the log's file.
    package func fileSize() throws(StoreError) -> UInt64 {
        try mapped { () throws(SQLiteError) in
            let pages = try connection.integer("PRAGMA page_count") ?? 0
            return UInt64(clamping: pages * Int64(PageFile.pageSize))
        }
    }

    /// A plan for everything that may leave the node now.
    ///
    /// - Parameter ownHead: A head of all that this node has appended.
    package func plan(ownHead: SignedHead?) throws(StoreError) -> SnapshotPlan {
        let origins = try log.origins().filter { $0.size > 0 }
        var through = try log.top()
        for origin in origins {
            let stored = try log.head(of: origin.id, atLeast: 1, largest: true)?.head.size ?? 0
            let own = ownHead?.head.origin == origin.id ? ownHead?.head.size ?? 0 : 0
            let covered = max(stored, own)
            guard covered < origin.size else { continue }
            let dot = Dot(origin: origin.id, seq: covered + 1)
            guard let position = try log.event(dot)?.position else { throw .corrupt("event \(dot) is missing") }
            through = min(through, position - 1)
        }
        var progress: [OriginProgress] = []
        for origin in origins {
            guard let seq = try last(of: origin.ref, through: through) else { continue }
            let root = try log.root(of: origin.id, size: seq)
            progress.append(OriginProgress(origin: origin.id, seq: seq, rootPrefix: root.prefix64))
        }
        return SnapshotPlan(through: through, progress: progress.sorted { $0.origin < $1.origin })
    }

    private func last(of origin: Int64, through position: UInt64) throws(StoreError) -> UInt64? {
        let seq = try mapped { () throws(SQLiteError) in
            try log.connection.integer(
                "SELECT seq FROM event WHERE origin = ? AND position <= ? ORDER BY seq DESC LIMIT 1",
                .integer(origin), .integer(Int64(bitPattern: position)))
        }
        return seq.map(UInt64.init(bitPattern:))
    }

    /// The heads that vouch for the plan, with proofs that what it holds is a prefix of what they state.
    package func coverage(of plan: SnapshotPlan, ownHead: SignedHead?) throws(StoreError) -> [Coverage] {
        let sha = SHA256()
        var coverage: [Coverage] = []
        for entry in plan.progress {
            var head = try log.head(of: entry.origin, atLeast: entry.seq)
            if head == nil, let ownHead, ownHead.head.origin == entry.origin { head = ownHead }
            guard let head, head.head.size >= entry.seq else {
                throw .corrupt("no head of origin \(entry.origin) for \(entry.seq) events")
            }
            let proof = try log.consistency(of: entry.origin, from: entry.seq, to: head.head.size, using: sha)
            coverage.append(Coverage(head: head, proof: proof))
        }
        return coverage
    }
}
