internal import EventStore

extension SyncNode {
    /// What belongs to the loop's thread.
    final class Core {
        struct Entry {
            var peer: Peer
            var link: PeerLink?
            /// A second link, until it is known which of the two stays.
            var candidate: PeerLink?
            /// The store this node was seen with last.
            var incarnation: UInt64?
            /// Refused until then, because two processes have its key: monotonic milliseconds.
            var heldUntil = UInt64(0)
            /// Told once what came of an attempt to join: `nil` when it was let in, else why not.
            var onJoin: (@Sendable (String?) -> Void)?
            var dialer: Dialer?
            var timer: TimerToken?
            var dueAt: UInt64?
            var backoff = Backoff()
            var calls = CallRate()
            var lastError: String?
            /// A peer that comes and goes all the time does not fill the log.
            var notices = NoticeLimiter()
            /// Links in their TLS handshake.
            var isHandshaking = false
            /// What the peer has said to have; it outlives the link.
            var memory: PeerMemory?
        }

        let loop: EventLoop
        let workers: StoreWorkers
        let desk: JoinDesk
        let snapshots: SnapshotDesk
        /// The peer whose snapshot is being received; the others wait.
        var snapshotSource: NodeID?
        /// A snapshot waits for the store to be opened again.
        var isComplete = false
        /// Peers whose snapshots were refused: from them events come one by one.
        var refusedSnapshots: Set<NodeID> = []
        private let context: TLSContext
        var local: SyncSession.Local
        let log: @Sendable (String) -> Void
        private var random = SystemRandomNumberGenerator()
        var entries: [NodeID: Entry] = [:]
        var board = NoticeBoard()
        /// Origins this node has given up while it ran.
        var formerOrigins: Set<OriginID> = []
        /// Why it gave them up.
        var successions: [(OriginSuccession, at: Int64)] = []
        var pending: [NodeID: PendingPeer] = [:]
        /// Unknown callers that may say whether they are invited.
        var heard = 0
        var progress = LocalVector()
        /// Commits before ``open(listen:standing:)``.
        private var early: [CommitNotice]? = []
        private var sources = SourcePlan()
        private var isTicking = false
        private var waiters = DurabilityWaiters()
        private var isCheckDue = false
        var listener: Listener?
        var isStopping = false
        private var strangers = NoticeLimiter()
        /// Links that are saying goodbye.
        private var leaving = 0

        /// Most unknown callers remembered.
        private static let pendingCapacity = 100

        init(
            loop: EventLoop, workers: StoreWorkers, snapshots: SnapshotDesk, context: TLSContext,
            local: SyncSession.Local, peers: [Peer], desk: JoinDesk, log: @escaping @Sendable (String) -> Void
        ) {
            self.loop = loop
            self.workers = workers
            self.snapshots = snapshots
            self.context = context
            self.local = local
            self.desk = desk
            self.log = log
            for peer in peers { entries[peer.node] = Entry(peer: peer) }
        }

        /// Listens and calls. Returns why it cannot.
        func open(listen: HostPort?, standing: LocalVector) -> String? {
            progress = standing
            for notice in early ?? [] { _ = progress.advance(notice) }
            early = nil
            sources = SourcePlan(progress.vector)
            if let listen {
                do throws(TransportError) {
                    listener = try Listener(loop: loop, host: listen.host, port: listen.port) { [weak self] socket in
                        self?.accepted(socket)
                    }
                } catch {
                    return "cannot listen at \(listen.host):\(listen.port): \(error)"
                }
            }
            watchClock()
            for node in entries.keys.sorted() { dial(node) }
            return nil
        }

        func setPeers(_ peers: [Peer]) {
            let named = Dictionary(peers.map { ($0.node, $0) }) { first, _ in first }
            for node in entries.keys.sorted() where named[node] == nil {
                let entry = entries.removeValue(forKey: node)
                entry?.timer?.cancel()
                entry?.dialer?.cancel()
                for link in [entry?.link, entry?.candidate] {
                    link?.stop(SessionFailure(.unknownPeer, "removed by its operator"))
                }
            }
            for peer in peers {
                pending[peer.node] = nil
                let isNew = entries[peer.node] == nil
                let before = entries[peer.node]?.peer
                entries[peer.node, default: Entry(peer: peer)].peer = peer
                if peer.isPaused {
                    pause(peer.node)
                } else if isNew || before?.address != peer.address || before?.isPaused == true || peer.token != nil {
                    dial(peer.node)
                }
            }
        }

