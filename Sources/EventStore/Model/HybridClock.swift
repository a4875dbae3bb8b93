/// A bounded hybrid logical clock (Kulkarni et al., "Logical Physical Clocks", 2014). Pure: the wall clock is an
/// argument.
package struct HybridClock: Sendable {
    /// How far ahead of the wall clock a remote stamp may be and still move this clock, milliseconds.
    package static let bound: Int64 = 60_000

    /// Whether a clock that is `offset` milliseconds away is further than ``bound``, whatever the number is.
    package static func isOff(_ offset: Int64) -> Bool { offset.magnitude > UInt64(bound) }

    /// The greatest stamp given or accepted so far.
    package private(set) var last: HybridTime

    /// A clock that continues after `last`.
    package init(last: HybridTime = HybridTime(rawValue: 0)) { self.last = last }

    /// A stamp for a local event: after everything given or accepted so far.
    ///
    /// When the counter of a millisecond is used up it carries into the next one.
    package mutating func tick(wall: Int64) -> HybridTime {
        last = max(HybridTime(milliseconds: wall, counter: 0), HybridTime(rawValue: last.rawValue + 1))
        return last
    }

    /// Takes note of a remote stamp. Returns false, and stays where it is, when `remote` is more than ``bound`` ahead
    /// of the wall clock: a wrong clock elsewhere must not become ours. Old stamps are always fine.
    package mutating func observe(_ remote: HybridTime, wall: Int64) -> Bool {
        guard remote.milliseconds <= wall.addingSaturated(Self.bound) else { return false }
        last = max(last, remote)
        return true
    }
}
