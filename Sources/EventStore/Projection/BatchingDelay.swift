/// When the views take up what the log has gained.
///
/// A step of the projector is a transaction, however few events it applies: after each commit of a stream of small ones it
/// would cost more than the commits themselves. So an event after a quiet time is applied at once, and those that follow
/// it are gathered, unless they are many or a reader waits for them. Steps that take long are rarer, and so larger.
struct BatchingDelay {
    /// Least nanoseconds from one step's begin to the next while events are gathered: too short to notice for a reader that has not asked.
    static let interval: UInt64 = 50_000_000
    /// How many times as long as a step took it pauses at least.
    static let rest: UInt64 = 3
    /// Most nanoseconds of a pause.
    static let longest: UInt64 = 100_000_000
    /// So many events are worth a step of their own: larger steps write little less for each event, and the views end so far
    /// behind the log at most, when that stops.
    static let enough: UInt64 = 4_096

    /// When the next step of few events is due.
    private var next: UInt64 = 0

    /// A step has begun and ended, at nanoseconds of ``MonotonicClock``.
    mutating func stepped(from start: UInt64, to end: UInt64) {
        next = max(start + Self.interval, end + min((end - start) * Self.rest, Self.longest))
    }

    /// When the next step is due; a time that has passed means at once.
    ///
    /// - Parameters:
    ///   - pending: How many events the views have not applied yet, at least one.
    ///   - isAwaited: Whether a reader waits for the views.
    func due(pending: UInt64, isAwaited: Bool) -> UInt64 {
        isAwaited || pending >= Self.enough ? 0 : next
    }
}
