import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Actors in a log: stored, relayed, proven, and no part of what a repeated append is compared by.
struct ActorColumnTests {
    private static let socket = EventActor(.socket, principal: "uid:1000")
    private static let token = EventActor(.token, principal: "bot/medibot", credential: "9f3c51d2")

    private func draft(_ number: Int, by actor: EventActor?) -> EventDraft {
        var draft = EventDraft.message("말 \(number)", user: "u-\(number % 3)", conversation: "c")
        draft.actor = actor
        return draft
    }

    /// A store whose events 2 to 41 have actors, some of them with fields of later formats around.
    private func makeLog() throws -> TemporaryFolder {
        let (folder, store) = try makeStore(name: "full")
        let actors = [nil, Self.socket, Self.token, Self.socket]
        _ = try store.appendBlocking((0..<40).map { draft($0, by: actors[$0 % 4]) })
        _ = try store.appendBlocking([draft(99, by: Self.token)])
        var origin = ForeignOrigin(1, name: "later")
        // Fields 31, 33 and 40, and no actor, an actor, a second one.
        for unknown in [[0xf8, 1, 1, 0x88, 2, 5], [0x88, 2, 5, 0xc0, 2, 1], [0x80, 2, 7], [0xf8, 1, 1]] as [[UInt8]] {
            origin.add(draft(1, by: nil), unknown: unknown)
            origin.add(draft(2, by: unknown == [0x80, 2, 7] ? nil : Self.socket), unknown: unknown)
        }
        try origin.send(to: store)
        store.close()
        return folder
    }

