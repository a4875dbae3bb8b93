public import EventStore

/// What a program outside of this package uses of a node. It is for tasks: none of it keeps a thread of Swift's cooperative pool waiting.
extension SyncNode {
    /// What a node is started with. There is no setting for copies of a whole log: it takes none (``start(_:_:)``).
    public struct Configuration: Sendable {
        /// `host:port` to listen at, the host a numeric address or `localhost`; port 0 lets the kernel choose. `nil`: this node only dials.
        public var listen: String?
        /// Who is let in. Those that have an address are dialled, again and again until they answer.
        public var peers: [Peer]
        /// Name and version of your program, for the operators of the peers.
        public var software: String
        /// Gets a line of text for people now and then, on a thread of the node. Must be short.
        public var log: @Sendable (String) -> Void

        /// A node that lets in these peers.
        public init(
            listen: String? = nil, peers: [Peer] = [], software: String = "an embedded node",
            log: @escaping @Sendable (String) -> Void = { _ in }
        ) {
            self.listen = listen
            self.peers = peers
            self.software = software
            self.log = log
        }
    }

    /// Starts replicating `store`. What is appended from now on goes to all peers that are connected, and theirs comes here, all that
    /// either side lacks first.
    ///
    /// An empty store takes over what its peers have event by event; `syncd` can take a copy of a log as a whole, which is faster.
    /// A store has one node at a time: stop the one before you start another.
    ///
    /// - Throws: `E_LOCKED` while another node of this process replicates the store; `E_PEERS` if the address cannot be listened at; `E_STORE_FILE` if `node.key` cannot be used; what reading the store
    ///   throws.
    public static func start(
        _ store: EventStore, _ configuration: Configuration
    ) async throws(NodeError) -> SyncNode {
        try await BlockingQueue(name: "sillok-node").value { () -> Result<SyncNode, NodeError> in
            do throws(NodeError) { return .success(try started(store, configuration)) } catch {
                return .failure(error)
            }
        }.get()
    }

    private static func started(
        _ store: EventStore, _ configuration: Configuration
    ) throws(NodeError) -> SyncNode {
        var listen: HostPort?
        if let text = configuration.listen {
            listen = HostPort(text)
            guard listen != nil else { throw .transport("cannot listen at '\(text)': it is no host:port") }
        }
        return try SyncNode(
            store: store, listen: listen, peers: configuration.peers, software: configuration.software,
            snapshots: SnapshotOptions(after: 0), log: { configuration.log($0.text) })
    }

    /// Who this node is: its peers name it by `identity.node`.
    public var identity: StoreIdentity { store.identity }

    /// How it stands with the peers, and the port it listens at.
    public func status() async -> NodeStatus { await BlockingQueue(name: "sillok-node").value { self.status() } }

    /// Changes who is let in, and who is dialled. Links to peers that are no longer named are closed.
    public func setPeers(_ peers: [Peer]) async {
        await BlockingQueue(name: "sillok-node").value { self.setPeers(peers) }
    }

    /// Takes leave of the peers and ends the threads: within two seconds if a peer does not answer. The store stays open.
    public func stop() async { await BlockingQueue(name: "sillok-node").value { self.stop() } }
}