        func logAdvanced(_ notice: CommitNotice) {
            guard early == nil else {
                early?.append(notice)
                return
            }
            _ = progress.advance(notice)
            for link in links { link.logAdvanced(notice) }
            sources.advanced(
                notice.advanced.map { Dot(origin: $0.origin, seq: $0.seq) }, now: PeerLink.now().monotonic)
            tellWants()
            durableAdvanced()
        }

        // MARK: Connections

        private func accepted(_ socket: AcceptedSocket) {
            // Callbacks must not hold the socket: with it they would hold its place among unfinished handshakes.
            let caller = socket.peer
            do throws(TransportError) {
                let link = try TLSLink(
                    loop: loop, descriptor: socket.descriptor, context: context, role: .server, ticket: socket.ticket)
                link.onOpen = { [weak self, weak link] bytes in
                    guard let self, let link, let node = NodeID(bytes: bytes) else { return }
                    answered(link, node, caller)
                }
                link.onClose = { [weak self] end in self?.note("call from \(caller) ended in the handshake: \(end)") }
            } catch {
                note("call from \(caller): \(error)")
            }
        }

        private func answered(_ link: TLSLink, _ node: NodeID, _ address: String) {
            guard !isStopping else { return refuse(link, .shutdown, "the node is stopping") }
            guard node != local.node else { return refuse(link, .metSelf, "this is the node itself") }
            guard let peer = entries[node]?.peer else {
                if desk.isOpen(), hear(link, node, address) { return }
                return refuseUnknown(link, node, address)
            }
            guard entries[node]?.calls.admits(at: PeerLink.now().monotonic) == true else {
                let text = "\(peer.name) calls too often: over \(CallRate.burst) times, then once a second"
                note("RATE_LIMITED: \(text)")
                entries[node]?.lastError = "RATE_LIMITED: \(text)"
                return refuse(link, .rateLimited, text)
            }
            if peer.isPaused { return refuse(link, .paused, "paused by the operator of \(local.name)") }
            if let reason = obstacle(for: node) { return refuse(link, .busy, reason) }
            attach(link, node, isOutgoing: false)
        }

        func refuseUnknown(_ link: TLSLink, _ node: NodeID, _ address: String) {
            noteUnknown(node, address)
            refuse(link, .unknownPeer, "node \(node) is not among the peers of \(local.name)")
        }

        private func noteUnknown(_ node: NodeID, _ address: String) {
            note("unknown node \(node) called from \(address): pending")
            if let known = pending[node] {
                pending[node]?.calls = known.calls + 1
                pending[node]?.lastSeen = WallClock.now
            } else if pending.count < Self.pendingCapacity {
                pending[node] = PendingPeer(node: node, address: address, lastSeen: WallClock.now, calls: 1)
            }
        }

        /// Logs what strangers make happen, but not as often as they like.
        func note(_ text: String) {
            if let line = strangers.text(text, now: PeerLink.now().monotonic) { log(line) }
        }

        func refuse(_ link: TLSLink, _ code: SessionErrorCode, _ text: String) {
            link.onClose = nil
            // What an unlet node sends is never read.
            link.pauseReading()
            let frame = Message.bye(Bye(code, text: text)).frame(compress: false)
            link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
            link.close(afterFlush: .seconds(2))
        }

        func dial(_ node: NodeID) {
            guard !isStopping, obstacle(for: node) == nil, var entry = entries[node], !entry.peer.isPaused,
                entry.link == nil, entry.dialer == nil, !entry.isHandshaking, let address = entry.peer.address
            else { return }
            entry.timer?.cancel()
            entry.timer = nil
            entry.dueAt = nil
            guard let target = HostPort(address) else {
                entry.lastError = "'\(address)' is not host:port"
                entries[node] = entry
                return
            }
            entry.dialer = Dialer(loop: loop, host: target.host, port: target.port) { [weak self] result in
                self?.dialed(node, result)
            }
            entries[node] = entry
        }

        /// Calls now, whatever pause was due.
        func redial(_ node: NodeID) {
            entries[node]?.timer?.cancel()
            entries[node]?.timer = nil
            dial(node)
        }

