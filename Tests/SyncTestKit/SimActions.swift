internal import EventStore
internal import SyncEngine

extension Simulation {
    /// Does what the plan says for now.
    func perform(_ step: SimPlan.Step) {
        note { "· \(step.action)" }
        if let fault = step.fault, isPossible(step.action) { coverage.reached(fault) }
        switch step.action {
        case .append(let node, let count, let kind): append(nodes[node], count, kind)
        case .crash(let node, let isPowerCut, let downFor): crash(nodes[node], isPowerCut, downFor)
        case .pause(let node, let time): pause(nodes[node], time)
        case .cut(let edge): for link in links(of: edge) { link.cut("cut") }
        case .cutAll: for link in allLinks { link.cut("cut, as all others") }
        case .halfOpen(let edge, let direction): for link in links(of: edge) { link.pipes[direction].isDead = true }
        case .clog(let edge, let direction, let time):
            for link in links(of: edge) { link.pipes[direction].cloggedUntil = now + time * 1_000 }
        case .isolate(let side, let isOneWay, let time): isolate(side, isOneWay, time)
        case .disk(let node, let fault, let time): breakDisk(nodes[node], fault, time)
        case .flip(let node): flip(nodes[node])
        case .restore(let node, let share): restore(nodes[node], share)
        case .clone(let node): clone(nodes[node])
        case .reformat(let node): reformat(nodes[node])
        case .clock(let node, let by): nodes[node].clockOffset += by
        case .drift(let node, let millionths): nodes[node].clockDrift = millionths
        case .join(let peers, let source): join(peers, source)
        case .leave(let node): leave(nodes[node])
        case .disguise(let node, let disguise, let time): put(disguise, on: nodes[node], time)
        case .erase(let node): erase(nodes[node])
        }
    }

    private func isPossible(_ action: SimAction) -> Bool {
        switch action {
        case .cut(let edge), .halfOpen(let edge, _), .clog(let edge, _, _): !links(of: edge).isEmpty
        case .cutAll: !links.isEmpty
        case .crash(let node, _, _), .pause(let node, _), .flip(let node), .restore(let node, _), .clone(let node),
            .reformat(let node), .leave(let node), .erase(let node), .disguise(let node, _, _):
            nodes[node].isUp
        default: true
        }
    }

    private var allLinks: [SimLink] { links.sorted { $0.key < $1.key }.map(\.value) }

    private func links(of edge: Int) -> [SimLink] {
        let ends = [edges[edge].a, edges[edge].b]
        return allLinks.filter { ends.contains($0.nodes[0].index) && ends.contains($0.nodes[1].index) }
    }

    // MARK: Clients

    func append(_ node: SimNode, _ count: Int, _ kind: SimAction.AppendKind) {
        guard node.isUp, !node.isPaused else { return }
        coverage.count(.appends, count)
        let drafts = (0..<count).map { _ in draft(kind) }
        node.store.append(drafts)
        if random.chance(0.2) {
            let (nodes, timeout) = (random.pick(1...3), UInt64(random.pick(0...20_000)))
            schedule(after: random.pick(0...1_000_000)) { node.wait(nodes: nodes, timeout: timeout) }
        }
        // Without an answer a client asks again, with the same ids.
        if kind == .repeated {
            schedule(after: random.pick(1_000...5_000_000)) {
                if node.isUp, !node.isPaused { node.store.append(drafts) }
            }
        }
        if kind == .sameID, let other = random.pick(nodes) as SimNode?, other.isUp, !other.isPaused {
            other.store.append(drafts)
        }
    }

    /// A node asks a peer to show what it claims of the node's own origin: a busy one appends more meanwhile.
    func asked(_ node: SimNode) {
        guard isFaulty, random.chance(0.3) else { return }
        schedule(after: random.pick(0...200_000)) { [self] in append(node, random.pick(1...8), .plain) }
    }

