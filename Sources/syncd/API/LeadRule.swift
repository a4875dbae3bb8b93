/// When a thread that serves others commits by itself: for one client that sends one request after another, and only
/// while the disk is quick, but for single syncs that take long, as those of every disk do that others use, too. Several
/// clients are served faster by two threads, one of which reads while the other commits.
struct LeadRule {
    /// Nanoseconds that others may be kept waiting, in the long run.
    static let patience: UInt64 = 5_000_000
    /// Of the last so many commits, about, the long run is.
    private static let run: UInt64 = 8
    /// For how many times as long as it took a slow disk is then left to the writer's thread.
    static let rest: UInt64 = 16

    /// How many requests came in this turn, and in the last that had any.
    private var count = 0
    private var last = 1
    /// How many groups were handed over and have no answer yet: their clients are others.
    private var open = 0
    /// What a commit takes, in the long run (a moving average that forgets exponentially).
    private var usual: UInt64 = 0
    private var restsUntil: UInt64 = 0

    /// Whether this turn had no request yet.
    var isTurnNew: Bool { count == 0 }

    /// A request has come: whether to commit it at once.
    mutating func leads(now: UInt64) -> Bool {
        count += 1
        return count == 1 && last == 1 && open == 0 && now >= restsUntil
    }

    /// A commit that this thread led began and ended at these times, nanoseconds of the monotonic clock.
    mutating func led(from start: UInt64, to end: UInt64) {
        let took = end - start
        usual = (usual * (Self.run - 1) + took) / Self.run
        if took > Self.patience, usual > Self.patience { restsUntil = end + Self.rest * took }
    }

    /// What was ready has been looked at.
    mutating func turnEnded() { (last, count) = (count, 0) }

    /// Requests were handed over together.
    mutating func handedOver() { open += 1 }

    /// What was handed over together has been answered.
    mutating func answered() { open -= 1 }
}
