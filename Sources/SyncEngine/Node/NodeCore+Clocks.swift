internal import EventStore

// Whether this node's own clock can be right: asked before it stamps much with a wrong one (D7).
extension SyncNode.Core {
    /// How often the clock is looked at.
    static let clockInterval = Duration.seconds(10)

    /// Looks now, and again and again.
    func watchClock() {
        guard !isStopping else { return }
        checkClock()
        _ = loop.schedule(after: Self.clockInterval) { [weak self] in self?.watchClock() }
    }

    /// Compares the clock with those of the connected peers, of which the majority counts, and with the last stamp. A stamp
    /// far ahead of a clock that the peers confirm was given while the clock was wrong: a new origin lets the stamps
    /// begin anew, for those of one origin can only ascend.
    func checkClock() {
        let store = workers.store
        let wall = store.wall()
        let offsets = links.filter { $0.session.hello != nil }.compactMap(\.session.clockOffset).sorted()
        let far = offsets.count { HybridClock.isOff($0) }
        let ahead = (store.lastStamp?.milliseconds ?? wall) - wall
        if far * 2 > offsets.count {
            put(.disputed(local.node, offset: offsets[offsets.count / 2], by: far, of: offsets.count, at: wall))
        } else if ahead > HybridClock.bound {
            put(.stamped(local.node, ahead: ahead, at: wall))
            if !offsets.isEmpty { startOrigin(insteadOf: local.origin, .clock, known: 0) }
        } else {
            board.remove(.clock, local.node.description)
        }
    }
}
