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
    package var events: UInt64 { progress.saturatedSum(of: \.seq) }

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

extension LogReader {
    /// How many events of each origin are here.
    func sizes() throws(StoreError) -> [OriginID: UInt64] {
        Dictionary(uniqueKeysWithValues: try origins().map { ($0.id, $0.size) })
    }

    /// The seq of an origin's last event up to `position`. Positions ascend with the seqs, so few of them are looked at.
    func last(of origin: OriginID, through position: UInt64) throws(StoreError) -> UInt64? {
        try mapped { () throws(DatabaseError) in
            guard let ref = try names.originRef(origin, on: connection) else { return nil }
            func place(_ seq: UInt64) throws(DatabaseError) -> UInt64? {
                let found = try connection.integer(
                    "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(ref), .unsigned(seq))
                return found.map(UInt64.init(bitPattern:))
            }
            let size = try connection.integer("SELECT max(seq) FROM event WHERE origin = ?", .integer(ref)) ?? 0
            var (low, high) = (UInt64(0), UInt64(bitPattern: size))
            if high > 0, let last = try place(high), last <= position { return high }
            while low < high {
                let middle = low + (high - low + 1) / 2
                guard let found = try place(middle) else { throw .damaged(.table("event"), "a seq is missing") }
                if found <= position { low = middle } else { high = middle - 1 }
            }
            return low == 0 ? nil : low
        }
    }

    /// A plan for everything that may leave the node now.
    ///
    /// - Parameter ownHead: A head of all that this node has appended.
    package func plan(ownHead: SignedHead?) throws(StoreError) -> SnapshotPlan {
        let sizes = try sizes().filter { $0.value > 0 }.sorted { $0.key < $1.key }
        var through = try top()
        for (origin, size) in sizes {
            let covered = try covered(origin, ownHead)
            guard covered < size else { continue }
            let dot = Dot(origin: origin, seq: covered + 1)
            guard let position = try event(dot)?.position else { throw .corrupt("event \(dot) is missing") }
            through = min(through, position - 1)
        }
        var progress: [OriginProgress] = []
        for (origin, _) in sizes {
            guard let seq = try last(of: origin, through: through) else { continue }
            let root = try root(of: origin, size: seq)
            progress.append(OriginProgress(origin: origin, seq: seq, rootPrefix: root.prefix64))
        }
        return SnapshotPlan(through: through, progress: progress)
    }

    /// The heads that vouch for the plan, with proofs that what it holds is a prefix of what they state.
    package func coverage(of plan: SnapshotPlan, ownHead: SignedHead?) throws(StoreError) -> [Coverage] {
        let sha = SHA256()
        var coverage: [Coverage] = []
        for entry in plan.progress {
            coverage.append(
                try self.coverage(of: Dot(origin: entry.origin, seq: entry.seq), ownHead, using: sha))
        }
        return coverage
    }

    /// Whether this log, which was received as a snapshot, is `old` with more: it begins with the same events, and has the
    /// same of each origin that `old` has.
    package func fits(over old: LogReader) throws(StoreError) -> Bool {
        let top = try old.top()
        for position in [UInt64(1), top] {
            guard let mine = try old.event(at: position), try event(at: position) == mine else { return false }
        }
        guard try self.top() > top else { return false }
        let sizes = try sizes()
        return try old.sizes().allSatisfy { sizes[$0.key] == $0.value }
    }
}
