internal import Glibc

/// Reads the bytes of an attachment. Who reads all of them from the first on finds out whether they are what their name says.
///
/// Not Sendable: one thread at a time.
package final class AttachmentReader {
    package let digest: Digest
    /// How many bytes there are.
    package let count: UInt64
    private let descriptor: Int32
    private let path: String
    /// What was read from the first byte on; `nil` once another place was read.
    private var sha: RunningSHA256? = RunningSHA256()
    private var next: UInt64 = 0

    /// `nil` if there is no file.
    init?(_ folder: AttachmentFolder, _ digest: Digest) throws(StoreError) {
        self.digest = digest
        path = folder.blob(digest)
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        if descriptor < 0 {
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw .system(path)
        }
        var entry = stat()
        guard fstat(descriptor, &entry) == 0 else { throw .system(path) }
        guard entry.st_mode & S_IFMT == S_IFREG else {
            throw .unsafe("\(path) is no file: look at what stands there, and take it away")
        }
        count = UInt64(entry.st_size)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Says whether it is the same file as one that was read before: another has another inode or time.
    var identity: FileIdentity? { FileIdentity(descriptor) }

    /// Up to `most` bytes at `offset`; fewer only at the end. The last of all bytes are given only if all are what the name says: so no
    /// reader of the whole takes damage for it.
    package func read(at offset: UInt64, most: Int) throws(AttachmentError) -> [UInt8] {
        let wanted = Int(min(UInt64(most), count - min(offset, count)))
        var bytes = [UInt8](repeating: 0, count: wanted)
        var done = 0
        while done < wanted {
            let got = bytes.withUnsafeMutableBytes { buffer in
                pread(descriptor, buffer.baseAddress.map { $0 + done }, wanted - done, off_t(offset) + off_t(done))
            }
            if got < 0, errno == EINTR { continue }
            // A sector that cannot be read is damage; so is a file that has become shorter.
            guard got > 0 else { throw .damaged(digest) }
            done += got
        }
        guard offset == next, let sha else {
            sha = nil
            return bytes
        }
        sha.add(bytes[...])
        next += UInt64(wanted)
        if next == count {
            self.sha = nil
            guard sha.finish() == digest else { throw .damaged(digest) }
        }
        return bytes
    }

    /// Reads everything, and throws if it is not what the name says.
    package func check(_ progress: (Int) -> Void = { _ in }) throws(AttachmentError) {
        (sha, next) = (RunningSHA256(), 0)
        var offset: UInt64 = 0
        repeat {
            let piece = try read(at: offset, most: 256 << 10)
            offset += UInt64(piece.count)
            progress(piece.count)
        } while offset < count
        (sha, next) = (RunningSHA256(), 0)
    }
}

/// Which file it is, and when it was changed last.
struct FileIdentity: Hashable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int
    private let nanoseconds: Int

    init?(_ descriptor: Int32) {
        var entry = stat()
        guard fstat(descriptor, &entry) == 0 else { return nil }
        inode = UInt64(entry.st_ino)
        size = Int64(entry.st_size)
        (seconds, nanoseconds) = (entry.st_ctim.tv_sec, entry.st_ctim.tv_nsec)
    }
}
