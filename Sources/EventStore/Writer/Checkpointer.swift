/// Copies the WAL of a database back beside the commits of its only writer (``CheckpointPolicy``).
///
/// ## Concurrency model
/// A thread of its own with a connection of its own, which it opens when there is something to copy. The writer tells it of
/// commits, and copies what is left between two of them itself.
final class Checkpointer: Sendable {
    enum News: Sendable {
        /// A read, write or sync: what was copied is not to be believed.
        case failed(DatabaseError)
        /// Little is left to be copied: ``finish(on:)`` does that.
        case nearlyCopied
    }

    private struct State {
        var plan = CheckpointPolicy()
        var isWanted = false
        /// Whether the connection is to be closed.
        var mustRest = false
        var isClosing = false
        /// Whether the WAL is to stay as it is.
        var keepsWAL = false
        /// Since when readers keep the WAL from being copied, and when that was tried last; nanoseconds of the monotonic clock.
        var held: (since: UInt64, tried: UInt64)?
        /// That the disk had no room for what was to be copied last.
        var lackOfRoom: StoreError?
        /// How far those readers see.
        var marks: [UInt32] = []

        /// A copy has ended.
        mutating func ended(_ result: (pages: Int, copied: Int)?, marks: [UInt32]) {
            plan.ended(result)
            let now = MonotonicClock.now
            held = plan.isHeld ? (held?.since ?? now, now) : nil
            self.marks = marks
        }
    }

    /// How often to try again what readers do not let be copied.
    private static let pause: UInt64 = 2_000_000_000

    private let path: String
    private let tell: @Sendable (News) -> Void
    private let state = Monitor(State())
    private let thread: Lock<WorkerThread?>

    /// - Parameters:
    ///   - name: The thread's.
    ///   - tell: Runs on any thread.
    init(database path: String, name: String = "log-checkpoint", tell: @escaping @Sendable (News) -> Void) {
        self.path = path
        self.tell = tell
        thread = Lock(nil)
        thread.withLock {
            $0 = WorkerThread(name: name) { [self] in run() }
        }
    }

    /// A commit of the writer has written, and the WAL now has so many pages. Whether the writer is to ``finish(on:)``.
    func committed(pages: Int) -> Bool {
        var step = CheckpointPolicy.Step.none
        state.wake { state in
            state.plan.committed(pages: pages)
            step = state.plan.next()
            if step == .beside { state.isWanted = true }
            return step == .beside ? .workers : []
        }
        return step == .between || step == .giveWay
    }

    /// How long is waited for readers of a long WAL to be done, milliseconds.
    private static let patience: Int32 = 10

    /// Lets the thread go first that is copying, for a while, and copies what is left if that is little, on the writer's connection.
    /// Whether a long WAL is copied that no one reads: the next commit begins it anew.
    func finish(on connection: Connection) -> Bool {
        let patience = state.withLock { $0.plan.patience }
        _ = state.wait(as: .readers, milliseconds: patience) { $0.plan.isCopying ? nil : true }
        guard state.withLock({ !$0.plan.isCopying && $0.plan.isNearlyCopied }) else { return false }
        let result = copy(connection)
        let marks = connection.readMarks()
        let isDue = state.withLock { state in
            state.ended(result, marks: marks)
            return state.plan.isCopied && state.plan.isLong
        }
        return isDue && connection.awaitReaders(patience: Self.patience)
    }

    /// Copies all that is left, on the writer's connection, and empties the WAL, however short: an erasure leaves nothing in it. False while
    /// the thread is copying, or where a reader does not let go.
    func empty(on connection: Connection) -> Bool {
        _ = state.wait(as: .readers, milliseconds: Int(Self.patience)) { $0.plan.isCopying ? nil : true }
        guard state.withLock({ !$0.plan.isCopying }) else { return false }
        let result = copy(connection)
        let marks = connection.readMarks()
        let isCopied = state.withLock { state in
            state.ended(result, marks: marks)
            return state.plan.isCopied
        }
        guard isCopied, let left = try? connection.checkpoint(truncate: true, patience: Self.patience), left.wal == 0
        else { return false }
        state.withLock { $0.plan.emptied() }
        return true
    }

