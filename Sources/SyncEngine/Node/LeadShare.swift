/// When the loop that serves all peers does a worker's job itself: what comes alone is done sooner without the change of
/// thread, but the others wait for it. So it does so for a quarter of the time at most; after a slow disk it rests for long.
///
/// Not Sendable; there is one for each loop.
final class LeadShare {
    /// For how many times as long as it took the next are left to the worker.
    static let rest: UInt64 = 3

    private var restsUntil: UInt64 = 0

    /// Whether to do what has come, at nanoseconds of the monotonic clock.
    func mayLead(now: UInt64) -> Bool { now >= restsUntil }

    /// A job that was done on the loop began and ended at these times.
    func led(from start: UInt64, to end: UInt64) { restsUntil = end + Self.rest * (end - start) }
}
