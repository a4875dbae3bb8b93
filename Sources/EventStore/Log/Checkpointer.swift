/// Copies the WAL of a database back beside the commits of its only writer (``CopyBack``).
///
/// ## Concurrency model
/// A thread of its own with a connection of its own, which it opens when there is something to copy. The writer tells it of
/// commits, and copies what is left between two of them itself.
final class Checkpointer: Sendable {
    private struct State {
        var plan = CopyBack()
        var isWanted = false
        /// Whether the connection is to be closed.
        var mustRest = false
        var isClosing = false
    }

    private let path: String
    private let state = Monitor(State())
    private let thread: Lock<WorkerThread?>

    init(database path: String) {
        self.path = path
        thread = Lock(nil)
        thread.withLock {
            $0 = WorkerThread(name: "log-checkpoint") { [self] in run() }
        }
    }

    /// A commit of the writer has written, and the WAL now has so many pages. Whether the writer is to ``finish(on:)``.
    func committed(pages: Int) -> Bool {
        var step = CopyBack.Step.none
        state.wake { state in
            state.plan.committed(pages: pages)
            step = state.plan.next()
            if step == .beside { state.isWanted = true }
            return step == .beside ? .workers : []
        }
        return step == .between
    }

    /// Copies what is left, on the writer's connection. Waits for the thread where that is copying still.
    func finish(on connection: Connection) {
        _ = state.wait(as: .readers) { $0.plan.isCopying ? nil : true }
        let result = Self.copy(connection)
        state.withLock { $0.plan.ended(result) }
    }

    /// Lets go of memory and files until there is something to copy again.
    func rest() {
        state.wake { state in
            state.mustRest = true
            return .workers
        }
    }

    /// Ends the thread when it has copied what it is at.
    func stop() {
        state.wake { state in
            state.isClosing = true
            return .workers
        }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Pages in the WAL and pages of it in the database; `nil` if that failed. The WAL stays valid then.
    private static func copy(_ connection: Connection) -> (pages: Int, copied: Int)? {
        guard let result = try? connection.checkpoint(), result.wal >= 0 else { return nil }
        return (result.wal, result.copied)
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
                return .forever
            }
            switch duty {
            case .copy:
                if connection == nil { connection = try? open() }
                let result = connection.flatMap(Self.copy)
                // Else whoever copies what is left would have to wait for all of it.
                if let result, result.copied > 0 { connection?.syncDatabase() }
                state.wake { state in
                    state.plan.ended(result)
                    state.isWanted = false
                    return .readers
                }
            case .rest:
                connection = nil
                state.withLock { $0.mustRest = false }
            case .close: return
            }
        }
    }

    private func open() throws(SQLiteError) -> Connection {
        let connection = try Connection(path: path, mode: .write)
        // NORMAL syncs the database before the WAL may begin anew, as FULL does.
        try connection.execute("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 0;")
        // A connection that has read nothing has no WAL to copy.
        _ = try connection.integer("PRAGMA user_version")
        connection.paceCopying()
        return connection
    }
}
