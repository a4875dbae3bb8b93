package import EventStore

/// What a check of a repository has found.
package struct RepositoryReport: Sendable {
    /// Backups that are proven, the oldest first.
    package internal(set) var proven: [BackupManifest] = []
    /// What is wrong, a line each: file and reason.
    package internal(set) var findings: [BackupError] = []
    /// Backups that are not whole, or in which something was found.
    package internal(set) var broken: [String] = []
    /// Proven backups without the node's own signature: their rows are proven, their small files are not.
    package internal(set) var unsigned: [String] = []
    /// What proven backups have beside the rows that no release has put there: files and cosignatures, after the backup's name.
    package internal(set) var strange: [String] = []
    /// Whose proven backups are. More than one: some may be of a stranger, for a manifest says of itself whose it is.
    package var nodes: [NodeID] { Set(proven.map(\.node)).sorted { $0.description < $1.description } }
    /// Files that no backup names.
    package internal(set) var leftovers: [String] = []
    /// Whole segments among them: a run that was broken off has left them, or the manifest that names them is gone.
    package internal(set) var unnamed = 0
    /// Attachments that are whole.
    package internal(set) var attachments = 0
    /// Rows that were read.
    package internal(set) var events: UInt64 = 0
    /// Bytes that were read.
    package internal(set) var bytes: UInt64 = 0
}

