package import EventStore

/// What was, or would be, taken away.
package struct PruneReport: Sendable {
    package let kept: [BackupManifest]
    package let removed: [BackupManifest]
    /// Files that no backup names any more.
    package let files: [String]
    package let bytes: UInt64
}

/// Which backups stay, of each node for itself, those that it has signed and those that it has not. What they need stays, whichever backup has
/// written it.
package struct Retention: Sendable {
    /// The newest so many of each node.
    package var count: Int?
    /// Those made since this moment, Unix milliseconds.
    package var since: Int64?

    package init(count: Int?, since: Int64?) { (self.count, self.since) = (count, since) }

    /// Those that stay of `manifests`, the oldest first. The newest ones of each node always do.
    func keeps(_ manifests: [BackupManifest]) -> [BackupManifest] {
        guard count != nil || since != nil else { return manifests }
        // By node: how many backups were seen, from the newest one on. What the node has not signed takes the place of nothing that it has.
        var ages: [Bool: [NodeID: Int]] = [:]
        let kept = manifests.reversed().filter { manifest in
            ages[manifest.isSigned, default: [:]][manifest.node, default: 0] += 1
            let age = ages[manifest.isSigned]?[manifest.node] ?? 1
            return age == 1 || count.map { age <= $0 } ?? false || since.map { manifest.time >= $0 } ?? false
        }
        return kept.reversed()
    }
}

extension Repository {
    private static func unknown(_ file: String, _ reason: String) -> BackupError {
        .damaged(
            file: file,
            reason:
                "\(reason). What it names is not known, so nothing is taken away: put it back from another copy, or "
                + "take it out of the repository")
    }

    /// What goes may be all that can still be restored.
    private func refuseLacking(_ manifest: BackupManifest) throws(BackupError) {
        guard case .damaged(let file, let reason)? = missing(of: manifest) else { return }
        throw .damaged(
            file: file,
            reason: "\(reason), and backup \(manifest.id), which is to stay, needs it: nothing is taken away. "
                + "'backup verify' says which backups are whole, and 'backup create' makes one that is")
    }

    /// Takes backups away that do not stay, then the files that none of the others needs.
    package func prune(_ retention: Retention) throws(BackupError) -> PruneReport {
        let found = try manifests()
        // What a manifest that cannot be read needs no one knows, nor what a file needs that was put aside.
        if case .damaged(let file, let reason)? = found.bad.first { throw Self.unknown(file, reason) }
        if let stranger = try strangers().first { throw Self.unknown(stranger, "it is no manifest") }
        let kept = retention.keeps(found.good)
        let ids = Set(kept.map(\.id))
        let removed = found.good.filter { !ids.contains($0.id) }
        if !removed.isEmpty { for manifest in kept { try refuseLacking(manifest) } }
        for manifest in removed { try remove(manifest.id) }
        let files = try leftovers(besides: kept)
        return PruneReport(kept: kept, removed: removed, files: files, bytes: try remove(leftovers: files))
    }
}
