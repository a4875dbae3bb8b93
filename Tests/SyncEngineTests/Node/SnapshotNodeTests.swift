import EventStore
import Foundation
import Testing

@testable import SyncEngine

/// A store whose node takes a snapshot, is opened again, and goes on.
final class BootstrappedNode: Sendable {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sillok-\(UUID().uuidString)").path
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
    func start(peers: [Peer]) throws {
        let store = try EventStore(opening: folder)
        let node = try SyncNode(
            store: store, listen: HostPort("127.0.0.1:0"), peers: peers, software: "test", snapshots: options,
            onSnapshot: { [isReady] in
                isReady.update {
                    $0 = true
                    return true
                }
            },
            log: { [lines] line in lines.withLock { $0.append(line) } })
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
