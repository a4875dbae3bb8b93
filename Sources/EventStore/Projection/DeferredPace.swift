/// When views that follow the others (``View/isDeferred``) take up what those have.
///
/// A step of theirs costs several times as much for each event as one of the others, and more when it is small. So they wait until nothing
/// comes, unless a reader waits for them. Under load that never ends they get a share of the time, in small pieces: half of it for events,
/// half for what they put off with each (``View/tidy(_:)``).
struct DeferredPace {
    /// So many events are worth a step of their own under load.
    static let enough: UInt64 = 1_024
    /// How long nothing comes before few events are taken up, nanoseconds.
    static let quiet: UInt64 = 100_000_000
    /// How long they are left alone while events go on to come.
    static let longest: UInt64 = 1_000_000_000
    /// How long a step may take under load, nanoseconds.
    static let share: UInt64 = 20_000_000
    /// How many times as long none is made after it: they get a tenth of the time of one core.
    static let rest: UInt64 = 9

    /// When the others last applied something.
    private var lastApplied: UInt64 = 0
    /// When they first had something that these lack; 0: they have not.
    private var lackingSince: UInt64 = 0
    /// Until when they are left alone under load.
    private var restsUntil: UInt64 = 0
    /// For how long they may do what they have put off before the next events, nanoseconds.
    private(set) var owed: UInt64 = 0

    /// The others have applied something, at a time of ``MonotonicClock``.
    mutating func applied(at now: UInt64) {
        lastApplied = now
        if lackingSince == 0 { lackingSince = now }
    }

    /// A step of theirs has begun and ended.
    mutating func stepped(from start: UInt64, to end: UInt64) {
        (lackingSince, restsUntil) = (end, end + (end - start) * Self.rest)
        owed = min(owed + end - start, Self.longest)
    }

    /// They have done some of what they had put off.
    mutating func tidied(from start: UInt64, to end: UInt64) {
        restsUntil = end + (end - start) * Self.rest
        owed -= min(owed, end - start)
    }

    /// Whether nothing comes.
    func isQuiet(_ now: UInt64) -> Bool { now >= lastApplied + Self.quiet }

    /// When the next step is due; `nil` if there is nothing to do, and a time that has passed means at once.
    ///
    /// - Parameter isTidy: Whether nothing was put off.
    func due(pending: UInt64, isAwaited: Bool, isTidy: Bool = true) -> UInt64? {
        if pending == 0 { return isTidy ? nil : lastApplied + Self.quiet }
        if isAwaited { return 0 }
        let loaded = pending >= Self.enough ? restsUntil : lackingSince + Self.longest
        return min(lastApplied + Self.quiet, loaded)
    }

    /// Whether a step is due and has been put off for so long that it goes before the others'.
    func isOverdue(_ now: UInt64, _ due: UInt64) -> Bool { due <= now && now >= lackingSince + Self.longest }
}
