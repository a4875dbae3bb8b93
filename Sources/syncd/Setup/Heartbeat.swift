internal import EventStore
internal import SyncEngine

/// When systemd's watchdog gets its sign of life: twice within its time, and only while those that clients wait for have got on
/// within it.
struct SignsOfLife {
    private let limit: UInt64?
    private var last: UInt64

    init(every limit: UInt64?, now: UInt64) { (self.limit, last) = (limit, now) }

    /// Milliseconds until things are looked at again.
    var pause: Int { limit.map { Int(clamping: max(10, min(1_000, $0 / 8_000_000))) } ?? 1_000 }

    /// Whether to give one.
    ///
    /// - Parameter proven: When both were last seen to get on.
    mutating func isDue(proven: UInt64, now: UInt64) -> Bool {
        guard let limit, now - last + UInt64(pause) * 1_000_000 >= limit / 2, now < proven + limit / 2
        else {
            return false
        }
        last = now
        return true
    }
}

/// Whether the threads that clients wait for still get on: the loop of the API, and the writer of the log. A thread of its own
/// that tells a supervisor "alive" would prove itself alone.
///
/// ## Concurrency model
/// One lock. The main thread looks; the loop's thread answers; the probes read.
final class Heartbeat: Sendable {
    private struct State {
        /// When the loop has answered last, and whether it was asked since. Nanoseconds.
        var loop: UInt64
        var isLoopAsked = false
        /// When the writer was last seen idle, or to have got on.
        var writer: UInt64
        var commits: UInt64 = 0
    }

    private let state: Lock<State>

    /// For how long each may be silent before the node is not ready, nanoseconds.
    static let patience: UInt64 = 10_000_000_000

    init(now: UInt64 = MonotonicClock.now) { state = Lock(State(loop: now, writer: now)) }

    /// Looks at both. To be done from time to time.
    ///
    /// - Parameter ask: Has the loop run what it is given.
    func look(_ pulse: WriterPulse, now: UInt64 = MonotonicClock.now, ask: (@escaping @Sendable () -> Void) -> Void) {
        let isAsking = state.withLock { state in
            if pulse.isIdle || pulse.last != state.commits { state.writer = now }
            state.commits = pulse.last
            defer { state.isLoopAsked = true }
            return !state.isLoopAsked
        }
        guard isAsking else { return }
        ask { [self] in
            let answered = MonotonicClock.now
            state.withLock { state in
                state.loop = answered
                state.isLoopAsked = false
            }
        }
    }

    /// Since when, nanoseconds, not both of them have got on.
    var lastProven: UInt64 { state.withLock { min($0.loop, $0.writer) } }

    /// Who has been silent for too long.
    func silent(now: UInt64 = MonotonicClock.now) -> [String] {
        let (loop, writer) = state.withLock { ($0.loop, $0.writer) }
        return [("api", loop), ("writer", writer)].compactMap { name, last in
            guard now > last, now - last > Self.patience else { return nil }
            return "\(name): its thread has not got on for \((now - last) / 1_000_000_000) s"
        }
    }
}
