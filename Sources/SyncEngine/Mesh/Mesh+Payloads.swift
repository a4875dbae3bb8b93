package import EventStore

/// What is known of events that are here without their payloads, though nothing has erased them.
package struct MissingPayloads: Sendable {
    /// Those that were found and not given back yet.
    var dots: [Dot] = []
    /// Whether there may be more than these.
    var isPart = false
    /// Whether a search for them is under way.
    var isLooking = false
    /// Whether to look once more after that.
    var isLookDue = false
    /// Not to be looked for before then, monotonic milliseconds: that reads the log.
    var notBefore = UInt64(0)

    /// Most that are known at a time.
    package static let most = 1_024
    /// So much longer than the last look took is waited before the next.
    static let restFactor: UInt64 = 50
}

// Peers that are here are asked for them: at the start, when a peer comes, and when events have come without payloads.
extension Mesh {
    mutating func lookForMissing(_ now: Moment, _ effects: inout [Effect]) {
        guard !missing.isLooking, !isStopping else {
            missing.isLookDue = true
            return
        }
        missing.isLooking = true
        missing.isLookDue = false
        effects.append(.arm(.payloads, at: max(missing.notBefore, now.monotonic)))
    }

    /// These were found, by a look that began then, monotonic milliseconds.
    package mutating func payloadsMissed(
        _ dots: [Dot], since begun: UInt64, now: Moment, effects: inout [Effect]
    ) {
        missing.isLooking = false
        missing.notBefore = now.monotonic + 1_000 + (now.monotonic - begun) * MissingPayloads.restFactor
        missing.dots = dots
        missing.isPart = dots.count == MissingPayloads.most
        if !dots.isEmpty {
            effects.append(
                .say(
                    NodeRemark(
                        "PAYLOADS_MISSING",
                        "\(dots.count) events are here without their payloads, which nothing has erased: peers are asked for them"
                    )))
            for link in links { effects.append(.lacksPayloads(link, dots)) }
        }
        if missing.isLookDue { lookForMissing(now, &effects) }
    }

    /// These have their payloads again.
    mutating func healed(_ dots: [Dot], by node: NodeID, _ now: Moment, _ effects: inout [Effect]) {
        let healed = Set(dots)
        missing.dots.removeAll { healed.contains($0) }
        let name = name(of: node)
        let text = "\(dots.count) events have their payloads again, from \(name)"
        effects.append(.say(NodeRemark("PAYLOADS_BACK", text, peer: name)))
        if missing.isPart, missing.dots.isEmpty { lookForMissing(now, &effects) }
    }
}
