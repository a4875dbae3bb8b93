internal import EventStore
internal import SyncEngine

/// Follows a node's log as views and feeds do: told of commits, it reads on from its checkpoint, which is kept across
/// crashes.
struct SimFollower {
    private(set) var checkpoint = UInt64(0)
    private var seen = VersionVector()

    mutating func follow(_ node: SimNode) {
        let log = node.store.log
        guard checkpoint < log.top else { return }
        for stored in log.events.dropFirst(Int(checkpoint)) {
            let dot = stored.event.header.dot
            if node.sim.has(.checkpointAhead), stored.position % 7 == 0, checkpoint + 1 < log.top {
                checkpoint = stored.position
                continue
            }
            let isNext = stored.position == checkpoint + 1 && dot.seq == seen[dot.origin] + 1
            // Of a forked origin a dependency may be on the branch that is elsewhere.
            let forked = Set(node.evidence.map(\.origin))
            let isClosed = stored.event.header.dependencies.allSatisfy {
                seen.contains($0) || forked.contains($0.origin)
            }
            if !isNext || !isClosed {
                node.sim.violate("INV-10", "\(node.name): the follower at \(checkpoint) was given \(dot)")
            }
            seen.advance(to: dot)
            checkpoint = stored.position
        }
    }

    /// The log was replaced by another one: begin anew.
    mutating func reset() { self = SimFollower() }

    /// At rest the follower has been given exactly what is in the log.
    func isComplete(_ log: SimLog) -> Bool { checkpoint == log.top && seen == log.vector }
}
