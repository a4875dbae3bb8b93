internal import EventStore

/// Takes out of a repository what the log has erased since. Segments are written again from the log, and so are the manifests that name
/// them: without attachments that no event names any more, and with what proves the erasures to a log that ends before them. At every
/// moment each manifest names whole files; old ones go last.
struct RepositoryErasure {
    private let repository: Repository
    private let writer: BackupWriter

    init(_ repository: Repository, _ writer: BackupWriter) { (self.repository, self.writer) = (repository, writer) }

    /// What was done.
    struct Outcome {
        /// How many segments were written again.
        var rewritten = 0
        /// Backups that hold what was erased and cannot be written again: of another history, or without this node's signature.
        var unreached: [String] = []
        /// Backups that are damaged, and files that those may name: no one knows what they hold.
        var unread: [String] = []
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
        // What others may have written says nothing of how far this node has come, nor do positions of a history that the log has left.
        let newest = try repository.newest(where: isOfLog)
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
            good = try repository.manifests().good
        }
        if applied > 0 {
            good = try look(at: good, &outcome)
            outcome.unread += bad.compactMap(\.file)
            try clear(besides: good, isWhole: bad.isEmpty, &outcome)
        }
        return outcome
    }

    /// Whether a backup is the word of the node, and one that its log goes on from.
    private func isOfLog(_ manifest: BackupManifest) throws(BackupError) -> Bool {
        guard writer.isOwn(manifest) else { return false }
        return try writer.continues(manifest)
    }

    /// Names backups of the node that hold what was erased: those of a history that it has left, and those that it has not signed. What they say
    /// of that themselves does not count, so their rows are read. Returns all as they are now.
    private func look(
        at manifests: [BackupManifest], _ outcome: inout Outcome
    ) throws(BackupError) -> [BackupManifest] {
        var (brought, others): ([BackupManifest], [BackupManifest]) = ([], [])
        for manifest in manifests where manifest.node == writer.source.identity.node {
            if try isOfLog(manifest) { brought.append(manifest) } else { others.append(manifest) }
        }
        guard !others.isEmpty else { return manifests }
        let stale = StaleBackups(repository, manifests)
        let (erased, owners) = try erasedRows()
        // Shared segments are read once, and those of the log not at all.
        var found = Dictionary(
            brought.flatMap(\.segments).map { ($0, StaleBackups.Found()) }, uniquingKeysWith: { old, _ in old })
        var result = manifests
        for manifest in others {
            let owners = owners.merging(manifest.owners) { old, _ in old }
            var all = StaleBackups.Found()
            for segment in manifest.segments {
                let one =
                    if let known = found[segment] { known } else {
                        try stale.look(in: segment, erased, owners, writer.goesOn)
                    }
                found[segment] = one
                all.add(one)
            }
            if all.rows > 0 {
                outcome.unreached.append(manifest.id)
            } else if !all.isWhole {
                outcome.unread.append(manifest.id)
            } else {
                let kept = all.attachments.union(brought.flatMap(\.attachments).map(\.digest))
                let left = try dropped(from: manifest, besides: kept)
                if let left, let index = result.firstIndex(of: manifest) { result[index] = left }
            }
        }
        return result
    }

    /// Takes attachments that only erased events had named from a backup of another history; `nil` where it has none.
    private func dropped(
        from manifest: BackupManifest, besides kept: Set<Digest>
    ) throws(BackupError) -> BackupManifest? {
        var gone = Set(manifest.attachments.map(\.digest)).subtracting(kept)
        gone.subtract(try logged { () throws(StoreError) in try writer.source.named(gone) })
        guard !gone.isEmpty else { return nil }
        var changed = manifest
        changed.attachments.removeAll { gone.contains($0.digest) }
        try rewrite(changed)
        return changed
    }

    /// With a signature that it had not before it would become the node's word, though another may have written it.
    private func rewrite(_ manifest: BackupManifest) throws(BackupError) {
        try repository.write(manifest, signedWith: manifest.isSigned ? writer.signer : nil)
    }

    /// What the log has erased, and whose its origins are.
    private func erasedRows() throws(BackupError) -> (ErasedRows, [OriginID: NodeID]) {
        try logged { () throws(StoreError) in
            (try writer.source.erasedRows(by: writer.source.erasures().applied), try writer.source.owners())
        }
    }

    /// Up to these erasures, and not to others: positions of a history that the log has left may be greater, and say nothing of this one.
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
            outcome.unread += gone
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
        var unreachable: Set<String> = []
        for manifest in manifests {
            guard try writer.continues(manifest) else {
                unreachable.insert(manifest.id)
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
                unreachable.insert(manifest.id)
            }
        }
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
                try rewrite(changed)
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
        guard holes != segment.holes else {
            // What a hand has put back into the log would stand in the file, and count as gone.
            let putBack = try logged { () throws(StoreError) in
                try writer.source.firstPutBack(after: segment.after, through: segment.last)
            }
            if let putBack { throw .putBack(rows: 1, after: putBack - 1) }
            return now
        }
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
