internal import EventStore
internal import SyncEngine
internal import WireKit

// The simulator's counterpart of `NodeCore`: what the ``Mesh`` decides is done.
extension SimNode {
    /// What this node believes of its log.
    var progress: LocalVector { mesh.log }

    /// The peers as their operator names them. The port says which node it is.
    var known: [Peer] {
        peers.keys.sorted().map { peer in
            let node = sim.nodes[peer]
            return Peer(name: node.name, node: node.id, address: peers[peer] == true ? "sim:\(peer)" : nil)
        }
    }

    func addPeer(_ peer: Int, calls: Bool) {
        guard peers[peer] == nil else { return }
        peers[peer] = calls
        input { [known] in $0.setPeers(known, now: $1, effects: &$2) }
    }

    func removePeer(_ peer: Int) {
        peers[peer] = nil
        input { [known] in $0.setPeers(known, now: $1, effects: &$2) }
    }

    func resumeExchange(with peer: SimNode) { input { $0.resumed(peer.id, now: $1, effects: &$2) } }

    /// Tells the mesh what has happened, and does what it decides, as long as this process lives.
    func input(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) {
        guard isUp else { return }
        var effects: [Mesh.Effect] = []
        body(&mesh, moment, &effects)
        let epoch = epoch
        for effect in effects where isUp && self.epoch == epoch { perform(effect) }
    }

    private func perform(_ effect: Mesh.Effect) {
        switch effect {
        case .dial(let node, let target): dial(node, Int(target.port))
        case .hangUp(let node): calls[node] = nil
        case .refuse(let link, let code, let text, _): refuse(link, code, text)
        case .abort(let link): connections.removeValue(forKey: link)?.cut("given up")
        case .attach(let link, let node, let isOutgoing): attach(link, node, isOutgoing)
        case .stop(let link, let failure): sessions[link]?.stop(failure)
        case .probe(let link): sessions[link]?.probe()
        case .lookAtProbe(let node, let link):
            let heard = sessions[link]?.session.lastReceived ?? 0
            input { $0.probed(node, link, lastHeard: heard, now: $1, effects: &$2) }
        case .tellAnew(let link): sessions[link]?.tellAnew()
        case .want(let link, let take, let leave):
            sim.coverage.count(.sourceChanges)
            sessions[link]?.want(take: take, leave: leave)
        case .forkProven(let link, let evidence): sessions[link]?.forkProven(evidence)
        case .originChanged(let link, let origin): sessions[link]?.originChanged(to: origin)
        case .startOrigin(let origin, let change, let known): startOrigin(insteadOf: origin, change, known: known)
        // Simulated logs lose no payloads.
        case .lookForPayloads: input { $0.payloadsMissed([], since: $1.monotonic, now: $1, effects: &$2) }
        case .lacksPayloads: break
        case .dropSnapshot(let keepSpool): intake.drop(keepSpool: keepSpool)
        case .reopen: schedule(after: sim.random.pick(1_000...20_000)) { [self] in reopen() }
        case .say(let line): sim.note { "\(self.name): \(line)" }
        case .arm(let timer, let time): arm(timer, at: time)
        case .lookAtDurability:
            takeCommits()
            let links = Dictionary(uniqueKeysWithValues: mesh.current.map { ($0.node, $0.link) })
            let open = links.compactMapValues { sessions[$0]?.session }
            input { $0.durabilitySeen(open, now: $1, effects: &$2) }
        case .answer(let waiter, let holders):
            if let vector = waits.removeValue(forKey: waiter) { sim.checks.held(vector, by: holders, told: self) }
        // No node is invited, and clocks are as wrong as the run makes them.
        case .knock, .hear, .judge, .joined, .forgetToken, .readClocks: break
        }
    }

    private func arm(_ timer: Mesh.Timer, at time: UInt64) {
        if case .dial = timer, sim.has(.noReconnect), !sim.isFaulty { return }
        schedule(at: max(sim.now, bootedAt + time * 1_000)) { [self] in
            input { $0.timerFired(timer, now: $1, effects: &$2) }
        }
    }

