import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

/// Clones, restored copies, rewound disks, wiped stores, doubles: real nodes on loopback (D12).
@Suite(.serialized)
struct IdentityTests {
    /// A copy of a node's folder, also while it runs and is idle.
    private func copy(_ node: TestNode) throws -> String {
        let folder = TemporaryFolder.unusedPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for name in ["log.db", "log.db-wal", "node.key", "mark.json", "log.end"]
        where FileManager.default.fileExists(atPath: "\(node.folder)/\(name)") {
            try FileManager.default.copyItem(atPath: "\(node.folder)/\(name)", toPath: "\(folder)/\(name)")
        }
        return folder
    }

    private func codes(_ node: TestNode) -> [NodeNotice.Code] { node.node.status().notices.map(\.code) }

    private func evidence(_ node: TestNode) throws -> [ForkEvidence] { try ForkEvidence.list(node.store.files) }

    private func own(_ node: TestNode) throws -> [OwnOrigin] {
        try LogReader(node.store.files).origins(of: node.store.identity.node)
    }

    @Test("A clone that went its own way: both branches stay, both sides have the proof, everything else goes on")
    func clone() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        let c = try TestNode("c", peers: [b.peer()])
        a.node.setPeers([b.peer(calling: false)])
        b.node.setPeers([a.peer(), c.peer(calling: false)])
        try a.append(20)
        let origin = a.store.identity.origin
        #expect(try eventually { try c.vector()[origin] == 21 })
        let folder = try copy(a)
        try a.append(30, "남은 쪽")
        #expect(try eventually { try c.vector()[origin] == 51 })
        a.stop()

        // As a clone of a whole machine it has nothing to tell itself from the original by.
        let x = try TestNode("x", folder: folder, surroundings: .unknown)
        try x.append(10, "갈라진 쪽")
        #expect(x.store.identity.origin == origin)
        x.node.setPeers([b.peer()])
        b.node.setPeers([x.peer(calling: false), c.peer(calling: false)])
        #expect(try eventually { try [b, x, c].allSatisfy { try evidence($0).count == 1 } })
        #expect(try evidence(b) == evidence(x) && evidence(c).map(\.dot) == [Dot(origin: origin, seq: 22)])
        for node in [b, x, c] { #expect(eventually { codes(node).contains(.fork) }) }
        #expect(eventually { x.store.identity.origin != origin })
        #expect(eventually { b.node.status().peers.first { $0.peer.name == "a" }?.held == [origin] })

        // Nothing was overwritten, and new events of both sides go everywhere.
        try x.append(5, "새 출발")
        try b.append(3, "b")
        #expect(try eventually { try c.vector()[x.store.identity.origin] == 6 })
        #expect(try eventually { try x.vector()[b.store.identity.origin] == 4 })
        #expect(try b.vector()[origin] == 51 && c.vector()[origin] == 51 && x.vector()[origin] == 31)
        for node in [b, x, c] {
            node.stop()
            #expect(try Verifier(node.store.files).run().findings.map(\.description).isEmpty)
        }
        // The fork is known after a restart, and found again without a second proof.
        let again = try TestNode("b", peers: [], folder: try copy(b), surroundings: .unknown)
        #expect(again.store.forkedOrigins.isEmpty)
        again.stop()
        #expect(try EventStore(opening: b.folder, surroundings: .unknown).forkedOrigins == [origin])
    }

    @Test(
        "A node that joins when a fork is proven has the proof on its first connection, and one that depends on nothing"
    )
    func joinsLater() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        try a.append(5)
        let origin = a.store.identity.origin
        #expect(try eventually { try b.vector()[origin] == 6 })
        let folder = try copy(a)
        try a.append(3, "남은 쪽")
        #expect(try eventually { try b.vector()[origin] == 9 })
        a.stop()
        let x = try TestNode("x", folder: folder, surroundings: .unknown)
        try x.append(2, "갈라진 쪽")
        x.node.setPeers([b.peer()])
        b.node.setPeers([x.peer(calling: false)])
        #expect(try eventually { try evidence(b).count == 1 })
        x.stop()

