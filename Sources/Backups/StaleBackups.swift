internal import EventStore

/// Backups that are older than erasures of which others know: an older copy of the repository was put back over it, or they are of another
/// history. What they have may be what was erased (INV-11).
struct StaleBackups {
    private let repository: Repository
    private let manifests: [BackupManifest]
    private let sha = SHA256()

    /// - Parameter manifests: All of the repository that can be read.
    init(_ repository: Repository, _ manifests: [BackupManifest]) {
        (self.repository, self.manifests) = (repository, manifests)
    }

    /// Up to where the erasures are applied that are applied to all of its segments.
    static func reach(_ manifest: BackupManifest) -> UInt64 { manifest.segments.map(\.erasures).min() ?? 0 }

    /// Those of a node that know the most: a run brings the newest one up last. That one may be what was put back.
    private func knowing(of node: NodeID) -> [BackupManifest] {
        let all = manifests.filter { $0.node == node }
        let most = all.max { Self.reach($0) < Self.reach($1) }
        return all.last == most ? [all.last].compactMap { $0 } : [all.last, most].compactMap { $0 }
    }

    /// What the others know to be erased; `nil` where they know what this one does. Reads few rows: those between what it knows and what they
    /// do. In another history it is all of them.
    func erased(after manifest: BackupManifest, _ goesOn: () -> Bool) throws(BackupError) -> ErasedRows? {
        let own = Self.reach(manifest)
        let others = knowing(of: manifest.node).filter { Self.reach($0) != own }
        guard !others.isEmpty else { return nil }
        var rows = lines(of: manifest.node)
        for other in others {
            try add(other, after: Self.reach(other) > own ? own : 0, to: &rows, goesOn)
        }
        return rows
    }

    /// All that is known to be erased in the log of a node.
    func erased(of node: NodeID, _ goesOn: () -> Bool) throws(BackupError) -> ErasedRows {
        var rows = lines(of: node)
        for manifest in knowing(of: node) { try add(manifest, after: 0, to: &rows, goesOn) }
        return rows
    }

    /// What manifests say themselves.
    func lines(of node: NodeID) -> ErasedRows {
        var rows = ErasedRows(of: node, using: sha)
        for erasure in Set(manifests.filter { $0.node == node }.flatMap(\.erasures)) { rows.take(erasure) }
        return rows
    }

    /// The erasures in the rows of a backup between a position and how far it knows them.
    private func add(
        _ manifest: BackupManifest, after: UInt64, to rows: inout ErasedRows, _ goesOn: () -> Bool
    ) throws(BackupError) {
        let owners = manifest.owners
        var found = rows
        for segment in manifest.segments where segment.last > after && segment.after < Self.reach(manifest) {
            try read(segment.file, goesOn) { checked throws(SnapshotError) in
                for (position, event) in try checked.erasures() where position <= Self.reach(manifest) {
                    found.take(event, owners)
                }
            }
        }
        rows = found
    }

    /// How many rows of a segment have a payload that was erased.
    func count(
        in segment: String, _ erased: ErasedRows, _ owners: [OriginID: NodeID], _ goesOn: () -> Bool
    ) throws(BackupError) -> Int {
        guard !erased.isEmpty else { return 0 }
        var count = 0
        try read(segment, goesOn) { checked throws(SnapshotError) in count += try erased.count(in: checked, owners) }
        return count
    }

    /// How many rows of a segment have no payload, and nothing that is known lets it go.
    func lost(
        in segment: String, _ known: ErasedRows, _ owners: [OriginID: NodeID], _ goesOn: () -> Bool
    ) throws(BackupError) -> Int {
        var count = 0
        try read(segment, goesOn) { checked throws(SnapshotError) in count += try known.lost(in: checked, owners) }
        return count
    }

    /// Whose the origins are, as all of them say.
    var owners: [OriginID: NodeID] {
        manifests.reduce(into: [:]) { owners, manifest in owners.merge(manifest.owners) { old, _ in old } }
    }

    /// What a segment holds.
    struct Found {
        /// Rows with a payload that was erased.
        var rows = 0
        /// What payloads name.
        var attachments: Set<Digest> = []
        /// Whether it is as its backup says: of one that is damaged no one knows.
        var isWhole = true

        mutating func add(_ other: Found) {
            rows += other.rows
            attachments.formUnion(other.attachments)
            isWhole = isWhole && other.isWhole
        }
    }

    func look(
        in segment: BackupManifest.Segment, _ erased: ErasedRows, _ owners: [OriginID: NodeID], _ goesOn: () -> Bool
    ) throws(BackupError) -> Found {
        var found = Found()
        let reader = try read(segment.file, goesOn) { checked throws(SnapshotError) in
            found.rows += try erased.count(in: checked, owners)
            found.attachments.formUnion(try checked.attachments().flatMap(\.digests))
        }
        found.isWhole = reader?.finish() ?? (0, .zero) == (segment.bytes, segment.digest)
        return found
    }

    /// What is damaged is read as far as it goes: others name it. Returns what has read it where it was read to its end.
    @discardableResult
    private func read(
        _ file: String, _ goesOn: () -> Bool, _ body: (CheckedRows) throws(SnapshotError) -> Void
    ) throws(BackupError) -> SegmentReader? {
        do throws(BackupError) {
            let reader = try repository.segment(file)
            while let piece = try reader.next() {
                guard goesOn() else { throw .interrupted }
                do { try body(CheckedRows(piece.rows, using: sha)) } catch { return nil }
            }
            return reader
        } catch {
            switch error {
            case .damaged, .key(_, true), .store: return nil
            default: throw error
            }
        }
    }
}

extension BackupManifest {
    /// Whose its origins are.
    var owners: [OriginID: NodeID] {
        Dictionary(origins.map { ($0.progress.origin, $0.key.nodeID) }) { old, _ in old }
    }
}
