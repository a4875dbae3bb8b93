internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// Who is let in: the peers of the configuration, and those added with `syncctl`, which the store keeps.
///
/// ## Concurrency model
/// One lock; the file is written while it is held, so that file and list never differ.
final class PeerRoster: Sendable {
    private let files: StoreFiles
    private let configured: [Peer]
    private let added: Lock<[PeerEntry]>

    init(configuration: DaemonConfiguration, files: StoreFiles) throws(CommandFailure) {
        self.files = files
        var configured: [Peer] = []
        for peer in configuration.peers.nodes {
            guard let node = NodeID(text: peer.id) else { continue }
            configured.append(Peer(name: peer.name, node: node, address: peer.address?.description))
        }
        self.configured = configured
        do { added = Lock(try PeersFile.load(files)) } catch { throw error.failure }
    }

    /// All of them; the configuration wins where both name a node.
    var peers: [Peer] {
        let fixed = Set(configured.map(\.node))
        return configured
            + added.withLock { $0 }.filter { !fixed.contains($0.node) }
            .map { Peer(name: $0.name, node: $0.node, address: $0.address) }
    }

    /// Whether the configuration names the peer, so that it cannot be removed here.
    func isConfigured(_ name: String) -> Bool { configured.contains { $0.name == name } }

    /// Adds a peer, or changes the one of this node or name.
    func add(_ entry: PeerEntry) throws(StoreError) {
        try added.withLock { added throws(StoreError) in
            var changed = added.filter { $0.node != entry.node && $0.name != entry.name }
            changed.append(entry)
            try PeersFile.save(changed, files)
            added = changed
        }
    }

    /// Removes a peer; false if there is none of this name.
    func remove(_ name: String) throws(StoreError) -> Bool {
        try added.withLock { added throws(StoreError) in
            let changed = added.filter { $0.name != name }
            guard changed.count < added.count else { return false }
            try PeersFile.save(changed, files)
            added = changed
            return true
        }
    }
}
