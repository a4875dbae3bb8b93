internal import EventStore

/// What was committed and the loop of the peers does not know yet. While nobody waits for it, no peer and no caller, the loop
/// is left asleep: to wake it with each commit cost a lone append a tenth of its processor time.
///
/// ## Concurrency model
/// One lock. The thread that commits puts notices in, the loop's thread takes them out.
final class CommitInbox: Sendable {
    /// So many notices are kept before the loop is woken all the same: each holds the events of its commit, if they are few.
    static let capacity = 64

    private struct State {
        var notices: [CommitNotice] = []
        var isWatched = false
        /// The loop has been told that there is something.
        var isTold = false
    }

    private let state = Lock(State())

    /// Takes in a commit. Returns whether the loop is to be woken for it.
    func put(_ notice: CommitNotice) -> Bool {
        state.withLock { state in
            state.notices.append(notice)
            guard state.isWatched || state.notices.count >= Self.capacity, !state.isTold else { return false }
            state.isTold = true
            return true
        }
    }

    /// What has come, in the order of the commits.
    ///
    /// - Parameter isWatched: Whether the loop is to be woken for each commit from now on.
    func take(watching isWatched: Bool) -> [CommitNotice] {
        state.withLock { state in
            state.isWatched = isWatched
            state.isTold = false
            defer { state.notices = [] }
            return state.notices
        }
    }
}
