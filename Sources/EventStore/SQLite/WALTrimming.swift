internal import Glibc

/// Cuts a WAL that has begun anew down to its usual length, in pieces. To cut hundreds of megabytes at once takes the file system
/// hundreds of milliseconds, in which no one can write to the file; SQLite does so within a commit (`journal_size_limit`), or while it
/// holds the lock of those who write.
///
/// Only what lies behind a WAL that *has* begun anew may go: then its header is on the disk, with other salts than the frames that are cut.
/// Of a WAL that is all copied and has not begun anew a recovery would take what is left, which is older than the database.
///
/// Not Sendable; it belongs to the holder of the writing connection, so that no one else writes behind the end.
struct WALTrimming {
    /// Bytes that are cut at a time: about a millisecond.
    static let piece = 2 << 20
    /// How long others have their turn then, nanoseconds.
    private static let pause: UInt64 = 5_000_000

    private let path: String
    /// How long the file may become, and how long it is left, bytes.
    private let most: Int
    private let usual: Int
    /// How long it is; `nil` if nothing is to be cut.
    private var length: Int?
    /// When the last piece was cut, of the monotonic clock.
    private var last = UInt64(0)

    init(database path: String, most: Int, usual: Int) {
        (self.path, self.most, self.usual) = (path + "-wal", most, usual)
    }

    /// The WAL has begun anew.
    mutating func begin() {
        var entry = stat()
        guard stat(path, &entry) == 0, entry.st_size > most else { return length = nil }
        length = Int(entry.st_size)
    }

    /// When the next piece is to be cut, of the monotonic clock; `nil` if there is none.
    var due: UInt64? { length == nil ? nil : last + Self.pause }

    /// Cuts a piece off.
    ///
    /// - Parameter used: Bytes in the WAL since it began anew.
    mutating func cut(used: Int) {
        guard let length else { return }
        last = MonotonicClock.now
        let rest = max(length - Self.piece, usual)
        guard used + Self.piece <= rest, truncate(path, rest) == 0 else { return self.length = nil }
        self.length = rest > usual ? rest : nil
    }
}