        let d = try TestNode("d", peers: [b.peer()])
        b.node.setPeers([d.peer(calling: false)])
        #expect(try eventually { try d.vector()[origin] == 9 })
        #expect(try eventually { try evidence(d) == evidence(b) })
        #expect(eventually { codes(d).contains(.fork) })
        #expect(d.store.forkedOrigins == [origin])
        for node in [b, d] { node.stop() }
    }

    @Test("A restored old copy gets its own events back and goes on with a new origin; nothing is lost, no fork")
    func restored() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        try a.append(20)
        let origin = a.store.identity.origin
        #expect(try eventually { try b.vector()[origin] == 21 })
        let folder = try copy(a)
        try a.append(4_000, "나중")
        #expect(try eventually { try b.vector()[origin] == 4_021 })
        a.stop()

        let old = try TestNode("a", peers: [b.peer()], folder: folder, surroundings: .unknown)
        #expect(old.store.identity.origin == origin)
        b.node.setPeers([old.peer(calling: false)])
        #expect(eventually { old.store.identity.origin != origin })
        try old.append(7, "다시")
        #expect(try eventually { try old.vector()[origin] == 4_021 && old.vector() == b.vector() })
        #expect(try old.store.progressBlocking() == b.store.progressBlocking())
        let origins = try own(old)
        #expect(origins.map(\.size) == [4_021, 8])
        #expect(
            origins.last?.succession
                == OriginSuccession(.behind, previous: origin, had: 21, known: 4_021))
        #expect(codes(old) == [.amnesia])
        #expect(try evidence(old).isEmpty && evidence(b).isEmpty)
        for node in [old, b] {
            node.stop()
            #expect(try Verifier(node.store.files).run().findings.map(\.description).isEmpty)
        }
    }

    /// Whether what is named becomes durable on two nodes within a second.
    private func reached(_ vector: VersionVector, on node: TestNode) -> Bool {
        let answer = Lock<Bool?>(nil)
        let isTaken = node.node.wait(for: vector, nodes: 2, timeout: .seconds(1)) { durability in
            answer.withLock { $0 = durability.isReached }
        }
        return isTaken && eventually { answer.withLock { $0 } != nil } && answer.withLock { $0 } == true
    }

    @Test(
        "A rewound disk that appended before anybody could tell it is a fork; the witness would have told it at once")
    func rewound() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        let origin = a.store.identity.origin
        try a.append(9)
        #expect(try eventually { try b.vector()[origin] == 10 })
        b.node.setPeers([])
        a.stop()
        let image = LogImage(a.store.files)
        let later = try EventStore(opening: a.folder)
        _ = try later.appendBlocking([EventDraft(type: "t", user: "u", payload: Array("{}".utf8))])
        later.close()
        let aside = try TestNode("aside", folder: try copy(a), surroundings: .unknown)
        aside.node.setPeers([b.peer()])
        b.node.setPeers([aside.peer(calling: false)])
        #expect(try eventually { try b.vector()[origin] == 11 })
        b.node.setPeers([])
        aside.stop()

        try image.restore(a.store.files)
        let back = try TestNode("a", peers: [b.peer()], folder: a.folder)
        #expect(back.store.originChange == nil)
        try back.append(1, "다른 말")
        b.node.setPeers([back.peer(calling: false)])
        #expect(try eventually { try evidence(back).count == 1 && evidence(b).count == 1 })
        #expect(try evidence(back).first?.dot == Dot(origin: origin, seq: 11))
        #expect(eventually { back.store.identity.origin != origin })
        #expect(try eventually { try b.vector()[back.store.identity.origin] == 1 })
        // Each has as many events of it, and none of the other's last one: that is durable on one node (INV-7).
        let forked = VersionVector([Dot(origin: origin, seq: 11)])
        let new = VersionVector([Dot(origin: back.store.identity.origin, seq: 1)])
        for node in [back, b] {
            #expect(!reached(forked, on: node))
            #expect(reached(new, on: node))
            #expect(node.node.standings().peers[0].durable?[origin] == 0)
        }
        back.stop()
        b.stop()
    }

    @Test("A wiped store with the old key gets back what it wrote, under its old origin, and writes to a new one")
    func wiped() throws {
        let a = try TestNode("a")
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        let origin = a.store.identity.origin
        try a.append(50)
        try b.append(5)
        #expect(try eventually { try b.vector()[origin] == 51 })
        a.stop()
        let folder = TemporaryFolder.unusedPath()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: a.folder + "/node.key", toPath: folder + "/node.key")
        try EventStore.create(in: folder, name: "a")
        let new = try TestNode("a", peers: [b.peer()], folder: folder)
        #expect(new.store.identity.node == a.store.identity.node && new.store.identity.origin != origin)
        try new.append(2)
        b.node.setPeers([new.peer(calling: false)])
        #expect(try eventually { try new.vector() == b.vector() && b.vector()[new.store.identity.origin] == 3 })
        #expect(try own(new).map(\.size).sorted() == [3, 51])
        #expect(codes(b) == [.newStore])
        #expect(codes(new).isEmpty)
        for node in [new, b] { node.stop() }
    }

    @Test("Two live nodes with one key are named to themselves and to their peer, and neither is served")
    func doubles() throws {
        let a = try TestNode("a")
        let b = try TestNode("b")
        try a.append(3)
        a.node.setPeers([b.peer()])
        b.node.setPeers([a.peer(calling: false)])
        #expect(try eventually { try b.vector()[a.store.identity.origin] == 4 })
        // The copy sees by its file that it is one, and starts a new origin: no fork can come of it.
        let x = try TestNode("a", peers: [b.peer()], folder: try copy(a))
        #expect(x.store.originChange == .copied)
        #expect(codes(x) == [.newOrigin])
        #expect(eventually { codes(b).contains(.duplicateNodeID) })
        #expect(eventually { codes(a) == [.duplicateNodeID] && codes(x).contains(.duplicateNodeID) })
        for node in [a, x] {
            #expect(eventually { node.node.status().peers[0].lastError?.contains("DUPLICATE_NODE_ID") == true })
        }
        #expect(eventually { b.node.status().peers[0].phase != .connected })
        for node in [a, b, x] { node.stop() }
        #expect(try evidence(b).isEmpty)
    }

    @Test("A node that is started again is no double")
    func restarted() throws {
        let a = try TestNode("a")
        let b = try TestNode("b")
        b.node.setPeers([a.peer(calling: false)])
        a.node.setPeers([b.peer()])
        #expect(eventually { b.node.status().peers[0].phase == .connected })
        for _ in 0..<3 {
            a.node.stop()
            let again = try SyncNode(store: a.store, listen: nil, peers: [b.peer()], software: "test")
            #expect(eventually { b.node.status().peers[0].phase == .connected })
            #expect(codes(b).isEmpty)
            again.stop()
        }
        a.stop()
        b.stop()
    }
}
