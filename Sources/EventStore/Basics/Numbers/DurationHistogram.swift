/// How long something took, how often: a counter for each of a few ranges. A value of fixed size, which only grows in its numbers.
package struct DurationHistogram: Sendable, Equatable {
    /// The upper bounds of the ranges, nanoseconds: 1 ms to 10 s by 1, 2.5, 5. What takes longer is counted behind them.
    package static let bounds: [UInt64] = [
        1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// For each range, and what lies behind the last bound.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// Of all that was noted, nanoseconds.
    package private(set) var sum: UInt64 = 0

    package init() {}

    package mutating func note(_ nanoseconds: UInt64) {
        var index = 0
        while index < Self.bounds.count, nanoseconds > Self.bounds[index] { index += 1 }
        counts[index] &+= 1
        sum &+= nanoseconds
    }

    /// Puts what another one has noted to it.
    package mutating func add(_ other: DurationHistogram) {
        for index in counts.indices { counts[index] &+= other.counts[index] }
        sum &+= other.sum
    }
}