    /// A client waits until what is here now is durable on so many nodes.
    func wait(nodes: Int, timeout: UInt64) {
        takeCommits()
        input { mesh, now, effects in
            let vector = mesh.log.vector
            let id = mesh.wait(for: vector, nodes: nodes, timeout: timeout, now: now, effects: &effects)
            if let id { waits[id] = vector }
        }
    }

    // MARK: Links

    private func dial(_ node: NodeID, _ peer: Int) {
        let call = sim.random.next()
        calls[node] = call
        sim.connect(self, sim.nodes[peer]) { [weak self] link in
            guard let self, calls[node] == call else { return link?.cut("nobody calls any more") ?? () }
            calls[node] = nil
            guard let link else {
                return input { $0.callFailed(to: node, "nobody answers", now: $1, effects: &$2) }
            }
            connections[link.id] = link
            input { $0.callOpened(link.id, to: node, as: link.other(0).id, now: $1, effects: &$2) }
        }
    }

    /// Another node has dialled.
    func dialled(over link: SimLink) {
        connections[link.id] = link
        let caller = link.other(1)
        input { $0.dialled(link.id, by: caller.id, from: caller.name, isInviting: false, now: $1, effects: &$2) }
    }

    private func refuse(_ id: LinkID, _ code: SessionErrorCode, _ text: String) {
        guard let link = connections.removeValue(forKey: id) else { return }
        let side = link.nodes[0] === self ? 0 : 1
        sim.coverage.refused(code)
        link.send(Message.bye(Bye(code, text: text)).frame(compress: false).bytes, .control, from: side)
        link.close(from: side)
    }

    private func attach(_ id: LinkID, _ node: NodeID, _ isOutgoing: Bool) {
        guard let link = connections.removeValue(forKey: id) else { return }
        takeCommits()
        let session = mesh.session(
            with: node, features: features, limits: sim.limits, policy: snapshotPolicy(for: node))
        let peerLink = SimPeerLink(node: self, link: link, side: isOutgoing ? 0 : 1, session: session)
        sessions[id] = peerLink
        peerLink.start()
        // From now on each commit matters; also those since the session was made.
        takeCommits()
    }

    /// What this node's release is able to do.
    private var features: Features {
        if disguise == .olderVersion { return [] }
        let later: Features = sim.draws(.subscriptions) ? [.sharedState] : []
        let able: Features = sim.draws(.versions) && index % 3 == 1 ? [.standings] : [.standings, .sources, .heads]
        return able.union(later)
    }

    // MARK: Shared state

    /// As `NodeCore.heard`.
    func heard(_ value: SharedState) { if shared.isNews(value, to: id) { desk?.heard(value) } }

    /// As `NodeCore.share`.
    func share(_ values: [SharedState]) {
        let before = shared.revision
        for value in values { shared.put(value) }
        guard shared.revision > before else { return }
        for link in sessions.keys.sorted() { sessions[link]?.tellShared() }
    }

    func ended(_ link: SimPeerLink, _ end: SessionEnd) {
        sessions[link.id] = nil
        if let heard = link.session.lastHeard { lastHeard[link.session.remote] = heard }
        input {
            $0.ended(link.id, of: link.session.remote, end, memory: link.session.memory, now: $1, effects: &$2)
        }
    }

    // MARK: The store

    /// In the order of the daemon's threads: behind what is being verified.
    private func startOrigin(insteadOf origin: OriginID, _ change: OriginChange, known: UInt64) {
        sim.checks.givesUp(self, origin, change, known: known)
        schedule(at: store.turn(isVerifier: true)) { [self] in
            guard origin == store.log.own, !store.hasFailed else { return }
            if change == .behind { sim.coverage.count(.amnesia) }
            store.startOrigin(change, known: known)
            takeCommits()
            input { [own = store.log.own] in
                $0.originStarted(own, insteadOf: origin, change, known: known, now: $1, effects: &$2)
            }
        }
    }
}