        /// Lets in a node that has shown an invitation.
        func admitted(_ peer: Peer) {
            pending[peer.node] = nil
            entries[peer.node, default: Entry(peer: peer)].peer = peer
        }

        private func dialed(_ node: NodeID, _ result: Result<Int32, DialError>) {
            entries[node]?.dialer = nil
            switch result {
            case .failure(let error): retry(node, because: error.description)
            case .success(let descriptor): call(node, descriptor)
            }
        }

        private func call(_ node: NodeID, _ descriptor: Int32) {
            do throws(TransportError) {
                let link = try TLSLink(loop: loop, descriptor: descriptor, context: context, role: .client)
                entries[node]?.isHandshaking = true
                link.onOpen = { [weak self, weak link] bytes in
                    guard let self, let link, let found = NodeID(bytes: bytes) else { return }
                    entries[node]?.isHandshaking = false
                    guard entries[node] != nil, !isStopping, obstacle(for: node) == nil else { return link.abort() }
                    guard found == node else {
                        let text = "\(entries[node]?.peer.address ?? "") is node \(found), expected \(node)"
                        refuse(link, .wrongCertificate, text)
                        retry(node, because: "WRONG_CERTIFICATE: \(text)")
                        return
                    }
                    if entries[node]?.peer.token != nil { return knock(link, node) }
                    attach(link, node, isOutgoing: true)
                }
                link.onClose = { [weak self] end in
                    self?.entries[node]?.isHandshaking = false
                    self?.retry(node, because: end.description)
                }
            } catch {
                retry(node, because: error.description)
            }
        }

        /// Starts a session. Where there is a link to that node already, it is settled when both have said hello which
        /// of them stays: ``arbitrate(_:)``.
        ///
        /// - Parameter first: The peer's first frame, if it came already.
        func attach(_ link: TLSLink, _ node: NodeID, isOutgoing: Bool, first: Frame? = nil) {
            if let text = refusal(of: node) {
                refuse(link, .duplicateNodeID, text)
                return isOutgoing ? retry(node, because: text) : ()
            }
            let session = SyncSession(
                local: local, remote: node, progress: progress, memory: entries[node]?.memory,
                features: [.standings, .sources], policy: snapshotPolicy(for: node))
            let peerLink = PeerLink(
                link: link, node: node, isOutgoing: isOutgoing, session: session, loop: loop, workers: workers,
                snapshots: snapshots)
            peerLink.onEnd = { [weak self] link, end in self?.ended(link, end) }
            peerLink.onSnapshot = { [weak self] link, news in self?.snapshotNews(link, news) }
            peerLink.onNews = { [weak self] link, news in self?.heard(news, from: link) }
            peerLink.onHello = { [weak self] link, hello in self?.greeted(link, hello) }
            peerLink.onReport = { [weak self] link, report in self?.learnt(report, from: link) }
            peerLink.onDurable = { [weak self] in self?.durableAdvanced() }
            if entries[node]?.link == nil {
                entries[node]?.link = peerLink
            } else {
                entries[node]?.candidate?.stop(SessionFailure(.duplicateLink, "replaced by another connection"))
                entries[node]?.candidate = peerLink
            }
            peerLink.start(first)
        }

        private func ended(_ link: PeerLink, _ end: SessionEnd) {
            if isStopping { leaving -= 1 }
            if entries[link.node]?.candidate === link { entries[link.node]?.candidate = nil }
            endedBy(link, end)
            snapshotLinkEnded(link)
            guard entries[link.node]?.link === link else { return }
            leave(link)
            let held = PeerLink.now().monotonic - link.openedAt
            if held >= Backoff.healthyMilliseconds { entries[link.node]?.backoff.reset() }
            let name = entries[link.node]?.peer.name ?? link.node.short
            let line = entries[link.node]?.notices.text("peer \(name): \(end)", now: PeerLink.now().monotonic)
            if let line { log(line) }
            retry(link.node, because: end.description)
        }

        func keepMemory(of link: PeerLink) {
            if let memory = link.session.memory { entries[link.node]?.memory = memory }
        }

