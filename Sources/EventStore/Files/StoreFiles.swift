internal import CLinux
internal import Glibc

/// Where the parts of a store lie.
package struct StoreFiles: Hashable, Sendable {
    /// The folder.
    package let folder: String

    /// The store in `folder`.
    package init(_ folder: String) {
        self.folder = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    /// The store in a folder that a program has named.
    package init(named folder: String) throws(StoreError) {
        guard !folder.isEmpty, !folder.utf8.contains(0) else {
            throw .parameter("the path of the store's folder is empty, or has a NUL in it: name a folder")
        }
        self.init(folder)
    }

    /// The log: the truth.
    package var log: String { folder + "/log.db" }
    /// The views: can be rebuilt from the log.
    package var views: String { folder + "/views.db" }
    /// Views under construction.
    package var newViews: String { folder + "/views.new" }
    /// What stands in for views while they get their name.
    var doneViews: String { newViews + ".done" }
    /// What subscriptions have done: can be rebuilt, at the price that events come again.
    package var subscriptions: String { folder + "/subs.db" }
    /// What this node has cosigned, and what its peers have: without it the node may say once more what it has said.
    package var cosignatures: String { folder + "/cosigned.db" }
    /// What the views were when the node let go of them.
    package var viewsMark: String { folder + "/views.mark" }
    /// The node's private key.
    package var key: String { folder + "/node.key" }
    /// Where the node left its log (``Mark``).
    package var mark: String { folder + "/mark.json" }
    /// Where the last acknowledged commit ended (``LogEnd``).
    package var end: String { folder + "/log.end" }
    /// What a start has found of the WAL, until it has acted on it (``FoundWAL``).
    package var foundWAL: String { folder + "/cut.json" }
    /// How the daemon's last proof of the log ended (`VerificationRecord`).
    package var verified: String { folder + "/verified.json" }
    /// When the last backup was made (`BackupRecord`).
    package var backedUp: String { folder + "/backup.json" }
    /// Held by the process that writes.
    package var lock: String { folder + "/lock" }
    /// Says that the disk has failed; there until the next start.
    package var diskFailure: String { folder + "/disk-failed.json" }
    /// The peers this node lets in.
    package var peers: String { folder + "/peers.json" }
    /// Invitations that are open.
    package var invitations: String { folder + "/invitations.json" }
    /// Proofs that an origin has two histories, and what was found of a log that had been cut, a file each.
    package var evidence: String { folder + "/evidence" }
    /// Erasures that the log does not have and that have been applied to it: a restored store has this until its node records them once more.
    package var laterErasures: String { folder + "/erasures.ndjson" }
    /// The bytes of attachments, a file each.
    package var attachments: String { folder + "/attachments" }
    /// The daemon's socket, unless configured elsewhere.
    package var socket: String { folder + "/api.sock" }

    /// What of the store stands as something else than it is: a folder or a pipe where a file lies, a file where a folder does. What the node
    /// makes anew by itself is remade once it is taken away.
    package var misplaced: [(path: String, isFolder: Bool, isRemade: Bool)] {
        let remade = [
            views, newViews, viewsMark, subscriptions, cosignatures, mark, end, foundWAL, diskFailure, verified,
            backedUp,
            lock,
        ]
        let kept = [log, key, peers, invitations, laterErasures]
        let places = remade.map { ($0, false, true) } + kept.map { ($0, false, false) }
        return (places + [(evidence, true, false), (attachments, true, false)]).filter { path, isFolder, _ in
            var entry = stat()
            return stat(path, &entry) == 0 && entry.st_mode & S_IFMT != (isFolder ? S_IFDIR : S_IFREG)
        }
    }

    /// Whether there is a log here.
    package var exists: Bool { access(log, F_OK) == 0 }

    /// Why there is none: what looking for it has just left in `errno`.
    package var absence: StoreError { errno == ENOENT ? .notFound(path: folder) : .system(folder) }
}

/// Small files read and written whole.
package enum SmallFile {
    /// Takes a database away, with what SQLite keeps beside it. Who has it open goes on with it.
    static func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-journal"] { unlink(path + suffix) }
    }

    /// Bytes of the largest file that is read.
    package static let largest = 64 << 20

    /// What may stand under the name of a file.
    package enum Kind {
        /// Only a file: anything else, a pipe for one, could keep its reader waiting.
        case file
        /// Whatever can be read, as the shell's `<(…)` gives it.
        case stream
    }

    /// The bytes of the file, with `most` no more than so many of them; `nil` if there is none.
    package static func read(
        _ path: String, _ kind: Kind = .file, most: Int? = nil
    ) throws(StoreError) -> [UInt8]? {
        let fd = open(path, O_RDONLY | O_CLOEXEC | (kind == .file ? O_NONBLOCK : 0))
        guard fd >= 0 else {
            if errno == ENOENT { return nil }
            throw .system(path)
        }
        defer { close(fd) }
        if kind == .file { try requireFile(fd, path) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(fd, &chunk, chunk.count)
            if count == 0 { return bytes }
            guard count > 0 else {
                if errno == EINTR { continue }
                throw .system(path)
            }
            if let most, bytes.count + count >= most { return bytes + chunk[..<(most - bytes.count)] }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= largest else { throw tooLarge(path) }
        }
    }

    /// As ``read(_:_:most:)``, from a folder in which a file more or less keeps nothing else from being read: what is no file, or too
    /// large, is passed over.
    package static func readOneOfMany(_ path: String) throws(StoreError) -> [UInt8]? {
        do throws(StoreError) { return try read(path) } catch {
            guard case .unsafe = error else { throw error }
            return nil
        }
    }

    /// Refuses a database that is no file, or beside which something stands that is none: who opens a pipe waits.
    static func requireDatabase(_ path: String) throws(StoreError) {
        for name in ["", "-wal", "-shm", "-journal"] { try requireFile(path + name) }
    }

    private static func requireFile(_ path: String) throws(StoreError) {
        var entry = stat()
        guard stat(path, &entry) == 0 else {
            if errno == ENOENT { return }
            throw .system(path)
        }
        guard entry.st_mode & S_IFMT == S_IFREG else { throw notFile(path) }
    }

    private static func notFile(_ path: String) -> StoreError {
        .unsafe("\(path) is no file: look at what stands there, and take it away")
    }

    /// Refuses what is no file, and one that is too large.
    fileprivate static func requireFile(_ descriptor: Int32, _ path: String) throws(StoreError) {
        var entry = stat()
        guard fstat(descriptor, &entry) == 0 else { throw .system(path) }
        guard entry.st_mode & S_IFMT == S_IFREG else { throw notFile(path) }
        guard entry.st_size <= largest else { throw tooLarge(path) }
    }

    private static func tooLarge(_ path: String) -> StoreError {
        .unsafe("\(path) has more than \(largest >> 20) MiB")
    }

    /// Writes all of `bytes` at `offset` of an open file; false with `errno` where the disk does not take them.
    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at offset: Int
    ) -> Bool {
        var done = 0
        while done < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
            let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Replaces the file atomically: a new file, renamed over the old one; if `isDurable` it is synced before that, and the folder
    /// after it.
    package static func replace(
        _ path: String, with bytes: [UInt8], mode: UInt32, isDurable: Bool = true
    ) throws(StoreError) {
        let temporary = path + ".tmp"
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        var fd = open(temporary, flags, mode)
        if fd < 0, errno == EEXIST {
            // What an interrupted replacement left, or a link that another user has put there: it goes, and is not followed.
            unlink(temporary)
            fd = open(temporary, flags, mode)
        }
        guard fd >= 0 else { throw .system(errno == EEXIST ? temporary : path) }
        guard bytes.withUnsafeBytes({ write($0, to: fd, at: 0) }) else {
            let error = StoreError.system(path)
            close(fd)
            unlink(temporary)
            throw error
        }
        guard !isDurable || fsync(fd) == 0, close(fd) == 0, rename(temporary, path) == 0 else {
            let error = StoreError.system(path)
            unlink(temporary)
            throw error
        }
        if isDurable { try syncFolder(of: path) }
    }

    /// The names in a folder, ascending; none if there is no such folder.
    package static func names(in path: String) throws(StoreError) -> [String] {
        guard let folder = opendir(path) else {
            if errno == ENOENT { return [] }
            throw .system(path)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            names.append(
                withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                    pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                })
        }
        return names.sorted()
    }

    /// The folder that what has this path lies in.
    static func folder(of path: String) -> String {
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        return folder.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : folder
    }

    /// Makes entries of the folder that holds `path` durable.
    package static func syncFolder(of path: String) throws(StoreError) {
        let folder = folder(of: path)
        let fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard fd >= 0 else { throw .system(folder) }
        defer { close(fd) }
        guard fsync(fd) == 0 else { throw .system(folder) }
    }
}

