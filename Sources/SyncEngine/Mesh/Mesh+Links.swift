package import EventStore

// The links that carry sessions: which of two stays, and what becomes of the one that ends.
extension Mesh {
    /// How long a link that may be dead has to show that it lives, milliseconds.
    private static let probe: UInt64 = 1_500
    /// How long a node is refused after two processes with its key were seen alive, milliseconds.
    private static let hold: UInt64 = 60_000

    /// The session of the next link to `node`.
    package func session(
        with node: NodeID, features: Features, limits: WireLimits = WireLimits(), policy: SnapshotPolicy
    ) -> SyncSession {
        SyncSession(
            local: local, remote: node, progress: log, memory: entries[node]?.memory, features: features,
            limits: limits, policy: policy)
    }

    /// Lets a session begin. Where there is a link to that node already, it is settled when both have said hello which of
    /// them stays: ``arbitrate(_:_:_:)``.
    mutating func attach(
        _ link: LinkID, _ node: NodeID, isOutgoing: Bool, _ now: Moment, _ effects: inout [Effect]
    ) {
        if let text = refusal(of: node, now) {
            effects.append(.refuse(link, .duplicateNodeID, text, retryAfter: 0))
            return isOutgoing ? retry(node, because: text, now, &effects) : ()
        }
        let made = Link(id: link, isOutgoing: isOutgoing, openedAt: now.monotonic)
        if entries[node]?.link == nil {
            entries[node]?.link = made
        } else {
            if let third = entries[node]?.candidate?.id {
                effects.append(.stop(third, SessionFailure(.duplicateLink, "replaced by another connection")))
            }
            entries[node]?.candidate = made
        }
        effects.append(.attach(link, node, isOutgoing: isOutgoing))
    }

    /// The peer has said hello.
    package mutating func greeted(
        _ link: LinkID, of node: NodeID, _ hello: Hello, now: Moment, effects: inout [Effect]
    ) {
        guard entries[node] != nil else { return }
        let before = entries[node]?.incarnation
        entries[node]?.incarnation = hello.incarnation
        entries[node]?.isVolatile = hello.isVolatile
        if entries[node]?.link?.id == link { entries[node]?.link?.run = hello.run }
        if entries[node]?.candidate?.id == link { entries[node]?.candidate?.run = hello.run }
        if let before, before != hello.incarnation {
            put(.newStore(node, name: name(of: node), at: now.wall), &effects)
        }
        if entries[node]?.isJoining == true {
            entries[node]?.isJoining = false
            effects.append(.joined(node, nil))
        }
        effects.append(.readClocks)
        arbitrate(node, now, &effects)
    }

    /// Settles which of two links to a node stays, when both have said hello. Of the same process: in opposite directions the
    /// one that the smaller node id dialled, else the newer. Of two processes: if the older link is dead, the newer; if it
    /// lives, there are two nodes with one key, and neither stays.
    private mutating func arbitrate(_ node: NodeID, _ now: Moment, _ effects: inout [Effect]) {
        guard let old = entries[node]?.link, let new = entries[node]?.candidate, let oldRun = old.run,
            let newRun = new.run
        else { return }
        guard oldRun != newRun, oldRun != 0, newRun != 0 else {
            let prefersOutgoing = local.node < node
            let staysOld = old.isOutgoing != new.isOutgoing && old.isOutgoing == prefersOutgoing
            return replace(staysOld ? new.id : old.id, of: node, because: "there is another connection", &effects)
        }
        entries[node]?.probe = (old.id, new.id, now.monotonic)
        effects.append(.probe(old.id))
        effects.append(.arm(.probe(node), at: now.monotonic + Self.probe))
    }

