import Foundation
import TestSupport
import Testing

@testable import EventStore
@testable import SyncEngine

@Suite(.serialized)
struct TamperedNodeTests {
    @Test("A node whose log was changed is refused by its peer, which stores none of it from there on (INV-3, INV-4)")
    func refused() throws {
        let folder = TemporaryFolder.unusedPath()
        try EventStore.create(in: folder, name: "a")
        let before = try EventStore(opening: folder)
        _ = try before.appendBlocking(
            (0..<600).map {
                EventDraft(type: "message.posted", user: "u", payload: Array(#"{"text":"말 \#($0)"}"#.utf8))
            })
        before.close()
        let outside = try Connection(path: folder + "/log.db", mode: .write)
        try outside.execute("UPDATE event SET payload = replace(payload, '말 300', '말 301') WHERE position = 302")
        #expect(outside.changes == 1)

        let a = try TestNode("a", folder: folder)
        let b = try TestNode("b", peers: [a.peer()])
        a.node.setPeers([b.peer(calling: false)])
        #expect(eventually { b.node.status().peers[0].lastError?.contains("BAD_PROOF") == true })
        // What comes before the change is what the origin signed; it stands under the same head.
        let reader = try LogReader(b.store.files)
        let size = try b.vector()[a.store.identity.origin]
        #expect(size < 302)
        #expect(
            try reader.root(of: a.store.identity.origin, size: size)
                == LogReader(a.store.files).root(of: a.store.identity.origin, size: size))
        usleep(300_000)
        #expect(try b.vector()[a.store.identity.origin] < 302)
        for node in [a, b] { node.stop() }
    }
}
