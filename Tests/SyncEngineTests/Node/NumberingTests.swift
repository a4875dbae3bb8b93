import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

@Suite(.serialized)
struct NumberingTests {
    private func standing(_ store: EventStore) throws -> LocalVector {
        LocalVector(try store.standingBlocking(), positions: try LogReader(store.files).lastPositions())
    }

    @Test("Numbers of origins and positions of their changes are the same after a restart, and differences fit")
    func durable() throws {
        let nodes = try ["a", "b", "c", "d"].map { try TestNode($0) }
        let a = nodes[0]
        try a.append(3)
        a.node.setPeers(nodes.dropFirst().map { $0.peer(calling: false) })
        for node in nodes.dropFirst().reversed() {
            try node.append(2)
            node.node.setPeers([a.peer()])
            #expect(try eventually { try a.vector()[node.store.identity.origin] == 3 })
        }
        let top = try standing(a.store).top
        var memory = PeerMemory(incarnation: 1)
        for part in try standing(a.store).whole() { _ = try memory.apply(part, isFirst: true) }
        #expect(memory.remembered == Remembered(incarnation: 1, through: top, origins: 4))
        try nodes[2].append(5)
        #expect(try eventually { try a.vector()[nodes[2].store.identity.origin] == 8 })
        // Followed commit by commit or read anew: the same.
        var followed = LocalVector(CommitNotice(top: 0, advanced: []), positions: [:])
        _ = followed.advance(try a.store.standingBlocking())
        let before = try standing(a.store)
        for node in nodes { node.node.stop() }
        a.store.close()

        let again = try EventStore(opening: a.folder)
        let after = try standing(again)
        #expect(after.digest == before.digest && after.digest == followed.digest && after.top == before.top)
        #expect(after.entries.map(\.progress) == before.entries.map(\.progress))
        #expect(after.entries.map(\.changed) == before.entries.map(\.changed))
        #expect(after.entries.first?.progress.origin == again.identity.origin)
        // What a peer remembered before the restart is gone on from after it, with one entry.
        let parts = after.opening(for: memory.remembered, incarnation: 1)
        #expect(parts.count == 1 && parts[0].entries.count == 1 && !parts[0].isWhole)
        let changed = try memory.apply(parts[0], isFirst: true)
        #expect(changed.map(\.origin) == [nodes[2].store.identity.origin])
        #expect(memory.vector == after.vector)
        again.close()
        for node in nodes.dropFirst() { node.store.close() }
    }
}
