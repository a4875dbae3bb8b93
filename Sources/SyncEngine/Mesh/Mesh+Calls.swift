package import EventStore

// Whom this node calls, and when it calls again.
extension Mesh {
    /// How often an invitation is shown again to a node that was busy, before the caller is told.
    private static let mostKnocks = 8

    func mayCall(_ node: NodeID) -> Bool {
        guard !isStopping, let entry = entries[node], obstacle(for: node) == nil else { return false }
        return !entry.peer.isPaused && !entry.isSuspended
    }

    mutating func dial(_ node: NodeID, _ now: Moment, _ effects: inout [Effect]) {
        guard mayCall(node), let entry = entries[node], entry.link == nil, !entry.isCalling,
            let address = entry.peer.address
        else { return }
        entries[node]?.dueAt = nil
        guard let target = HostPort(address) else {
            entries[node]?.lastError = "'\(address)' is not host:port"
            return
        }
        entries[node]?.isCalling = true
        effects.append(.dial(node, target))
    }

    mutating func dialAll(_ now: Moment, _ effects: inout [Effect]) {
        for node in entries.keys.sorted() { dial(node, now, &effects) }
    }

    /// Calls again later.
    ///
    /// - Parameter wait: How long to wait; `nil`: a pause that grows.
    mutating func retry(
        _ node: NodeID, because reason: String, after wait: Duration? = nil, _ now: Moment,
        _ effects: inout [Effect]
    ) {
        guard !isStopping, var entry = entries[node] else { return }
        entry.lastError = reason
        if wait == nil, entry.isJoining {
            entry.isJoining = false
            effects.append(.joined(node, reason))
        }
        if entry.link == nil, !entry.peer.isPaused, !entry.isSuspended, entry.peer.address != nil, entry.dueAt == nil
        {
            let wait = wait ?? entry.backoff.next(using: &random)
            let due = now.monotonic + UInt64(wait / .milliseconds(1))
            entry.dueAt = due
            effects.append(.arm(.dial(node), at: due))
        }
        entries[node] = entry
    }

    /// No peer was reached, or the handshake failed.
    package mutating func callFailed(
        to node: NodeID, _ reason: String, now: Moment, effects: inout [Effect]
    ) {
        entries[node]?.isCalling = false
        retry(node, because: reason, now, &effects)
    }

    /// A node was reached over `link` and has proven to be `found`.
    package mutating func callOpened(
        _ link: LinkID, to node: NodeID, as found: NodeID, now: Moment, effects: inout [Effect]
    ) {
        entries[node]?.isCalling = false
        guard mayCall(node), let entry = entries[node] else { return effects.append(.abort(link)) }
        guard found == node else {
            let text = "\(entry.peer.address ?? "") is node \(found), expected \(node)"
            effects.append(.refuse(link, .wrongCertificate, text, retryAfter: 0))
            return retry(node, because: "WRONG_CERTIFICATE: \(text)", now, &effects)
        }
        guard let token = entry.peer.token else { return attach(link, node, isOutgoing: true, now, &effects) }
        entries[node]?.isCalling = true
        effects.append(.knock(link, node, token: token))
    }

    /// The invitation was good: the peer has said Hello.
    package mutating func welcomed(_ link: LinkID, by node: NodeID, now: Moment, effects: inout [Effect]) {
        entries[node]?.isCalling = false
        guard mayCall(node) else { return effects.append(.abort(link)) }
        entries[node]?.peer.token = nil
        effects.append(.forgetToken(node))
        attach(link, node, isOutgoing: true, now, &effects)
    }

    /// The invitation was not taken; `bye` says why, if it is a Bye.
    package mutating func turnedAway(by node: NodeID, _ bye: Bye?, now: Moment, effects: inout [Effect]) {
        entries[node]?.isCalling = false
        guard let bye else {
            return retry(node, because: "the peer answered an invitation with nonsense", now, &effects)
        }
        let reason = SessionEnd.refused(code: bye.code, text: bye.text, retryAfter: bye.retryAfter).description
        var wait: Duration?
        // It has not looked at the invitation.
        if bye.knownCode == .busy, entries[node]?.knocks ?? 0 < Self.mostKnocks {
            entries[node]?.knocks += 1
            wait = .milliseconds(Int64(min(max(bye.retryAfter, 200), 5_000)))
        }
        retry(node, because: reason, after: wait, now, &effects)
    }

    /// The operator wants to be let in at `node`, one of the peers; ``Effect/joined(_:_:)`` says what comes of it.
    package mutating func joining(_ node: NodeID, now: Moment, effects: inout [Effect]) {
        guard entries[node] != nil else { return effects.append(.joined(node, "the peer was removed")) }
        if entries[node]?.link?.run != nil { return effects.append(.joined(node, nil)) }
        entries[node]?.isJoining = true
        entries[node]?.knocks = 0
        entries[node]?.dueAt = nil
        dial(node, now, &effects)
    }

    // MARK: Pausing

    mutating func pause(_ node: NodeID, _ reason: String, _ effects: inout [Effect]) {
        entries[node]?.dueAt = nil
        entries[node]?.isCalling = false
        effects.append(.hangUp(node))
        for link in links(of: node) { effects.append(.stop(link, SessionFailure(.paused, reason))) }
    }

    /// The operator goes on with a peer that was suspended for what it claimed.
    package mutating func resumed(_ node: NodeID, now: Moment, effects: inout [Effect]) {
        guard let claims = entries[node]?.unproven, claims > 0 else { return }
        entries[node]?.unproven = 0
        board.remove(.unprovenClaim, node.description)
        dial(node, now, &effects)
    }
}
