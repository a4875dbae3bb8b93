internal import EventStore

// Who is who: second links, second processes with one key, lost memory, forks (D11, D12).
extension SyncNode.Core {
    /// How long a link that may be dead has to show that it lives.
    private static let probe = Duration.milliseconds(1_500)
    /// How long a node is refused after two processes with its key were seen alive.
    private static let hold: UInt64 = 60_000
    /// Most new origins within an hour.
    private static let mostOrigins = 8

    /// All links, candidates included, in the order of their nodes.
    var links: [PeerLink] {
        entries.keys.sorted().flatMap { node in
            [entries[node]?.link, entries[node]?.candidate].compactMap { $0 }
        }
    }

    // MARK: Second links

    func greeted(_ link: PeerLink, _ hello: Hello) {
        let before = entries[link.node]?.incarnation
        entries[link.node]?.incarnation = hello.incarnation
        entries[link.node]?.isVolatile = hello.isVolatile
        if let before, before != hello.incarnation {
            put(.newStore(link.node, name: name(of: link.node), at: WallClock.now))
        }
        entries[link.node]?.onJoin?(nil)
        entries[link.node]?.onJoin = nil
        checkClock()
        arbitrate(link.node)
    }

    /// Settles which of two links to a node stays, when both have said hello. Of the same process: in opposite directions the
    /// one that the smaller node id called, else the newer. Of two processes: if the older link is dead, the newer; if it
    /// lives, there are two nodes with one key, and neither stays.
    private func arbitrate(_ node: NodeID) {
        guard let old = entries[node]?.link, let new = entries[node]?.candidate, let oldRun = old.session.hello?.run,
            let newRun = new.session.hello?.run
        else { return }
        guard oldRun != newRun, oldRun != 0, newRun != 0 else {
            let prefersOutgoing = local.node < node
            let staysOld = old.isOutgoing != new.isOutgoing && old.isOutgoing == prefersOutgoing
            return end(staysOld ? new : old, because: "there is another connection", keeping: staysOld ? old : new)
        }
        let asked = PeerLink.now().monotonic
        old.probe()
        _ = loop.schedule(after: Self.probe) { [weak self, weak old, weak new] in
            guard let self, let old, let new, entries[node]?.link === old, entries[node]?.candidate === new else {
                return
            }
            // In whole milliseconds: the answer may come in the one in which it was asked for.
            if old.session.lastReceived >= asked {
                separate(node, old, new)
            } else {
                end(old, because: "the node has started anew", keeping: new)
            }
        }
    }

    private func end(_ loser: PeerLink, because text: String, keeping winner: PeerLink) {
        if entries[winner.node]?.link === loser {
            leave(loser)
        } else {
            entries[winner.node]?.candidate = nil
        }
        loser.onEnd = nil
        loser.stop(SessionFailure(.duplicateLink, text))
    }

    /// Two processes with one key are alive.
    private func separate(_ node: NodeID, _ old: PeerLink, _ new: PeerLink) {
        let text = "two processes with the key of node \(node) (\(name(of: node))) are alive at once"
        put(.duplicate(node, text, at: WallClock.now))
        entries[node]?.heldUntil = PeerLink.now().monotonic + Self.hold
        entries[node]?.candidate = nil
        new.stop(SessionFailure(.duplicateNodeID, text))
        old.stop(SessionFailure(.duplicateNodeID, text))
    }

    /// Why the node is not let in for now; `nil` if it is.
    func refusal(of node: NodeID) -> String? {
        let now = PeerLink.now().monotonic
        guard let until = entries[node]?.heldUntil, until > now else { return nil }
        return "two processes with the key of node \(node) were alive at once; refused for \((until - now) / 1_000) s"
    }

    /// A peer that refuses this node may have seen its double.
    func endedBy(_ link: PeerLink, _ end: SessionEnd) {
        let isDouble =
            switch end {
            case .refused(let code, _, _): code == SessionErrorCode.duplicateNodeID.rawValue
            case .failed, .linkLost: false
            }
        guard isDouble else { return }
        let text = "\(name(of: link.node)) has seen another process with the key of this node, alive"
        put(.duplicate(local.node, text, at: WallClock.now))
    }

    // MARK: Memory and forks

    func learnt(_ report: IdentityReport, from link: PeerLink) {
        let peer = name(of: link.node)
        switch report {
        case .behind(let origin, _, let known): lost(origin, known: known, peer)
        case .claimed(let origin, let size, let head): judge(origin, size, head, link)
        case .disputed(let origin):
            guard origin == local.origin, !local.forked.contains(origin) else { return }
            distrust(link, "it has another history of this node's origin \(origin)")
        case .forked(let origin, _):
            let isProven = local.forked.contains(origin)
            let proofs = isProven ? proofs[origin] ?? [] : nil
            put(.fork(origin, isOwn: isOwn(origin), with: peer, proofs, at: WallClock.now))
            if isProven, origin == local.origin { startOrigin(insteadOf: origin, .forked, known: 0) }
        case .proven(let evidence, let isNew):
            let origin = evidence.origin
            keep(evidence)
            put(.fork(origin, isOwn: isOwn(origin), with: peer, proofs[origin], at: WallClock.now))
            guard isNew || !local.forked.contains(origin) else { return }
            local.forked.insert(origin)
            for other in links where other !== link { other.forkProven(evidence) }
            if origin == local.origin { startOrigin(insteadOf: origin, .forked, known: 0) }
        }
    }

