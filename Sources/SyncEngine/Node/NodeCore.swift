internal import EventStore

extension SyncNode {
    /// What belongs to the loop's thread: the shell that performs what the ``Mesh`` decides.
    final class Core {
        let loop: EventLoop
        private let inbox: CommitInbox
        let workers: StoreWorkers
        let desk: JoinDesk
        let snapshots: SnapshotEndpoint
        let context: TLSContext
        let log: @Sendable (NodeRemark) -> Void
        private(set) var mesh: Mesh
        /// Links with a session.
        var sessions: [LinkID: PeerLink] = [:]
        /// When something was heard of a peer whose link has ended, monotonic milliseconds.
        var lastHeard: [NodeID: UInt64] = [:]
        /// Links that have none yet, or never will.
        var connections: [LinkID: Connection] = [:]
        /// Calls to peers, until they are answered.
        var calls: [NodeID: Call] = [:]
        private var lastLink: UInt64 = 0
        private var timers: [Mesh.Timer: TimerToken] = [:]
        /// Who waits until something is durable on other nodes.
        private var waiters: [UInt64: @Sendable (Holders) -> Void] = [:]
        /// Who wants to know what comes of an attempt to join.
        private var guests: [NodeID: @Sendable (String?) -> Void] = [:]
        /// What was committed last, and what reads it for peers.
        private let recent = RecentCommits()
        let live: OutgoingReader
        /// What the loop may store itself.
        let share = LeadShare()
        /// Commits before ``open(listen:standing:)``.
        private var early: [CommitNotice]? = []
        private var listener: Listener?
        /// What nodes tell all others.
        private(set) var shared = SharedTable()
        /// Hear of what a peer has told, unchecked.
        private var onShared: [SharedState.Topic: @Sendable (SharedState) -> Void] = [:]
        /// What was told before anything here heard of it: links may be up before all is. A peer that lies spoils its own alone.
        private var unheard: [SharedState.Topic: [NodeID: SharedTable]] = [:]
        private static let pingTimeout = Duration.seconds(5)

        init(
            loop: EventLoop, inbox: CommitInbox, workers: StoreWorkers, snapshots: SnapshotEndpoint,
            context: TLSContext, mesh: Mesh, desk: JoinDesk, log: @escaping @Sendable (NodeRemark) -> Void
        ) {
            self.loop = loop
            self.inbox = inbox
            self.workers = workers
            self.snapshots = snapshots
            self.context = context
            self.mesh = mesh
            self.desk = desk
            self.log = log
            live = OutgoingReader(recent, ownHead: workers.ownHead)
        }

        /// Tells the mesh what has happened, and does what it decides.
        func input(_ body: (inout Mesh, Moment, inout [Mesh.Effect]) -> Void) {
            var effects: [Mesh.Effect] = []
            body(&mesh, PeerLink.now(), &effects)
            for effect in effects { perform(effect) }
        }

        func nextLink() -> LinkID {
            lastLink += 1
            return LinkID(lastLink)
        }

        // MARK: Life

        /// Listens and calls. Returns why it cannot.
        func open(listen: HostPort?, standing: LocalVector) -> String? {
            takeCommits()
            var standing = standing
            for notice in early ?? [] { _ = standing.advance(notice) }
            early = nil
            if let listen {
                do throws(TransportError) {
                    listener = try Listener(loop: loop, host: listen.host, port: listen.port) { [weak self] socket in
                        self?.accepted(socket)
                    }
                } catch {
                    return "cannot listen at \(listen.host):\(listen.port): \(error)"
                }
            }
            input { $0.opened(standing, now: $1, effects: &$2) }
            retryAttachments()
            return nil
        }

        func sayGoodbye() {
            listener?.close()
            input { $0.stopped(effects: &$2) }
        }

        var isQuiet: Bool { sessions.isEmpty }
        var listeningPort: UInt16 { listener?.boundPort ?? 0 }

        // MARK: Commits

        /// Hears of the commits of `store` from now on. Returns the observer's token.
        static func observe(_ store: EventStore, _ inbox: CommitInbox, _ core: LoopBound<Core>) -> Int {
            store.observeCommits { notice in
                switch inbox.put(notice) {
                case .kept: break
                case .due: core.post { $0.takeCommits() }
                case .job: core.post { $0.committed(notice) }
                }
            }
        }

