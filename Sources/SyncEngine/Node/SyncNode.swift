public import EventStore

/// Replicates a store with its peers: listens, dials, lets in whom it knows, and runs a session on each link.
///
/// ``start(_:_:)`` begins with it, ``stop()`` ends it; the store stays open. Stop the node before you close the store.
///
/// ## Concurrency model
/// Everything here belongs to the thread of the peers' event loop, which the node owns; ``status()``, ``setPeers(_:)`` and
/// ``stop()`` may be used from any other thread and wait for it.
public final class SyncNode: Sendable {
    private let loop: EventLoop
    let core: LoopBound<Core>
    private let workers: StoreWorkers
    let store: EventStore
    private let observer: Int
    private let snapshots: SnapshotEndpoint
    private let isStopped = Lock(false)

    /// Starts replicating `store`.
    /// - Parameters:
    ///   - listen: `host:port` to listen at; port 0 lets the kernel choose. `nil`: this node only dials.
    ///   - peers: who is let in.
    ///   - snapshots: whether an empty store takes a copy of a peer's log, and whether this one is handed out.
    ///   - attachments: when bytes that events name are fetched.
    ///   - onSnapshot: runs once, on the loop's thread, when such a copy waits to become the log: stop the node, close the
    ///     store, and open it again.
    ///   - software: name and version, for the peers' operators.
    package init(
        store: EventStore, listen: HostPort?, peers: [Peer], software: String, desk: JoinDesk = .closed,
        snapshots options: SnapshotOptions = SnapshotOptions(),
        attachments: AttachmentOptions = AttachmentOptions(), onSnapshot: @escaping @Sendable () -> Void = {},
        log: @escaping @Sendable (NodeRemark) -> Void = { _ in }
    ) throws(NodeError) {
        let isFirst = store.isReplicated.withLock { isReplicated in
            defer { isReplicated = true }
            return !isReplicated
        }
        guard isFirst else { throw .running(path: store.files.folder) }
        // From then on it is up to `stop()`.
        var isStopDue = false
        defer { if !isStopDue { store.isReplicated.withLock { $0 = false } } }
        self.store = store
        workers = StoreWorkers(store: store, attachments: attachments, log: log)
        let context: TLSContext
        do throws(TLSSetupError) {
            context = try TLSContext(identity: try TLSIdentity(privateKeyPEM: store.key.pem))
        } catch {
            throw .tls(error.description)
        }
        let own: [OwnOrigin]
        let forks: [NodeNotice]
        let proofs: [ForkEvidence]
        do throws(StoreError) {
            own = try LogReader(store.files).origins(of: store.identity.node)
            forks = try NodeNotice.standing(store.files).filter { [.fork, .logCut, .witnessLost].contains($0.code) }
            proofs = try ForkEvidence.list(store.files)
        } catch {
            throw .store(error)
        }
        do throws(TransportError) {
            loop = try EventLoop()
            try loop.start(name: "peers")
        } catch {
            throw .transport(error.description)
        }
        snapshots = SnapshotEndpoint(
            server: SnapshotServer(store: store),
            intake: SnapshotReceiver(store: store, minFree: options.minFree, threads: options.threads, log: log),
            options: options, onComplete: onSnapshot)
        let (loop, workers, snapshots) = (loop, workers, snapshots)
        let local = SyncSession.Local(
            store.identity, software: software, forked: store.forkedOrigins, run: .random(in: 1 ... .max),
            isVolatile: store.durability == .normal)
        let inbox = CommitInbox()
        let mesh = Mesh(local, key: store.key.publicKey, peers: peers, seed: .random(in: 0 ... .max))
        let made = loop.make {
            Core(
                loop: loop, inbox: inbox, workers: workers, snapshots: snapshots, context: context, mesh: mesh,
                desk: desk, log: log)
        }
        guard let core = made else { throw .transport("the event loop did not start") }
        self.core = core
        core.sync { $0.take(own, forks, proofs) }
        // First the observer, then the snapshot: no commit falls between them.
        observer = Core.observe(store, inbox, core)
        store.observeExpectedHeads { [workers] in workers.signAhead() }
        let standing: LocalVector
        do throws(StoreError) {
            let notice = try store.standingBlocking()
            standing = LocalVector(notice, positions: try LogReader(store.files).lastPositions())
        } catch {
            throw .store(error)
        }
        if standing.entries.count > 1 { SnapshotSpool.removeAll(store.files) }
        isStopDue = true
        let failure = core.sync { $0.open(listen: listen, standing: standing) } ?? nil
        if let failure {
            stop()
            throw .transport(failure)
        }
    }

