/// How often a peer may call: a token bucket (RFC 2697's idea). Each call costs a handshake, a session and a look at what
/// both sides have; a peer that is let in must not make that all this node does.
struct CallRate: Sendable {
    /// Calls that may come at once.
    static let burst: UInt64 = 60
    /// Milliseconds after which one more may come.
    static let interval: UInt64 = 1_000

    private var calls = Self.burst
    /// When the calls were counted last, monotonic milliseconds.
    private var counted = UInt64(0)

    /// A call has cost as much as so many more.
    mutating func charge(_ more: UInt64) { calls -= min(more, calls) }

    /// Whether a call may come at `now` (monotonic milliseconds).
    mutating func admits(at now: UInt64) -> Bool {
        let more = (now - min(counted, now)) / Self.interval
        calls = min(calls + min(more, Self.burst), Self.burst)
        counted = calls == Self.burst ? now : counted + more * Self.interval
        guard calls > 0 else { return false }
        calls -= 1
        return true
    }
}
