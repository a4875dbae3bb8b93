internal import EventStore
internal import SyncEngine

/// How far the log is durable, and the requests that wait for more of it (`GET /v1/events?wait_ms=`). Nothing beyond is given out: a
/// follower must not see what a power cut may take back.
///
/// ## Concurrency model
/// One lock. The writer's threads tell of commits, the API's loop of time that is up; either takes a request out, and answers it. No
/// thread waits.
final class CommitFeed: Sendable {
    private struct Waiting {
        let after: UInt64
        let answer: @Sendable () -> Void
    }

    private struct State {
        var last: UInt64 = 0
        /// By their numbers.
        var waiting: [UInt64: Waiting] = [:]
    }

    /// Most requests that wait; further ones are answered at once.
    private static let most = 1_024

    private let state = Lock(State())
    private let loop: EventLoop
    private let store: EventStore

    /// - Parameter loop: Tells when time is up.
    init(_ store: EventStore, on loop: EventLoop) {
        (self.loop, self.store) = (loop, store)
        _ = store.observeCommits { [weak self] notice in self?.advance(to: notice.top) }
    }

    /// Everything up to here is durable.
    var durable: UInt64 { store.durable }

    /// Calls `answer` once, on any thread that must not wait: when the log is durable beyond `position`, or the time is up.
    ///
    /// - Returns: What ``cancel(_:)`` takes; `nil` where there is nothing to wait for, or no place: then `answer` never runs.
    func wait(
        beyond position: UInt64, milliseconds: Int, _ answer: @escaping @Sendable () -> Void
    ) -> UInt64? {
        let number: UInt64? = state.withLock { state in
            guard store.durable <= position, state.waiting.count < Self.most else { return nil }
            state.last += 1
            state.waiting[state.last] = Waiting(after: position, answer: answer)
            return state.last
        }
        guard let number else { return nil }
        let loop = loop
        loop.post { [weak self] in
            loop.schedule(after: .milliseconds(milliseconds)) { self?.take(number)?.answer() }
        }
        return number
    }

    /// The client has gone.
    func cancel(_ number: UInt64) { _ = take(number) }

    private func take(_ number: UInt64) -> Waiting? { state.withLock { $0.waiting.removeValue(forKey: number) } }

    private func advance(to top: UInt64) {
        let ready: [Waiting] = state.withLock { state in
            let numbers = state.waiting.filter { $0.value.after < top }.map(\.key)
            return numbers.compactMap { state.waiting.removeValue(forKey: $0) }
        }
        for waiting in ready { waiting.answer() }
    }
}