    /// Changes who is let in. Links to those no longer named are closed.
    package func setPeers(_ peers: [Peer]) { _ = core.sync { $0.setPeers(peers) } }

    /// Changes who is let in as ``setPeers(_:)`` does, and calls `completion` once it is known whether this node is let in at
    /// `node`: with `nil`, or why it is not. The session has begun then.
    package func setPeers(_ peers: [Peer], joining node: NodeID, completion: @escaping @Sendable (String?) -> Void) {
        if core.sync({ $0.setPeers(peers, joining: node, completion) }) == nil { completion("the node is stopping") }
    }

    /// Goes on with a peer that was paused by itself, because it claimed what it could not show.
    package func resume(_ node: NodeID) { _ = core.sync { $0.resume(node) } }

    /// Asks a peer for a sign of life; `completion` runs once, `nil` if none came in time.
    package func ping(_ node: NodeID, completion: @escaping @Sendable (PingResult?) -> Void) {
        if core.sync({ $0.ping(node, completion) }) == nil { completion(nil) }
    }

    /// Looks whether this node's clock can be right; the node does so by itself now and then.
    package func checkClock() { _ = core.sync { $0.checkClock() } }

    /// Tells all nodes, as far as they are connected to this one or become so. What other nodes have told may be passed on, once it was
    /// checked.
    package func share(_ values: [SharedState]) { core.post { $0.share(values) } }

    /// Calls `body` on the loop's thread with what peers tell about `topic`, and have told since the node was started. Nothing of it is
    /// checked: not its signature, nor whether that node may say so.
    package func observeShared(about topic: SharedState.Topic, _ body: (@Sendable (SharedState) -> Void)?) {
        core.post { $0.observeShared(about: topic, body) }
    }

    /// Events name bytes that may not be here: peers are asked for them.
    package func attachmentsWanted() { core.post { $0.wantAttachments() } }

    /// Someone asks for bytes that an event names and that are not here.
    package func demand(_ want: AttachmentWant) {
        workers.attachments.demand(want)
        attachmentsWanted()
    }

    /// How it stands with the peers.
    package func status() -> NodeStatus {
        core.sync { $0.status() }
            ?? NodeStatus(peers: [], pending: [], notices: [], listeningPort: 0, missingPayloads: 0)
    }

    /// How far this node and each of its peers have made what is here durable.
    package func standings() -> (mine: VersionVector, peers: [PeerStanding]) {
        core.sync { $0.standings() } ?? (VersionVector(), [])
    }

    /// Waits until the events of `vector` are durable on `nodes` nodes, this one counted. `completion` runs once: then,
    /// or when `timeout` is over. Returns false, and does not call it, if too many wait already.
    package func wait(
        for vector: VersionVector, nodes: Int, timeout: Duration,
        completion: @escaping @Sendable (Holders) -> Void
    ) -> Bool {
        core.sync { $0.wait(for: vector, nodes: nodes, timeout, completion) } ?? false
    }

    /// Takes leave of the peers and ends the threads. The store stays open.
    package func stop() {
        let isFirst = isStopped.withLock { isStopped in
            defer { isStopped = true }
            return !isStopped
        }
        guard isFirst else { return }
        store.removeObserver(observer)
        store.observeExpectedHeads(nil)
        _ = core.sync { $0.sayGoodbye() }
        for _ in 0..<200 where (core.sync { $0.isQuiet } ?? true) == false { sleepMilliseconds(10) }
        loop.stop()
        workers.stop()
        snapshots.server.stop()
        snapshots.intake.stop()
        store.isReplicated.withLock { $0 = false }
    }
}

/// Why a node could not be started.
public enum NodeError: SillokError, Hashable {
    /// The key cannot be used.
    case tls(String)
    /// The address cannot be listened at.
    case transport(String)
    /// Another node of this process replicates the store at `path`: stop that one first.
    case running(path: String)
    /// The store cannot be read.
    case store(StoreError)

    /// `E_STORE_FILE`, `E_PEERS`, `E_LOCKED`, or what the store says.
    public var code: String {
        switch self {
        case .tls: "E_STORE_FILE"
        case .transport: "E_PEERS"
        case .running: "E_LOCKED"
        case .store(let error): error.code
        }
    }

    /// Whether the same call may succeed later without any repair of the store.
    public var isRetriable: Bool {
        switch self {
        case .tls, .transport: false
        case .running: true
        case .store(let error): error.isRetriable
        }
    }

    /// One sentence for people.
    public var description: String {
        switch self {
        case .tls(let reason), .transport(let reason): reason
        case .running(let path):
            "another node of this process replicates the store at \(path): stop that one before you start another"
        case .store(let error): error.description
        }
    }
}
