package import EventStore

/// A plain copy of a store, in a folder that gets its name when all of it is on the disk.
package enum PlainCopy {
    package struct Report: Sendable {
        package let log: StoreBackup.Report
        package let attachments: Int
        /// Attachments that are not what their names say, and stay away.
        package let damaged: Int
    }

    /// What stands behind the folder's name while it is made.
    private static let suffix = ".copying"

    /// - Parameters:
    ///   - folder: Where the copy is to lie; not there yet.
    ///   - progress: Runs with the pages of the log copied and all of its pages.
    ///   - goesOn: Whether no one wants it to end. It is asked when the log is copied, and before each attachment.
    package static func make(
        of files: StoreFiles, in folder: String, withKey: Bool, withAttachments: Bool,
        progress: (Int, Int) -> Void = { _, _ in }, goesOn: () -> Bool
    ) throws(BackupError) -> Report {
        guard files.exists else { throw .store(.notFound(path: files.folder)) }
        let part = try PartFolder(folder, suffix: suffix)
        do throws(BackupError) {
            let log = try mapped { () throws(StoreError) in
                try StoreBackup.make(of: files, into: part.files, withKey: withKey, progress: progress)
            }
            guard goesOn() else { throw .interrupted }
            let (copied, damaged) = withAttachments ? try attachments(of: files, into: part.files, goesOn) : (0, 0)
            try part.finish()
            return Report(log: log, attachments: copied, damaged: damaged)
        } catch {
            part.remove()
            throw error
        }
    }

    /// Copies what a store has of attachments into another one that no one has opened. Returns how many, and how many were not what their names
    /// say, and stay away.
    private static func attachments(
        of files: StoreFiles, into copy: StoreFiles, _ goesOn: () -> Bool
    ) throws(BackupError) -> (copied: Int, damaged: Int) {
        var (copied, damaged) = (0, 0)
        let source = try mapped { () throws(StoreError) in try AttachmentCopy(files) }
        let wanted = try mapped { () throws(StoreError) in try source.files() }
        guard !wanted.isEmpty else { return (0, 0) }
        let store = try mapped { () throws(StoreError) in try AttachmentStore(copy) }
        for want in wanted {
            guard goesOn() else { throw .interrupted }
            do throws(BackupError) {
                if try copyOne(want.digest, source, store) { copied += 1 }
            } catch {
                guard case .damaged = error else { throw error }
                damaged += 1
            }
        }
        return (copied, damaged)
    }

    /// False where it has gone meanwhile: what named it was erased.
    private static func copyOne(
        _ digest: Digest, _ source: AttachmentCopy, _ store: AttachmentStore
    ) throws(BackupError) -> Bool {
        do throws(AttachmentError) {
            guard let reader = try source.file(digest) else { return false }
            let writer = try begin(store, reader.count)
            var offset: UInt64 = 0
            while offset < reader.count {
                let piece = try reader.read(at: offset, most: AttachmentForm.chunk)
                try writer.write(piece[...])
                offset += UInt64(piece.count)
            }
            _ = try store.finish(writer, stated: digest)
            return true
        } catch { throw BackupError(error) }
    }

    private static func begin(
        _ store: AttachmentStore, _ limit: UInt64
    ) throws(AttachmentError) -> AttachmentWriter {
        do throws(StoreError) { return try store.begin(limit: limit) } catch { throw .store(error) }
    }
}