/// Proves backups from the files of their repository alone: every byte is what was written, every row hashes to the roots of its origin, and the
/// heads over them are signed. Segments that backups share are read once. Not Sendable.
package final class RepositoryCheck {
    private let repository: Repository
    private let progress: (UInt64, UInt64) -> Bool
    private let sha = SHA256()
    private var report = RepositoryReport()
    private var total: UInt64 = 0
    /// Whole segments with what was erased, or without what was not.
    private var doubted: Set<String> = []
    /// The erasures in the rows of segments that are whole.
    private var erasures: [BackupManifest.Segment: [(position: UInt64, event: Event)]] = [:]

    package init(_ repository: Repository, progress: @escaping (UInt64, UInt64) -> Bool) {
        self.repository = repository
        self.progress = progress
    }

    /// Backups that agree in their first segments, and what these come to; `nil` behind a damaged one.
    private struct Branch {
        let manifests: [BackupManifest]
        let depth: Int
        let chain: RowChain?
    }

    /// Looks at all backups, or at one.
    package func run(only id: String? = nil) throws(BackupError) -> RepositoryReport {
        var manifests: [BackupManifest] = []
        let found = try repository.manifests()
        if let id {
            manifests = [try repository.backup(id)]
        } else {
            (manifests, report.findings) = (found.good, found.bad)
            report.leftovers = try repository.leftovers(besides: manifests)
            report.unnamed = report.leftovers.count(where: Repository.isSegment)
        }
        total = Set(manifests.flatMap(\.segments)).saturatedSum { $0.last - $0.after }
        var open = [Branch(manifests: manifests, depth: 0, chain: RowChain())]
        while let branch = open.popLast() {
            close(branch)
            // Chains are as a rule one; the order within one is that of the segments.
            for (segment, group) in Self.next(branch) {
                open.append(
                    Branch(manifests: group, depth: branch.depth + 1, chain: try follow(segment, branch.chain)))
            }
        }
        try checkAttachments()
        let stale = StaleBackups(repository, found.good)
        try checkOwnErasures(stale)
        try checkErasures(manifests, stale)
        doubtFound()
        report.proven.sort { ($0.time, $0.id) < ($1.time, $1.id) }
        return report
    }

    /// Looks whether segments are without what their backups' own rows let go, as they say, and lack nothing else: a hand may have taken it away
    /// before they were made.
    private func checkOwnErasures(_ stale: StaleBackups) throws(BackupError) {
        func goesOn() -> Bool { progress(report.events, 0) }
        var seen: Set<BackupManifest.Segment> = []
        // The longest first: it has the erasures that came behind a segment.
        for manifest in report.proven.sorted(by: { $0.position > $1.position }) {
            let (erasures, owners) = (manifest.segments.flatMap { self.erasures[$0] ?? [] }, manifest.owners)
            for segment in manifest.segments where seen.insert(segment).inserted {
                guard !erasures.isEmpty || segment.holes.count > 0 else { continue }
                var (erased, known) = (ErasedRows(of: manifest.node, using: sha), stale.lines(of: manifest.node))
                for (position, event) in erasures {
                    known.take(event, owners)
                    if position <= segment.erasures { erased.take(event, owners) }
                }
                let rows = try stale.count(in: segment.file, erased, owners, goesOn)
                if rows > 0 {
                    find(
                        segment,
                        "it has what \(Self.events(rows)) said before being erased, and says that it has not: "
                            + "make the repository anew")
                }
                guard segment.holes.count > 0 else { continue }
                let lost = try stale.lost(in: segment.file, known, owners, goesOn)
                if lost > 0 {
                    find(
                        segment,
                        "it lacks what \(Self.events(lost)) said, and no erasure says so: it was taken away before the "
                            + "backup was made")
                }
            }
        }
    }

    private func find(_ segment: BackupManifest.Segment, _ reason: String) {
        doubted.insert(segment.file)
        report.findings.append(.damaged(file: Repository.name(ofSegment: segment.file), reason: reason))
    }

    private static func events(_ count: Int) -> String { count == 1 ? "an event" : "\(count) events" }

    /// A backup with a segment that is as it was written, and yet not as it should be, is not told as proven.
    private func doubtFound() {
        let ids = report.proven.filter { $0.segments.contains { doubted.contains($0.file) } }.map(\.id)
        report.proven.removeAll { ids.contains($0.id) }
        report.unsigned.removeAll { ids.contains($0) }
        report.broken += ids
    }

    /// Looks for what was erased since: in segments that are behind what others know, and in those that no backup names.
    private func checkErasures(_ manifests: [BackupManifest], _ stale: StaleBackups) throws(BackupError) {
        func goesOn() -> Bool { progress(report.events, 0) }
        var seen: Set<String> = []
        func look(_ file: String, _ erased: ErasedRows, _ owners: [OriginID: NodeID]) throws(BackupError) {
            guard seen.insert(file).inserted else { return }
            let count = try stale.count(in: file, erased, owners, goesOn)
            guard count > 0 else { return }
            doubted.insert(file)
            report.findings.append(.erased(file: Repository.name(ofSegment: file), rows: count))
        }
        for manifest in manifests {
            guard let erased = try stale.erased(after: manifest, goesOn) else { continue }
            for segment in manifest.segments { try look(segment.file, erased, manifest.owners) }
        }
        let unnamed = report.leftovers.filter(Repository.isSegment)
        guard !unnamed.isEmpty else { return }
        for node in Set(manifests.map(\.node)) {
            let erased = try stale.erased(of: node, goesOn)
            for name in unnamed {
                try look(String(name.dropFirst(Repository.name(ofSegment: "").utf8.count)), erased, stale.owners)
            }
        }
    }

    /// Reads the attachments of backups that are proven so far, each once.
    private func checkAttachments() throws(BackupError) {
        var broken: Set<BackupManifest.Attachment> = []
        for attachment in Set(report.proven.flatMap(\.attachments)).sorted(by: {
            $0.digest.description < $1.digest.description
        }) {
            do throws(BackupError) {
                try repository.read(attachment) { chunk throws(BackupError) in
                    report.bytes += UInt64(chunk.count)
                    guard progress(report.events, 0) else { throw .interrupted }
                }
                report.attachments += 1
            } catch {
                switch error {
                case .damaged: report.findings.append(error)
                case .key(let file, true):
                    report.findings.append(.damaged(file: file, reason: "it does not open: it was changed"))
                default: throw error
                }
                broken.insert(attachment)
            }
        }
        guard !broken.isEmpty else { return }
        let lacking = report.proven.filter { !broken.isDisjoint(with: $0.attachments) }.map(\.id)
        report.proven.removeAll { lacking.contains($0.id) }
        report.unsigned.removeAll { lacking.contains($0) }
        report.broken += lacking
    }

    /// The segments that follow, each with the backups that have it.
    private static func next(_ branch: Branch) -> [(BackupManifest.Segment, [BackupManifest])] {
        var order: [BackupManifest.Segment] = []
        var groups: [BackupManifest.Segment: [BackupManifest]] = [:]
        for manifest in branch.manifests where manifest.segments.count > branch.depth {
            let segment = manifest.segments[branch.depth]
            if groups[segment] == nil { order.append(segment) }
            groups[segment, default: []].append(manifest)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }

    /// Judges the backups that end here.
    private func close(_ branch: Branch) {
        for manifest in branch.manifests where manifest.segments.count == branch.depth {
            guard let chain = branch.chain else {
                report.broken.append(manifest.id)
                continue
            }
            do throws(SnapshotError) {
                try chain.check(manifest, using: sha)
                report.proven.append(manifest)
                if !manifest.isSigned { report.unsigned.append(manifest.id) }
                report.strange += StoreParts.strange(manifest).map { "\(manifest.id): \($0)" }
            } catch {
                report.broken.append(manifest.id)
                let reason = if case .foreign(let what) = error { what } else { error.description }
                report.findings.append(.damaged(file: Repository.name(ofManifest: manifest.id), reason: reason))
            }
        }
    }

    private func follow(_ segment: BackupManifest.Segment, _ before: RowChain?) throws(BackupError) -> RowChain? {
        do throws(BackupError) {
            let reader = try repository.segment(segment.file)
            var check = SegmentCheck(segment, before)
            while let piece = try reader.next() {
                try check.take(piece, sha)
                report.events += UInt64(piece.rows.count)
                guard progress(report.events, total) else { throw .interrupted }
            }
            report.bytes += segment.bytes
            let chain = try check.finish(reader)
            if !check.erasures.isEmpty { erasures[segment] = check.erasures }
            return chain
        } catch {
            switch error {
            case .interrupted: throw error
            case .key(_, false): throw error
            default: report.findings.append(error)
            }
            return nil
        }
    }
}

/// Holds the rows of a segment against what a manifest says of it.
struct SegmentCheck {
    private let segment: BackupManifest.Segment
    private let file: String
    private var chain: RowChain?
    private let leaves = RunningSHA256()
    private let holes = HoleTally()
    private(set) var erasures: [(position: UInt64, event: Event)] = []

    /// - Parameter chain: What is before it; `nil` where that is not known, and the segment is only read.
    init(_ segment: BackupManifest.Segment, _ chain: RowChain?) {
        self.segment = segment
        file = Repository.name(ofSegment: segment.file)
        self.chain = chain
    }

    mutating func take(_ piece: BackupPiece, _ sha: SHA256) throws(BackupError) {
        do throws(SnapshotError) {
            let checked = try CheckedRows(piece.rows, using: sha)
            try chain?.take(checked, using: sha)
            for row in checked.list { leaves.add(row.leaf.bytes[...]) }
            holes.add(checked)
            erasures += try checked.erasures()
        } catch {
            throw .damaged(file: file, reason: error.description)
        }
    }

    /// The chain behind the segment.
    func finish(_ reader: SegmentReader) throws(BackupError) -> RowChain? {
        try Self.compare(segment, reader)
        guard leaves.finish() == segment.leaves, holes.finish() == segment.holes,
            chain?.position ?? segment.last == segment.last
        else { throw .damaged(file: file, reason: "its rows are not those that the backup names") }
        return chain
    }

    /// The bytes that were read are those that the manifest names.
    static func compare(_ segment: BackupManifest.Segment, _ reader: SegmentReader) throws(BackupError) {
        let (bytes, digest) = reader.finish()
        guard bytes == segment.bytes, digest == segment.digest else {
            throw .damaged(
                file: Repository.name(ofSegment: segment.file),
                reason: "it is not as it was written: its SHA-256 is another")
        }
    }
}