        /// Learns what was kept for it, and says whether it has to hear of the next commits at once.
        func takeCommits() {
            for notice in inbox.take(watching: !sessions.isEmpty || !waiters.isEmpty) { logAdvanced(notice) }
        }

        /// Hears of a commit at once.
        func committed(_ notice: CommitNotice) {
            inbox.arrived()
            logAdvanced(notice)
            takeCommits()
        }

        private func logAdvanced(_ notice: CommitNotice) {
            guard early == nil else {
                early?.append(notice)
                return
            }
            recent.add(notice)
            for link in mesh.links { sessions[link]?.logAdvanced(notice) }
            input { $0.logAdvanced(notice, now: $1, effects: &$2) }
        }

        // MARK: Shared state

        func observeShared(about topic: SharedState.Topic, _ body: (@Sendable (SharedState) -> Void)?) {
            onShared[topic] = body
            guard let body else { return }
            for told in (unheard.removeValue(forKey: topic) ?? [:]).values { told.values(after: 0).forEach(body) }
        }

        /// A peer has told something.
        func heard(_ value: SharedState, from peer: NodeID) {
            guard shared.isNews(value, to: workers.store.identity.node) else { return }
            if let body = onShared[value.topic] { return body(value) }
            unheard[value.topic, default: [:]][peer, default: SharedTable()].put(value)
        }

        /// Tells all peers, now and when they connect.
        func share(_ values: [SharedState]) {
            let before = shared.revision
            for value in values { shared.put(value) }
            guard shared.revision > before else { return }
            for link in sessions.values { link.tellShared() }
        }

        // MARK: What operators and clients ask

        func take(_ own: [OwnOrigin], _ forks: [NodeNotice], _ proofs: [ForkEvidence]) {
            mesh.take(own, forks, proofs)
        }

        func setPeers(_ peers: [Peer]) { input { $0.setPeers(peers, now: $1, effects: &$2) } }

        func setPeers(
            _ peers: [Peer], joining node: NodeID, _ completion: @escaping @Sendable (String?) -> Void
        ) {
            guests.removeValue(forKey: node)?("another attempt was begun")
            setPeers(peers)
            guests[node] = completion
            input { $0.joining(node, now: $1, effects: &$2) }
        }

        func resume(_ node: NodeID) { input { $0.resumed(node, now: $1, effects: &$2) } }

        func wait(
            for vector: VersionVector, nodes: Int, _ timeout: Duration,
            _ completion: @escaping @Sendable (Holders) -> Void
        ) -> Bool {
            var isTaken = false
            input { mesh, now, effects in
                let timeout = UInt64(max(timeout, .zero) / .milliseconds(1))
                let id = mesh.wait(for: vector, nodes: nodes, timeout: timeout, now: now, effects: &effects)
                guard let id else { return }
                isTaken = true
                waiters[id] = completion
            }
            return isTaken
        }

        func ping(_ node: NodeID, _ completion: @escaping @Sendable (PingResult?) -> Void) {
            guard let link = session(of: node) else { return completion(nil) }
            var isDone = false
            let timer = loop.schedule(after: Self.pingTimeout) {
                if !isDone { completion(nil) }
                isDone = true
            }
            link.ping { [weak link] elapsed in
                timer.cancel()
                guard !isDone else { return }
                isDone = true
                completion(elapsed.map { PingResult(roundTrip: $0, clockOffset: link?.session.clockOffset) })
            }
        }

        /// The link to a peer, if there is one.
        func session(of node: NodeID) -> PeerLink? { mesh.entries[node]?.link.flatMap { sessions[$0.id] } }

        /// The sessions with the peers there are links to.
        var open: [NodeID: SyncSession] {
            Dictionary(uniqueKeysWithValues: mesh.current.map { ($0.node, $0.link) })
                .compactMapValues { sessions[$0]?.session }
        }

        // MARK: What the mesh decides