    /// That the disk has no room for what is to be copied.
    var lackOfRoom: StoreError? { state.withLock { $0.lackOfRoom } }

    /// Whether all of a long WAL is copied, which only readers keep from beginning anew.
    var isOnlyRead: Bool { state.withLock { $0.plan.isCopied && $0.plan.isLong } }
    /// Whether readers keep the WAL from being copied.
    var isHeld: Bool { state.withLock { $0.held != nil } }

    /// How long the WAL is, and who keeps it so.
    var standing: WALStanding {
        let (pages, held, marks) = state.withLock { ($0.plan.length, $0.held, $0.marks) }
        let file = path.split(separator: "/").last.map { "\($0)-wal" } ?? path
        guard let held else { return WALStanding(file, pages: pages, held: nil) }
        let milliseconds = Int64((MonotonicClock.now - held.since) / 1_000_000)
        return WALStanding(file, pages: pages, held: (milliseconds, WALReaders.oldest(of: path, marks: marks)))
    }

    /// Lets go of memory and files until there is something to copy again.
    func rest() {
        state.wake { state in
            state.mustRest = true
            return .workers
        }
    }

    /// Ends the thread when it has copied what it is at.
    ///
    /// - Parameter keepingWAL: Whether nothing more is to be copied out of the WAL.
    func stop(keepingWAL: Bool) {
        state.wake { state in
            state.isClosing = true
            state.keepsWAL = keepingWAL
            return .workers
        }
        thread.withLock { $0?.join() }
    }

    /// Pages in the WAL and pages of it in the database; `nil` if that failed. The WAL stays valid then.
    ///
    /// - Parameter isSynced: Whether to sync at once what was copied. Else the thread that copies what is left waits for all of it.
    private func copy(_ connection: Connection, isSynced: Bool = false) -> (pages: Int, copied: Int)? {
        do throws(DatabaseError) {
            let result = try connection.checkpoint()
            guard result.wal >= 0 else { return nil }
            if isSynced, result.copied > 0 { try connection.syncDatabase() }
            state.withLock { $0.lackOfRoom = nil }
            return (result.wal, result.copied)
        } catch {
            if case .diskFull(let what) = StoreError(error) { state.withLock { $0.lackOfRoom = .diskFull(what) } }
            // A full disk, or another's lock: the same pages are copied another time.
            guard error.afterCopying == .store else { return nil }
            connection.keepWAL()
            tell(.failed(error))
            return nil
        }
    }

    private enum Duty {
        case copy
        case rest
        case close
    }

    private func run() {
        var connection: Connection?
        while true {
            let duty: Duty = state.wait { state -> Waiting<Duty> in
                if state.isWanted { return .done(.copy) }
                if state.isClosing { return .done(.close) }
                if state.mustRest { return .done(.rest) }
                guard let held = state.held, !state.plan.isCopying else { return .forever }
                guard MonotonicClock.now >= held.tried + Self.pause else { return .until(held.tried + Self.pause) }
                return state.plan.beginAgain() ? .done(.copy) : .forever
            }
            switch duty {
            case .copy:
                if connection == nil { connection = try? open() }
                // SQLite would sync in one piece what no commit has synced.
                connection?.writeBackWAL(pages: state.withLock { $0.plan.length })
                let result = connection.flatMap { copy($0, isSynced: true) }
                let marks = connection?.readMarks() ?? []
                var step = CheckpointPolicy.Step.none
                state.wake { state in
                    state.ended(result, marks: marks)
                    // Nothing may be committed that would ask.
                    step = state.plan.next()
                    if step == .none, state.plan.isCopied, state.plan.isLong { step = .between }
                    state.isWanted = step == .beside
                    return .readers
                }
                if step == .between { tell(.nearlyCopied) }
            case .rest:
                connection = nil
                state.withLock { $0.mustRest = false }
            case .close:
                if state.withLock({ $0.keepsWAL }) { connection?.keepWAL() }
                return
            }
        }
    }

    private func open() throws(DatabaseError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        // NORMAL syncs the database before the WAL may begin anew, as FULL does.
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 0;")
        // A connection that has read nothing has no WAL to copy.
        _ = try connection.integer("PRAGMA user_version")
        connection.paceCopying()
        return connection
    }
}
