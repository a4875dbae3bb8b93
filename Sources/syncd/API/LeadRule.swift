/// When a thread that serves others commits by itself: for one client that sends one request after another, and only
/// while the disk is quick. Several clients are served faster by two threads, one of which reads while the other commits.
struct LeadRule {
    /// Nanoseconds that others may be kept waiting.
    static let patience: UInt64 = 5_000_000
    /// For how many times as long as it took a slow disk is then left to the writer's thread.
    static let rest: UInt64 = 16

    private var last = 1
    private var restsUntil: UInt64 = 0

    /// - Parameter requests: How many came together.
    mutating func leads(requests: Int, now: UInt64) -> Bool {
        defer { last = requests }
        return requests == 1 && last == 1 && now >= restsUntil
    }

    /// A commit that this thread led began and ended at these times, nanoseconds of the monotonic clock.
    mutating func led(from start: UInt64, to end: UInt64) {
        let took = end - start
        if took > Self.patience { restsUntil = end + Self.rest * took }
    }
}
