internal import CLinux
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

    /// Hands what was committed to the disk, without waiting for it: what is done between this and ``run()`` takes no time of
    /// its own. It tells of no error; ``run()`` does.
    func begin() { _ = sync_file_range(descriptor, 0, 0, 2 /* SYNC_FILE_RANGE_WRITE */) }

    func run() throws(StoreError) {
        guard fdatasync(descriptor) == 0 else { throw .system(path) }
    }
}
