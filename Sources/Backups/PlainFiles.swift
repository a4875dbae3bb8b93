internal import EventStore
internal import Glibc

/// A new file of a folder. It gets its name when it is whole and on the disk; until then it is a leftover.
final class FileSink: ByteSink {
    /// What files have behind their names until they are whole.
    static let suffix = ".tmp"

    private let path: String
    private let descriptor: Int32
    private var isDone = false

    init(_ path: String) throws(BackupError) {
        self.path = path
        unlink(path + Self.suffix)
        descriptor = open(path + Self.suffix, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .store(.system(path)) }
    }

    deinit {
        close(descriptor)
        if !isDone { unlink(path + Self.suffix) }
    }

    func write(_ bytes: [UInt8]) throws(BackupError) { try writeAll(bytes, to: descriptor, named: path) }

    /// Gives the file its name.
    func finish() throws(BackupError) {
        guard fsync(descriptor) == 0, rename(path + Self.suffix, path) == 0 else {
            throw .store(.system(path))
        }
        isDone = true
        try mapped { () throws(StoreError) in try SmallFile.syncFolder(of: path) }
    }
}

/// A file of a folder, read from its beginning.
final class FileSource: ByteSource {
    private let path: String
    private let descriptor: Int32

    init(_ path: String, name: String) throws(BackupError) {
        self.path = path
        // A pipe would keep its reader waiting for ever.
        descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            switch errno {
            case ENOENT, ENOTDIR: throw .damaged(file: name, reason: "it is not there")
            case ELOOP, ENXIO: throw .damaged(file: name, reason: "it is no file")
            default: throw .store(.system(path))
            }
        }
        var entry = stat()
        guard fstat(descriptor, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG else {
            throw .damaged(file: name, reason: "it is no file")
        }
        posix_fadvise(descriptor, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    deinit { close(descriptor) }

    func read() throws(BackupError) -> [UInt8] { try readSome(descriptor, named: path) }
}

/// How many bytes a file has that is one; `nil` where there is none, or something else.
func size(ofFile path: String) -> UInt64? {
    var entry = stat()
    guard lstat(path, &entry) == 0, entry.st_mode & S_IFMT == S_IFREG else { return nil }
    return UInt64(clamping: entry.st_size)
}

/// Bytes in memory, as a source and as a sink.
final class MemoryBytes: ByteSource, ByteSink {
    private(set) var bytes: [UInt8]

    init(_ bytes: [UInt8] = []) { self.bytes = bytes }

    func read() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    func write(_ more: [UInt8]) { bytes += more }
}

/// Writes all of `bytes`; waits where a pipe is full.
func writeAll(_ bytes: [UInt8], to descriptor: Int32, named path: String) throws(BackupError) {
    var code: Int32 = 0
    bytes.withUnsafeBytes { bytes in
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                code = errno
                return
            }
            done += count
        }
    }
    guard code == 0 else {
        errno = code
        throw .store(.system(path))
    }
}

/// Some bytes; none at the end.
func readSome(_ descriptor: Int32, named path: String) throws(BackupError) -> [UInt8] {
    var code: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: 256 << 10) { buffer, count in
        var got = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
        while got < 0, errno == EINTR { got = Glibc.read(descriptor, buffer.baseAddress, buffer.count) }
        if got < 0 { code = errno }
        count = max(got, 0)
    }
    guard code == 0 else {
        errno = code
        throw .store(.system(path))
    }
    return bytes
}
