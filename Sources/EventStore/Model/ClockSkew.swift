/// How far the stamps of an origin were ahead of this node's clock when they came (D7).
package struct ClockSkew: Hashable, Sendable {
    /// The most, milliseconds; more than ``HybridClock/bound``.
    package let ahead: Int64
    /// When that was, Unix milliseconds.
    package let at: Int64

    var text: String { "\(ahead) \(at)" }

    /// Whether `ahead` is so much more that it is worth writing down again.
    func isSurpassed(by ahead: Int64) -> Bool { ahead > self.ahead + HybridClock.bound }
}

extension ClockSkew {
    /// Reads what ``text`` writes.
    init?(text: String) {
        let parts = text.split(separator: " ").compactMap { Int64($0) }
        guard parts.count == 2 else { return nil }
        self.init(ahead: parts[0], at: parts[1])
    }
}

/// An origin whose stamps came from a clock that is, or was, wrong.
package struct FlaggedOrigin: Hashable, Sendable {
    package let origin: OriginID
    /// Who writes to it.
    package let node: NodeID
    package let skew: ClockSkew
    /// How many of its events are here.
    package let size: UInt64
    /// The last stamp of it that is here.
    package let last: HybridTime
    /// The origin that its node has gone on with; `nil` if it has not.
    package let next: OriginID?

    /// Whether what its node writes now may still be ahead. `wall`: Unix milliseconds.
    package func isAhead(of wall: Int64) -> Bool { next == nil && last.milliseconds > wall + HybridClock.bound }
}
