package import EventStore

/// What was restored.
package struct RestoreReport: Sendable {
    package let manifest: BackupManifest
    /// The last position of the restored log.
    package let position: UInt64
    package let hasKey: Bool
    /// Rows without payload that an erasure behind their end has let go.
    package let erasedLater: UInt64
    /// Rows whose payload came back though another backup knows that it was erased: the repository has an older copy in it.
    package let notErased: UInt64
    /// Attachments that came back.
    package let attachments: Int
    /// What of the attachments did not.
    package let missing: [BackupError]
    /// Attachments that the restored events name, and that the backup does not have: they were not there when it was made.
    package let lacking: Int
    /// Files that were not put back, because the node has not signed the backup.
    package let unproven: [String]
}

/// Builds a store from a backup, in a folder that gets its name when all of it is on the disk. Not Sendable.
package final class BackupRestore {
    private let folder: String
    private let end: RestoreEnd
    private let withKey: Bool
    let withAttachments: Bool
    private let progress: (UInt64, UInt64) -> Bool
    private var log: RestoredLog?
    /// Those of streams: they come before it is known which are wanted.
    var streamed: [Digest: UInt64] = [:]
    /// Closed before the folder gets its name.
    var opened: AttachmentStore?

    /// What others of the repository know to be erased, and this backup does not.
    private var erased: ErasedRows?

    /// What stands behind the folder's name while it is made.
    static let suffix = ".restoring"
    private static let threads = 2

    /// - Parameters:
    ///   - folder: Where the store is to lie; not there yet.
    ///   - withKey: Whether the node's key is put there, if the backup has it.
    ///   - withAttachments: Whether attachments are; else they are read and checked alone.
    package init(
        into folder: String, end: RestoreEnd = .all, withKey: Bool, withAttachments: Bool = true,
        progress: @escaping (UInt64, UInt64) -> Bool
    ) throws(BackupError) {
        self.folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        (self.end, self.withKey, self.withAttachments, self.progress) = (end, withKey, withAttachments, progress)
        try PartFolder.refuse(self.folder)
    }

    /// Restores a backup of a repository.
    package func run(_ manifest: BackupManifest, of repository: Repository) throws(BackupError) -> RestoreReport {
        try build { () throws(BackupError) in
            try refuseBeyond(manifest)
            let log = try begin()
            for (number, segment) in manifest.segments.enumerated() {
                // Behind the position that is wanted there is nothing to be put back, but what proves it is.
                try add(
                    try repository.segment(segment.file), segment, number, to: log, total: manifest.position)
            }
            // What other backups know of erasures, this one may not: it may be a copy that was put back.
            let good = try repository.manifests().good
            let others = good.filter { $0.node == manifest.node }
            erased = try StaleBackups(repository, good).erased(after: manifest) { progress(log.position, 0) }
            return (manifest, manifest.erasures + others.flatMap(\.erasures))
        } attachments: { wanted throws(BackupError) in
            try self.attachments(wanted, of: repository)
        }
    }

    /// Restores what streams bring, one behind the other.
    package func run(_ stream: StreamReader) throws(BackupError) -> RestoreReport {
        try build { () throws(BackupError) in
            var seen: [BackupManifest.Segment] = []
            while let file = try stream.next() {
                switch file {
                case .segment(let reader):
                    // Whose it is says the manifest, which comes last: names and keys are put in at the end.
                    let log = if let begun = self.log { begun } else { try begin() }
                    seen.append(try take(reader, seen.count, after: seen.last?.last ?? 0, into: log))
                case .attachment(let reader, let name): try take(reader, name, stream)
                case .manifest(let manifest):
                    guard Self.isCovered(manifest.segments, by: seen) else {
                        throw .damaged(
                            file: Repository.name(ofManifest: manifest.id),
                            reason: "the streams before it do not have all of its segments")
                    }
                    if stream.isAtEnd {
                        try refuseBeyond(manifest)
                        return (manifest, manifest.erasures)
                    }
                }
            }
            throw .damaged(file: StreamReader.name, reason: "it is cut")
        } attachments: { wanted throws(BackupError) in
            try self.streamed(wanted)
        }
    }

    /// Who asks for a position that no event has would take what comes for more than it is.
    private func refuseBeyond(_ manifest: BackupManifest) throws(BackupError) {
        guard case .position(let position) = end, position > manifest.position else { return }
        throw .beyond(position: position, last: manifest.position)
    }

    /// Whether what came is, to the byte, what the backup is made of.
    private static func isCovered(_ wanted: [BackupManifest.Segment], by seen: [BackupManifest.Segment]) -> Bool {
        wanted.count == seen.count
            && zip(wanted, seen).allSatisfy {
                $0.file == $1.file && $0.digest == $1.digest && $0.after == $1.after && $0.last == $1.last
            }
    }

    /// Whether no one wants it to end.
    func goOn() throws(BackupError) {
        let position = log?.position ?? 0
        guard progress(position, 0) else { throw .interrupted }
    }

    var part: StoreFiles { StoreFiles(folder + Self.suffix) }

    private func begin() throws(BackupError) -> RestoredLog {
        do throws(SnapshotError) {
            let log = try RestoredLog(part, threads: Self.threads)
            self.log = log
            return log
        } catch { throw BackupError(error) }
    }

    private func build(
        _ body: () throws(BackupError) -> (BackupManifest, [ProvenErasure]),
        attachments: ([BackupManifest.Attachment]) throws(BackupError) -> (count: Int, missing: [BackupError])
    ) throws(BackupError) -> RestoreReport {
        let making = try PartFolder(folder, suffix: Self.suffix)
        do throws(BackupError) {
            let (manifest, erasures) = try body()
            guard let log else { throw .damaged(file: "the backup", reason: "it has no segments") }
            let (position, erasedLater): (UInt64, UInt64)
            let isKeyTaken = withKey && manifest.isSigned
            let pem = isKeyTaken ? manifest.files.first { $0.name == "node.key" }?.value : nil
            let key = pem.flatMap { SigningKey(pem: $0) }
            do {
                (position, erasedLater) = try log.finish(manifest, at: end, key: key, erasures: erasures)
            } catch {
                if case .foreign(let reason) = error {
                    throw .damaged(file: Repository.name(ofManifest: manifest.id), reason: reason)
                }
                throw BackupError(error)
            }
            // What the backup itself says is gone is not taken on trust either.
            let reach = StaleBackups.reach(manifest)
            let notErased = try mapped { () throws(StoreError) in
                try BackupSource(part).erasedRows(by: reach, beside: erased).count(in: part)
            }
            var wanted = manifest.attachments
            let named = try mapped { () throws(StoreError) in try LogReader(part).namedAttachments() }
            if position < manifest.position || erasedLater > 0 {
                wanted = wanted.filter { named.contains($0.digest) }
            }
            let (count, missing) = try attachments(wanted)
            opened = nil
            let files = part
            let unproven = try mapped { () throws(StoreError) in
                try StoreParts.restore(
                    manifest, into: files, withKey: withKey, isWhole: position == manifest.position)
            }
            try making.finish()
            return RestoreReport(
                manifest: manifest, position: position, hasKey: pem != nil, erasedLater: erasedLater,
                notErased: notErased,
                attachments: count, missing: missing,
                lacking: named.subtracting(wanted.map(\.digest)).count, unproven: unproven)
        } catch {
            log?.cancel()
            opened = nil
            making.remove()
            throw error
        }
    }

    // MARK: Rows

    private func add(
        _ reader: SegmentReader, _ segment: BackupManifest.Segment, _ number: Int, to log: RestoredLog, total: UInt64
    ) throws(BackupError) {
        var last = segment.after
        while let piece = try reader.next() {
            last = piece.rows.last
            try add(piece, of: number, to: log, total)
        }
        try SegmentCheck.compare(segment, reader)
        guard last == segment.last else {
            throw .damaged(file: reader.file, reason: "its rows are not those that the backup names")
        }
    }

    private func add(
        _ piece: BackupPiece, of segment: Int, to log: RestoredLog, _ total: UInt64
    ) throws(BackupError) {
        do { try log.add(piece, of: segment) } catch { throw BackupError(error) }
        guard progress(log.position, total) else { throw .interrupted }
    }

    /// Takes a segment of which nothing is known yet, but where the one before it ended.
    private func take(
        _ reader: SegmentReader, _ number: Int, after: UInt64, into log: RestoredLog
    ) throws(BackupError) -> BackupManifest.Segment {
        var range: (after: UInt64, last: UInt64)?
        while let piece = try reader.next() {
            guard range != nil || piece.rows.after == after else {
                throw .damaged(
                    file: StreamReader.name,
                    reason: "rows come behind position \(piece.rows.after), and those before them end at \(after): "
                        + "one is missing, or they are not in their order")
            }
            range = (range?.after ?? piece.rows.after, piece.rows.last)
            try add(piece, of: number, to: log, 0)
        }
        let (bytes, digest) = reader.finish()
        let file = String(reader.file.dropFirst(Repository.name(ofSegment: "").utf8.count))
        return BackupManifest.Segment(
            file: file, after: range?.after ?? 0, last: range?.last ?? 0, bytes: bytes, digest: digest, leaves: .zero,
            erasures: 0, holes: Holes(count: 0, digest: .zero))
    }
}
