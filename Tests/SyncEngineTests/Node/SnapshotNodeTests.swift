import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// A store whose node takes a snapshot, is opened again, and goes on.
final class BootstrappedNode: Sendable {
    let folder = TemporaryFolder.unusedPath()
    let lines = Lock([String]())
    private let current: Lock<(store: EventStore, node: SyncNode)?>
    private let isReady = Monitor(false)
    private let options: SnapshotOptions
    let identity: StoreIdentity

    init(_ name: String, options: SnapshotOptions = SnapshotOptions(after: 1_000, threads: 2)) throws {
        self.options = options
        current = Lock(nil)
        try EventStore.create(in: folder, name: name)
        let store = try EventStore(opening: folder)
        identity = store.identity
        store.close()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Opens the store and calls the peers.
    func start(peers: [Peer], witness: WitnessPlace = .asBefore) throws {
        let store = try EventStore(opening: folder, witness: witness)
        let node = try SyncNode(
            store: store, listen: HostPort("127.0.0.1:0"), peers: peers, software: "test", snapshots: options,
            onSnapshot: { [isReady] in
                isReady.update {
                    $0 = true
                    return true
                }
            },
            log: { [lines] line in lines.withLock { $0.append(line.text) } })
        current.withLock { $0 = (store, node) }
    }

    func stop() {
        let running = current.withLock { current in
            defer { current = nil }
            return current
        }
        running?.node.stop()
        running?.store.close()
    }

    /// Waits for a complete snapshot and opens the store again, as the daemon does.
    func reopenWhenComplete(peers: [Peer], seconds: Int = 60) throws -> Bool {
        guard isReady.wait(milliseconds: seconds * 1_000, for: { $0 ? true : nil }) != nil else { return false }
        stop()
        isReady.withLock { $0 = false }
        try start(peers: peers)
        return true
    }

    var store: EventStore { get throws { try #require(current.withLock { $0 }).store } }
    var node: SyncNode { get throws { try #require(current.withLock { $0 }).node } }
    var peer: Peer { Peer(name: identity.name, node: identity.node, address: nil) }
    func vector() throws -> VersionVector { try LogReader(StoreFiles(folder)).vector() }
    var told: [String] { lines.withLock { $0 } }
    func said(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
}

@Suite(.serialized)
struct SnapshotNodeTests {
    @Test("An empty node takes a snapshot, proves it, and goes on live")
    func bootstrap() throws {
        let a = try TestNode("a")
        for _ in 0..<5 { try a.append(4_000, String(repeating: "안녕하세요 ", count: 20)) }
        let b = try BootstrappedNode("b")
        a.node.setPeers([b.peer])
        try b.start(peers: [a.peer()])
        #expect(try b.reopenWhenComplete(peers: [a.peer()]))
        #expect(b.said("is complete and proved"))
        #expect(try b.vector()[a.store.identity.origin] >= 20_001)
        #expect(try eventually { try b.vector() == a.vector() })
        try a.append(10)
        _ = try b.store.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        #expect(try eventually { try b.vector() == a.vector() && a.vector().entries.map(\.seq).contains(2) })
        #expect(try a.store.progressBlocking() == b.store.progressBlocking())
        b.stop()
        a.stop()
        let report = try Verifier(StoreFiles(b.folder)).run()
        #expect(report.isIntact, "\(report)")
    }

    @Test("The witness knows the log that came as a snapshot, and notices when that is rewound (D12)")
    func witness() throws {
        let a = try TestNode("a")
        try a.append(4_000)
        let b = try BootstrappedNode("b")
        let outside = try TemporaryFolder.made()
        a.node.setPeers([b.peer])
        try b.start(peers: [a.peer()], witness: .folder(outside.path))
        #expect(try b.reopenWhenComplete(peers: [a.peer()]))
        #expect(b.said("is complete and proved"))
        let store = try b.store
        #expect(store.originChange == nil && store.witness != nil && store.witness?.problem == nil)
        #expect(store.identity.origin == b.identity.origin)
        let image = try TemporaryFolder.made()
        b.stop()
        for name in ["log.db", "node.key"] {
            try FileManager.default.copyItem(atPath: b.folder + "/" + name, toPath: image.path + "/" + name)
        }
        try b.start(peers: [])
        _ = try b.store.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        b.stop()
        try b.start(peers: [a.peer()])
        #expect(try b.store.originChange == nil && b.store.identity.origin == b.identity.origin)
        b.stop()
        a.stop()
        // The state right after the snapshot comes back.
        let rewound = try EventStore(opening: image.path, surroundings: .init(machine: nil, file: nil))
        #expect(rewound.originChange == .witness)
        rewound.close()
    }

    @Test("A peer that is not far enough ahead, or does not offer, sends events one by one")
    func notWorthIt() throws {
        let a = try TestNode("a")
        try a.append(900)
        let b = try BootstrappedNode("b")
        a.node.setPeers([b.peer])
        try b.start(peers: [a.peer()])
        #expect(try eventually { try b.vector() == a.vector() })
        #expect(!b.said("snapshot"))
        b.stop()
        a.stop()
    }
}

extension SnapshotNodeTests {
    /// A listening node with 3,000 events, one of which was changed in its file.
    private func makeTampered() throws -> TestNode {
        let folder = TemporaryFolder.unusedPath()
        try EventStore.create(in: folder, name: "bad")
        let store = try EventStore(opening: folder)
        _ = try store.appendBlocking(
            (0..<3_000).map { EventDraft(type: "t", user: "u", payload: Array(#"{"text":"말 \#($0)"}"#.utf8)) })
        store.close()
        let outside = try Connection(path: folder + "/log.db", mode: .write)
        try outside.execute("UPDATE event SET payload = replace(payload, '말 1', '말 7') WHERE position = 3")
        return try TestNode("bad", folder: folder)
    }

    @Test("The snapshot of a node whose log was changed is refused by name; another peer's is taken")
    func tampered() throws {
        let bad = try makeTampered()
        let b = try BootstrappedNode("b")
        bad.node.setPeers([b.peer])
        try b.start(peers: [bad.peer()])
        #expect(eventually { b.said("refused: E_SNAPSHOT_PROOF") })
        // Event by event it is refused as well.
        #expect(eventually { b.said("BAD_PROOF") })
        #expect(try b.vector()[bad.store.identity.origin] == 0)

        let good = try TestNode("good")
        try good.append(2_000)
        good.node.setPeers([b.peer])
        try b.node.setPeers([bad.peer(), good.peer()])
        #expect(try b.reopenWhenComplete(peers: [good.peer()]))
        #expect(try eventually { try b.vector() == good.vector() })
        b.stop()
        for node in [bad, good] { node.stop() }
        #expect(try Verifier(StoreFiles(b.folder)).run().isIntact)
    }

    @Test("Of two peers one gives the snapshot; the other waits, and brings what is missing")
    func twoPeers() throws {
        let a = try TestNode("a")
        let c = try TestNode("c", peers: [a.peer()])
        a.node.setPeers([c.peer(calling: false)])
        for node in [a, c] {
            for _ in 0..<3 { try node.append(2_000) }
        }
        #expect(try eventually { try a.vector() == c.vector() })
        let b = try BootstrappedNode("b")
        a.node.setPeers([b.peer, c.peer(calling: false)])
        c.node.setPeers([a.peer(), b.peer])
        try b.start(peers: [a.peer(), c.peer()])
        #expect(try b.reopenWhenComplete(peers: [a.peer(), c.peer()]))
        try a.append(5)
        try c.append(5)
        #expect(try eventually { try b.vector() == a.vector() && c.vector() == a.vector() })
        #expect(try a.store.progressBlocking() == b.store.progressBlocking())
        b.stop()
        for node in [a, c] { node.stop() }
        let report = try Verifier(StoreFiles(b.folder)).run()
        #expect(report.isIntact, "\(report)")
    }

    @Test("A link that breaks again and again: the store is not kept waiting, and the copy is whole in the end")
    func broken() throws {
        let a = try TestNode("a")
        for _ in 0..<6 { try a.append(4_000, String(repeating: "안녕하세요 ", count: 30)) }
        let b = try BootstrappedNode("b")
        a.node.setPeers([b.peer])
        try b.start(peers: [a.peer()])
        for _ in 0..<4 {
            #expect(eventually { b.said("snapshot of ") }, "\(b.told.suffix(20))")
            a.node.setPeers([])
            usleep(50_000)
            a.node.setPeers([b.peer])
        }
        #expect(try b.reopenWhenComplete(peers: [a.peer()]))
        #expect(try eventually { try b.vector() == a.vector() })
        b.stop()
        a.stop()
        #expect(try Verifier(StoreFiles(b.folder)).run().isIntact)
    }
}
