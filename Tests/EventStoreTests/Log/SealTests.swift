import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What no head covers yet is bound to the node's key (D21, INV-3).
struct SealTests {
    /// The files of a store as a killed process leaves them; the store itself goes on.
    private func killed(_ store: EventStore) throws -> TemporaryFolder {
        let copy = TemporaryFolder()
        try FileManager.default.copyItem(atPath: store.files.folder, toPath: copy.path)
        return copy
    }

    private func sql(_ folder: TemporaryFolder) throws -> Connection {
        try Connection(path: StoreFiles(folder.path).log, mode: .write)
    }

    private func open(_ folder: TemporaryFolder) throws -> EventStore {
        try EventStore(opening: folder.path, surroundings: .unknown)
    }

    /// A store with 300 events of which the last 20 have no head, as after `kill -9`.
    private func unsigned() throws -> TemporaryFolder {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<279).map { .message("말 \($0)", user: "u") })
        try store.flushBlocking()
        _ = try store.appendBlocking((0..<19).map { .message("꼬리 \($0)", user: "u") })
        _ = try store.appendBlocking([.message("끝", user: "u")])
        let copy = try killed(store)
        defer { withExtendedLifetime(folder) { store.close() } }
        // What a head of the idle writer may have covered meanwhile.
        try sql(copy).execute("DELETE FROM head WHERE size > 280")
        // That connection has taken the WAL away, which a killed process leaves.
        try Data().write(to: URL(fileURLWithPath: StoreFiles(copy.path).log + "-wal"))
        return copy
    }

    /// Changes an event behind the last head with all that needs no key: leaf, and nothing above it, for no node covers it.
    private func forge(_ folder: TemporaryFolder, seq: Int64) throws {
        let connection = try sql(folder)
        try connection.execute("UPDATE event SET payload = '{\"text\":\"위조\"}' WHERE seq = \(seq)")
        let position = try #require(try connection.integer("SELECT position FROM event WHERE seq = \(seq)"))
        let event = try #require(try LogReader(StoreFiles(folder.path)).event(at: UInt64(position))).event
        let leaf = EventRow.leafCheck(SHA256().leaf(of: event))
        try connection.execute("UPDATE event SET leaf = \(leaf) WHERE seq = \(seq)")
    }

    @Test("The last own event of each commit carries the seal, and no other")
    func places() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        _ = try store.appendBlocking([.message("하나", user: "u")])
        _ = try store.appendBlocking((0..<10).map { .message("\($0)", user: "u") })
        // A twin of what is there already ends the batch: the seal is that of the last one stored.
        var again = EventDraft.message("둘", user: "u")
        again.id = EventID(UUIDBits(high: 1, low: 2))
        _ = try store.appendBlocking([again])
        _ = try store.appendBlocking([.message("셋", user: "u"), again], atomicity: .each)
        let foreign = ForeignOrigin(7, name: "busan")
        try foreign.send(to: store)
        _ = try store.appendBlocking([.message("넷", user: "u")])
        let reader = try LogReader(store.files)
        let select = try reader.connection.statement("SELECT position FROM event WHERE seal IS NOT NULL ORDER BY 1")
        var sealed: [Int64] = []
        while try select.step() { sealed.append(select.int64(0)) }
        #expect(sealed == [1, 2, 12, 13, 14, 16])
        select.reset()
        store.close()
    }

    @Test("After kill -9 the sealed events behind the last head are signed, and nothing is found")
    func goesOn() throws {
        let folder = try unsigned()
        let before = try verify(folder)
        #expect(before.answer == .notCovered && before.unsigned == 20 && before.seal == .right, before.text)
        let store = try open(folder)
        #expect(store.originChange == nil)
        #expect(store.head()?.head.size == 300)
        store.close()
        #expect(try verify(folder).answer == .proven)
    }

    @Test("Events behind the last head changed without the key are signed by nobody", arguments: [281, 290, 300])
    func forged(seq: Int64) throws {
        let folder = try unsigned()
        try forge(folder, seq: seq)
        let report = try verify(folder)
        #expect(report.answer == .contradicted && report.count(of: .seals) == 1, report.text)
        #expect(throws: StoreError.self) { try open(folder).close() }
        #expect(throws: StoreError.self) {
            let key = try #require(try SmallFile.read(StoreFiles(folder.path).key))
            try LogReader(StoreFiles(folder.path)).checkOwnHead(SigningKey(pem: key))
        }
        #expect(try LogReader(StoreFiles(folder.path)).head(of: try own(folder), atLeast: 281) == nil)
    }

    @Test("Of a stopped store whose last events another hand wrote nothing is signed: it says from which position on")
    func nothingSigned() throws {
        let folder = try unsigned()
        let files = StoreFiles(folder.path)
        let key = try #require(try SmallFile.read(files.key).flatMap { SigningKey(pem: $0) })
        // What the node has sealed it signs, also where no head covers it yet.
        let (made, _) = try receipt(files, key: key)
        #expect(made.heads.first?.events == 300 && made.heads.first?.head.head.size == 280)
        try forge(folder, seq: 290)
        for attempt in [
            { _ = try receipt(files, key: key) },
            {
                _ = try AnswerExport(files, .user("u"), at: [5], isFiltered: false, key: key, time: 1)
            },
        ] as [() throws -> Void] {
            #expect {
                try attempt()
            } throws: {
                ($0 as? StoreError)?.code == "E_CORRUPT" && "\($0)".contains("from position 281 on")
            }
        }
        // Without a key no one's word is given.
        _ = try receipt(files, key: nil)
    }

    @Test("To take away heads, or seals, or to make them up does not help who has no key")
    func forgedMore() throws {
        for change in [
            "DELETE FROM head", "UPDATE event SET seal = NULL", "UPDATE event SET seal = randomblob(16)",
            "UPDATE event SET seal = zeroblob(0)",
            // The seal of another event.
            "UPDATE event SET seal = (SELECT seal FROM event WHERE seq = 299) WHERE seq = 300",
        ] {
            let folder = try unsigned()
            try forge(folder, seq: 290)
            try sql(folder).execute(change)
            #expect(throws: StoreError.self, "\(change)") { try open(folder).close() }
            let report = try verify(folder)
            #expect(report.answer == .contradicted && report.count(of: .seals) >= 1, "\(change): \(report.text)")
        }
    }

    @Test("A head made up for a forged history, whose signature is none, is not believed")
    func forgedHead() throws {
        let folder = try unsigned()
        try forge(folder, seq: 290)
        let reader = try LogReader(StoreFiles(folder.path))
        let origin = try own(folder)
        let root = try reader.root(of: origin, size: 300)
        let hlc = try #require(try reader.event(Dot(origin: origin, seq: 300))).event.header.hlc
        let head = TreeHead(origin: origin, size: 300, root: root, hlc: hlc)
        try MerkleStore(connection: try sql(folder), sha: SHA256()).insertHead(
            SignedHead(signing: head, with: SigningKey.generate()), origin: 1)
        #expect(throws: StoreError.self) { try open(folder).close() }
    }

    private func own(_ folder: TemporaryFolder) throws -> OriginID {
        try StoreIdentity(try LogReader(StoreFiles(folder.path))).origin
    }

    /// Makes a store what a release before seals had left.
    private func makeOld(_ folder: TemporaryFolder) throws {
        let connection = try sql(folder)
        try connection.execute(
            "ALTER TABLE event DROP COLUMN actor; ALTER TABLE event DROP COLUMN seal; PRAGMA user_version = 1;")
        try FileManager.default.removeItem(atPath: StoreFiles(folder.path).mark)
    }

    @Test("A log of version 1 that ended in order is upgraded in place, and can be read before")
    func upgrade() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking((0..<10).map { .message("\($0)", user: "u") })
        store.close()
        try makeOld(folder)
        let old = try verify(folder)
        #expect(old.answer == .proven, old.text)
        let again = try open(folder)
        #expect(again.originChange == nil)
        _ = try again.appendBlocking([.message("새로", user: "u")])
        again.close()
        let report = try verify(folder)
        #expect(report.answer == .proven && report.top == 12, report.text)
    }

    @Test("A log of version 1 with events that no head covers is not upgraded: the way out is said")
    func refusedUpgrade() throws {
        let folder = try unsigned()
        try makeOld(folder)
        #expect(throws: StoreError.notSettled(path: StoreFiles(folder.path).log)) { try open(folder) }
        #expect(StoreError.notSettled(path: "x").description.contains("stop it once with that release"))
        #expect(try verify(folder).answer == .notCovered)
    }
}
