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
        case .behind(let origin, let have, let known):
            guard origin == local.origin, workers.isBehind(known, of: origin) else { return }
            log("AMNESIA: \(peer) has \(known) events of this node's origin \(origin), the log has \(have)")
            startOrigin(insteadOf: origin, .behind, known: known)
        case .forked(let origin, _):
            let isProven = local.forked.contains(origin)
            put(.fork(origin, isOwn: isOwn(origin), with: peer, isProven: isProven, at: WallClock.now))
            if origin == local.origin { startOrigin(insteadOf: origin, .forked, known: 0) }
        case .proven(let evidence, let isNew):
            let origin = evidence.origin
            put(.fork(origin, isOwn: isOwn(origin), with: peer, isProven: true, at: WallClock.now))
            guard isNew || !local.forked.contains(origin) else { return }
            local.forked.insert(origin)
            for other in links where other !== link { other.forkProven(evidence) }
            if origin == local.origin { startOrigin(insteadOf: origin, .forked, known: 0) }
        }
    }

    private func isOwn(_ origin: OriginID) -> Bool { origin == local.origin || formerOrigins.contains(origin) }

    func startOrigin(insteadOf origin: OriginID, _ change: OriginChange, known: UInt64) {
        // What a peer says of our own origin cannot be checked before its events come. One that lies must not make this node
        // start one origin after another.
        let hour = WallClock.now - 3_600_000
        guard successions.count(where: { $0.at > hour }) < Self.mostOrigins else {
            return log("a peer disputes the history of origin \(origin) again; no further new origin within an hour")
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
        successions.append((OriginSuccession(change, previous: old, had: had, known: known), WallClock.now))
        formerOrigins.insert(old)
        local.origin = origin
        for link in links { link.originChanged(to: origin) }
    }

    /// What the operator should know, newest first.
    var notices: [NodeNotice] {
        let changes = successions.map { succession, at in
            NodeNotice.succession(succession, size: progress[succession.previous]?.seq ?? 0, at: at)
        }
        return (board.notices + changes).sorted { $0.at > $1.at }
    }

    /// What was so before this process began.
    func take(_ own: [OwnOrigin], _ forks: [NodeNotice]) {
        formerOrigins = Set(own.filter { !$0.isCurrent }.map(\.id))
        successions = NodeNotice.open(own)
        for notice in forks { _ = board.put(notice) }
    }

    func put(_ notice: NodeNotice) {
        if board.put(notice) { log("\(notice.code.rawValue): \(notice.text)") }
    }

    private func name(of node: NodeID) -> String { entries[node]?.peer.name ?? node.short }
}
