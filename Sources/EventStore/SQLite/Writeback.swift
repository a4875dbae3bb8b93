internal import CLinux
internal import Glibc

extension Connection {
    /// Bytes that the disk gets at a time: another thread's sync waits for no more than these.
    private static let writebackPiece = 1 << 20

    /// Lets the disk have the WAL piece by piece, before something syncs it: a long one in one piece would be in the way of
    /// what others sync on the same disk. Makes nothing durable, and it does not matter if it fails.
    func writeBackWAL(pages: Int) {
        let descriptor = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        for offset in stride(from: 0, to: Self.walBytes(pages: pages), by: Self.writebackPiece) {
            // SYNC_FILE_RANGE_WAIT_BEFORE | WRITE | WAIT_AFTER
            guard sync_file_range(descriptor, offset, Self.writebackPiece, 7) == 0 else { return }
        }
    }
}