    private func draft(_ kind: SimAction.AppendKind) -> EventDraft {
        let text: String
        var type = "message.posted"
        var version = UInt32(1)
        switch kind {
        case .large:
            coverage.count(.largeEvents)
            text = String(repeating: "큰 말 ", count: random.pick([300, 1_000, 1_000, 3_000, 36_000]))
        case .strange:
            coverage.reached(.strangeEvents)
            (type, version, text) = ("later.kind", 9, "모르는 것")
        default: text = "말 \(random.next() % 100_000)"
        }
        let id = random.uuid()
        var draft = EventDraft(
            id: EventID(id), type: type, conversation: "c\(random.pick(1...4))", user: "u\(random.pick(1...5))",
            version: version, payload: Array(#"{"text":"\#(text)"}"#.utf8))
        let actors = [
            nil, EventActor(.socket, principal: "uid:1000"), EventActor(.token, principal: "bot", credential: "1"),
        ]
        draft.actor = actors[Int(id.low % 3)]
        return draft
    }

    // MARK: Machines

    private func crash(_ node: SimNode, _ isPowerCut: Bool, _ downFor: UInt64) {
        guard node.isUp else { return }
        node.crash(isPowerCut: isPowerCut)
        schedule(after: downFor * 1_000) { node.start() }
    }

    private func pause(_ node: SimNode, _ time: UInt64) {
        guard node.isUp, !node.isPaused else { return }
        let epoch = node.epoch
        node.pause()
        schedule(after: time * 1_000) { if node.epoch == epoch { node.resume() } }
    }

    private func isolate(_ side: [Int], _ isOneWay: Bool, _ time: UInt64) {
        let end = now + time * 1_000
        for a in nodes.indices where side.contains(a) {
            for b in nodes.indices where !side.contains(b) {
                blocked[[a, b]] = end
                if !isOneWay { blocked[[b, a]] = end }
            }
        }
        for link in allLinks {
            for from in 0...1 where blocked[[link.nodes[from].index, link.nodes[1 - from].index]] == end {
                link.pipes[from].cloggedUntil = max(link.pipes[from].cloggedUntil, end)
            }
        }
    }

    private func breakDisk(_ node: SimNode, _ fault: DiskRefusal, _ time: UInt64) {
        node.store.diskFault = fault
        schedule(after: time * 1_000) { [self] in
            guard isFaulty else { return }
            node.store.diskFault = nil
            // After an input or output error an operator starts the daemon again.
            if node.store.hasFailed, node.isUp {
                node.crash(isPowerCut: false)
                node.start()
            }
        }
    }

    /// A bit of a payload changes on the disk.
    private func flip(_ node: SimNode) {
        let candidates = node.store.log.events.filter { $0.event.payload != nil && $0.event.header.dot.seq > 1 }
        guard !candidates.isEmpty else { return }
        let chosen = random.pick(candidates)
        guard case .present(let salt, var payload) = chosen.event.body else { return }
        payload[payload.count / 2] ^= 1
        damaged.insert(node.index)
        checks.taint(chosen.event.header.dot.origin)
        overwrite(chosen.position, of: node, with: .present(salt: salt, payload: payload))
    }

    /// The payload of an event goes, its digest stays: what erasure leaves.
    private func erase(_ node: SimNode) {
        guard
            let chosen = node.store.log.events.last(where: { stored in
                // What users wrote is erased, not what nodes say of their subscriptions.
                let header = stored.event.header
                return stored.event.payload != nil && header.dot.seq > 1 && !header.type.hasPrefix("subscription.")
            })
        else { return }
        let digest = node.store.sha.payloadDigest(chosen.event.body)
        overwrite(chosen.position, of: node, with: .erased(payloadDigest: digest))
    }

    private func overwrite(_ position: UInt64, of node: SimNode, with body: EventBody) {
        do throws(StoreError) { try node.store.overwrite(position, with: body) } catch {
            violate("overwrite", "\(node.name): \(error)")
        }
    }

    // MARK: Memory

    func restore(_ node: SimNode, _ share: Double) {
        guard node.isUp, !node.backups.isEmpty else { return }
        node.crash(isPowerCut: false)
        setBack(node, share)
        schedule(after: 500_000) { node.start() }
    }

    /// The log of a node that does not run is an earlier one.
    func setBack(_ node: SimNode, _ share: Double = 0) {
        guard !node.backups.isEmpty else { return }
        let older = node.backups[Int(Double(node.backups.count) * share)]
        checks.forgot(node, keeping: older.log)
        node.install(older, isFullyDurable: node.store.isFullyDurable)
    }

    /// A copy of the data directory runs on another machine.
    private func clone(_ node: SimNode) {
        guard node.isUp, node.knownAs == node.index else { return }
        let copy = addNode(knownAs: node.index, name: node.name + "copy")
        checks.forgot(copy, keeping: copy.store.log)
        copy.assume(node)
        if damaged.contains(node.index) { damaged.insert(copy.index) }
        copy.install(node.store.file, isFullyDurable: true)
        checks.taint(node.identity.origin)
        for peer in node.peers.keys.sorted() { copy.peers[peer] = true }
        copy.start()
        for _ in 0..<random.pick(1...4) {
            schedule(after: random.pick(1_000...10_000_000)) { [self] in append(copy, random.pick(1...3), .plain) }
            schedule(after: random.pick(1_000...10_000_000)) { [self] in append(node, random.pick(1...3), .plain) }
        }
    }

    private func reformat(_ node: SimNode) {
        guard node.isUp else { return }
        node.crash(isPowerCut: false)
        checks.forgot(node, keeping: SimLog(own: node.identity.origin))
        node.format(isFullyDurable: node.store.isFullyDurable)
        schedule(after: 500_000) { node.start() }
    }

    // MARK: Members

    private func join(_ peers: [Int], _ source: Int?) {
        var older: VerifiedBatch?
        if let source, nodes[source].isUp {
            let owner = nodes[source]
            let copy = owner.backups.isEmpty ? owner.store.file : random.pick(owner.backups)
            do throws(StoreError) {
                older = try copy.contents(signedBy: owner.key, wall: owner.wall, using: checks.sha)
            } catch {
                if !damaged.contains(source) { violate("join", "\(owner.name): a copy does not open: \(error)") }
            }
        }
        let node = addNode(
            knownAs: nodes.count, name: "n\(nodes.count)", over: older,
            evidence: source.map { nodes[$0].evidence } ?? [])
        if let source, damaged.contains(source) { damaged.insert(node.index) }
        for peer in Set(peers).sorted() where !nodes[peer].isRetired {
            edges.append(SimPlan.Edge(a: node.index, b: peer, aCalls: true, bCalls: false))
            nodes[peer].addPeer(node.index, calls: false)
            node.peers[peer] = true
        }
        node.start()
        guard draws(.snapshots) else { return }
        // Its clients do not wait for its first copy of the log.
        for _ in 0..<random.pick(0...3) {
            schedule(after: random.pick(1_000...3_000_000)) { [self] in append(node, random.pick(1...3), .plain) }
        }
    }

    private func leave(_ node: SimNode) {
        guard nodes.count(where: { !$0.isRetired && $0.knownAs == $0.index }) > 2 else { return }
        for peer in node.peers.keys.sorted() { nodes[peer].removePeer(node.knownAs) }
        retire(node)
    }

    func retire(_ node: SimNode) {
        node.crash(isPowerCut: false)
        node.isRetired = true
    }

    // MARK: Other releases and liars

    private func put(_ disguise: Disguise, on node: SimNode, _ time: UInt64) {
        guard node.knownAs == node.index, node.disguise == .honest else { return }
        node.disguise = disguise
        if disguise == .olderVersion { coverage.reached(.versions) }
        for link in allLinks where link.nodes.contains(where: { $0 === node }) {
            link.cut("another release is started")
        }
        guard !disguise.isHostile else { return }
        schedule(after: time * 1_000) { [self] in reform(node) }
    }

    /// The node is again what it seems.
    func reform(_ node: SimNode) {
        guard node.disguise != .honest else { return }
        node.disguise = .honest
        for link in allLinks where link.nodes.contains(where: { $0 === node }) { link.cut("this release is started") }
    }
}
