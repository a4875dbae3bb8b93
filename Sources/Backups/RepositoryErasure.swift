internal import EventStore

/// Takes out of a repository what the log has erased since: segments are written again from the log, and the manifests that name them, without
/// attachments that no event names any more, and with what proves the erasures to a log that ends before them. At every moment each manifest
/// names whole files; old ones go last.
struct RepositoryErasure {
    private let repository: Repository
    private let writer: BackupWriter

    init(_ repository: Repository, _ writer: BackupWriter) { (self.repository, self.writer) = (repository, writer) }

    /// What was done.
    struct Outcome {
        /// How many segments were written again.
        var rewritten = 0
        /// Backups of another history, whose segments the log does not have, and files of which no one knows what they name.
        var unreached: [String] = []
        /// Backups that were behind though the newest was not: an older copy was put back.
        var putBack: [String] = []
        /// Files that no backup named, with what was erased.
        var cleared: [String] = []
        /// Backups that were written again without a signature, for they had none of this node.
        var unsigned: [String] = []
    }

    /// Brings all backups that can be read up to the erasures that are `applied`. The newest one comes last: if it is so far, all were. But
    /// another hand may have put older ones back, so all are looked at where anything was erased.
    func run(_ applied: UInt64) throws(BackupError) -> Outcome {
        var outcome = Outcome()
        // What others may have written says nothing of how far this node has come.
        let newest = try repository.newest { writer.isOwn($0) }
        var isDone = false
        if let newest, Self.isBrought(newest, applied) { isDone = try lacking(newest).isEmpty }
        if isDone, applied == 0 { return outcome }
        var (good, bad) = try repository.manifests()
        if isDone {
            for manifest in good
            where manifest.node == writer.source.identity.node && !Self.isBrought(manifest, applied) {
                if try writer.continues(manifest) { outcome.putBack.append(manifest.id) }
            }
        }
        if !isDone || !outcome.putBack.isEmpty {
            try run(good, applied, &outcome)
            // What of the bad ones is erased no one knows.
            outcome.unreached += bad.compactMap(\.file)
            good = try repository.manifests().good
        }
        if applied > 0 {
            outcome.unreached += try hiding(good).filter { !outcome.unreached.contains($0) }
            try clear(besides: good, isWhole: bad.isEmpty, &outcome)
        }
        return outcome
    }

    /// Backups that the node has not signed and that have what was erased, whatever they say of that.
    private func hiding(_ manifests: [BackupManifest]) throws(BackupError) -> [String] {
        let known = Set(manifests.filter { writer.isOwn($0) }.flatMap(\.segments))
        let strange = manifests.filter { $0.node == writer.source.identity.node && !writer.isOwn($0) }
        guard !strange.isEmpty else { return [] }
        let stale = StaleBackups(repository, manifests)
        let (erased, owners) = try erasedRows()
        var hiding: [String] = []
        for manifest in strange {
            var rows = 0
            for segment in manifest.segments where !known.contains(segment) {
                rows += try stale.count(in: segment.file, erased, owners, writer.goesOn)
            }
            if rows > 0 { hiding.append(manifest.id) }
        }
        return hiding
    }

    /// What the log has erased, and whose its origins are.
    private func erasedRows() throws(BackupError) -> (ErasedRows, [OriginID: NodeID]) {
        try logged { () throws(StoreError) in
            (try writer.source.erasedRows(by: writer.source.erasures().applied), try writer.source.owners())
        }
    }

    /// Positions of a history that the log has left again may be greater, and say nothing of this one.
    private static func isBrought(_ manifest: BackupManifest, _ applied: UInt64) -> Bool {
        manifest.segments.allSatisfy { $0.erasures == applied }
    }

