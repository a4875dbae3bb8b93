internal import EventStore

/// An event that goes alone keeps its worker from all others: such events have a tenth of the time at most. A few short ones wait for nothing.
struct LoneTurn {
    /// What one costs, in times of how long it took: at least, and where that is short.
    private static let (least, most) = (UInt64(9), UInt64(19))
    private static let short: UInt64 = 300_000
    /// So much may be owed.
    private static let credit: UInt64 = 60_000

    /// The one that is out.
    var dot: Dot?
    /// When others began to wait for it, monotonic milliseconds.
    var since: UInt64?
    /// When all of them are paid for, monotonic milliseconds.
    private var paid: UInt64 = 0

    /// None goes before this.
    var next: UInt64 { paid - min(paid, Self.credit) }

    mutating func end(_ ended: Dot, _ now: UInt64) {
        guard ended == dot, let since else { return }
        let taken = now - min(now, since)
        paid = max(paid, now) + min(Self.most * taken, max(Self.short, Self.least * taken))
        (dot, self.since) = (nil, nil)
    }
}

/// A worker that stays and has let a delivery run out. It may be dead, or one piece of its work hangs: one event, after a while, tells.
struct SilentWorker {
    private static let longestPause: UInt64 = 3_600_000

    /// Deliveries that ran out.
    private(set) var numbers: Set<UInt64> = []
    /// The delivery by which it is tried.
    var trial: UInt64?
    private var tryAt: UInt64
    private var pause: UInt64

    /// - Parameters:
    ///   - wait: How long a delivery may take, milliseconds.
    ///   - isLone: It had this one alone: others have waited long enough.
    init(since: UInt64, wait: UInt64, isLone: Bool) { (tryAt, pause) = (isLone ? since : since + wait, wait) }

    /// When it may be tried, monotonic milliseconds; `nil`: it is being tried.
    var next: UInt64? { trial == nil ? tryAt : nil }
    func mayTry(_ now: UInt64) -> Bool { next.map { $0 <= now } ?? false }

    /// One more has run out.
    mutating func missed(_ number: UInt64, at time: UInt64) {
        numbers.insert(number)
        guard number == trial else { return }
        pause = min(2 * pause, Self.longestPause)
        (trial, tryAt) = (nil, time + pause)
    }
}
