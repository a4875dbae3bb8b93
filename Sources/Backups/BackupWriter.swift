package import EventStore

/// What a backup was made of.
package struct BackupReport: Sendable {
    package let manifest: BackupManifest
    /// Behind which position rows were written; what lies before was there.
    package let after: UInt64
    /// Written now.
    package let bytes: UInt64
    let attachments: AttachmentTally
    /// Attachments that were written now.
    package var attachmentsAdded: Int { attachments.added }
    /// Attachments that events name, and that are in the backup not: no one has them whole here.
    package var attachmentsMissing: UInt64 { attachments.missing }
    /// Attachments of the store that no event names, and that are in no backup: they wait for an event, or a hand has put them there.
    package var attachmentsUnnamed: Int { attachments.unnamed }
    /// Events behind its end that no signed head covers yet.
    package let uncovered: UInt64
    /// The backup it goes on from; `nil`: it is a full one.
    package let base: String?
    /// Whether there were backups, and the log goes on from none.
    package let isOtherHistory: Bool
    /// What backups lack that it would have gone on from.
    package let broken: [BackupError]
    /// Segments that were written again without what has been erased.
    package let rewritten: Int
    /// Backups of another history of the node, or not signed by it, that hold what was erased: it stays in them.
    package let unreached: [String]
    /// Backups that are damaged, and files that those may name: whether what was erased stays in them cannot be told.
    package var unread: [String] = []
    /// Backups that were behind erasures though the newest was not: an older copy was put back. They are without what was erased again.
    package var putBack: [String] = []
    /// Files that no backup named, with what was erased: they are taken away.
    package var cleared: [String] = []
    /// Backups of this node that it has not signed, and that were passed over or written again without a signature.
    package var unsigned: [String] = []
}

/// How a backup is made.
package struct BackupPlan: Sendable {
    package var withKey: Bool
    /// Not behind an earlier one.
    package var isFull: Bool

    package init(withKey: Bool, isFull: Bool) { (self.withKey, self.isFull) = (withKey, isFull) }

    /// Bytes after which a segment ends: what an erasure makes to be written again.
    static let segment: UInt64 = 64 << 20
    /// How many small segments in a row become one.
    static let fan = 16

    /// How many of the last segments are written again together with `rows` new ones, so that a backup has some hundred segments at most
    /// however many backups there were. Those of one size are joined, and the larger ones that this makes.
    static func merged(_ segments: [BackupManifest.Segment], with rows: UInt64) -> Int {
        var (count, rows) = (0, rows)
        while true {
            let last = segments.dropLast(count).suffix(fan - 1)
            let size = tier(rows)
            guard last.count == fan - 1,
                last.allSatisfy({ tier($0.last - $0.after) <= size && $0.bytes < segment / 4 })
            else { return count }
            count += last.count
            rows += last.saturatedSum { $0.last - $0.after }
        }
    }

    private static func tier(_ rows: UInt64) -> Int { (UInt64.bitWidth - rows.leadingZeroBitCount) / 4 }

    /// How long is waited for a head that covers what is there, and for an erasure under way, milliseconds.
    static let patience = (head: 2_000, erasure: 30_000, each: 50)
}

