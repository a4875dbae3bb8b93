package import EventStore

// Lost memory, forks, claims: when this node gives up its origin, and whose word it doubts (D11, D12).
extension Mesh {
    /// Most new origins within an hour.
    private static let mostOrigins = 8
    /// After so many claims that a peer could not show the exchange with it ends, until an operator resumes it.
    static let mostUnproven = 3
    /// What a suspended peer is told.
    static let suspension = "paused: it claimed several times what it could not show"

    /// A session has learnt something about identities.
    ///
    /// - Parameter ownSize: How many events of this node's origin the log has now. A session hears of commits a moment after they
    ///   are made; what another one has sent meanwhile may come back to it first.
    package mutating func learnt(
        _ report: IdentityReport, from link: LinkID, of node: NodeID, ownSize: UInt64, now: Moment,
        effects: inout [Effect]
    ) {
        switch report {
        case .behind(let origin, _, let known): lost(origin, known, ownSize, node, &effects)
        case .claimed(let origin, let size, let head): judge(origin, size, head, ownSize, node, now, &effects)
        case .disputed(let origin):
            guard origin == local.origin, !local.forked.contains(origin) else { return }
            distrust(node, "it has another history of this node's origin \(origin)", now, &effects)
        case .forked(let origin, _):
            let isProven = local.forked.contains(origin)
            let known = proofs[origin] ?? (isProven ? [] : nil)
            put(.fork(origin, isOwn: isOwn(origin), with: name(of: node), known, at: now.wall), &effects)
            if isProven { startOrigin(insteadOf: origin, .forked, known: 0, now, &effects) }
        case .proven(let evidence, let isNew):
            let origin = evidence.origin
            keep(evidence)
            // What was heard of the other history may have come from anyone.
            let peer = evidence.namesEvent ? name(of: node) : "another node"
            put(.fork(origin, isOwn: isOwn(origin), with: peer, proofs[origin], at: now.wall), &effects)
            guard evidence.namesEvent, isNew || !local.forked.contains(origin) else { return }
            local.forked.insert(origin)
            for other in links where other != link { effects.append(.forkProven(other, evidence)) }
            startOrigin(insteadOf: origin, .forked, known: 0, now, &effects)
        }
    }

    private mutating func keep(_ evidence: ForkEvidence) {
        guard proofs[evidence.origin]?.contains(where: { $0.name == evidence.name }) != true else { return }
        proofs[evidence.origin, default: []].append(evidence)
    }

    private func isOwn(_ origin: OriginID) -> Bool { origin == local.origin || formerOrigins.contains(origin) }

    /// This node's key has signed more of its origin than the log has.
    private mutating func lost(
        _ origin: OriginID, _ known: UInt64, _ have: UInt64, _ node: NodeID, _ effects: inout [Effect]
    ) {
        guard origin == local.origin, have < known else { return }
        effects.append(
            .say(
                NodeRemark(
                    "AMNESIA",
                    "AMNESIA: \(name(of: node)) has \(known) events of this node's origin \(origin), the log has \(have)",
                    peer: name(of: node))))
        effects.append(.startOrigin(insteadOf: origin, .behind, known: known))
    }

    /// A peer has said that it has more of this node's origin than the log, and has shown a head, or nothing.
    private mutating func judge(
        _ origin: OriginID, _ size: UInt64, _ head: SignedHead?, _ have: UInt64, _ node: NodeID, _ now: Moment,
        _ effects: inout [Effect]
    ) {
        guard origin == local.origin, have < size else { return }
        if let head, head.head.origin == origin, have < head.head.size, head.isValid(for: key) {
            lost(origin, head.head.size, have, node, &effects)
        } else {
            distrust(node, "it has \(size) events of this node's origin \(origin)", now, &effects)
        }
    }

    /// A peer has claimed what it cannot show: it lies, or its store is damaged.
    private mutating func distrust(_ node: NodeID, _ claim: String, _ now: Moment, _ effects: inout [Effect]) {
        guard entries[node] != nil else { return }
        entries[node]?.unproven += 1
        let isSuspended = entries[node]?.isSuspended == true
        put(
            .unproven(
                node, name: name(of: node), claim, times: entries[node]?.unproven ?? 0, isSuspended: isSuspended,
                at: now.wall), &effects)
        // Its session is in the middle of something.
        if isSuspended { effects.append(.arm(.suspend(node), at: now.monotonic)) }
    }

    // MARK: New origins

    mutating func startOrigin(
        insteadOf origin: OriginID, _ change: OriginChange, known: UInt64, _ now: Moment, _ effects: inout [Effect]
    ) {
        guard origin == local.origin else { return }
        // A clock that jumps again and again must not make one origin after another. What is lost or forked is proven.
        let hour = now.wall - 3_600_000
        guard change != .clock || successions.count(where: { $0.at > hour }) < Self.mostOrigins else {
            let text = "the clock was far ahead again; no further new origin within an hour"
            return effects.append(.say(NodeRemark("CLOCK_AHEAD", text)))
        }
        effects.append(.startOrigin(insteadOf: origin, change, known: known))
    }

    /// The store appends to another origin from now on.
    package mutating func originStarted(
        _ origin: OriginID, insteadOf old: OriginID, _ change: OriginChange, known: UInt64, now: Moment,
        effects: inout [Effect]
    ) {
        let text = "this node appends to the new origin \(origin): \(change.summary)"
        effects.append(.say(NodeRemark("NEW_ORIGIN", text)))
        let had = log[old]?.seq ?? 0
        let succession = OriginSuccession(change, previous: old, had: had, known: known)
        successions.append(OriginTurn(succession: succession, origin: origin, at: now.wall))
        formerOrigins.insert(old)
        local.origin = origin
        for link in links { effects.append(.originChanged(link, origin)) }
    }

    // MARK: What the operator should know

    mutating func put(_ notice: NodeNotice, _ effects: inout [Effect]) {
        guard board.put(notice) else { return }
        effects.append(.say(NodeRemark(notice.code.rawValue, "\(notice.code.rawValue): \(notice.text)")))
    }

    /// Newest first.
    package var notices: [NodeNotice] {
        let changes = successions.map { turn in
            NodeNotice.succession(turn, size: log[turn.succession.previous]?.seq ?? 0)
        }
        return (board.notices + changes).sorted { $0.at > $1.at }
    }

    /// What was so before this process began.
    mutating func take(_ own: [OwnOrigin], _ forks: [NodeNotice], _ proofs: [ForkEvidence]) {
        formerOrigins = Set(own.filter { !$0.isCurrent }.map(\.id))
        successions = NodeNotice.open(own)
        for notice in forks { _ = board.put(notice) }
        for evidence in proofs { keep(evidence) }
    }
}
