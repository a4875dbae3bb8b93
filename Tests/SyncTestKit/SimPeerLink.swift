internal import EventStore
internal import SyncEngine

/// The simulator's counterpart of `PeerLink`: one link with its session, and what performs the session's effects.
final class SimPeerLink {
    let id: LinkID
    let peer: Int
    var session: SyncSession
    let link: SimLink
    let side: Int
    unowned let node: SimNode
    /// Whether the peer has said hello.
    private var isGreeted = false
    private var armedFor: UInt64?
    private(set) var isClosed = false
    /// Bytes of Events the peer has allowed, less what was sent. Kept beside the session's own account (INV-9).
    var allowance: Int64?
    /// Most that may be allowed: the Hello's window, or that of a snapshot.
    var allowanceLimit: Int64 = 0
    /// Bytes of Events received, less what was given back as credit.
    var taken: Int64 = 0
    /// The same of a snapshot.
    var takenRows: Int64 = 0

    var sim: Simulation { node.sim }

    init(node: SimNode, link: SimLink, side: Int, session: SyncSession) {
        self.node = node
        self.link = link
        self.side = side
        self.session = session
        id = link.id
        peer = link.other(side).knownAs
    }

    func start() {
        link.attach(self, side: side)
        input { $0.started(now: $1, effects: &$2) }
    }

    func received(_ frame: Frame) { input { $0.frameReceived(frame, now: $1, effects: &$2) } }
    func heardBytes() { input { session, now, _ in session.heard(at: now) } }
    func logAdvanced(_ notice: CommitNotice) { input { $0.logAdvanced(notice, now: $1, effects: &$2) } }
    func stop(_ failure: SessionFailure) { input { $0.stop(failure, now: $1, effects: &$2) } }
    func probe() { input { $0.probed(now: $1, effects: &$2) } }
    func forkProven(_ evidence: ForkEvidence) { input { $0.forkProven(evidence, now: $1, effects: &$2) } }
    func originChanged(to origin: OriginID) { input { session, _, _ in session.originChanged(to: origin) } }
    func tellAnew() { input { session, _, _ in session.tellAnew() } }

    func want(take: [OriginID], leave: [OriginID]) {
        input { $0.want(take: take, leave: leave, now: $1, effects: &$2) }
    }

    func lost(_ reason: String) {
        session.linkLost(reason)
        finish(.linkLost(reason))
    }

    var store: SimStore { node.store }

    func input(_ body: (inout SyncSession, Moment, inout [SessionEffect]) -> Void) {
        guard !isClosed else { return }
        var effects: [SessionEffect] = []
        let before = session.durableRevision
        body(&session, node.moment, &effects)
        var next = 0
        while next < effects.count {
            perform(effects[next], &effects)
            guard node.isUp else { return }
            next += 1
        }
        tellMesh(hasAdvanced: session.durableRevision != before)
        guard node.isUp else { return }
        sim.checks.stepped(self, node)
        arm()
    }

    /// What concerns other links.
    private func tellMesh(hasAdvanced: Bool) {
        guard !isClosed else { return }
        let peer = session.remote
        if !isGreeted, let hello = session.hello {
            isGreeted = true
            node.input { $0.greeted(id, of: peer, hello, now: $1, effects: &$2) }
        }
        if hasAdvanced { node.input { $0.durableAdvanced(now: $1, effects: &$2) } }
        let news = session.takeNews()
        guard !isClosed, !news.isEmpty else { return }
        if !news.dropped.isEmpty { sim.coverage.count(.dropped) }
        let own = session.remoteOrigin
        node.input { $0.heard(news, from: id, of: peer, own: own, now: $1, effects: &$2) }
    }

    private func perform(_ effect: SessionEffect, _ effects: inout [SessionEffect]) {
        switch effect {
        case .send(let frame, let lane):
            sim.checks.sending(frame, self, node)
            node.transmit(frame, lane, self)
            if frame.type == MessageType.headAsk.rawValue { sim.asked(node) }
        case .allowBodies(let bytes): link.maximumBody[side] = bytes
        case .read(let id, let request):
            if node.mayCrash(before: "reading") { return }
            if let frame = node.store.readAtOnce(request) {
                return session.eventsRead(id, .success(frame), now: node.moment, effects: &effects)
            }
            node.store.read(request) { [self] result in
                input { $0.eventsRead(id, result, now: $1, effects: &$2) }
            }
        case .store(let id, let frame):
            node.store.store(frame) { [self] result in
                input { $0.eventsStored(id, result, now: $1, effects: &$2) }
            }
        case .inspect(let id, let question):
            store.inspect(question) { [self] result in
                input { $0.inspected(id, result, now: $1, effects: &$2) }
            }
        case .report(let report): learnt(report)
        case .describeSnapshot, .readSnapshot, .openSnapshot, .storeSnapshot, .dropSnapshot:
            performSnapshot(effect, &effects)
        case .close(let end):
            link.close(from: side)
            finish(end)
        }
    }

    private func arm() {
        if sim.has(.timersNeverFire) { return }
        guard !isClosed, let deadline = session.nextDeadline else { return }
        if let armedFor, armedFor <= deadline { return }
        armedFor = deadline
        let due = node.bootedAt + deadline * 1_000
        node.schedule(at: max(sim.now, due)) { [self] in
            guard armedFor == deadline else { return }
            armedFor = nil
            input { $0.timerFired(now: $1, effects: &$2) }
        }
    }

    private func finish(_ end: SessionEnd) {
        guard !isClosed else { return }
        isClosed = true
        sim.coverage.ended(end)
        sim.note { "\(self.node.name): session with \(self.sim.nodes[self.peer].name) ends: \(end)" }
        node.ended(self, end)
    }

    private func learnt(_ report: IdentityReport) {
        if case .forked = report {
            sim.coverage.count(.forks)
            sim.checks.name(node.knownAs, peer)
        }
        let size = sim.has(.vainAmnesia) ? 0 : store.ownSize(of: node.identity.origin)
        node.input { [id, peer = session.remote] in
            $0.learnt(report, from: id, of: peer, ownSize: size, now: $1, effects: &$2)
        }
    }
}
