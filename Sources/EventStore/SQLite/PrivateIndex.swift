internal import CLinux
internal import CSQLite
internal import Glibc

/// The index of a WAL in the memory of this process, where the disk has no room for `-shm`: a store can be read while the disk is full.
///
/// Other processes do not see who reads then, and would begin the WAL anew meanwhile. So the lock of the store is shared with others that
/// read, as long as a connection lives: no one has the store open for writing then.
final class PrivateIndex: Sendable {
    private struct Kept {
        weak var index: PrivateIndex?
    }

    private static let kept = Lock([Kept]())
    /// The `-shm` that is to be in memory, while a database is opened.
    private static let wanted = Lock<String?>(nil)

    /// The database's, without links.
    private let path: String
    private let descriptor: Int32

    /// Tells SQLite. To run once in a process.
    static func register() {
        guard let usual = sqlite3_vfs_find(nil), usual.pointee.iVersion >= 3, let set = usual.pointee.xSetSystemCall
        else { return }
        let openFile: @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32 = { path, flags, mode in
            guard let path else { return -1 }
            let isPrivate = PrivateIndex.wanted.withLock { $0.map { strcmp(path, $0) == 0 } ?? false }
            guard isPrivate else { return Glibc.open(path, flags, mode_t(mode)) }
            return memfd_create("sillok-index", 1 /* MFD_CLOEXEC */)
        }
        _ = set(usual, "open", unsafeBitCast(openFile, to: sqlite3_syscall_ptr.self))
    }

    /// That of the database at `path`, if a connection of this process has one.
    static func current(_ path: String) -> PrivateIndex? {
        let isAny = kept.withLock { !$0.isEmpty }
        guard isAny, let path = real(path) else { return nil }
        return kept.withLock { $0.lazy.compactMap(\.index).first { $0.path.hasSameBytes(as: path) } }
    }

    /// For the database at `path`; `nil` where the store's lock, the file at `lock`, cannot be shared.
    init?(_ path: String, lock: String) {
        guard let path = Self.real(path) else { return nil }
        let descriptor = Glibc.open(lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else {
            close(descriptor)
            return nil
        }
        (self.path, self.descriptor) = (path, descriptor)
        Self.kept.withLock { $0.append(Kept(index: self)) }
    }

    deinit {
        Self.kept.withLock { $0.removeAll { $0.index == nil } }
        close(descriptor)
    }

    /// Opens a connection with it. One at a time opens databases for reading.
    func opening(_ open: () throws(DatabaseError) -> Connection) throws(DatabaseError) -> Connection {
        Self.wanted.withLock { $0 = path + "-shm" }
        defer { Self.wanted.withLock { $0 = nil } }
        let connection = try open()
        connection.privateIndex = self
        return connection
    }

    private static func real(_ path: String) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        return String(cString: real)
    }
}
