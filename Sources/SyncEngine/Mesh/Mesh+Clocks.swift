package import EventStore

/// What the clocks show.
package struct ClockReading: Sendable {
    /// This node's wall clock, Unix milliseconds.
    package let wall: Int64
    /// The last stamp it has given.
    package let lastStamp: HybridTime?
    /// The connected peers' clocks minus this node's, milliseconds.
    package let offsets: [Int64]
}

// Whether this node's own clock can be right: asked before it stamps much with a wrong one (D7).
extension Mesh {
    /// How often the clock is looked at, milliseconds.
    private static let clockInterval: UInt64 = 10_000

    /// Looks now, and again and again.
    mutating func watchClocks(_ now: Moment, _ effects: inout [Effect]) {
        effects.append(.readClocks)
        effects.append(.arm(.clocks, at: now.monotonic + Self.clockInterval))
    }

    /// Compares the clock with those of the connected peers, of which the majority counts, and with the last stamp. A stamp
    /// far ahead of a clock that the peers confirm was given while the clock was wrong: a new origin lets the stamps
    /// begin anew, for those of one origin can only ascend.
    package mutating func clocksRead(_ reading: ClockReading, now: Moment, effects: inout [Effect]) {
        let offsets = reading.offsets.sorted()
        let far = offsets.count { HybridClock.isOff($0) }
        let ahead = (reading.lastStamp?.milliseconds ?? reading.wall) - reading.wall
        if far * 2 > offsets.count {
            put(
                .disputed(
                    local.node, offset: offsets[offsets.count / 2], by: far, of: offsets.count, at: reading.wall),
                &effects)
        } else if ahead > HybridClock.bound {
            put(.stamped(local.node, ahead: ahead, at: reading.wall), &effects)
            if !offsets.isEmpty { startOrigin(insteadOf: local.origin, .clock, known: 0, now, &effects) }
        } else {
            board.remove(.clock, local.node.description)
        }
    }
}
