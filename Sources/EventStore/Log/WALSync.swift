internal import Glibc

/// Waits until the disk has what was committed into a WAL.
///
/// SQLite would do so within a commit (`synchronous = FULL`, the same system call on the same file); beside it, the next
/// commit can be written meanwhile. One at a time may sync: the kernel tells of a failed write once for each open file, and
/// whoever else were syncing would take it for done.
final class WALSync: Sendable {
    private let path: String
    private let descriptor: Int32

    /// For the WAL of the database at `path`, which a connection has open.
    init(database path: String) throws(StoreError) {
        self.path = path + "-wal"
        descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(self.path) }
    }

    deinit { close(descriptor) }

    func run() throws(StoreError) {
        guard fdatasync(descriptor) == 0 else { throw .system(path) }
    }
}
