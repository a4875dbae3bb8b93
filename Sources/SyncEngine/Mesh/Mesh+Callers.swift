package import EventStore

// Who calls this node: peers are let in, who is invited is heard, others are told no.
extension Mesh {
    /// Most unknown callers remembered.
    private static let pendingCapacity = 100
    /// How long an unknown node has to show its invitation, milliseconds.
    private static let hearing: UInt64 = 5_000
    /// How many may be heard at once.
    private static let mostHeard = 16

    /// A node has dialled over `link`.
    ///
    /// - Parameter isInviting: Whether an invitation is open.
    package mutating func dialled(
        _ link: LinkID, by node: NodeID, from address: String, isInviting: Bool, now: Moment,
        effects: inout [Effect]
    ) {
        func refuse(_ code: SessionErrorCode, _ text: String) {
            effects.append(.refuse(link, code, text, retryAfter: 0))
        }
        guard !isStopping else { return refuse(.shutdown, "the node is stopping") }
        guard node != local.node else { return refuse(.metSelf, "this is the node itself") }
        guard let peer = entries[node]?.peer else {
            let caller = Caller(node: node, address: address)
            return isInviting ? hear(link, caller, now, &effects) : refuseUnknown(link, caller, now, &effects)
        }
        guard entries[node]?.calls.admits(at: now.monotonic) == true else {
            let text = "\(peer.name) calls too often: over \(CallRate.burst) times, then once a second"
            note("RATE_LIMITED: \(text)", now, &effects)
            entries[node]?.lastError = "RATE_LIMITED: \(text)"
            return refuse(.rateLimited, text)
        }
        if peer.isPaused { return refuse(.paused, "paused by the operator of \(local.name)") }
        if entries[node]?.isSuspended == true { return refuse(.paused, Self.suspension) }
        if let reason = obstacle(for: node) { return refuse(.busy, reason) }
        attach(link, node, isOutgoing: false, now, &effects)
    }

    mutating func refuseUnknown(_ link: LinkID, _ caller: Caller, _ now: Moment, _ effects: inout [Effect]) {
        let node = caller.node
        note("unknown node \(node) called from \(caller.address): pending", now, &effects)
        if let known = pending[node] {
            pending[node]?.calls = known.calls + 1
            pending[node]?.lastSeen = now.wall
        } else if pending.count < Self.pendingCapacity {
            pending[node] = PendingPeer(node: node, address: caller.address, lastSeen: now.wall, calls: 1)
        }
        let text = "node \(node) is not among the peers of \(local.name)"
        effects.append(.refuse(link, .unknownPeer, text, retryAfter: 0))
    }

    /// Logs what strangers make happen, but not as often as they like.
    package mutating func note(_ text: String, _ now: Moment, _ effects: inout [Effect]) {
        if let line = strangers.text(text, now: now.monotonic) { effects.append(.say(NodeRemark("CALLER", line))) }
    }

    // MARK: Invitations

    /// When too many are being heard the one that has said nothing for longest must go: it may come back.
    private mutating func hear(_ link: LinkID, _ caller: Caller, _ now: Moment, _ effects: inout [Effect]) {
        if hearings.count >= Self.mostHeard {
            let oldest = hearings.removeFirst()
            note(
                "\(oldest.caller.address) has said nothing while others called, and is told to come back", now,
                &effects)
            let text = "others called while nothing was said; come back"
            effects.append(.refuse(oldest.link, .busy, text, retryAfter: 1_000))
        }
        hearings.append((link, caller))
        effects.append(.hear(link))
        effects.append(.arm(.hearing(link), at: now.monotonic + Self.hearing))
    }

    private mutating func endHearing(_ link: LinkID) -> Caller? {
        guard let index = hearings.firstIndex(where: { $0.link == link }) else { return nil }
        return hearings.remove(at: index).caller
    }

    mutating func hearingExpired(_ link: LinkID, _ now: Moment, _ effects: inout [Effect]) {
        if let caller = endHearing(link) { refuseUnknown(link, caller, now, &effects) }
    }

    /// An unknown caller has gone.
    package mutating func callerLeft(_ link: LinkID) { _ = endHearing(link) }

    /// An unknown caller has sent a frame: a Join, or something else.
    package mutating func callerSpoke(_ link: LinkID, _ join: Join?, now: Moment, effects: inout [Effect]) {
        guard let caller = endHearing(link) else { return }
        guard let join else { return refuseUnknown(link, caller, now, &effects) }
        guard Array(join.cluster.utf8) == Array(local.cluster.utf8) else {
            let text = "the peer is of cluster '\(join.cluster)', this node of '\(local.cluster)'"
            return effects.append(.refuse(link, .wrongCluster, text, retryAfter: 0))
        }
        effects.append(.judge(link, caller, join))
    }

    /// The invitation was looked for; `peer` is the caller, now that it is let in.
    ///
    /// - Parameter isOpen: Whether the link still is.
    package mutating func judged(
        _ link: LinkID, _ caller: Caller, _ peer: Peer?, isOpen: Bool, now: Moment, effects: inout [Effect]
    ) {
        guard let peer else {
            note("node \(caller.node) called from \(caller.address) with no valid invitation", now, &effects)
            let text = "the invitation is unknown, used or expired"
            return effects.append(.refuse(link, .joinRefused, text, retryAfter: 0))
        }
        let text = "node \(caller.node) has joined as \(peer.name) from \(caller.address)"
        effects.append(.say(NodeRemark("PEER_JOINED", text, peer: peer.name)))
        pending[peer.node] = nil
        entries[peer.node, default: Entry(peer: peer)].peer = peer
        if isOpen { attach(link, caller.node, isOutgoing: false, now, &effects) }
    }
}
