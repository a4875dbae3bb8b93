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
            /// How often the peer was too busy to look at the invitation.
            var knocks = 0
            var dialer: Dialer?
            var timer: TimerToken?
            var dueAt: UInt64?
            var backoff = Backoff()
            var calls = CallRate()
            var lastError: String?
            /// A peer that comes and goes all the time does not fill the log.
            var notices = NoticeLimiter()
            /// Whether the log says that it has gone, and not that it is back.
            var isMissed = false
            /// Links in their TLS handshake.
            var isHandshaking = false
            /// What the peer has said to have; it outlives the link.
            var memory: PeerMemory?
            /// Whether what it has can be lost when the power fails, as it said last.
            var isVolatile = false
            /// What it has said to have and the plan of sources has not been told yet.
            var unannounced: ArraySlice<Dot> = []
            /// How often it has claimed something of this node's own origin that it could not show.
            var unproven = 0
            /// After so often the exchange ends, until an operator resumes it.
            var isSuspended: Bool { unproven >= SyncNode.Core.mostUnproven }
        }

        let loop: EventLoop
        private let inbox: CommitInbox
        let workers: StoreWorkers
        let desk: JoinDesk
        let snapshots: SnapshotEndpoint
        /// Whose snapshot is being received, while the others wait.
        var snapshotTurn = SnapshotArbiter()
        let context: TLSContext
        var local: SyncSession.Local
        let log: @Sendable (String) -> Void
        var random = SystemRandomNumberGenerator()
        var entries: [NodeID: Entry] = [:]
        var board = NoticeBoard()
        /// Origins this node has given up while it ran.
        var formerOrigins: Set<OriginID> = []
        /// Why it gave them up.
        var successions: [OriginTurn] = []
        /// The forks that are proven.
        var proofs: [OriginID: [ForkEvidence]] = [:]
        var pending: [NodeID: PendingPeer] = [:]
        /// Unknown callers that may say whether they are invited, the oldest first.
        var hearings: [Hearing] = []
        private(set) var known = LocalVector()
        /// What was committed last, and what reads it for peers.
        private let recent = RecentCommits()
        let live: OutgoingReader
        /// What the loop may store itself.
        let share = LeadShare()
        /// Commits before ``open(listen:standing:)``.
        private var early: [CommitNotice]? = []
        var missing = MissingPayloads()
        var sources = SourcePlan()
        var isTicking = false
        var isAnnouncing = false
        var waiters = DurabilityWaiters()
        var isCheckDue = false
        var isLookDue = false
        var listener: Listener?
        var isStopping = false
        var strangers = NoticeLimiter()
        /// Links that are saying goodbye.
        var leaving = 0

        init(
            loop: EventLoop, inbox: CommitInbox, workers: StoreWorkers, snapshots: SnapshotEndpoint,
            context: TLSContext, local: SyncSession.Local, peers: [Peer], desk: JoinDesk,
            log: @escaping @Sendable (String) -> Void
        ) {
            self.loop = loop
            self.inbox = inbox
            self.workers = workers
            self.snapshots = snapshots
            self.context = context
            self.local = local
            self.desk = desk
            self.log = log
            live = OutgoingReader(recent, ownHead: workers.ownHead)
            for peer in peers { entries[peer.node] = Entry(peer: peer) }
        }

        /// Listens and calls. Returns why it cannot.
        func open(listen: HostPort?, standing: LocalVector) -> String? {
            takeCommits()
            known = standing
            for notice in early ?? [] { _ = known.advance(notice) }
            early = nil
            sources = SourcePlan(known.vector)
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
            lookForMissing()
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
                if before?.isPaused == true, !peer.isPaused { entries[peer.node]?.unproven = 0 }
                entries[peer.node, default: Entry(peer: peer)].peer = peer
                if peer.isPaused {
                    pause(peer.node)
                } else if isNew || before?.address != peer.address || before?.isPaused == true || peer.token != nil {
                    dial(peer.node)
                }
            }
        }

        /// How far this node is, with all that was committed before.
        var progress: LocalVector {
            takeCommits()
            return known
        }

        /// Learns what was kept for it, and says whether it has to hear of the next commits at once.
        func takeCommits() {
            let isLinked = entries.values.contains { $0.link != nil || $0.candidate != nil }
            for notice in inbox.take(watching: isLinked || !waiters.isEmpty) { logAdvanced(notice) }
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
            _ = known.advance(notice)
            recent.add(notice)
            for link in links { link.logAdvanced(notice) }
            sources.advanced(
                notice.advanced.map { Dot(origin: $0.origin, seq: $0.seq) }, now: PeerLink.now().monotonic)
            tellWants()
            durableAdvanced()
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