    private func keep(_ evidence: ForkEvidence) {
        guard proofs[evidence.origin]?.contains(where: { $0.name == evidence.name }) != true else { return }
        proofs[evidence.origin, default: []].append(evidence)
    }

    private func isOwn(_ origin: OriginID) -> Bool { origin == local.origin || formerOrigins.contains(origin) }

    // MARK: Claims about this node's own origin

    /// After so many that a peer could not show the exchange with it ends, until an operator resumes it.
    static let mostUnproven = 3

    /// This node's key has signed more of its origin than the log has.
    private func lost(_ origin: OriginID, known: UInt64, _ peer: String) {
        guard origin == local.origin, workers.isBehind(known, of: origin) else { return }
        let have = workers.store.ownSize(of: origin)
        log("AMNESIA: \(peer) has \(known) events of this node's origin \(origin), the log has \(have)")
        startOrigin(insteadOf: origin, .behind, known: known)
    }

    /// A peer has said that it has more of this node's origin than the log, and has shown a head, or nothing.
    private func judge(_ origin: OriginID, _ size: UInt64, _ head: SignedHead?, _ link: PeerLink) {
        // What another session has sent meanwhile may come back first.
        guard origin == local.origin, workers.isBehind(size, of: origin) else { return }
        if let head, head.head.origin == origin, workers.isBehind(head.head.size, of: origin),
            head.isValid(for: workers.store.key.publicKey)
        {
            lost(origin, known: head.head.size, name(of: link.node))
        } else {
            distrust(link, "it has \(size) events of this node's origin \(origin)")
        }
    }

    /// A peer has claimed what it cannot show: it lies, or its store is damaged.
    private func distrust(_ link: PeerLink, _ claim: String) {
        guard entries[link.node] != nil else { return }
        entries[link.node]?.unproven += 1
        let isSuspended = entries[link.node]?.isSuspended == true
        put(
            .unproven(
                link.node, name: name(of: link.node), claim, times: entries[link.node]?.unproven ?? 0,
                isSuspended: isSuspended, at: WallClock.now))
        // Its session is in the middle of something.
        if isSuspended { loop.bind(self).post { [node = link.node] in $0.pause(node, Self.suspension) } }
    }

    /// What a suspended peer is told.
    static let suspension = "paused: it claimed several times what it could not show"

    func startOrigin(insteadOf origin: OriginID, _ change: OriginChange, known: UInt64) {
        // A clock that jumps again and again must not make one origin after another. What is lost or forked is proven.
        let hour = WallClock.now - 3_600_000
        guard change != .clock || successions.count(where: { $0.at > hour }) < Self.mostOrigins else {
            return log("the clock was far ahead again; no further new origin within an hour")
        }
        let this = loop.bind(self)
        workers.startOrigin(insteadOf: origin, change, known: known) { result in
            this.post { core in
                switch result {
                case .success(let started): core.changed(from: origin, to: started, change, known)
                case .failure(let error): core.log("cannot start a new origin: \(error)")
                }
            }
        }
    }

    private func changed(from old: OriginID, to origin: OriginID, _ change: OriginChange, _ known: UInt64) {
        log("this node appends to the new origin \(origin): \(change.summary)")
        let had = progress[old]?.seq ?? 0
        let succession = OriginSuccession(change, previous: old, had: had, known: known)
        successions.append(OriginTurn(succession: succession, origin: origin, at: WallClock.now))
        formerOrigins.insert(old)
        local.origin = origin
        for link in links { link.originChanged(to: origin) }
        // Of the one that was given up events are taken like those of any other.
        for node in entries.keys.sorted() {
            guard let link = entries[node]?.link, link.session.choosesOrigins,
                let stated = link.session.memory?[old]
            else { continue }
            sources.announced(node, [Dot(origin: old, seq: stated.seq)], now: PeerLink.now().monotonic)
        }
        tellWants()
    }

    /// What the operator should know, newest first.
    var notices: [NodeNotice] {
        let changes = successions.map { turn in
            NodeNotice.succession(turn, size: progress[turn.succession.previous]?.seq ?? 0)
        }
        return (board.notices + changes).sorted { $0.at > $1.at }
    }

    /// What was so before this process began.
    func take(_ own: [OwnOrigin], _ forks: [NodeNotice], _ proofs: [ForkEvidence]) {
        formerOrigins = Set(own.filter { !$0.isCurrent }.map(\.id))
        successions = NodeNotice.open(own)
        for notice in forks { _ = board.put(notice) }
        for evidence in proofs { keep(evidence) }
    }

    func put(_ notice: NodeNotice) {
        if board.put(notice) { log("\(notice.code.rawValue): \(notice.text)") }
    }

    private func name(of node: NodeID) -> String { entries[node]?.peer.name ?? node.short }
}