    /// Takes away what no backup names and what has been erased: an interrupted run has left it, or it was put back.
    private func clear(
        besides manifests: [BackupManifest], isWhole: Bool, _ outcome: inout Outcome
    ) throws(BackupError) {
        let unnamed = try repository.leftovers(besides: manifests)
        let attachments = unnamed.filter { $0.hasPrefix("attachments/") }
        let segments = unnamed.filter(Repository.isSegment)
        // What a killed run had begun: its rows may be of before the erasure.
        let unfinished = unnamed.filter { $0.hasSuffix(FileSink.suffix) && !$0.hasPrefix("attachments/") }
        guard !segments.isEmpty || !attachments.isEmpty || !unfinished.isEmpty else { return }
        let stale = StaleBackups(repository, manifests)
        let (erased, owners) = try erasedRows()
        var gone = unfinished
        for segment in segments where !unfinished.contains(segment) {
            let file = String(segment.dropFirst(Repository.name(ofSegment: "").utf8.count))
            if try stale.count(in: file, erased, owners, writer.goesOn) > 0 { gone.append(segment) }
        }
        if !attachments.isEmpty {
            let named = try logged { () throws(StoreError) in try writer.source.named() }
            let kept = Set(named.map { repository.name(ofAttachment: $0) })
            gone += attachments.filter { !kept.contains($0) }
        }
        // What a manifest that cannot be read may name stays, and is told.
        guard isWhole, try repository.strangers().isEmpty else {
            outcome.unreached += gone
            return
        }
        outcome.cleared = gone
        _ = try repository.remove(leftovers: gone)
    }

    private func run(
        _ manifests: [BackupManifest], _ applied: UInt64, _ outcome: inout Outcome
    ) throws(BackupError) {
        // By all that is said of a segment: of one file a manifest that the node has not signed may say something else than one that it has.
        var renewed: [BackupManifest.Segment: BackupManifest.Segment] = [:]
        var others: [BackupManifest] = []
        for manifest in manifests {
            guard try writer.continues(manifest) else {
                others.append(manifest)
                continue
            }
            do throws(BackupError) {
                for segment in manifest.segments where segment.erasures != applied && renewed[segment] == nil {
                    let now = try renew(segment, applied)
                    if now.file != segment.file { outcome.rewritten += 1 }
                    renewed[segment] = now
                }
            } catch {
                // What is said of a segment without a signature need not be so, and keeps no backup from being made.
                guard case .damaged = error, !writer.isOwn(manifest) else { throw error }
                others.append(manifest)
            }
        }
        let unreachable = Set(others.map(\.id))
        let named = try namedAttachments(manifests.filter { !unreachable.contains($0.id) })
        var result: [BackupManifest] = []
        for manifest in manifests {
            var changed = manifest
            changed.segments = manifest.segments.map { renewed[$0] ?? $0 }
            if !unreachable.contains(manifest.id), manifest.node == writer.source.identity.node {
                changed.attachments = manifest.attachments.filter { named.contains($0.digest) }
            }
            changed.erasures += try lacking(manifest)
            if changed != manifest {
                // With a signature now it would become the node's word, though another may have written it.
                try repository.write(changed, signedWith: manifest.isSigned ? writer.signer : nil)
                if writer.signer != nil, !manifest.isSigned { outcome.unsigned.append(manifest.id) }
            }
            result.append(changed)
        }
        let kept = Set(result.flatMap(\.attachments))
        let gone = Set(manifests.flatMap(\.attachments)).subtracting(kept)
        let old = Set(
            renewed.filter { $0.value.file != $0.key.file }.map { Repository.name(ofSegment: $0.key.file) }
                + gone.map { repository.name(ofAttachment: $0.digest) })
        if !old.isEmpty {
            _ = try repository.remove(leftovers: repository.leftovers(besides: result).filter(old.contains))
        }
        // A history that parts from the log later shares its first segments with it.
        // Those of another node that node brings up itself.
        let unreached = others.filter { other in
            other.node == writer.source.identity.node
                && other.segments.contains { (renewed[$0] ?? $0).erasures != applied }
        }
        outcome.unreached += unreached.map(\.id)
    }

    /// The erasures that neither the rows of a backup have nor its manifest tells.
    private func lacking(_ manifest: BackupManifest) throws(BackupError) -> [ProvenErasure] {
        guard manifest.node == writer.source.identity.node else { return [] }
        let later = try logged { () throws(StoreError) in try writer.source.erasures(behind: manifest.origins) }
        return later.filter { erasure in !manifest.erasures.contains { $0.dot == erasure.dot } }
    }

    /// Which attachments of these backups events name still.
    private func namedAttachments(_ manifests: [BackupManifest]) throws(BackupError) -> Set<Digest> {
        let all = Set(manifests.flatMap(\.attachments).map(\.digest))
        return try logged { () throws(StoreError) in try writer.source.named(all) }
    }

    /// The segment as it is to be: the same file where no payload has gone.
    private func renew(
        _ segment: BackupManifest.Segment, _ applied: UInt64
    ) throws(BackupError) -> BackupManifest.Segment {
        var now = segment
        now.erasures = applied
        let holes = try logged { () throws(StoreError) in
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