    @Test("Actors come back from the log, prove themselves, and are interned")
    func stored() throws {
        let folder = try makeLog()
        let events = try allEvents(folder)
        #expect(events[1].event.header.actor == nil && events[2].event.header.actor == Self.socket)
        #expect(events[3].event.header.actor == Self.token && events[41].event.header.actor == Self.token)
        #expect(
            events.suffix(8).map { $0.event.header.actor != nil } == [
                false, true, false, true, false, false, false, true,
            ])
        #expect(
            events.suffix(8).map { $0.event.header.isOfLaterFormat } == [
                true, true, false, false, false, false, true, true,
            ])
        let report = try verify(folder)
        #expect(report.isIntact, "\(report)")
        let log = try Connection(path: StoreFiles(folder.path).log, mode: .read)
        #expect(try log.integer("SELECT count(DISTINCT actor) FROM event") == 2)
        #expect(
            try log.integer(
                "SELECT count(*) FROM name WHERE text IN ('socket:uid:1000', 'token:bot/medibot:9f3c51d2')") == 2)
        #expect(try log.integer("SELECT count(*) FROM event WHERE actor IS NULL AND position > 43") == 5)
    }

    @Test("Actors and ancillary fields come through a snapshot byte for byte", arguments: [300, 1 << 20])
    func snapshot(bytes: Int) throws {
        let folder = try makeLog()
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: folder, bytes: bytes).build(in: empty)
        try EventStore(opening: empty.path).close()
        let report = try verify(empty)
        #expect(report.isIntact, "\(report)")
        #expect(try allEvents(empty).dropFirst().map(\.event) == allEvents(folder).map(\.event))
    }

    @Test("Actors and ancillary fields come through the wire byte for byte")
    func relayed() throws {
        let folder = try makeLog()
        let (other, store) = try makeStore(name: "other")
        let batch = try OutgoingReader(try LogReader(StoreFiles(folder.path)), ownHead: { nil })
            .batch(after: 0, lacking: VersionVector(), limits: OutgoingLimits())
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
        store.close()
        #expect(try allEvents(other).dropFirst().map(\.event) == allEvents(folder).map(\.event))
        #expect(try verify(other).isIntact)
    }

    @Test("The same id and content by another actor is the event that is there, with its actor (INV-8)")
    func again() throws {
        let (folder, store) = try makeStore()
        var first = draft(1, by: Self.socket)
        first.id = EventID(UUIDBits(high: 1, low: 2))
        var second = first
        second.actor = Self.token
        var third = first
        third.actor = nil
        let one = try store.appendBlocking([first])[0]
        for drafts in [[second], [third], [second, draft(2, by: nil)], [draft(3, by: Self.token), third]] {
            let outcomes = try store.appendBlocking(drafts)
            #expect(
                outcomes.contains { if case .already(let receipt) = $0 { receipt == one.receipt } else { false } })
        }
        store.close()
        #expect(
            try allEvents(folder).filter { $0.event.header.id == first.id }.map(\.event.header.actor) == [Self.socket]
        )
    }

    @Test("An actor that is hidden among the unknown fields is a finding, although the hash is right")
    func hidden() throws {
        let folder = try makeLog()
        let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
        let update = try connection.statement("UPDATE event SET actor = NULL, unknown = ? WHERE position = 3")
        try update.bind(1, blob: try #require(Self.socket).field)
        try update.run()
        #expect(try verify(folder).names(position: 3))
    }

    // MARK: Earlier versions

    private func open(_ folder: TemporaryFolder) throws -> EventStore {
        try EventStore(opening: folder.path, surroundings: .unknown)
    }

    /// A copy of the store in `Golden/version-2`, which a build of that version has made, and what it said of it.
    private func golden() throws -> (folder: TemporaryFolder, digests: [String]) {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/version-2")
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        for name in ["log.db", "log.end", "mark.json", "node.key"] {
            try FileManager.default.copyItem(
                at: source.appending(path: name), to: URL(filePath: folder.path + "/" + name))
        }
        let text = try String(contentsOf: source.appending(path: "digests.txt"), encoding: .utf8)
        return (folder, text.split(separator: "\n").filter { $0.hasPrefix("view ") }.map(String.init))
    }

    /// Those of the views that there were when `wanted` was written.
    private func digests(_ folder: TemporaryFolder, _ wanted: [String]) throws -> [String] {
        try Projector(StoreFiles(folder.path)).catchUp()
        let names = Set(wanted.map { $0.split(separator: " ")[1] })
        return try ViewReader(StoreFiles(folder.path)).digests().map { "view \($0)" }
            .filter { names.contains($0.split(separator: " ")[1]) }
    }

    private func version(_ folder: TemporaryFolder) throws -> Int64? {
        try Connection(path: StoreFiles(folder.path).log, mode: .read).integer("PRAGMA user_version")
    }

    @Test("A log of version 2 is read and proven as it is, and not changed by that")
    func readsEarlier() throws {
        let (folder, wanted) = try golden()
        let before = try Data(contentsOf: URL(filePath: StoreFiles(folder.path).log))
        #expect(try allEvents(folder).count == 25 && allEvents(folder).allSatisfy { $0.event.header.actor == nil })
        let report = try verify(folder)
        #expect(report.answer == .proven && report.top == 25, report.text)
        #expect(try digests(folder, wanted) == wanted)
        let empty = try makeEmptyStore()
        try SnapshotPieces(of: folder).build(in: empty)
        #expect(try version(folder) == 2)
        #expect(try Data(contentsOf: URL(filePath: StoreFiles(folder.path).log)) == before)
    }

    @Test(
        "A log of version 2 is upgraded in place; its events, roots and views stay, and readers that were there go on"
    )
    func upgrades() throws {
        let folder = try golden().folder
        let files = StoreFiles(folder.path)
        let reader = try LogReader(files)
        let before = try allEvents(folder)
        let store = try open(folder)
        #expect(store.originChange == nil)
        _ = try store.appendBlocking([draft(1, by: Self.socket)])
        // It was opened before the log had the column.
        #expect(try reader.event(at: 25) == before[24])
        #expect(try reader.event(at: 26)?.event.header.actor == Self.socket)
        store.close()
        #expect(try version(folder) == 3)
        #expect(try allEvents(folder).prefix(25) == before[...])
        let report = try verify(folder)
        #expect(report.answer == .proven && report.top == 26, report.text)
        #expect(try LogReader(files).meta(LogUpgrade.rereads) == nil)
        // What it defines is what a new log defines, byte for byte.
        let empty = try makeEmptyStore()
        let new = try Connection(path: StoreFiles(empty.path).log, mode: .read)
        let sql =
            "SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name)"
        let upgraded = try Connection(path: files.log, mode: .read)
        #expect(try upgraded.first(sql, []) { $0.text(0) } == new.first(sql, []) { $0.text(0) })
        try open(folder).close()
        #expect(try version(folder) == 3)
    }

    @Test("Until the upgrade is committed whole, the log is of version 2 and can be opened again")
    func interrupted() throws {
        let (folder, wanted) = try golden()
        do {
            let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
            try connection.execute("BEGIN; " + Schema.columns(after: 2) + "PRAGMA user_version = 3;")
        }
        #expect(try version(folder) == 2)
        #expect(try digests(folder, wanted) == wanted)
        try open(folder).close()
        #expect(try version(folder) == 3)
        #expect(try digests(folder, wanted) == wanted)
        #expect(try verify(folder).answer == .proven)
    }

    @Test(
        "Ancillary fields that a build kept for critical ones are read anew: the actor gets its column, views interpret (D13)",
        arguments: [
            (socket?.field ?? [], true, "1"), ([0x88, 2, 5], false, "1"), ([0xf8, 1, 1], false, nil),
        ] as [(kept: [UInt8], isActor: Bool, rereads: String?)])
    func rereads(kept: [UInt8], isActor: Bool, rereads: String?) throws {
        let folder = TemporaryFolder()
        try EventStore.create(in: folder.path, name: "a")
        let store = try open(folder)
        var origin = ForeignOrigin(1, name: "later")
        origin.add(draft(1, by: isActor ? Self.socket : nil), unknown: isActor ? [] : kept)
        try origin.send(to: store)
        store.close()
        let wanted = try allEvents(folder)
        do {
            let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
            let update = try connection.statement("UPDATE event SET actor = NULL, unknown = ? WHERE position = 3")
            try update.bind(1, blob: kept)
            try update.run()
            try connection.execute("UPDATE meta SET value = 1 WHERE key = 'reads'")
        }
        #expect(try verify(folder).isIntact)
        try open(folder).close()
        #expect(try allEvents(folder) == wanted)
        #expect(try LogReader(StoreFiles(folder.path)).meta(LogUpgrade.rereads) == rereads)
        #expect(try verify(folder).isIntact)
    }

    @Test("A log of a later version is refused")
    func later() throws {
        let (folder, store) = try makeStore()
        store.close()
        try Connection(path: StoreFiles(folder.path).log, mode: .write).execute("PRAGMA user_version = 4")
        #expect(throws: StoreError.unknownFormat(path: StoreFiles(folder.path).log, version: 4)) { try open(folder) }
    }
}
