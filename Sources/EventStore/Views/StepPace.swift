/// When the views take up what the log has gained.
///
/// A step of the projector is a transaction, however few events it applies: after each commit of a stream of small ones it
/// would cost more than the commits themselves. So an event after a quiet time is applied at once, and those that follow
/// it are gathered, unless they are many or somebody waits for them.
struct StepPace {
    /// Nanoseconds from one step's begin to the next while events are gathered: what nobody notices who has not asked.
    static let interval: UInt64 = 10_000_000
    /// So many events are worth a step of their own.
    static let enough: UInt64 = 2_000

    /// When the last step began, nanoseconds of ``MonotonicClock``.
    private var last: UInt64?

    /// A step begins.
    mutating func began(at now: UInt64) { last = now }

    /// When the next step is due; a time that has passed means at once.
    ///
    /// - Parameters:
    ///   - pending: How many events the views have not applied yet, at least one.
    ///   - isAwaited: Whether somebody waits for the views.
    func due(pending: UInt64, isAwaited: Bool) -> UInt64 {
        guard let last, !isAwaited, pending < Self.enough else { return 0 }
        return last + Self.interval
    }
}
