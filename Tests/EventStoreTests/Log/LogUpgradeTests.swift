import Foundation
import TestSupport
import Testing

@testable import EventStore

/// An upgrade drains the quarantine (D13). The earlier release is played by SQL: it left the rows as it would have, had
/// it not been able to read them.
struct LogUpgradeTests {
    private static let twinID = EventID(UUIDBits(high: 0x77, low: 0x8000_0000_0000_0077))

    /// A store in which events 3 (opaque header), 4 (payload kept as bytes) and 5 (opaque, its id again at 7) could not be
    /// read by an earlier release, and 8 still cannot be.
    private func storeOfAnEarlierRelease() throws -> (folder: TemporaryFolder, wanted: [StoredEvent]) {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        var origin = ForeignOrigin(1, name: "later")
        origin.add(.message("셋", user: "u-3", conversation: "c-3"))
        origin.add(.message("넷", user: "u-4", conversation: "c-4"))
        origin.add(
            EventDraft(
                id: Self.twinID, type: "message.posted", conversation: "c-5", user: "u-5", author: "bot",
                payload: Array(#"{"text":"쌍둥이"}"#.utf8)), needs: [Dot(origin: store.identity.origin, seq: 1)])
        try origin.send(to: store)
        var other = ForeignOrigin(2, name: "latest")
        other.add(
            EventDraft(
                id: Self.twinID, type: "message.posted", conversation: "c-5", user: "u-5", author: "bot",
                payload: Array(#"{"text":"쌍둥이"}"#.utf8)))
        PoisonTests.Poison.longType.append(to: &other)
        try other.send(to: store)
        store.close()
        let reader = try LogReader(store.files)
        var wanted: [StoredEvent] = []
        try reader.scan(after: 0, limit: 100) {
            wanted.append($0); return true
        }

        let sql = try Connection(path: store.files.log, mode: .write)
        try sql.execute("INSERT OR IGNORE INTO name(text) VALUES('')")
        let nobody = try #require(try sql.integer("SELECT ref FROM name WHERE text = ''"))
        for position in [3, 5] {
            let header = wanted[position - 1].event.header
            let opaque = try #require(EventHeader(opaque: header.canonicalBytes))
            let update = try sql.statement(
                """
                UPDATE event SET user = ?1, type = ?1, conversation = NULL, author = NULL, time = NULL, cause = NULL,
                  version = NULL, id = ?2, unknown = ?3, twin = NULL WHERE position = ?4
                """)
            try update.bind(1, nobody)
            try update.bind(2, opaque.id.bits)
            try update.bind(3, blob: header.canonicalBytes)
            try update.bind(4, Int64(position))
            try update.run()
        }
        try sql.execute("UPDATE event SET twin = NULL WHERE position = 7")
        try sql.execute("UPDATE event SET payload = CAST(payload AS BLOB) WHERE position = 4")
        try sql.execute("DELETE FROM meta WHERE key = 'reads'")
        return (folder, wanted)
    }

    @Test("A store of a release that read less: everything that can be read now is, in log, views and proof")
    func drains() throws {
        let (folder, wanted) = try storeOfAnEarlierRelease()
        let files = StoreFiles(folder.path)
        #expect(wanted[6].twinOf == 5)
        // What the earlier release showed: three more events in quarantine, and a sound log.
        try Projector(files).catchUp()
        let before = try ViewReader(files)
        #expect(try before.quarantine().map(\.position) == [3, 4, 5, 8])
        #expect(try before.conversationSummary("c-3") == nil)
        #expect(try Verifier(files).run().findings.isEmpty)

        try EventStore(opening: folder.path).close()
        let reader = try LogReader(files)
        var found: [StoredEvent] = []
        try reader.scan(after: 0, limit: 100) {
            found.append($0); return true
        }
        #expect(found == wanted)
        // Views built before are those of another reading of the log.
        try Projector(files).catchUp()
        let after = try ViewReader(files)
        #expect(try after.quarantine().map(\.position) == [8])
        #expect(try after.conversationSummary("c-3")?.messages == 1)
        #expect(try after.conversationSummary("c-4")?.messages == 1)
        #expect(try after.conversationSummary("c-5")?.messages == 1)
        #expect(try Verifier(files).run().findings.isEmpty)
    }

    @Test("A second opening changes nothing, and leaves the views as they are")
    func once() throws {
        let (folder, _) = try storeOfAnEarlierRelease()
        let files = StoreFiles(folder.path)
        try EventStore(opening: folder.path).close()
        try Projector(files).catchUp()
        let inode = try FileManager.default.attributesOfItem(atPath: files.views)[.systemFileNumber] as? Int
        try EventStore(opening: folder.path).close()
        try Projector(files).catchUp()
        #expect(try FileManager.default.attributesOfItem(atPath: files.views)[.systemFileNumber] as? Int == inode)
        #expect(try LogReader(files).meta(LogUpgrade.rereads) == "1")
    }

    @Test("Views of an earlier release are built anew by this one, and its refusals with them")
    func views() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        _ = try store.appendBlocking([.message("말", user: "u", conversation: "c")])
        store.close()
        try Projector(store.files).catchUp()
        let old = try Connection(path: store.files.views, mode: .write)
        try old.execute(
            """
            DELETE FROM conversation; INSERT INTO quarantine VALUES(2, 'conversations', 'an earlier release');
            PRAGMA user_version = \(ViewDatabase.version - 1);
            """)
        #expect(throws: StoreError.self) { try ViewReader(store.files) }
        try Projector(store.files).catchUp()
        let reader = try ViewReader(store.files)
        #expect(try reader.quarantined() == 0)
        #expect(try reader.conversationSummary("c")?.messages == 1)
    }

    @Test("A rebuild that was asked for applies everything again; readers keep the old views until it is done")
    func rebuild() throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try EventStore(opening: folder.path)
        _ = try store.appendBlocking([
            EventDraft(type: "survey.answered", user: "u", payload: Array(#"{"survey":7}"#.utf8))
        ])
        let thread = ProjectorThread(store.files, top: 2)
        #expect(thread.wait(for: 2, milliseconds: 60_000))
        let reader = try ViewReader(store.files)
        #expect(thread.quarantined == 1)
        #expect(try reader.quarantined() == 1)
        thread.rebuild()
        #expect(try reader.quarantined() == 1)
        #expect(thread.wait(for: 2, milliseconds: 60_000))
        #expect(thread.quarantined == 1 && !thread.isRebuilding)
        #expect(try reader.quarantine().map(\.view) == ["surveys"])
        thread.stop()
        store.close()
    }
}
