internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Who is let in: the peers of the configuration, and those added with `syncctl`, which the store keeps.
///
/// ## Concurrency model
/// A lock for each of the two lists; the file is written while its list's is held, so that both never differ.
final class PeerRoster: Sendable {
    private let files: StoreFiles
    private let named: Lock<[Peer]>
    private let added: Lock<[Peer]>

    init(configuration: DaemonConfiguration, files: StoreFiles) throws(CommandFailure) {
        self.files = files
        named = Lock(Self.peers(of: configuration))
        do { added = Lock(try PeersFile.load(files)) } catch { throw CommandFailure(error) }
    }

    /// Those of the configuration.
    private var configured: [Peer] { named.withLock { $0 } }

    /// The configuration was read again.
    func take(_ configuration: DaemonConfiguration) {
        let peers = Self.peers(of: configuration)
        named.withLock { $0 = peers }
    }

    private static func peers(of configuration: DaemonConfiguration) -> [Peer] {
        configuration.peers.nodes.compactMap { peer in
            NodeID(text: peer.id).map { Peer(name: peer.name, node: $0, address: peer.address?.description) }
        }
    }

    /// All of them; the configuration wins where both name a node, but for whether it is paused.
    var peers: [Peer] {
        let entries = added.withLock { $0 }
        let fixed = configured.map { peer in
            var peer = peer
            peer.isPaused = entries.first { $0.node == peer.node }?.isPaused ?? false
            return peer
        }
        let names = Set(fixed.map(\.node))
        return fixed + entries.filter { !names.contains($0.node) }
    }

    /// Whether the configuration names the peer, so that it cannot be removed here.
    func isConfigured(_ name: String) -> Bool { configured.contains { $0.name == name } }

    /// The peer of this name.
    func peer(_ name: String) -> Peer? { peers.first { $0.name == name } }

    /// Adds a peer, or changes the one of this node; false if another one has its name.
    func add(_ entry: Peer) throws(StoreError) -> Bool {
        guard configured.other(named: entry.name, than: entry.node) == nil else { return false }
        var isFree = true
        try change { isFree = $0.add(entry) }
        return isFree
    }

    /// Adds a node that has shown an invitation, under `name` or, if another peer has that, with a number behind it.
    func admit(_ node: NodeID, as name: String) throws(StoreError) -> Peer {
        if let known = peers.first(where: { $0.node == node }) { return known }
        let taken = Set(peers.map(\.name))
        let base = Self.usable(name) ?? node.short
        let free = taken.contains(base) ? (2...).lazy.map { "\(base)-\($0)" }.first { !taken.contains($0) } : base
        let entry = Peer(name: free ?? node.short, node: node, address: nil)
        _ = try add(entry)
        return entry
    }

    /// A stranger's name, if it may stand in a list of peers.
    private static func usable(_ name: String) -> String? {
        let isPlain = name.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7f && $0 != UInt8(ascii: "/") }
        return isPlain && (1...60).contains(name.utf8.count) ? name : nil
    }

    /// Removes a peer; false if there is none of this name.
    func remove(_ name: String) throws(StoreError) -> Bool {
        let before = added.withLock { $0.count }
        try change { $0.removeAll { $0.name == name } }
        return added.withLock { $0.count } < before
    }

    /// What is kept here of `node`; `nil` if nothing.
    func entry(of node: NodeID) -> Peer? { added.withLock { $0.first { $0.node == node } } }

    /// Keeps of `node` what was kept before an attempt that failed.
    func restore(_ node: NodeID, _ entry: Peer?) throws(StoreError) {
        try change { added in
            added.removeAll { $0.node == node }
            if let entry { added.append(entry) }
        }
    }

    /// Interrupts or resumes the exchange with a peer; false if there is none of this name.
    func setPaused(_ name: String, _ isPaused: Bool) throws(StoreError) -> Bool {
        guard let peer = peer(name) else { return false }
        try change { added in
            if let index = added.firstIndex(where: { $0.node == peer.node }) {
                added[index].isPaused = isPaused
            } else {
                // Of a peer of the configuration only this is kept here.
                added.append(
                    Peer(name: peer.name, node: peer.node, address: peer.address, isPaused: isPaused))
            }
        }
        return true
    }

    /// The node has let this one in: its invitation is of no more use.
    func joined(_ node: NodeID) throws(StoreError) {
        try change { added in
            guard let index = added.firstIndex(where: { $0.node == node }) else { return }
            added[index].token = nil
        }
    }

    private func change(_ body: (inout [Peer]) -> Void) throws(StoreError) {
        try added.withLock { added throws(StoreError) in
            var changed = added
            body(&changed)
            guard changed != added else { return }
            try PeersFile.save(changed, files)
            added = changed
        }
    }
}
