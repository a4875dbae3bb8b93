package import EventStore

/// What every shell of a session does: it tells the session what has happened, has its effects performed in order, and tells the mesh
/// what concerns other links. The daemon's is ``PeerLink``; the simulator has one over its own lines and stores.
package protocol SessionShell: AnyObject {
    var id: LinkID { get }
    var session: SyncSession { get set }
    /// Whether the mesh was told that the peer has said hello.
    var isGreeted: Bool { get set }
    var isClosed: Bool { get }
    /// Whether the process lives: a simulated one may die of an effect.
    var isAlive: Bool { get }
    var now: Moment { get }
    /// Something has happened, which the session is about to be told.
    func willInput()
    /// - Parameter effects: Where what it leads to at once is added.
    func perform(_ effect: SessionEffect, _ effects: inout [SessionEffect])
    /// All effects are performed: the shell's own affairs, such as timers.
    func settle()
    func tell(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void)
    /// How many events of `origin` are durable here, if it is the one that this node appends to.
    func ownSize(of origin: OriginID) -> UInt64
}

extension SessionShell {
    package var isAlive: Bool { true }
    package func willInput() {}

    package func input(_ body: (inout SyncSession, Moment, inout [SessionEffect]) -> Void) {
        guard !isClosed else { return }
        var effects: [SessionEffect] = []
        willInput()
        let before = session.durableRevision
        body(&session, now, &effects)
        var next = 0
        while next < effects.count {
            perform(effects[next], &effects)
            guard isAlive else { return }
            next += 1
        }
        if !isGreeted, let hello = session.hello {
            isGreeted = true
            tell { [id, node = session.remote] in $0.greeted(id, of: node, hello, now: $1, effects: &$2) }
        }
        settle()
        // At its end the mesh was told already.
        guard !isClosed else { return }
        if session.durableRevision != before { tell { $0.durableAdvanced(now: $1, effects: &$2) } }
        let news = session.takeNews()
        guard !isClosed, !news.isEmpty else { return }
        heard(news)
    }

    private func heard(_ news: SessionNews) {
        tell { [id, node = session.remote, own = session.remoteOrigin] in
            $0.heard(news, from: id, of: node, own: own, now: $1, effects: &$2)
        }
    }

    // MARK: What the mesh asks

    package func logAdvanced(_ notice: CommitNotice) { input { $0.logAdvanced(notice, now: $1, effects: &$2) } }
    package func probe() { input { $0.probed(now: $1, effects: &$2) } }
    /// Says why, and ends.
    package func stop(_ failure: SessionFailure) { input { $0.stop(failure, now: $1, effects: &$2) } }
    /// The mesh has not listened before.
    package func tellAnew() { input { session, _, _ in session.tellAnew() } }

    /// From now on these origins are taken from the peer, and no longer those.
    package func want(take: [OriginID], leave: [OriginID]) {
        input { $0.want(take: take, leave: leave, now: $1, effects: &$2) }
    }

    /// These events are here without their payloads.
    package func lacksPayloads(_ dots: [Dot]) { input { $0.lacksPayloads(dots, now: $1, effects: &$2) } }

    package func forkProven(_ evidence: ForkEvidence) { input { $0.forkProven(evidence, now: $1, effects: &$2) } }

    package func originChanged(to origin: OriginID) { input { session, _, _ in session.originChanged(to: origin) } }

    // MARK: What the mesh is told

    package func learnt(_ report: IdentityReport) {
        tell { [id, node = session.remote, self] mesh, now, effects in
            let size = ownSize(of: mesh.local.origin)
            mesh.learnt(report, from: id, of: node, ownSize: size, now: now, effects: &effects)
        }
    }

    /// Answers ``SessionEffect/store(_:_:)``. What is found of histories concerns the node: it counts when the link has ended too.
    package func stored(_ id: RequestID, _ result: Result<StoredFrame, SessionFailure>) {
        if isClosed, case .success(let stored) = result { stored.reports.forEach(learnt) }
        input { $0.eventsStored(id, result, now: $1, effects: &$2) }
    }

    /// Answers ``SessionEffect/inspect(_:_:)``; as ``stored(_:_:)``.
    package func inspected(_ id: RequestID, _ result: Result<Finding, SessionFailure>) {
        if isClosed, case .success(.proof(let evidence?, let isNew)) = result {
            learnt(.proven(evidence, isNew: isNew))
        }
        input { $0.inspected(id, result, now: $1, effects: &$2) }
    }

    /// Asks whether a snapshot that the peer offers may come now. The sender, if so.
    package func takesSnapshot() -> SnapshotSender? {
        guard case .open(let hello, _, _) = session.state else { return nil }
        var isTaken = false
        tell { [id, node = session.remote] in
            isTaken = $0.snapshotOffered(by: id, of: node, now: $1, effects: &$2)
        }
        guard isTaken else { return nil }
        return SnapshotSender(cluster: hello.cluster, node: session.remote, incarnation: hello.incarnation)
    }

    package func snapshotOpened(
        _ id: RequestID, _ offer: SnapshotOffer, _ result: Result<UInt64, SessionFailure>
    ) {
        // Of a link that ended meanwhile all is dropped already.
        guard !isClosed else { return }
        if case .success(let after) = result { tell(.opened(offer, after: after)) }
        input { $0.snapshotOpened(id, result, now: $1, effects: &$2) }
    }

    package func snapshotStored(_ id: RequestID, _ result: Result<SnapshotStored, SessionFailure>) {
        input { $0.snapshotStored(id, result, now: $1, effects: &$2) }
        if case .success(.complete) = result { tell(.complete) }
    }

    package func tell(_ news: SnapshotNews) {
        tell { [id, node = session.remote] in $0.snapshotNews(news, from: id, of: node, now: $1, effects: &$2) }
    }
}
