/// The histories of all origins as far as a chain of pieces has brought them: sizes, trees and keys, and nothing of the events. A value: where
/// two chains part, each goes on with a copy.
package struct RowChain: Sendable {
    private struct Origin {
        let key: VerifyingKey
        /// What its first event calls the node, if that was among the rows.
        var name: String?
        var range: MerkleRange
        /// The stamp of its last event, if that one's header can be read.
        var last: UInt64?
    }

    /// The last position.
    package private(set) var position: UInt64 = 0
    private var origins: [OriginID: Origin] = [:]

    /// Before the first row.
    package init() {}

    /// The chain that ends at `position` of a log.
    package init(of log: LogReader, through position: UInt64) throws(StoreError) {
        self.position = position
        for origin in try log.origins() {
            guard let seq = try log.last(of: origin.id, through: position) else { continue }
            let stored = try log.event(Dot(origin: origin.id, seq: seq))?.event
            let isOpaque = stored?.header.isOpaque ?? false
            origins[origin.id] = Origin(
                key: origin.key, range: try log.tree(ofFirst: seq, of: origin),
                last: isOpaque ? nil : stored?.header.hlc.rawValue)
        }
    }

    /// How far each origin is, ascending.
    package func progress(using sha: SHA256) -> [BackupProgress] {
        origins.map {
            BackupProgress(origin: $0.key, size: $0.value.range.size, root: $0.value.range.root(using: sha))
        }
        .sorted { $0.origin < $1.origin }
    }

    /// The key of an origin's node.
    package func key(of origin: OriginID) -> VerifyingKey? { origins[origin]?.key }

    /// Goes on with a piece: seqs without gaps, dependencies before what needs them, first events that say whose origin it is, and the heads
    /// of the piece valid and of these rows.
    package mutating func take(_ checked: CheckedRows, using sha: SHA256) throws(SnapshotError) {
        guard checked.rows.after == position else {
            throw .malformed("rows after \(checked.rows.after) where those after \(position) are next")
        }
        for (row, start) in checked.starts {
            let id = checked.rows.runs[Int(checked.list[row].run)].origin
            guard origins[id] == nil else { throw .event(.originStart(id)) }
            origins[id] = Origin(key: start.key, name: start.name, range: MerkleRange(), last: nil)
        }
        var heads: [Dot: SignedHead] = [:]
        for head in checked.rows.heads { heads[Dot(origin: head.head.origin, seq: head.head.size)] = head }
        for row in checked.list {
            let dot = Dot(origin: checked.rows.runs[Int(row.run)].origin, seq: row.seq)
            if row.extra >= 0 { try check(checked.extras[Int(row.extra)].dependencies, of: dot) }
            try append(row, dot, sha)
            if !heads.isEmpty, let head = heads.removeValue(forKey: dot) { try check(head, using: sha) }
        }
        guard heads.isEmpty else { throw .malformed("a head of other rows") }
        position = checked.rows.last
    }

    private mutating func append(_ row: CheckedRows.Row, _ dot: Dot, _ sha: SHA256) throws(SnapshotError) {
        guard let size = origins[dot.origin]?.range.size else { throw .event(.originStart(dot.origin)) }
        guard dot.seq == size + 1 else { throw .event(.gap(dot, have: size)) }
        if !row.isOpaque, let last = origins[dot.origin]?.last, row.hlc <= last { throw .event(.stampOrder(dot)) }
        origins[dot.origin]?.range.append(row.leaf, using: sha)
        origins[dot.origin]?.last = row.isOpaque ? nil : row.hlc
    }

    private func check(_ dependencies: [Dot], of dot: Dot) throws(SnapshotError) {
        for needs in dependencies where needs.seq > origins[needs.origin]?.range.size ?? 0 {
            throw .event(.causalGap(dot, needs: needs))
        }
    }

    private func check(_ signed: SignedHead, using sha: SHA256) throws(SnapshotError) {
        let head = signed.head
        guard let origin = origins[head.origin] else { throw .malformed("a head of other rows") }
        guard signed.isValid(for: origin.key) else { throw .event(.badSignature(head.origin, size: head.size)) }
        guard origin.range.root(using: sha) == head.root else {
            throw .event(.badProof(head.origin, size: head.size))
        }
        guard origin.last.map({ $0 == head.hlc.rawValue }) ?? true else {
            throw .event(.badTime(head.origin, size: head.size))
        }
    }

    /// That the chain is what a backup says of itself, and that its heads vouch for all of it.
    package func check(_ backup: BackupManifest, using sha: SHA256) throws(SnapshotError) {
        guard progress(using: sha) == backup.origins.map(\.progress) else {
            throw .stale("the rows are not those that the backup names")
        }
        try backup.check(name: origins[backup.origin]?.name)
        for entry in backup.origins {
            let (id, size, head) = (entry.progress.origin, entry.progress.size, entry.coverage.head)
            guard let origin = origins[id], origin.key == entry.key, head.head.origin == id else {
                throw .event(.originStart(id))
            }
            guard head.head.size > size else {
                guard head.head.size == size else { throw .event(.notCovered(id)) }
                try check(head, using: sha)
                continue
            }
            guard head.isValid(for: origin.key) else { throw .event(.badSignature(id, size: head.head.size)) }
            guard
                MerkleProof.isConsistent(
                    old: size, oldRoot: entry.progress.root, new: head.head.size, newRoot: head.head.root,
                    proof: entry.coverage.proof, using: sha)
            else { throw .event(.badProof(id, size: size)) }
        }
    }
}

extension BackupManifest {
    /// That it names the node as the first event of the origin does that the node wrote to.
    ///
    /// - Parameter name: What that event says; `nil` where it is not in the backup.
    func check(name begun: String?) throws(SnapshotError) {
        guard let begun, begun != name else { return }
        throw .foreign("it calls the node '\(name)', and the first event of its origin \(origin) calls it '\(begun)'")
    }
}

/// How many events of an origin, and their root.
package struct BackupProgress: Hashable, Sendable {
    package let origin: OriginID
    package let size: UInt64
    package let root: Digest

    package init(origin: OriginID, size: UInt64, root: Digest) {
        (self.origin, self.size, self.root) = (origin, size, root)
    }
}

/// How far a backup has an origin, and what vouches for that.
package struct BackupOrigin: Hashable, Sendable {
    package let key: VerifyingKey
    package let progress: BackupProgress
    package let coverage: Coverage

    package init(key: VerifyingKey, progress: BackupProgress, coverage: Coverage) {
        (self.key, self.progress, self.coverage) = (key, progress, coverage)
    }

    /// The same for those who receive a snapshot.
    package var offered: OriginProgress {
        OriginProgress(origin: progress.origin, seq: progress.size, rootPrefix: progress.root.prefix64)
    }
}