    /// The older of two links was asked for a sign of life; its peer was heard last then, monotonic milliseconds.
    package mutating func probed(
        _ node: NodeID, _ link: LinkID, lastHeard: UInt64, now: Moment, effects: inout [Effect]
    ) {
        guard let probe = entries[node]?.probe, probe.old == link else { return }
        entries[node]?.probe = nil
        guard entries[node]?.link?.id == probe.old, entries[node]?.candidate?.id == probe.new else { return }
        // In whole milliseconds: the answer may come in the one in which it was asked for.
        guard lastHeard >= probe.asked else {
            return replace(probe.old, of: node, because: "the node has started anew", &effects)
        }
        let text = "two processes with the key of node \(node) (\(name(of: node))) are alive at once"
        put(.duplicate(node, text, at: now.wall), &effects)
        entries[node]?.heldUntil = now.monotonic + Self.hold
        entries[node]?.candidate = nil
        effects.append(.stop(probe.new, SessionFailure(.duplicateNodeID, text)))
        effects.append(.stop(probe.old, SessionFailure(.duplicateNodeID, text)))
    }

    /// The other of the two links to `node` stays.
    private mutating func replace(
        _ loser: LinkID, of node: NodeID, because text: String, _ effects: inout [Effect]
    ) {
        if entries[node]?.link?.id == loser { entries[node]?.link?.isReplaced = true }
        effects.append(.stop(loser, SessionFailure(.duplicateLink, text)))
    }

    /// Why the node is not let in for now; `nil` if it is.
    private func refusal(of node: NodeID, _ now: Moment) -> String? {
        guard let until = entries[node]?.heldUntil, until > now.monotonic else { return nil }
        let seconds = (until - now.monotonic) / 1_000
        return "two processes with the key of node \(node) were alive at once; refused for \(seconds) s"
    }

    // MARK: Ending

    /// A session is over; `memory` is what its peer has said to have.
    package mutating func ended(
        _ link: LinkID, of node: NodeID, _ end: SessionEnd, memory: PeerMemory?, now: Moment,
        effects: inout [Effect]
    ) {
        let gone = entries[node]?.link.flatMap { $0.id == link ? $0 : nil }
        if entries[node]?.candidate?.id == link { entries[node]?.candidate = nil }
        noteDouble(node, end, now, &effects)
        perform(snapshotTurn.ended(link), now, &effects)
        guard let gone else { return }
        leave(gone, of: node, memory, now, &effects)
        if gone.isReplaced { return }
        if now.monotonic - gone.openedAt >= Backoff.healthyMilliseconds { entries[node]?.backoff.reset() }
        let text = "peer \(name(of: node)): \(end)"
        if let line = entries[node]?.notices.text(text, now: now.monotonic) {
            effects.append(.say(NodeRemark("PEER_AWAY", line, peer: name(of: node))))
            if entries[node]?.missedSince == nil { entries[node]?.missedSince = now.monotonic }
        }
        retry(node, because: end.description, now, &effects)
    }

    /// A peer that refuses this node may have seen its double.
    private mutating func noteDouble(_ node: NodeID, _ end: SessionEnd, _ now: Moment, _ effects: inout [Effect]) {
        guard case .refused(SessionErrorCode.duplicateNodeID.rawValue, _, _) = end else { return }
        let text = "\(name(of: node)) has seen another process with the key of this node, alive"
        put(.duplicate(local.node, text, at: now.wall), &effects)
    }

    /// The link is no more the one to its node; a second one that waited takes its place.
    private mutating func leave(
        _ link: Link, of node: NodeID, _ memory: PeerMemory?, _ now: Moment, _ effects: inout [Effect]
    ) {
        if let memory {
            // To take in and to forget what a peer states costs time: it may do so less often the more that is.
            let unknown = UInt64(max(0, memory.entries.count - log.entries.count))
            entries[node]?.calls.charge(unknown / UInt64(PeerMemory.mostUnknown))
            entries[node]?.memory = memory.kept(of: log)
        }
        let candidate = entries[node]?.candidate
        entries[node]?.link = candidate
        entries[node]?.candidate = nil
        // What comes from whom is of no interest any more.
        if isStopping { return }
        sources.closed(node, now: now.monotonic)
        entries[node]?.unannounced = []
        if let candidate { effects.append(.tellAnew(candidate.id)) }
        tellWants(now, &effects)
    }
}