        func retry(_ node: NodeID, because reason: String) {
            guard !isStopping, var entry = entries[node] else { return }
            entry.lastError = reason
            entry.onJoin?(reason)
            entry.onJoin = nil
            if entry.link == nil, !entry.peer.isPaused, entry.peer.address != nil, entry.timer?.isPending != true {
                let wait = entry.backoff.next(using: &random)
                entry.dueAt = PeerLink.now().monotonic + UInt64(wait / .milliseconds(1))
                entry.timer = loop.schedule(after: wait) { [weak self] in self?.dial(node) }
            }
            entries[node] = entry
        }

        // MARK: Sources

        /// The link is no more the one to its node; a second one that waited takes its place.
        func leave(_ link: PeerLink) {
            keepMemory(of: link)
            let candidate = entries[link.node]?.candidate
            entries[link.node]?.link = candidate
            entries[link.node]?.candidate = nil
            let now = PeerLink.now().monotonic
            sources.closed(link.node, now: now)
            if let candidate, case .open = candidate.session.state, let memory = candidate.session.memory {
                sources.opened(link.node, memory.vector.entries, own: candidate.session.remoteOrigin, now: now)
            }
            tellWants()
        }

        private func heard(_ news: SessionNews, from link: PeerLink) {
            guard entries[link.node]?.link === link else { return }
            let now = PeerLink.now().monotonic
            if news.hasOpened {
                sources.opened(link.node, news.announced, own: link.session.remoteOrigin, now: now)
            } else if news.hasRestated {
                sources.restated(link.node, news.announced, now: now)
            } else if !news.announced.isEmpty {
                sources.announced(link.node, news.announced, now: now)
            }
            if news.hasDelivered { sources.delivered(link.node, now: now) }
            for dot in news.needs { sources.needed(dot, by: link.node) }
            sources.dropped(news.dropped, from: link.node)
            tellWants()
        }

        /// Says to the peers what the plan has changed, and lets it look at the time while it waits for something.
        private func tellWants() {
            for change in sources.takeChanges() {
                entries[change.peer]?.link?.want(take: change.take, leave: change.leave)
            }
            guard sources.isWaiting, !isTicking, !isStopping else { return }
            isTicking = true
            _ = loop.schedule(after: .milliseconds(SourcePlan.interval)) { [weak self] in
                guard let self else { return }
                isTicking = false
                sources.tick(now: PeerLink.now().monotonic)
                tellWants()
            }
        }

        // MARK: Durability

        /// How far this node and each of its peers have made what is here durable.
        func standings() -> (mine: VersionVector, peers: [PeerStanding]) {
            let peers = entries.values.sorted { $0.peer.name < $1.peer.name }.map { entry in
                var durable = entry.memory?.vector
                var isConnected = false
                if case .open(_, let outgoing, _)? = entry.link?.session.state {
                    (durable, isConnected) = (outgoing.durable, true)
                }
                return PeerStanding(peer: entry.peer, isConnected: isConnected, durable: durable)
            }
            return (progress.vector, peers)
        }

        private func holders() -> [(name: String, durable: VersionVector)] {
            let (mine, peers) = standings()
            return [(local.name, mine)]
                + peers.compactMap { peer in peer.durable.map { (peer.peer.name, $0) } }
        }

        func wait(_ waiter: DurabilityWaiters.Waiter, _ timeout: Duration) -> Bool {
            guard !isStopping, let id = waiters.add(waiter) else { return false }
            waiters.check(holders())
            _ = loop.schedule(after: timeout) { [weak self] in
                guard let self else { return }
                waiters.expire(id, holders())
            }
            return true
        }

        /// Many statements in a row are one reason to look.
        private func durableAdvanced() {
            guard !waiters.isEmpty, !isCheckDue else { return }
            isCheckDue = true
            _ = loop.schedule(after: .milliseconds(5)) { [weak self] in
                guard let self else { return }
                isCheckDue = false
                waiters.check(holders())
            }
        }

        // MARK: Leaving

        func sayGoodbye() {
            isStopping = true
            listener?.close()
            for node in entries.keys.sorted() {
                entries[node]?.timer?.cancel()
                entries[node]?.dialer?.cancel()
                for link in [entries[node]?.link, entries[node]?.candidate].compactMap({ $0 }) {
                    leaving += 1
                    link.stop(SessionFailure(.shutdown, "the node is stopping"))
                }
            }
        }

        var isQuiet: Bool { leaving <= 0 }
    }
}
