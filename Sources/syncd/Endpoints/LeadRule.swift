/// When a thread that serves others commits by itself: for one client that sends one request after another, and only while the disk is
/// quick. Single syncs that take long are forgiven, as those of every disk do that others use, too. Several clients are served faster by
/// the writer's threads: the requests of one commit are read while another is synced.
struct LeadRule {
    /// So many requests in a row of one client, with no one else waiting, are a lone client's: of many clients one comes twice
    /// now and then, and the others would wait for the commit of one event.
    static let alone = 3
    /// Nanoseconds that others may be kept waiting, in the long run.
    static let patience: UInt64 = 5_000_000
    /// Of about so many commits is the long run.
    private static let run: UInt64 = 8
    /// For how many times as long as it took a slow disk is then left to the writer's threads.
    static let rest: UInt64 = 16

    /// Whose the last request was, and how many there were of that client in a row.
    private var client: UInt64?
    private var count = 0
    /// How many groups were handed over and have no answer yet: their clients are others.
    private var open = 0
    /// What a commit takes, in the long run (a moving average that forgets exponentially). Whatever one takes, it counts for no
    /// more than twice our patience: a disk that stands still for a tenth of a second now and then is no slow disk.
    private var usual: UInt64 = 0
    private var restsUntil: UInt64 = 0

    /// A request of `client` has come, at nanoseconds of the monotonic clock: whether to commit it at once.
    mutating func leads(_ client: UInt64, now: UInt64) -> Bool {
        if self.client != client || open > 0 { count = 0 }
        self.client = client
        count = min(count + 1, Self.alone + 1)
        return count > Self.alone && now >= restsUntil
    }

    /// A commit that this thread led began and ended at these times.
    mutating func led(from start: UInt64, to end: UInt64) {
        let took = end - start
        usual = (usual * (Self.run - 1) + min(took, 2 * Self.patience)) / Self.run
        if took > Self.patience, usual > Self.patience { restsUntil = end + Self.rest * took }
    }

    /// Requests were handed over together.
    mutating func handedOver() { open += 1 }

    /// What was handed over together has been answered.
    mutating func answered() { open -= 1 }
}
