internal import Glibc

/// Room for a WAL on the disk, ahead of what is written to it.
///
/// A WAL begins empty whenever a database is opened, and grows until it is copied back for the first time. The sync of a
/// file that has grown waits for the file system's journal too, and takes twice as long as that of bytes which were there. So zeros
/// are put behind its end, and SQLite writes over them. To a recovery they are where the WAL ends: a frame of page 0 is none.
///
/// Not Sendable; it belongs to the holder of the writing connection, so that no one else writes behind the end.
struct WALReserve {
    /// Bytes that are added at a time. A commit may have to wait until the disk has them.
    static let piece = 1 << 20

    /// What was added, in the kernel's hands. To be synced once, by any thread: others may write to the file meanwhile.
    struct Piece: Sendable {
        fileprivate let descriptor: Int32

        /// Whether the disk has it. If not, it may have lost what others wrote to the file, too.
        func sync() -> Bool {
            defer { close(descriptor) }
            return fdatasync(descriptor) == 0
        }
    }

    private let path: String
    /// How long the WAL becomes at most.
    private let most: Int
    /// How long it is at least.
    private var length = 0
    /// Whether nothing is to be added any more.
    private(set) var isComplete = false

    /// Room for `most` bytes in the WAL of the database at `path`.
    init(database path: String, most: Int) {
        self.path = path + "-wal"
        self.most = most
    }

    /// Whether a WAL that has come to `used` bytes, and not only to a few, is about to grow.
    func isShort(_ used: Int) -> Bool { !isComplete && used >= Self.piece / 4 && used + Self.piece / 4 > length }

    /// Adds a piece; `nil` if there is room enough, or no place.
    mutating func extend() -> Piece? {
        guard !isComplete else { return nil }
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        let end = descriptor >= 0 ? Int(lseek(descriptor, 0, SEEK_END)) : -1
        let count = min(Self.piece, most - end)
        guard end >= 0, count > 0 else {
            if descriptor >= 0 { close(descriptor) }
            isComplete = true
            return nil
        }
        guard Self.writeZeros(descriptor, at: end, count) else {
            // The disk is full: what little there is belongs to what comes.
            ftruncate(descriptor, end)
            close(descriptor)
            isComplete = true
            return nil
        }
        length = end + count
        isComplete = length >= most
        return Piece(descriptor: descriptor)
    }

    /// Writes from pages that were never written to, which are the kernel's one page of zeros: an array as large would stay
    /// with the thread's heap, whose end malloc_trim(3) leaves as it is.
    private static func writeZeros(_ descriptor: Int32, at offset: Int, _ count: Int) -> Bool {
        let zeros = mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let zeros, zeros != MAP_FAILED else { return false }
        defer { munmap(zeros, count) }
        return pwrite(descriptor, zeros, count, offset) == count
    }
}
