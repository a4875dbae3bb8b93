internal import CLinux
internal import Glibc

/// Waits until the disk has what was committed into a WAL.
///
/// SQLite would do so within a commit (`synchronous = FULL`, the same system call on the same file); beside it, the next
/// commit can be written meanwhile. One at a time may sync: the kernel tells of a failed write once for each open file, and
/// another thread that syncs would take it for done.
///
/// A sync is two waits: until the disk has the pages, and until it has emptied its cache. A small commit is handed to the disk as
/// soon as it is written, so that what is left to do of it goes on during the first.
final class WALSync: Sendable {
    /// Larger commits are left to ``run(awake:)``: to hand them over takes long, too, and the next one waits for the writing thread.
    private static let small = 256 << 10

    private let path: String
    private let descriptor: Int32
    private let pace = Lock(SyncPace())

    /// For the WAL of the database at `path`, which a connection has open.
    init(database path: String) throws(StoreError) {
        self.path = path + "-wal"
        descriptor = open(self.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system(self.path) }
    }

    deinit { close(descriptor) }

    /// Hands a commit of `count` bytes to the disk, if it is small, without waiting for it. It tells of no error; ``run(awake:)`` does.
    func begin(at offset: Int64, count: Int) {
        guard count <= Self.small else { return }
        pace.withLock { $0.begun = MonotonicClock.now }
        _ = sync_file_range(descriptor, Int(offset), count, 2 /* SYNC_FILE_RANGE_WRITE */)
    }

    /// Waits for the disk; `awake` at first, as long as ``SyncPace`` says. Returns how long that took, nanoseconds.
    func run(awake: Bool) throws(StoreError) -> UInt64 {
        let start = MonotonicClock.now
        let end = awake ? pace.withLock { $0.awake(at: start) } : 0
        while MonotonicClock.now < end {}
        guard fdatasync(descriptor) == 0 else { throw .failedSync(path) }
        let now = MonotonicClock.now
        pace.withLock { $0.ended(from: start, to: now) }
        return now - start
    }
}

/// How long a thread that syncs a lone commit stays awake before it waits in the kernel. The first of the two waits of a quick disk
/// is shorter than the waking of the processor that went to sleep in it, which takes 20 to 50 µs in a virtual machine. Where several
/// commit, others have work for the processor.
///
/// Pure. Times are nanoseconds of the monotonic clock.
struct SyncPace {
    /// Where a sync takes longer than this, waking is a small part of it.
    static let quick: UInt64 = 250_000
    /// Of about so many syncs is the average that says so.
    private static let run: UInt64 = 8
    /// When a commit was last handed to the disk.
    var begun: UInt64 = 0
    /// What a sync takes (a moving average that forgets exponentially). One that takes very long counts for no more than four times
    /// what is quick, so that some syncs later the disk is known to be quick again.
    private var usual: UInt64 = 0

    /// Until when to stay awake in a sync that begins: until the disk should have the pages that it was handed just now.
    func awake(at now: UInt64) -> UInt64 { usual <= Self.quick ? min(begun, now) + usual * 2 / 5 : 0 }

    /// A sync has taken from `start` to `end`.
    mutating func ended(from start: UInt64, to end: UInt64) {
        let first = begun <= start && start - begun < Self.quick ? begun : start
        usual = (usual * (Self.run - 1) + min(end - first, 4 * Self.quick)) / Self.run
    }
}

/// A sync that happens once, for the first that needs it.
final class OneSync {
    private let waitForDisk: () throws(StoreError) -> Void
    private var outcome: Result<Void, StoreError>?

    init(_ waitForDisk: @escaping () throws(StoreError) -> Void) { self.waitForDisk = waitForDisk }

    func run() throws(StoreError) {
        if let outcome { return try outcome.get() }
        do throws(StoreError) {
            try waitForDisk()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
            throw error
        }
    }
}