/// Makes backups of a store that may be open and written meanwhile. Not Sendable.
package final class BackupWriter {
    let source: BackupSource
    let files: StoreFiles
    /// Signs the manifests; `nil` where this user may not read it.
    let signer: SigningKey?
    private let sha = SHA256()
    /// Runs with the last position written, and the one at the end; false: stop.
    private let progress: (UInt64, UInt64) -> Bool
    /// How far it is: what is written behind the rows does not move it.
    private var place: (done: UInt64, total: UInt64) = (0, 0)

    package init(_ files: StoreFiles, progress: @escaping (UInt64, UInt64) -> Bool) throws(BackupError) {
        var found: BackupSource?
        var pem: [UInt8]?
        try logged { () throws(StoreError) in
            found = try BackupSource(files)
            do throws(StoreError) { pem = try SmallFile.read(files.key) } catch {
                guard case .forbidden = error else { throw error }
            }
        }
        guard let source = found else { throw .store(.notFound(path: files.folder)) }
        self.source = source
        self.files = files
        self.progress = progress
        let signer = pem.flatMap { SigningKey(pem: $0) }
        self.signer = signer
        if signer != nil { try logged { () throws(StoreError) in try source.checkForSigning(signer) } }
    }

    /// Whether no one wants it to end.
    func goesOn() -> Bool { progress(place.done, place.total) }
    func goOn() throws(BackupError) { guard goesOn() else { throw .interrupted } }

    /// Makes a backup in a repository that was opened for making.
    package func run(_ plan: BackupPlan, in repository: Repository) throws(BackupError) -> BackupReport {
        try repository.refuseOtherKey()
        let applied = try awaitErasures()
        let hasOthers = try !repository.ids().isEmpty
        let parts = try self.parts(plan)
        // Before earlier backups are looked at: what has let their payloads go is told with a head over it.
        let (position, origins, top) = try awaitHead()
        let erasing = RepositoryErasure(repository, self)
        var refreshed = try erasing.run(applied)
        var (broken, unsigned): ([BackupError], [String]) = ([], [])
        let base = plan.isFull ? nil : try newest(in: repository, upTo: position, &broken, &unsigned)
        var segments = base?.segments ?? []
        let added = position - (base?.position ?? 0)
        if added > 0 { segments.removeLast(BackupPlan.merged(segments, with: added)) }
        var bytes: UInt64 = 0
        try writeSegments(after: segments.last?.last ?? 0, through: position, applied, key: repository.key) {
            file throws(BackupError) in
            try FileSink(repository.path(ofSegment: file))
        } written: { sink, segment throws(BackupError) in
            try sink.finish()
            bytes += segment.bytes
            segments.append(segment)
        }
        let attachments = try writeAttachments(
            in: repository, before: base?.attachments ?? [], isFull: plan.isFull)
        var manifest = try self.manifest(parts, position, origins, segments, attachments.list)
        manifest.id = try Self.free(manifest.id, repository)
        try repository.write(manifest, signedWith: signer)
        // Erasures that were applied while rows were read: they may be in both forms.
        let now = try logged { () throws(StoreError) in try source.erasures().applied }
        if now > applied {
            let again = try erasing.run(now)
            manifest = try repository.manifest(manifest.id)
            refreshed.rewritten += again.rewritten
            (refreshed.unreached, refreshed.unread) = (again.unreached, again.unread)
            refreshed.cleared += again.cleared
            refreshed.unsigned += again.unsigned
        }
        return BackupReport(
            manifest: try signed(manifest), after: base?.position ?? 0, bytes: bytes + attachments.bytes,
            attachments: attachments,
            uncovered: top - min(top, position), base: base?.id,
            isOtherHistory: base == nil && !plan.isFull && hasOthers && broken.isEmpty && unsigned.isEmpty,
            broken: broken, rewritten: refreshed.rewritten, unreached: refreshed.unreached,
            unread: refreshed.unread, putBack: refreshed.putBack, cleared: refreshed.cleared,
            unsigned: Set(unsigned + refreshed.unsigned).sorted())
    }

    /// The newest backup that the log goes on from. One that is damaged is passed over.
    ///
    /// - Parameters:
    ///   - broken: What those lack that it would go on from.
    ///   - unsigned: Those of this node that it has not signed: behind them it would sign what others may have written.
    private func newest(
        in repository: Repository, upTo position: UInt64, _ broken: inout [BackupError], _ unsigned: inout [String]
    ) throws(BackupError) -> BackupManifest? {
        var (found, strange): ([BackupError], [String]) = ([], [])
        defer { (broken, unsigned) = (found, strange) }
        return try repository.newest { manifest throws(BackupError) in
            guard isOwn(manifest) else {
                if manifest.node == source.identity.node { strange.append(manifest.id) }
                return false
            }
            guard manifest.position <= position, try continues(manifest) else { return false }
            // Behind rows that are gone there would be no backup either.
            guard let missing = repository.missing(of: manifest) else { return true }
            if !found.contains(missing) { found.append(missing) }
            return false
        }
    }

    /// Whether a manifest is the word of the node. Where this user may not read its key, none is made here that could be told from others.
    func isOwn(_ manifest: BackupManifest) -> Bool {
        manifest.node == source.identity.node && (manifest.isSigned || signer == nil)
    }

    func continues(_ manifest: BackupManifest) throws(BackupError) -> Bool {
        try logged { () throws(StoreError) in
            try source.continues(manifest.node, manifest.position, manifest.origins.map(\.progress))
        }
    }

    /// A name that no backup has.
    private static func free(_ id: String, _ repository: Repository) throws(BackupError) -> String {
        let taken = Set(try repository.ids())
        guard taken.contains(id) else { return id }
        return (2...).lazy.map { "\(id)-\($0)" }.first { !taken.contains($0) } ?? id
    }

    /// Waits until no erasure is under way. Up to which position they were applied.
    func awaitErasures() throws(BackupError) -> UInt64 {
        let isWritten = StoreLock.owner(files) != nil
        var left = isWritten ? BackupPlan.patience.erasure : 0
        while true {
            let (applied, last) = try logged { () throws(StoreError) in try source.erasures() }
            if applied >= last { return applied }
            guard left > 0, progress(0, 0) else { throw .erasing }
            sleepMilliseconds(BackupPlan.patience.each)
            left -= BackupPlan.patience.each
        }
    }

    /// How far signed heads cover the log. Where it is written a head of what is there now is waited for.
    func awaitHead() throws(BackupError) -> (position: UInt64, origins: [BackupOrigin], top: UInt64) {
        let isWritten = StoreLock.owner(files) != nil
        let top = try logged { () throws(StoreError) in try source.top() }
        var left = isWritten ? BackupPlan.patience.head : 0
        while true {
            let extent = try logged { () throws(StoreError) in try source.extent() }
            if extent.position >= top || left <= 0 {
                guard extent.position > 0 else { throw .unsigned }
                return (extent.position, extent.origins, top)
            }
            sleepMilliseconds(BackupPlan.patience.each)
            left -= BackupPlan.patience.each
        }
    }

    /// Writes rows as segments. What they say is checked: a log that is damaged is not backed up as if it were whole.
    func writeSegments<Sink: ByteSink>(
        after: UInt64, through: UInt64, _ applied: UInt64, key: StreamKey?, limit: UInt64 = BackupPlan.segment,
        begin: (String) throws(BackupError) -> Sink,
        written: (Sink, BackupManifest.Segment) throws(BackupError) -> Void
    ) throws(BackupError) {
        var chain = try logged { () throws(StoreError) in try source.chain(through: after) }
        let (erased, owners) = try logged { () throws(StoreError) in
            (try source.erasedRows(by: applied), try source.owners())
        }
        var done = after
        while done < through {
            let file = Self.name(after: done)
            let sink = try begin(file)
            let writer = try SegmentWriter(sink, file: Repository.name(ofSegment: file), after: done, key: key)
            while done < through, writer.bytes < limit {
                guard progress(done, through) else { throw .interrupted }
                let piece = try logged { () throws(StoreError) in try source.piece(after: done, through: through) }
                let checked: CheckedRows
                let putBack: Int
                let emptied: [EventHeader]
                do throws(SnapshotError) {
                    checked = try CheckedRows(piece.rows, using: sha)
                    try chain.take(checked, using: sha)
                    putBack = try erased.count(in: checked, owners)
                    emptied = try checked.emptied()
                } catch { throw .log(error) }
                guard putBack == 0 else { throw .putBack(rows: putBack, after: done) }
                let lost = try logged { () throws(StoreError) in try source.uncovered(emptied, owners) }
                if let lost { throw .lost(lost) }
                try writer.add(piece, checked)
                done = piece.rows.last
            }
            var segment = try writer.finish(erasures: applied)
            segment.file = file
            try written(sink, segment)
        }
        place = (done, through)
        try goOn()
    }

    /// Segments are never changed, so none gets the name of another.
    private static func name(after: UInt64) -> String {
        let tail = hexText((0..<6).map { _ in UInt8.random(in: .min ... .max) })
        let digits = String(after + 1)
        return String(repeating: "0", count: max(0, 14 - digits.utf8.count)) + digits + "-" + tail + ".rows"
    }

    /// What the store has beside its log. Before it is known how far that goes: peers sign what they have of it, and no more.
    func parts(_ plan: BackupPlan) throws(BackupError) -> (files: [BackupManifest.Part], told: [BackupManifest.Part])
    {
        try mapped { () throws(StoreError) in
            (try StoreParts.files(files, withKey: plan.withKey), try StoreParts.cosignatures(files))
        }
    }

    /// The same as who reads it has it.
    func signed(_ manifest: BackupManifest) throws(BackupError) -> BackupManifest {
        do throws(InvalidManifest) { return try BackupManifest(manifest.bytes(signedWith: signer)) } catch {
            throw .damaged(file: Repository.name(ofManifest: manifest.id), reason: error.reason)
        }
    }

    /// What the backup says of itself.
    func manifest(
        _ parts: (files: [BackupManifest.Part], told: [BackupManifest.Part]), _ position: UInt64,
        _ origins: [BackupOrigin], _ segments: [BackupManifest.Segment],
        _ attachments: [BackupManifest.Attachment]
    ) throws(BackupError) -> BackupManifest {
        let identity = source.identity
        guard let key = origins.first(where: { $0.key.nodeID == identity.node })?.key else { throw .unsigned }
        let now = WallClock.now
        let stamp = Timestamp.text(now).filter { !"-:".contains($0) }.prefix { $0 != "." && $0 != "Z" } + "Z"
        var manifest = BackupManifest(
            id: "\(stamp)-\(position)", key: key, identity: identity, time: now, position: position, origins: origins,
            segments: segments, files: parts.files, cosignatures: parts.told)
        manifest.attachments = attachments
        manifest.erasures = try logged { () throws(StoreError) in try source.erasures(behind: origins) }
        return manifest
    }
}
