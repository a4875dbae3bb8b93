internal import Glibc

/// Bytes of an attachment on their way into the store: written piece by piece and hashed on the way. What is not finished leaves nothing.
///
/// Not Sendable: one thread at a time.
package final class AttachmentWriter {
    private let folder: AttachmentFolder
    private let path: String
    private let descriptor: Int32
    private let limit: UInt64
    private let sha = RunningSHA256()
    private var isOver = false
    /// How many bytes have come.
    package private(set) var count: UInt64 = 0
    /// The first of them, for what they are.
    package private(set) var first: [UInt8] = []

    /// - Parameter limit: Most bytes that it takes.
    init(_ folder: AttachmentFolder, _ number: UInt64, limit: UInt64) throws(StoreError) {
        (self.folder, self.limit) = (folder, limit)
        path = folder.temporary(number)
        descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .system(path) }
    }

    deinit {
        if !isOver { unlink(path) }
        close(descriptor)
    }

    /// Takes the next bytes.
    package func write(_ bytes: ArraySlice<UInt8>) throws(AttachmentError) {
        guard count + UInt64(bytes.count) <= limit else { throw .tooLarge(limit: limit) }
        sha.add(bytes)
        if first.count < MediaType.looked { first += bytes.prefix(MediaType.looked - first.count) }
        let isWritten = bytes.withUnsafeBytes { SmallFile.write($0, to: descriptor, at: Int(count)) }
        guard isWritten else { throw .store(.system(path)) }
        count += UInt64(bytes.count)
    }

    /// Puts the bytes under their name, durably. Returns the name, and whether they were not here before.
    ///
    /// - Parameter stated: What the sender says that their digest is.
    func finish(stated: Digest?) throws(AttachmentError) -> (digest: Digest, isNew: Bool) {
        let digest = sha.finish()
        if let stated, stated != digest { throw .otherDigest(stated: stated, found: digest) }
        return (digest, try attaching { () throws(StoreError) in try place(digest) })
    }

    private func place(_ digest: Digest) throws(StoreError) -> Bool {
        let blob = folder.blob(digest)
        // What stands there already is not believed before it was read; to write it once more costs less.
        let isNew = try AttachmentFolder.size(of: blob) != count
        guard fsync(descriptor) == 0 else { throw .failedSync(path) }
        try folder.makePlace(of: digest)
        guard rename(path, blob) == 0 else { throw .system(blob) }
        isOver = true
        try SmallFile.syncFolder(of: blob)
        unlink(folder.damaged(digest))
        return isNew
    }
}
