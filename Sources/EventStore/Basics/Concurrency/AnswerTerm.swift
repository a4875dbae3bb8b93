/// How long the work on one answer may take, and whether anyone still waits for it.
///
/// There are two ends. When the first has come, a page ends where it is and says where the next one begins. The second is for what can be
/// given whole or not at all: it is given up.
///
/// ## Concurrency model
/// One lock. One thread works and asks now and then; any other may say that the client leaves.
package final class AnswerTerm: Sendable {
    private struct State {
        /// When the work began, nanoseconds of ``MonotonicClock``; `nil`: it has not.
        var began: UInt64?
        var isHastened = false
        var isCancelled = false
    }

    /// Nanoseconds of work after which a page ends, and after which what has no pages is given up.
    package static let usual: (page: UInt64, whole: UInt64) = (250_000_000, 5_000_000_000)
    /// So many times shorter are both for a client that may have left.
    private static let haste: UInt64 = 5

    private let page: UInt64
    private let whole: UInt64
    private let state = Lock(State())

    package init(page: UInt64 = AnswerTerm.usual.page, whole: UInt64 = AnswerTerm.usual.whole) {
        (self.page, self.whole) = (page, whole)
    }

    /// The work begins, or begins anew after a wait.
    package func begin() {
        let now = MonotonicClock.now
        state.withLock { $0.began = now }
    }

    /// The client sends nothing more, and may have left: less will do.
    package func hasten() { state.withLock { $0.isHastened = true } }

    /// No one waits for the answer any longer.
    package func cancel() { state.withLock { $0.isCancelled = true } }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Whether a page ends now.
    package var isDue: Bool { isPast(page) }

    /// Whether the work is given up.
    package var isOver: Bool { isPast(whole) }

    private func isPast(_ time: UInt64) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { state in
            guard !state.isCancelled else { return true }
            guard let began = state.began else { return false }
            return now - min(now, began) >= (state.isHastened ? time / Self.haste : time)
        }
    }
}
