import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// A store with a node that listens on loopback.
final class TestNode: Sendable {
    let folder: String
    let store: EventStore
    let node: SyncNode

    init(
        _ name: String, cluster: String = "default", peers: [Peer] = [], folder: String? = nil,
        surroundings: HostFingerprint? = nil, desk: JoinDesk = .closed, durability: Durability = .full,
        wall: @escaping WallTime = { WallClock.now }
    ) throws {
        self.folder = folder ?? TemporaryFolder.unusedPath()
        if folder == nil { try EventStore.create(in: self.folder, name: name, cluster: cluster) }
        store = try EventStore(
            opening: self.folder, durability: durability,
            surroundings: surroundings ?? .found(around: StoreFiles(self.folder)),
            wall: wall)
        node = try SyncNode(
            store: store, listen: HostPort("127.0.0.1:0"), peers: peers, software: "test",
            desk: desk,
            log: { line in if ProcessInfo.processInfo.environment["SILLOK_TRACE"] != nil { print(name, line) } })
    }

    func stop() {
        node.stop()
        store.close()
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    var address: String { "127.0.0.1:\(node.status().listeningPort)" }
    func peer(calling: Bool = true) -> Peer {
        Peer(name: store.identity.name, node: store.identity.node, address: calling ? address : nil)
    }
    func vector() throws -> VersionVector { try LogReader(store.files).vector() }

    @discardableResult
    func append(_ count: Int, _ text: String = "안녕하세요") throws -> [AppendOutcome] {
        try store.appendBlocking(
            (0..<count).map {
                EventDraft(
                    type: "message.posted", conversation: "c-1", user: "u-\($0 % 10)",
                    payload: Array(#"{"text":"\#(text) \#($0)"}"#.utf8))
            })
    }
}

func eventually(seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let end = Date().addingTimeInterval(seconds)
    while Date() < end {
        if try condition() { return true }
        usleep(10_000)
    }
    return try condition()
}

@Suite(.serialized)
struct ReplicationTests {
    @Test("Catching up and following live end in equal vectors and equal roots (INV-6, INV-12)")
    func pair() throws {
        let a = try TestNode("a")
        try a.append(4_000)
        try a.append(3_000)
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        #expect(try eventually { try b.vector() == a.vector() })
        try a.append(10)
        try b.append(5)
        #expect(try eventually { try b.vector() == a.vector() && b.vector().entries.count == 2 })
        #expect(try a.store.progressBlocking() == b.store.progressBlocking())
        #expect(eventually { a.node.status().peers[0].lacks == 0 && b.node.status().peers[0].lacks == 0 })
        a.stop()
        b.stop()
    }

    @Test("A chain delivers events through a third node, old and new")
    func chain() throws {
        let a = try TestNode("a")
        try a.append(4_000)
        try a.append(4_000)
        let b = try TestNode("b", peers: [a.peer()])
        let c = try TestNode("c", peers: [b.peer()])
        a.node.setPeers([b.peer(calling: false)])
        b.node.setPeers([a.peer(), c.peer(calling: false)])
        #expect(try eventually { try c.vector()[a.store.identity.origin] == 8_001 })
        try c.append(3)
        try a.append(3)
        #expect(try eventually { try c.vector() == a.vector() && b.vector() == a.vector() })
        #expect(try a.store.progressBlocking() == c.store.progressBlocking())
        for node in [a, b, c] { node.stop() }
    }

    @Test("Unknown nodes are pending, wrong clusters and wrong certificates are named (INV-13)")
    func refusals() throws {
        let a = try TestNode("a")
        let stranger = try TestNode("stranger", peers: [a.peer()])
        #expect(eventually { a.node.status().pending.map(\.node) == [stranger.store.identity.node] })
        #expect(eventually { stranger.node.status().peers[0].lastError?.contains("UNKNOWN_PEER") == true })

        let foreign = try TestNode("foreign", cluster: "other", peers: [a.peer()])
        a.node.setPeers([foreign.peer(calling: false)])
        #expect(eventually { foreign.node.status().peers[0].lastError?.contains("WRONG_CLUSTER") == true })

        let imposter = Peer(name: "a", node: stranger.store.identity.node, address: a.address)
        foreign.node.setPeers([imposter])
        #expect(eventually { foreign.node.status().peers[0].lastError?.contains("WRONG_CERTIFICATE") == true })
        #expect(try stranger.vector().entries.count == 1)
        for node in [a, stranger, foreign] { node.stop() }
    }

    @Test("A node goes on appending while it receives: what depends on its newest events is let in (INV-5)")
    func dependsOnNewOwnEvents() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        // The verifier of a is made by the first events of b, before a appends more.
        try b.append(1)
        #expect(try eventually { try a.vector() == b.vector() })
        for round in 0..<5 {
            try a.append(3, "a \(round)")
            #expect(try eventually { try a.vector() == b.vector() })
            try b.append(3, "b \(round)")
            #expect(try eventually { try a.vector() == b.vector() })
        }
        #expect(try a.store.progressBlocking() == b.store.progressBlocking())
        for node in [a, b] { node.stop() }
    }

    @Test("Both sides may call: one link stays, events go once")
    func bothCall() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer()])
        try a.append(100)
        try b.append(100)
        #expect(try eventually { try a.vector() == b.vector() && a.vector().entries.map(\.seq) == [101, 101] })
        for node in [a, b] { node.stop() }
    }
}
