internal import EventStore

extension SyncNode {
    /// What belongs to the loop's thread.
    final class Core {
        struct Entry {
            var peer: Peer
            var link: PeerLink?
            var dialer: Dialer?
            var timer: TimerToken?
            var dueAt: UInt64?
            var backoff = Backoff()
            var lastError: String?
            /// A peer that comes and goes all the time does not fill the log.
            var notices = NoticeLimiter()
            /// Links in their TLS handshake.
            var isHandshaking = false
            /// What the peer has said to have; it outlives the link.
            var memory: PeerMemory?
        }

        private let loop: EventLoop
        private let workers: StoreWorkers
        let snapshots: SnapshotDesk
        /// The peer whose snapshot is being received; the others wait.
        var snapshotSource: NodeID?
        /// A snapshot waits for the store to be opened again.
        var isComplete = false
        /// Peers whose snapshots were refused: from them events come one by one.
        var refusedSnapshots: Set<NodeID> = []
        private let context: TLSContext
        let local: SyncSession.Local
        let log: @Sendable (String) -> Void
        private var random = SystemRandomNumberGenerator()
        var entries: [NodeID: Entry] = [:]
        private var pending: [NodeID: PendingPeer] = [:]
        var progress = LocalVector()
        /// Commits before ``open(listen:standing:)``.
        private var early: [CommitNotice]? = []
        private var sources = SourcePlan()
        private var isTicking = false
        private var waiters = DurabilityWaiters()
        private var isCheckDue = false
        private var listener: Listener?
        private var isStopping = false
        private var strangers = NoticeLimiter()
        /// Links that are saying goodbye.
        private var leaving = 0

        /// Most unknown callers remembered.
        private static let pendingCapacity = 100

        init(
            loop: EventLoop, workers: StoreWorkers, snapshots: SnapshotDesk, context: TLSContext,
            local: SyncSession.Local, peers: [Peer], log: @escaping @Sendable (String) -> Void
        ) {
            self.loop = loop
            self.workers = workers
            self.snapshots = snapshots
            self.context = context
            self.local = local
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
            for node in entries.keys.sorted() { dial(node) }
            return nil
        }

        func setPeers(_ peers: [Peer]) {
            let named = Dictionary(peers.map { ($0.node, $0) }) { first, _ in first }
            for node in entries.keys.sorted() where named[node] == nil {
                let entry = entries.removeValue(forKey: node)
                entry?.timer?.cancel()
                entry?.dialer?.cancel()
                entry?.link?.stop(SessionFailure(.unknownPeer, "removed by its operator"))
            }
            for peer in peers {
                pending[peer.node] = nil
                let isNew = entries[peer.node] == nil
                let moved = entries[peer.node]?.peer.address != peer.address
                entries[peer.node, default: Entry(peer: peer)].peer = peer
                if isNew || moved { dial(peer.node) }
            }
        }

