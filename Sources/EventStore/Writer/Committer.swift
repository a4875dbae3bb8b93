/// Transactions on the one writing connection of `log.db`. Only who writes for ``LogWriter`` touches it. What is committed
/// is in the WAL, and durable when that is synced.
final class Committer {

    /// Whether what is left of the WAL should be copied back now.
    private(set) var isCheckpointDue = false
    let checkpointer: Checkpointer
    /// Whether the last commit wrote anything.
    private var hasWritten = false
    /// How long the WAL of small commits becomes, bytes.
    private static let room = Connection.walBytes(pages: CheckpointPolicy.due.upperBound + CheckpointPolicy.rest)
    /// Where commits find room; `nil` where they are not synced.
    private var reserve: WALReserve?
    /// Makes a WAL short that had become long.
    private var trimming: WALTrimming
    private let tell: @Sendable (Checkpointer.News) -> Void
    /// Begins to sync what a commit has written, while the rest of it is done.
    var handOver: WALFrameBuffer.Written?
    private let connection: Connection
    let transactions: LogTransactions

    /// - Parameters:
    ///   - isOver: Whether the origin is about to be given up: no head of it is handed out.
    ///   - tell: Runs on any thread when there is news of the WAL's copying.
    init(
        files: StoreFiles, incarnation: UInt64 = 0, durability: Durability, signer: HeadSigner, isOver: Bool = false,
        wall: @escaping WallTime, tell: @escaping @Sendable (Checkpointer.News) -> Void = { _ in }
    ) throws(StoreError) {
        do throws(DatabaseError) {
            connection = try Connection(path: files.log, mode: .write)
            try connection.execute(Schema.pragmas)
        } catch {
            throw StoreError(error)
        }
        transactions = try LogTransactions(
            on: connection, incarnation: incarnation, signer: signer, isOver: isOver, wall: wall)
        trimming = WALTrimming(
            database: connection.path,
            most: Connection.walBytes(pages: CheckpointPolicy.most + CheckpointPolicy.rest), usual: Self.room)
        self.tell = tell
        reserve = durability == .full ? WALReserve(database: connection.path, most: Self.room) : nil
        checkpointer = Checkpointer(database: connection.path, tell: tell)
        connection.gatherWALWrites { [unowned self] offset, count in handOver?(offset, count) }
        connection.countWALPages { [unowned self] pages in
            hasWritten = true
            if pages < walPages {
                trimming.begin()
                retry = nil
            }
            walPages = pages
            isCheckpointDue = checkpointer.committed(pages: pages)
            isWALFull = pages >= WALStanding.most
        }
    }

    /// The last commit, once, with its jobs and their answers.
    ///
    /// - Parameter isFollowed: Whether an observer is told of commits.
    func takeWritten(
        _ jobs: [LogWriter.Job] = [], _ answers: [@Sendable () -> Void] = [], isFollowed: Bool
    ) -> GroupCommit {
        defer { hasWritten = false }
        let (own, notice) = transactions.takeCommitted(isFollowed: isFollowed)
        return GroupCommit(
            jobs: jobs, answers: answers, events: jobs.saturatedSum(of: \.events), hasWritten: hasWritten, own: own,
            end: transactions.end, hasErasures: transactions.takeErasures(), notice: notice)
    }

    /// Copies back what is left of the WAL, if that is little. A long one begins anew.
    func checkpoint() {
        isCheckpointDue = false
        isWALFull = false
        retry = nil
        guard checkpointer.finish(on: connection) else {
            if checkpointer.isOnlyRead { retry = MonotonicClock.now + Self.pause }
            return
        }
        do throws(DatabaseError) {
            try connection.rewriteVersion()
        } catch {
            if error.afterCommit == .store { tell(.failed(error)) }
        }
        hasWritten = false
    }

    /// When ``shorten()`` is to run, of the monotonic clock; `nil` if it need not.
    var shortenDue: UInt64? { retry ?? trimming.due }

    /// Looks whether a long WAL can begin anew by now, or cuts off a piece of what it had become longer than usual.
    func shorten() {
        if retry != nil { return checkpoint() }
        trimming.cut(used: Connection.walBytes(pages: walPages))
    }

    /// Leaves nothing of what was erased: empties the WAL, and overwrites what no row has of these pages of the database. False where
    /// a reader does not let the WAL be emptied.
    func scrub(_ pages: [Int64]) throws(StoreError) -> Bool {
        isCheckpointDue = false
        isWALFull = false
        guard checkpointer.empty(on: connection) else { return false }
        (walPages, retry) = (0, nil)
        trimming.begin()
        if reserve != nil { reserve = WALReserve(database: connection.path, most: Self.room) }
        guard !pages.isEmpty else { return true }
        // What the cache has of them would come back with the next change of such a page.
        connection.releaseMemory()
        do throws(DatabaseError) { try SlackPages(connection).clear(pages) } catch { throw StoreError(error) }
        return true
    }

    /// Whether the WAL has become so long that nothing should be added to it.
    private(set) var isWALFull = false
    /// Pages in the WAL after the last commit.
    private var walPages = 0
    /// When to look again whether readers of a long WAL have gone, of the monotonic clock.
    private var retry: UInt64?
    /// How long they are left alone, nanoseconds.
    private static let pause: UInt64 = 100_000_000

    /// Ends what goes on beside the commits, and copies the whole WAL into the database. False where a reader or a lack of room does not let
    /// it. Throws where the disk has failed. The WAL's file stays until ``letGoOfWAL()``: without it nothing says that it lacks nothing.
    ///
    /// - Parameter keepingWAL: Whether nothing more is to be copied out of the WAL.
    func close(keepingWAL: Bool) throws(StoreError) -> Bool {
        checkpointer.stop(keepingWAL: keepingWAL)
        connection.keepWAL()
        guard !keepingWAL else { return false }
        do throws(DatabaseError) {
            return try connection.checkpoint(truncate: true, patience: Self.patience).wal == 0
        } catch {
            guard error.afterCopying == .store else { return false }
            throw StoreError(error)
        }
    }

    /// The mark says that the log needs no WAL.
    func letGoOfWAL() { connection.keepWAL(false) }

    /// How long the end waits for readers, milliseconds.
    private static let patience: Int32 = 200

    /// Whether the WAL will grow soon: its commits would take twice as long.
    var isReserveDue: Bool { reserve?.isShort(Connection.walBytes(pages: connection.walPages)) ?? false }
    /// Whether there is room for all of a WAL of small commits.
    var isReserved: Bool { reserve?.isComplete ?? true }

    /// Makes room in the WAL; what is given is to be synced when others may commit again.
    func extendReserve() -> WALReserve.Piece? { reserve?.extend() }

    /// Gives back what the page cache holds.
    func releaseMemory() {
        checkpointer.rest()
        connection.releaseMemory()
        returnFreeMemory()
    }
}
