internal import EventStore
internal import SyncEngine

/// The simulator's counterpart of `PeerLink`: performs a session's effects over a simulated line and store.
final class SimPeerLink: SessionShell {
    let id: LinkID
    let peer: Int
    var session: SyncSession
    let link: SimLink
    let side: Int
    unowned let node: SimNode
    var isGreeted = false
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

    /// What the peer was told of ``SimNode/shared``.
    private var sharedTold: UInt64 = 0

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
    func lost(_ reason: String) {
        session.linkLost(reason)
        finish(.linkLost(reason))
    }

    var store: SimStore { node.store }
    var now: Moment { node.moment }
    var isAlive: Bool { node.isUp }
    func tell(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) { node.input(body) }
    func ownSize(of origin: OriginID) -> UInt64 { sim.has(.vainAmnesia) ? 0 : store.ownSize(of: origin) }

    func settle() {
        guard node.isUp else { return }
        if !isClosed, !session.news.dropped.isEmpty { sim.coverage.count(.dropped) }
        sim.checks.stepped(self, node)
        arm()
        tellShared()
    }

    /// As `PeerLink.tellShared`.
    func tellShared() {
        guard !isClosed, node.shared.revision > sharedTold, session.takesShared else { return }
        let values = node.shared.values(after: sharedTold)
        sharedTold = node.shared.revision
        for value in values { input { $0.share(value, now: $1, effects: &$2) } }
    }

    func perform(_ effect: SessionEffect, _ effects: inout [SessionEffect]) {
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
            node.store.store(frame) { [self] result in stored(id, result) }
        case .inspect(let id, let question):
            store.inspect(question) { [self] result in inspected(id, result) }
        case .report(let report):
            if case .forked = report {
                sim.coverage.count(.forks)
                sim.checks.name(node.knownAs, peer)
            }
            learnt(report)
        case .shared(let value): node.heard(value)
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
}