        func logAdvanced(_ notice: CommitNotice) {
            guard early == nil else {
                early?.append(notice)
                return
            }
            _ = progress.advance(notice)
            for node in entries.keys.sorted() { entries[node]?.link?.logAdvanced(notice) }
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
            guard entries[node] != nil else {
                noteUnknown(node, address)
                return refuse(link, .unknownPeer, "node \(node) is not among the peers of \(local.name)")
            }
            if let reason = obstacle(for: node) { return refuse(link, .busy, reason) }
            attach(link, node, isOutgoing: false)
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
        private func note(_ text: String) {
            if let line = strangers.text(text, now: PeerLink.now().monotonic) { log(line) }
        }

        private func refuse(_ link: TLSLink, _ code: SessionErrorCode, _ text: String) {
            link.onClose = nil
            // What an unlet node sends is never read.
            link.pauseReading()
            let frame = Message.bye(Bye(code, text: text)).frame(compress: false)
            link.send(type: frame.type, flags: frame.flags, body: frame.body, priority: .control)
            link.close(afterFlush: .seconds(2))
        }

        func dial(_ node: NodeID) {
            guard !isStopping, obstacle(for: node) == nil, var entry = entries[node], entry.link == nil,
                entry.dialer == nil, !entry.isHandshaking, let address = entry.peer.address
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

        /// Starts a session, unless there is a link to that node that stays: of two links in opposite directions the
        /// one stays that the smaller node id called; of two in the same direction the newer.
        private func attach(_ link: TLSLink, _ node: NodeID, isOutgoing: Bool) {
            if let other = entries[node]?.link {
                let prefersOutgoing = local.node < node
                guard other.isOutgoing == isOutgoing || isOutgoing == prefersOutgoing else {
                    return refuse(link, .duplicateLink, "there is another connection")
                }
                entries[node]?.link = nil
                keepMemory(of: other)
                other.onEnd = nil
                sources.closed(node, now: PeerLink.now().monotonic)
                other.stop(SessionFailure(.duplicateLink, "replaced by another connection"))
            }
            let session = SyncSession(
                local: local, remote: node, progress: progress, memory: entries[node]?.memory,
                features: [.standings, .sources], policy: snapshotPolicy(for: node))
            let peerLink = PeerLink(
                link: link, node: node, isOutgoing: isOutgoing, session: session, loop: loop, workers: workers,
                snapshots: snapshots)
            entries[node]?.link = peerLink
            peerLink.onEnd = { [weak self] link, end in self?.ended(link, end) }
            peerLink.onSnapshot = { [weak self] link, news in self?.snapshotNews(link, news) }
            peerLink.onNews = { [weak self] link, news in self?.heard(news, from: link) }
            peerLink.onDurable = { [weak self] in self?.durableAdvanced() }
            peerLink.start()
        }

        private func ended(_ link: PeerLink, _ end: SessionEnd) {
            if isStopping { leaving -= 1 }
            snapshotLinkEnded(link)
            guard entries[link.node]?.link === link else { return }
            entries[link.node]?.link = nil
            keepMemory(of: link)
            sources.closed(link.node, now: PeerLink.now().monotonic)
            tellWants()
            let held = PeerLink.now().monotonic - link.openedAt
            if held >= Backoff.healthyMilliseconds { entries[link.node]?.backoff.reset() }
            let name = entries[link.node]?.peer.name ?? link.node.short
            let line = entries[link.node]?.notices.text("peer \(name): \(end)", now: PeerLink.now().monotonic)
            if let line { log(line) }
            retry(link.node, because: end.description)
        }

        private func keepMemory(of link: PeerLink) {
            if let memory = link.session.memory { entries[link.node]?.memory = memory }
        }

        private func retry(_ node: NodeID, because reason: String) {
            guard !isStopping, var entry = entries[node] else { return }
            entry.lastError = reason
            if entry.link == nil, entry.peer.address != nil, entry.timer?.isPending != true {
                let wait = entry.backoff.next(using: &random)
                entry.dueAt = PeerLink.now().monotonic + UInt64(wait / .milliseconds(1))
                entry.timer = loop.schedule(after: wait) { [weak self] in self?.dial(node) }
            }
            entries[node] = entry
        }

        // MARK: Sources

        private func heard(_ news: SessionNews, from link: PeerLink) {
            guard entries[link.node]?.link === link else { return }
            let now = PeerLink.now().monotonic
            if news.hasOpened {
                sources.opened(link.node, news.announced, own: link.session.remoteOrigin, now: now)
            } else if !news.announced.isEmpty {
                sources.announced(link.node, news.announced, now: now)
            }
            if news.hasDelivered { sources.delivered(link.node, now: now) }
            for dot in news.needs { sources.needed(dot, by: link.node) }
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
                guard let link = entries[node]?.link else { continue }
                leaving += 1
                link.stop(SessionFailure(.shutdown, "the node is stopping"))
            }
        }

        var isQuiet: Bool { leaving <= 0 }

        // MARK: Status

        func status() -> NodeStatus {
            let now = PeerLink.now().monotonic
            let mine = progress.vector
            return NodeStatus(
                peers: entries.values.sorted { $0.peer.name < $1.peer.name }.map { status(of: $0, mine, now) },
                pending: pending.values.sorted { $0.lastSeen > $1.lastSeen },
                listeningPort: listener?.boundPort ?? 0)
        }

        private func status(of entry: Entry, _ mine: VersionVector, _ now: UInt64) -> PeerStatus {
            let session = entry.link?.session
            var hello: Hello?
            var outgoing: SyncSession.Outgoing?
            var incoming: SyncSession.Incoming?
            if case .open(let found, let out, let into)? = session?.state {
                (hello, outgoing, incoming) = (found, out, into)
            }
            let phase: PeerStatus.Phase =
                if outgoing != nil {
                    .connected
                } else if entry.link != nil || entry.dialer != nil || entry.isHandshaking {
                    .connecting
                } else {
                    .disconnected(retryIn: entry.dueAt.map { $0 > now ? $0 - now : 0 })
                }
            return PeerStatus(
                peer: entry.peer, phase: phase, lastError: outgoing == nil ? entry.lastError : nil,
                theirName: hello?.name,
                lacks: mine.count(missingFrom: outgoing?.durable ?? entry.memory?.vector ?? VersionVector()),
                owes: outgoing?.known.count(missingFrom: mine) ?? 0, roundTrip: session?.roundTrip,
                clockOffset: session?.clockOffset, eventsSent: outgoing?.events ?? 0,
                eventsReceived: incoming?.events ?? 0, bytesSent: outgoing?.bytes ?? 0,
                bytesReceived: incoming?.bytes ?? 0, snapshot: session?.snapshot.status,
                silentFor: session.map { now > $0.lastReceived ? now - $0.lastReceived : 0 })
        }
    }
}
