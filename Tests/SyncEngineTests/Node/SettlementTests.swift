import EventStore
import Foundation
import TestSupport
import Testing

@testable import SyncEngine

/// What settles a finding, and what does not.
struct SettlementTests {
    private func notice(_ code: NodeNotice.Code, _ subject: String, at: Int64) -> NodeNotice {
        NodeNotice(code, .warning, subject: subject, "text", action: "", at: at)
    }

    @Test("A settlement speaks of its code and subject; what can happen again is open again when it does")
    func scope() throws {
        let folder = try TemporaryFolder.made()
        let store = folder.file("store")
        try EventStore.create(in: store, name: "n")
        let open = try EventStore(opening: store)
        let node = open.identity.node
        let drafts = [("FORK", "o-1"), ("DUPLICATE_NODE_ID", "n-1")].map {
            Settlement.draft(code: $0.0, subject: $0.1, note: "메모", at: node)
        }
        let stranger = try #require(NodeID(bytes: [UInt8](repeating: 7, count: 32)))
        let forged = Settlement.draft(code: "FORK", subject: "o-2", note: "", at: stranger)
        _ = try open.recordBlocking(drafts + [forged])
        open.close()
        _ = try Projector.catchUp(StoreFiles(store))
        let all = try Settlement.all(in: ViewReader(StoreFiles(store)))
        #expect(Set(all.map(\.subject)) == ["o-1", "n-1"], "not what another node is made to say")
        #expect(all.allSatisfy { $0.node == node && $0.note == "메모" })

        let now = try #require(all.first).at
        #expect(notice(.fork, "o-1", at: now - 1).settlement(among: all) != nil)
        #expect(notice(.fork, "o-1", at: now + 1_000).settlement(among: all) != nil, "of an origin there is one fork")
        #expect(notice(.fork, "o-3", at: now - 1).settlement(among: all) == nil)
        #expect(notice(.amnesia, "o-1", at: now - 1).settlement(among: all) == nil)
        #expect(notice(.duplicateNodeID, "n-1", at: now - 1).settlement(among: all) != nil)
        #expect(notice(.duplicateNodeID, "n-1", at: now + 1_000).settlement(among: all) == nil, "it happened again")
    }
}
