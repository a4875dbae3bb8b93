internal import Glibc

/// Follows the views of an open store for what they say of attachments, on a thread of its own.
///
/// ## Concurrency model
/// The thread alone reads the views, on connections of its own. Others tell it of commits and of erasures through a monitor; it tells of bytes
/// that are wanted through a closure that must be short.
package final class AttachmentKeeper: Sendable, StoreFollower {
    private struct State {
        var isDue = true
        var isEnding = false
        var notBefore: UInt64 = 0
        var lastError: StoreError?
    }

    /// Between two looks at the views, nanoseconds: a picture may be known of so much later than its message.
    private static let pace: UInt64 = 100_000_000
    /// While something waits for views that are built anew.
    private static let patience: UInt64 = 500_000_000
    /// How often bytes are looked for that no event has named.
    private static let sweep: UInt64 = 600_000_000_000
    /// How often it is looked which files are gone, and in how many of the 256 folders each time: in forty seconds in all.
    private static let look: (pace: UInt64, folders: UInt8) = (5_000_000_000, 32)

    private let state = Monitor(State())
    private let thread = Lock<WorkerThread?>(nil)
    private let unnamedFor: Int64

    /// - Parameters:
    ///   - unnamedFor: How long bytes stay that no event names, milliseconds.
    ///   - onWanted: Told when events name bytes that may not be here, and when bytes have come or gone.
    ///   - onLost: Told how many files were found to be gone, before bytes are wanted for it.
    package init(
        _ store: EventStore, tails: ViewMemtables = ViewMemtables(), unnamedFor: Int64,
        onWanted: @escaping @Sendable () -> Void, onLost: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        self.unnamedFor = unnamedFor
        let observer = store.observeCommits { [weak self] _ in self?.wake() }
        // It holds the store until that is closed, which ends it.
        let thread = WorkerThread(name: "attachments") { [self] in
            run(store, tails, onWanted, onLost)
            store.removeObserver(observer)
        }
        self.thread.withLock { $0 = thread }
    }

    /// Why the last look came to nothing, if it did.
    package var lastError: StoreError? { state.withLock { $0.lastError } }

    /// The views may say more.
    package func wake() {
        state.update { state in
            defer { state.isDue = true }
            return !state.isDue
        }
    }

    package func storeHasClosed() {
        state.wakeAll { $0.isEnding = true }
        thread.withLock { $0?.join() }
    }

    /// Waits until the next look is due; false at the end.
    private func next(_ looked: UInt64) -> Bool {
        state.wait { state -> Waiting<Bool> in
            if state.isEnding { return .done(false) }
            let now = MonotonicClock.now
            let due = state.isDue ? state.notBefore : looked + Self.look.pace
            guard now >= due else { return .until(due) }
            state.isDue = false
            return .done(true)
        }
    }

    private func run(
        _ store: EventStore, _ tails: ViewMemtables, _ onWanted: () -> Void, _ onLost: (Int) -> Void
    ) {
        var views: ViewReader?
        var swept: UInt64 = 0
        var (looked, folder): (UInt64, UInt8) = (MonotonicClock.now, 0)
        while next(looked) {
            var isMore = false
            do throws(StoreError) {
                let open = if let views { views } else { try ViewReader(store.files, tails: tails) }
                views = open
                let upkeep = AttachmentUpkeep(store, open)
                isMore = try upkeep.follow()
                if isMore { onWanted() }
                let isBehind = try open.progress() < open.log.top()
                let leaving = try upkeep.settle()
                // All of them at the start, and then some at a time.
                if swept == 0 || MonotonicClock.now >= looked + Self.look.pace {
                    let folders = swept == 0 ? .min ... .max : folder...folder + (Self.look.folders - 1)
                    (looked, folder) = (MonotonicClock.now, folder &+ Self.look.folders)
                    let lost = try upkeep.noteLost(folders)
                    if lost > 0 {
                        onLost(lost)
                        onWanted()
                    }
                }
                if MonotonicClock.now >= swept + Self.sweep {
                    // What comes later comes through this process.
                    if swept == 0 { try upkeep.noteStrays() }
                    swept = MonotonicClock.now
                    try upkeep.dropUnnamed(before: WallClock.now - unnamedFor)
                }
                later(
                    isMore ? 0 : isBehind ? Self.pace : Self.patience, again: isMore || isBehind || leaving > 0, nil)
            } catch {
                views = nil
                later(Self.patience, again: true, error)
            }
        }
    }

    private func later(_ pause: UInt64, again: Bool, _ error: StoreError?) {
        state.withLock { state in
            state.notBefore = MonotonicClock.now + (again ? pause : Self.pace)
            state.isDue = state.isDue || again
            state.lastError = error
        }
    }
}
