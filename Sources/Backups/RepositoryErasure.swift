internal import EventStore

/// Takes out of a repository what the log has erased since: segments are written again from the log, and the manifests that name them. At every
/// moment each manifest names whole segments; old ones go last.
struct RepositoryErasure {
    private let repository: Repository
    private let writer: BackupWriter

    init(_ repository: Repository, _ writer: BackupWriter) { (self.repository, self.writer) = (repository, writer) }

    /// Brings all backups that can be read up to the erasures that are `applied`. The newest one comes last: if it is so far, all are.
    ///
    /// - Returns: How many segments were written again, and the backups of another history whose segments the log does not have.
    func run(_ applied: UInt64) throws(BackupError) -> (rewritten: Int, unreached: [String]) {
        let newest = try repository.newest { _ in true }
        if let newest, newest.segments.allSatisfy({ $0.erasures >= applied }) { return (0, []) }
        let (good, bad) = try repository.manifests()
        let (rewritten, unreached) = try run(good, applied)
        // What of them is erased no one knows.
        return (rewritten, unreached + bad.compactMap(\.file))
    }

    private func run(
        _ manifests: [BackupManifest], _ applied: UInt64
    ) throws(BackupError) -> (rewritten: Int, unreached: [String]) {
        var renewed: [String: BackupManifest.Segment] = [:]
        var others: [BackupManifest] = []
        var rewritten = 0
        for manifest in manifests where manifest.segments.contains(where: { $0.erasures < applied }) {
            guard try writer.continues(manifest) else {
                others.append(manifest)
                continue
            }
            for segment in manifest.segments where segment.erasures < applied && renewed[segment.file] == nil {
                let now = try renew(segment, applied)
                if now.file != segment.file { rewritten += 1 }
                renewed[segment.file] = now
            }
        }
        guard !renewed.isEmpty else { return (0, others.map(\.id)) }
        var result: [BackupManifest] = []
        for manifest in manifests {
            var changed = manifest
            changed.segments = manifest.segments.map { renewed[$0.file] ?? $0 }
            if changed != manifest { try repository.write(changed, signedWith: writer.signer) }
            result.append(changed)
        }
        if rewritten > 0 {
            let old = Set(renewed.filter { $0.value.file != $0.key }.keys.map(Repository.name(ofSegment:)))
            _ = try repository.remove(leftovers: repository.leftovers(besides: result).filter(old.contains))
        }
        // A history that parts from the log later shares its first segments with it.
        let unreached = others.filter { other in
            other.segments.contains { (renewed[$0.file] ?? $0).erasures < applied }
        }
        return (rewritten, unreached.map(\.id))
    }

    /// The segment as it is to be: the same file where no payload has gone.
    private func renew(
        _ segment: BackupManifest.Segment, _ applied: UInt64
    ) throws(BackupError) -> BackupManifest.Segment {
        var now = segment
        now.erasures = applied
        let holes = try mapped { () throws(StoreError) in
            try writer.source.holes(after: segment.after, through: segment.last)
        }
        guard holes != segment.holes else { return now }
        var made: BackupManifest.Segment?
        try writer.writeSegments(
            after: segment.after, through: segment.last, applied, key: repository.key, limit: .max
        ) { file throws(BackupError) in
            try FileSink(repository.path(ofSegment: file))
        } written: { sink, written throws(BackupError) in
            guard written.leaves == segment.leaves else {
                throw .damaged(file: Repository.name(ofSegment: segment.file), reason: "the log has other rows there")
            }
            try sink.finish()
            made = written
        }
        return made ?? now
    }
}
