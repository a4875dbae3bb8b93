/// How long the work on one answer may take, and whether anyone still waits for it.
///
/// There are two ends. When the first has come, a page ends where it is and says where the next one begins. The second is for what can be
/// given whole or not at all: it is given up.
///
/// ## Concurrency model
/// One lock. One thread works and asks now and then; any other may say that the client leaves.
package final class AnswerTerm: Sendable {
    private struct State {
        var due = UInt64.max
        var end = UInt64.max
        var isCancelled = false
    }

    /// Nanoseconds of work after which a page ends, and after which what has no pages is given up.
    package static let usual: (page: UInt64, whole: UInt64) = (250_000_000, 5_000_000_000)

    private let page: UInt64
    private let whole: UInt64
    private let state = Lock(State())

    package init(page: UInt64 = AnswerTerm.usual.page, whole: UInt64 = AnswerTerm.usual.whole) {
        (self.page, self.whole) = (page, whole)
    }

    /// The work begins, or begins anew after a wait.
    package func begin() {
        let now = MonotonicClock.now
        state.withLock { state in
            guard !state.isCancelled else { return }
            (state.due, state.end) = (now + page, now + whole)
        }
    }

    /// The client sends nothing more, and may have left: what there is will do.
    package func hasten() {
        let now = MonotonicClock.now
        state.withLock { state in (state.due, state.end) = (min(state.due, now), min(state.end, now + page)) }
    }

    /// No one waits for the answer any longer.
    package func cancel() {
        state.withLock { $0 = State(due: 0, end: 0, isCancelled: true) }
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether a page ends now.
    package var isDue: Bool { MonotonicClock.now >= state.withLock { $0.due } }

    /// Whether the work is given up.
    package var isOver: Bool { MonotonicClock.now >= state.withLock { $0.end } }
}
