package import EventStore

/// The attachments of a plain copy of a store.
package enum PlainCopy {
    /// Copies what a store has of attachments into another one that no one has opened. Returns how many, and how many were not what their names
    /// say, and stay away. What a copy that failed has left is taken away, with the store.
    package static func attachments(
        of files: StoreFiles, into copy: StoreFiles, _ goesOn: () -> Bool
    ) throws(BackupError) -> (copied: Int, damaged: Int) {
        do throws(BackupError) {
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
        } catch {
            StoreFolder.remove(copy.folder)
            throw error
        }
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