        private func perform(_ effect: Mesh.Effect) {
            switch effect {
            case .dial(let node, let target): dial(node, target)
            case .hangUp(let node): calls.removeValue(forKey: node)?.hangUp()
            case .knock(let link, let node, let token): knock(link, node, token)
            case .hear(let link): hear(link)
            case .judge(let link, let caller, let join): judge(link, caller, join)
            case .refuse(let link, let code, let text, let after): refuse(link, code, text, after)
            case .abort(let link): connections.removeValue(forKey: link)?.link.abort()
            case .attach(let link, let node, let isOutgoing): attach(link, node, isOutgoing)
            case .stop(let link, let failure): sessions[link]?.stop(failure)
            case .probe(let link): sessions[link]?.probe()
            case .lookAtProbe(let node, let link):
                let heard = sessions[link]?.session.lastReceived ?? 0
                input { $0.probed(node, link, lastHeard: heard, now: $1, effects: &$2) }
            case .tellAnew(let link): sessions[link]?.tellAnew()
            case .want(let link, let take, let leave): sessions[link]?.want(take: take, leave: leave)
            case .forkProven(let link, let evidence): sessions[link]?.forkProven(evidence)
            case .originChanged(let link, let origin): sessions[link]?.originChanged(to: origin)
            case .lacksPayloads(let link, let dots): sessions[link]?.lacksPayloads(dots)
            case .startOrigin(let origin, let change, let known): startOrigin(insteadOf: origin, change, known)
            case .lookForPayloads: lookForPayloads()
            case .dropSnapshot(let keepSpool): snapshots.intake.drop(keepSpool: keepSpool)
            case .reopen: snapshots.onComplete()
            case .readClocks: checkClock()
            case .lookAtDurability:
                takeCommits()
                input { [open] in $0.durabilitySeen(open, now: $1, effects: &$2) }
            case .answer(let waiter, let holders): waiters.removeValue(forKey: waiter)?(holders)
            case .joined(let node, let reason): guests.removeValue(forKey: node)?(reason)
            case .forgetToken(let node): workers.readers.submit { [desk] _ in desk.joined(node) }
            case .say(let line): log(line)
            case .arm(let timer, let time): arm(timer, at: time)
            }
        }

        private func arm(_ timer: Mesh.Timer, at time: UInt64) {
            timers[timer]?.cancel()
            let now = PeerLink.now().monotonic
            timers[timer] = loop.schedule(after: .milliseconds(time > now ? time - now : 0)) { [weak self] in
                self?.timers[timer] = nil
                self?.input { mesh, now, effects in
                    // A timer counts more finely than the mesh, which must not think that it came too early.
                    let then = Moment(monotonic: max(now.monotonic, time), wall: now.wall)
                    mesh.timerFired(timer, now: then, effects: &effects)
                }
            }
        }

        func checkClock() {
            let store = workers.store
            let offsets = mesh.links.compactMap { sessions[$0]?.session }.filter { $0.hello != nil }
                .compactMap(\.clockOffset)
            let reading = ClockReading(wall: store.wall(), lastStamp: store.lastStamp, offsets: offsets)
            input { $0.clocksRead(reading, now: $1, effects: &$2) }
        }

        private func startOrigin(insteadOf old: OriginID, _ change: OriginChange, _ known: UInt64) {
            let this = loop.bind(self)
            workers.startOrigin(insteadOf: old, change, known: known) { result in
                this.post { core in
                    core.takeCommits()
                    switch result {
                    case .success(let origin):
                        core.input {
                            $0.originStarted(origin, insteadOf: old, change, known: known, now: $1, effects: &$2)
                        }
                    case .failure(let error): core.log("cannot start a new origin: \(error)")
                    }
                }
            }
        }

        /// There may be attachments to ask peers for.
        func wantAttachments() { for link in sessions.values { link.wantAttachments() } }

        /// Every so often all peers are asked again for what none of them had, milliseconds.
        private static let retry: Int64 = 10_000

        func retryAttachments() {
            _ = loop.schedule(after: .milliseconds(Self.retry)) { [weak self] in
                guard let self else { return }
                if workers.attachments.retry() { wantAttachments() }
                retryAttachments()
            }
        }

        private func lookForPayloads() {
            let begun = PeerLink.now().monotonic
            let this = loop.bind(self)
            workers.missingPayloads(most: MissingPayloads.most) { dots in
                this.post { core in core.input { $0.payloadsMissed(dots, since: begun, now: $1, effects: &$2) } }
            }
        }
    }
}
