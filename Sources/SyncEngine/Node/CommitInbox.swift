package import EventStore

/// What was committed and the loop of the peers has not been told. While neither a peer nor a caller waits for it, the loop
/// is left asleep: to wake it with each commit cost a lone append a tenth of its processor time. Of the node's own appends the
/// last notice is kept, for it says all.
///
/// While a peer or a caller waits, each notice is a job of the loop, in its place among the other jobs. So notices are kept here only
/// while there are no such jobs, and jobs are made only while nothing is kept: the loop learns of commits in their order.
///
/// ## Concurrency model
/// One lock. A thread that commits puts notices in, the loop's thread takes them out.
package final class CommitInbox: Sendable {
    /// What becomes of a notice.
    package enum Course {
        /// It is kept.
        case kept
        /// It is kept, and there are many: the loop is to take them, for each holds the events of its commit, if they are few.
        case due
        /// It is to be handed to the loop, which confirms it by ``arrived()``.
        case job
    }

    /// So many are kept before the loop is woken.
    package static let capacity = 64

    private struct State {
        var kept: [CommitNotice] = []
        var isWatched = false
        /// Jobs that have not arrived.
        var jobs = 0
    }

    private let state = Lock(State())

    package init() {}

    package func put(_ notice: CommitNotice) -> Course {
        state.withLock { state in
            if state.isWatched {
                state.jobs += 1
                return .job
            }
            if let last = state.kept.last, notice.replaces(last) {
                state.kept[state.kept.count - 1] = notice
                return .kept
            }
            state.kept.append(notice)
            return state.kept.count % Self.capacity == 0 ? .due : .kept
        }
    }

    /// The loop has a notice that was handed to it.
    package func arrived() { state.withLock { $0.jobs -= 1 } }

    /// What was kept, in the order of the commits.
    ///
    /// - Parameter isWatched: Whether the loop is to be told of each commit from now on. It still is while jobs are under way.
    package func take(watching isWatched: Bool) -> [CommitNotice] {
        state.withLock { state in
            state.isWatched = isWatched || state.jobs > 0
            defer { state.kept = [] }
            return state.kept
        }
    }
}
