/// When views that follow the others (``View/isDeferred``) take up what those have.
///
/// A step of theirs costs several times as much for each event as one of the others, and more when it is small. So they wait until nothing
/// comes, unless a reader waits for them. Under load that never ends they get a share of the time.
struct DeferredPace {
    /// So many events are worth a step of their own under load.
    static let enough: UInt64 = 4_096
    /// How long nothing comes before few events are taken up, nanoseconds.
    static let quiet: UInt64 = 100_000_000
    /// How long they are left alone while events go on to come.
    static let longest: UInt64 = 1_000_000_000
    /// How long a step may take under load, and how long none is made after it: a fifth of the time of one core.
    static let (share, rest): (UInt64, UInt64) = (50_000_000, 200_000_000)

    /// When the others last applied something.
    private var lastApplied: UInt64 = 0
    /// When they first had something that these lack; 0: they have not.
    private var lackingSince: UInt64 = 0
    /// When their last step ended.
    private var lastStep: UInt64 = 0

    /// The others have applied something, at a time of ``MonotonicClock``.
    mutating func applied(at now: UInt64) {
        lastApplied = now
        if lackingSince == 0 { lackingSince = now }
    }

    /// A step of theirs has begun and ended.
    mutating func stepped(from start: UInt64, to end: UInt64) { (lackingSince, lastStep) = (end, end) }

    /// Whether nothing comes.
    func isQuiet(_ now: UInt64) -> Bool { now >= lastApplied + Self.quiet }

    /// When the next step is due; `nil` if there is nothing to apply, and a time that has passed means at once.
    func due(pending: UInt64, isAwaited: Bool) -> UInt64? {
        if pending == 0 { return nil }
        if isAwaited { return 0 }
        let loaded = pending >= Self.enough ? lastStep + Self.rest : lackingSince + Self.longest
        return min(lastApplied + Self.quiet, loaded)
    }

    /// Whether a step is due and has been put off for so long that it goes before the others'.
    func isOverdue(_ now: UInt64, _ due: UInt64) -> Bool { due <= now && now >= lackingSince + Self.longest }
}
