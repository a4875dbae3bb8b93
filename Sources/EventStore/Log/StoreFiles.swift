internal import CLinux
internal import Glibc

/// Where the parts of a store lie.
public struct StoreFiles: Hashable, Sendable {
    /// The folder.
    public let folder: String

    /// The store in `folder`.
    public init(_ folder: String) {
        self.folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    /// The log: the truth.
    public var log: String { folder + "/log.db" }
    /// The views: can be rebuilt from the log.
    public var views: String { folder + "/views.db" }
    /// Views under construction.
    public var newViews: String { folder + "/views.new" }
    /// The node's private key.
    public var key: String { folder + "/node.key" }
    /// Held by the process that writes.
    public var lock: String { folder + "/lock" }
    /// The peers this node lets in.
    public var peers: String { folder + "/peers.json" }
    /// Invitations that are open.
    public var invitations: String { folder + "/invitations.json" }
    /// Proofs that an origin has two histories, a file each.
    public var evidence: String { folder + "/evidence" }
    /// The daemon's socket, unless configured elsewhere.
    public var socket: String { folder + "/api.sock" }

    /// Whether there is a log here.
    public var exists: Bool { access(log, F_OK) == 0 }
}

/// Small files read and written whole.
package enum SmallFile {
    /// The bytes of the file; `nil` if there is none.
    package static func read(_ path: String) throws(StoreError) -> [UInt8]? {
        let fd = open(path, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(path)
        }
        defer { close(fd) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(fd, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system(path)
            }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Replaces the file atomically and durably: a new file, synced, renamed over the old one, the folder synced.
    package static func replace(_ path: String, with bytes: [UInt8], mode: UInt32) throws(StoreError) {
        let temporary = path + ".tmp"
        let fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard fd >= 0 else { throw .system(path) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(fd, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                let error = StoreError.system(path)
                close(fd)
                unlink(temporary)
                throw error
            }
            written += count
        }
        guard fsync(fd) == 0, close(fd) == 0, rename(temporary, path) == 0 else {
            let error = StoreError.system(path)
            unlink(temporary)
            throw error
        }
        try syncFolder(of: path)
    }

    /// Makes entries of the folder that holds `path` durable.
    package static func syncFolder(of path: String) throws(StoreError) {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        let fd = open(folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard fd >= 0 else { throw .system(folder) }
        defer { close(fd) }
        guard fsync(fd) == 0 else { throw .system(folder) }
    }
}

/// Ownership of a store: an flock that the kernel drops with the process.
package final class StoreLock: Sendable {
    private let fd: Int32

    /// Takes the lock and writes `owner` into it, or says who has it.
    package init(_ files: StoreFiles, owner: String) throws(StoreError) {
        let fd = open(files.lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard fd >= 0 else { throw .system(files.lock) }
        guard flock(fd, LOCK_EX | LOCK_NB) == 0 else {
            close(fd)
            throw .locked(path: files.folder, owner: Self.owner(files) ?? "another process")
        }
        ftruncate(fd, 0)
        let bytes = Array((owner + "\n").utf8)
        _ = bytes.withUnsafeBytes { pwrite(fd, $0.baseAddress, $0.count, 0) }
        self.fd = fd
    }

    deinit {
        ftruncate(fd, 0)
        close(fd)
    }

    /// What the present owner wrote; `nil` if nobody holds the lock.
    package static func owner(_ files: StoreFiles) -> String? {
        let fd = open(files.lock, O_RDONLY | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        defer { close(fd) }
        if flock(fd, LOCK_SH | LOCK_NB) == 0 { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(fd, &buffer, buffer.count, 0)
        let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return text.isEmpty ? "another process" : String(text.prefix(while: { $0 != "\n" }))
    }
}
