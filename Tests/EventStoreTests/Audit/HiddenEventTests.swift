import Foundation
import TestSupport
import Testing

@testable import EventStore

/// An event that this release reads must not pass for one that it cannot: views would hide it (D13; INV-4).
struct HiddenEventTests {
    private static let hidden: Int64 = 20

    /// Turns the event at ``hidden`` into the form of one whose header cannot be read.
    private func hide(_ sql: Connection) throws {
        var names = InternedStrings()
        let select = try sql.statement("SELECT \(EventRow.columns) FROM event WHERE position = \(Self.hidden)")
        #expect(try select.step())
        let bytes = try EventRow.read(select, names: &names, on: sql).event.header.canonicalBytes
        select.reset()
        let opaque = try #require(EventHeader(opaque: bytes))
        try sql.execute("INSERT OR IGNORE INTO name(text) VALUES('')")
        let update = try sql.statement(
            """
            UPDATE event SET user = (SELECT ref FROM name WHERE text = ''), type = (SELECT ref FROM name WHERE text = ''),
              conversation = NULL, author = NULL, time = NULL, cause = NULL, version = NULL, actor = NULL, id = ?, unknown = ?
            WHERE position = \(Self.hidden)
            """)
        try update.bind(1, opaque.id.bits)
        try update.bind(2, blob: bytes)
        try update.run()
        // Its id is the twin's no more.
        try sql.execute("UPDATE event SET twin = NULL WHERE twin = \(Self.hidden)")
    }

    private func keepPayload(_ sql: Connection) throws {
        try sql.execute("UPDATE event SET payload = CAST(payload AS blob) WHERE position = \(Self.hidden)")
    }

    private func keepActor(_ sql: Connection) throws {
        let actor = EventActor(.token, principal: "bot/medibot", credential: "9f3c51d2")
        let update = try sql.statement("UPDATE event SET actor = NULL, unknown = ? WHERE position = \(Self.hidden)")
        try update.bind(1, blob: try #require(actor).field)
        try update.run()
    }

    @Test("What no start has looked through is not proven, and the event is named; an older release's mark is none")
    func notLookedThrough() throws {
        let sample = try SampleStore()
        for change in [hide, keepPayload, keepActor] {
            for marked in ["DELETE FROM meta WHERE key = 'reads'", "UPDATE meta SET value = 1 WHERE key = 'reads'"] {
                let report = try verify(
                    try sample.damaged { sql in
                        try change(sql)
                        try sql.execute(marked)
                    })
                #expect(report.isIntact && report.answer == .notCovered, report.text)
                #expect(report.notes.contains { $0.contains("position \(Self.hidden);") }, "\(report.notes)")
            }
        }
    }

    @Test("Where a start has looked through the log it is a contradiction (INV-4)")
    func lookedThrough() throws {
        let sample = try SampleStore()
        for change in [hide, keepPayload, keepActor] {
            let report = try verify(try sample.damaged(change))
            #expect(report.names(position: Self.hidden), report.text)
        }
    }

    @Test("Beside a header that cannot be read no column says more")
    func standsAlone() throws {
        var origin = ForeignOrigin(1, name: "later")
        PoisonTests.Poison.longType.append(to: &origin)
        let (folder, store) = try makeStore()
        try origin.send(to: store)
        store.close()
        #expect(try verify(folder).isIntact)
        let connection = try Connection(path: store.files.log, mode: .write)
        for (column, value) in [
            ("conversation", "1"), ("author", "1"), ("time", "1"), ("cause", "zeroblob(16)"), ("version", "2"),
            ("actor", "1"), ("user", "1"),
        ] {
            let whole = try #require(
                try connection.first("SELECT quote(\(column)) FROM event WHERE position = 3") { $0.text(0) })
            try connection.execute("UPDATE event SET \(column) = \(value) WHERE position = 3")
            #expect(try verify(folder).names(position: 3), "\(column)")
            try connection.execute("UPDATE event SET \(column) = \(whole) WHERE position = 3")
        }
        #expect(try verify(folder).isIntact)
    }

    @Test("What has a column of its own stands in no other, whatever a start has looked through (INV-4)")
    func fieldOfAColumn() throws {
        let (folder, store) = try makeStore()
        var draft = EventDraft.message("말", user: "u-1")
        draft.author = "bot"
        _ = try store.appendBlocking([draft])
        store.close()
        #expect(try verify(folder).answer == .proven)
        let connection = try Connection(path: store.files.log, mode: .write)
        // The bytes of the header stay as they are: field 9, the author.
        try connection.execute("UPDATE event SET author = NULL, unknown = x'4a03626f74' WHERE position = 2")
        for more in ["SELECT 1", "DELETE FROM meta WHERE key = 'reads'"] {
            try connection.execute(more)
            let report = try verify(folder)
            #expect(report.names(position: 2) && report.answer == .contradicted, report.text)
        }
    }

    @Test("An actor of ref 0 is no form of an event without one")
    func noActor() throws {
        let report = try SampleStore().report(after: "UPDATE event SET actor = 0 WHERE position = 30")
        #expect(report.names(position: 30), report.text)
    }

    @Test("A store made anew shows what the log has hidden")
    func replayed() throws {
        let sample = try SampleStore()
        let wanted = try #require(try LogReader(StoreFiles(sample.folder.path)).event(at: UInt64(Self.hidden))).event
        for change in [hide, keepPayload, keepActor] {
            let folder = try sample.damaged(change)
            let copy = TemporaryFolder.unusedPath()
            defer { try? FileManager.default.removeItem(atPath: copy) }
            #expect(try StoreReplay(StoreFiles(folder.path)).make(in: copy).differing.isEmpty)
            #expect(try LogReader(StoreFiles(copy)).event(at: UInt64(Self.hidden))?.event == wanted)
            #expect(try Verifier(StoreFiles(copy)).run().isIntact)
        }
    }
}