/// Ownership of a store: an flock that the kernel drops with the process.
package final class StoreLock: Sendable {
    private let fd: Int32
    /// How long those who only look may keep it from its owner, in nanoseconds: on a busy machine one may stand still meanwhile.
    private static let longestLook: UInt64 = 10_000_000_000

    /// Takes the lock and writes `owner` into it, or says who has it.
    package init(_ files: StoreFiles, owner: String) throws(StoreError) {
        try Self.requirePrivate(files.folder)
        let fd = open(files.lock, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard fd >= 0 else { throw .system(files.lock) }
        do throws(StoreError) { try SmallFile.requireFile(fd, files.lock) } catch {
            close(fd)
            throw error
        }
        let start = MonotonicClock.now
        while flock(fd, LOCK_EX | LOCK_NB) != 0 {
            // A process that looks who has it holds it for that moment, with others: that is not in the way of its owner.
            let isLooked = errno == EWOULDBLOCK && MonotonicClock.now - start < Self.longestLook
            let owner = Self.owner(files)
            guard owner == nil, isLooked else {
                close(fd)
                throw .locked(path: files.folder, owner: owner ?? "another process")
            }
            sleepMilliseconds(1)
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

    /// Whether root has before it the folder of another user, who could not open what root makes there. Root can open all, so that nothing
    /// else would tell.
    package static func isForeign(_ folder: String) -> Bool {
        var entry = stat()
        return geteuid() == 0 && stat(folder, &entry) == 0 && entry.st_uid != 0
    }

    /// Refuses a folder in which others may replace our files, and to root one in which its owner could not open them any more.
    package static func requirePrivate(_ folder: String) throws(StoreError) {
        var entry = stat()
        guard stat(folder, &entry) == 0 else { throw .system(folder) }
        guard entry.st_mode & S_IFMT == S_IFDIR else {
            throw .badFile("\(folder) is no folder", wayOut: "name another path")
        }
        guard entry.st_mode & 0o022 == 0 else {
            throw .unsafe(
                "others may write in \(folder) (mode 0\(String(entry.st_mode & 0o7777, radix: 8))), and put their own files in the "
                    + "place of the store's: chmod go-w \(folder)")
        }
        guard isForeign(folder) else { return }
        let name = getpwuid(entry.st_uid).map { String(cString: $0.pointee.pw_name) } ?? "#\(entry.st_uid)"
        throw .unsafe(
            "\(folder) belongs to \(name), who could not open what root makes there: the same as that user, with sudo -u \(name) or "
                + "runuser -u \(name) --")
    }

    /// What the present owner wrote; `nil` if the lock is free.
    package static func owner(_ files: StoreFiles) -> String? {
        let fd = open(files.lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard fd >= 0 else { return nil }
        defer { close(fd) }
        if flock(fd, LOCK_SH | LOCK_NB) == 0 { return nil }
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = pread(fd, &buffer, buffer.count, 0)
        let text = String(decoding: buffer.prefix(max(count, 0)), as: UTF8.self)
        return text.isEmpty ? "another process" : String(text.prefix(while: { $0 != "\n" }))
    }
}
