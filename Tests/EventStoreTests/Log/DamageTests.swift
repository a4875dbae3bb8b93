import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What cannot be read and what is damaged are two things: a broken disk says nothing of what was stored.
struct DamageTests {
    /// A store of two origins with 500 events, closed: its WAL is empty. The first event after the other's names it.
    private func filled() throws -> (folder: TemporaryFolder, files: StoreFiles) {
        let (folder, store) = try makeStore()
        let other = ForeignOrigin(1, name: "other")
        let received = try store.makeVerifierBlocking().verify(
            other.received, [Coverage(head: other.head(using: SHA256()), proof: [])])
        try blocking { store.ingest(received, completion: $0) }
        for start in stride(from: 0, to: 500, by: 100) {
            _ = try store.appendBlocking(
                (start..<start + 100).map {
                    .message("말 \($0) " + String(repeating: "x", count: 200), user: "u-\($0)", conversation: "c")
                })
        }
        store.close()
        return (folder, store.files)
    }

    private func change(_ files: StoreFiles, _ sql: String) throws {
        let connection = try Connection(path: files.log, mode: .write)
        try connection.execute(sql)
    }

    private func code(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? StoreError)?.code ?? "\(error)" }
        return nil
    }

    // MARK: A disk that cannot be read

    @Test("A failing read is E_IO for the reader, the snapshot, the projection and verify, and no finding")
    func failingReads() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let reader = try LogReader(files)
        let snapshot = try SnapshotReader(files)
        let projector = try Projector(files)
        let connection = try openForReading(files.log)
        try failReads(of: files.log)
        #expect(code { _ = try reader.event(at: 300) } == "E_IO")
        #expect(code { _ = try reader.origins() } == "E_IO")
        #expect(code { _ = try snapshot.rows(after: 100, through: 400, bytes: 1 << 20) } == "E_IO")
        #expect(code { try projector.step() } == "E_IO")
        let outside = try Outside(files, isWritten: true)
        var audit = LogAudit(connection: connection, isWritten: true, proofs: [], outside: outside)
        #expect(throws: DatabaseError.self) { try audit.run { _, _ in } }
        #expect(audit.findings.counts.isEmpty)
    }

    @Test("An origin that cannot be read is no damage of the event that depends on it")
    func dependencies() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        let connection = try openForReading(files.log)
        try failReads(of: files.log)
        var names = InternedStrings()
        let bytes = EventRow.dependencyBytes([(ref: 2, seq: 1)])
        let error = #expect(throws: DatabaseError.self) {
            try EventRow.dependencies(bytes, at: 7, names: &names, on: connection)
        }
        guard case .sqlite? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("Views that cannot be read are no damaged views: nothing is built anew because of it")
    func views() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try Projector(files).catchUp()
        let reader = try ViewReader(files)
        let projector = try Projector(files)
        try failReads(of: files.views)
        #expect(code { _ = try reader.conversationVersion("c") } == "E_IO")
        #expect(code { _ = try projector.allDigests() } == "E_IO")
        #expect(!projector.isRebuilding)
        #expect(!FileManager.default.fileExists(atPath: files.newViews))
    }

    // MARK: Rows that no writer stores

    private static let changes: [(sql: String, words: String)] = [
        ("UPDATE event SET id = x'00' WHERE position = 300", "event 300: its id is not 16 bytes"),
        ("UPDATE event SET dependencies = x'ff' WHERE position = 300", "event 300: dependencies: "),
        (
            "DELETE FROM name WHERE ref = (SELECT user FROM event WHERE position = 300)",
            "table name: there is no name"
        ),
        ("UPDATE event SET salt = x'00' WHERE position = 300", "event 300: "),
    ]

    @Test(
        "A damaged row is E_CORRUPT for the reader and the snapshot, and a finding of verify",
        arguments: changes.indices)
    func damagedRows(_ index: Int) throws {
        let (sql, words) = Self.changes[index]
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try change(files, sql)
        let error = #expect(throws: StoreError.self) { try LogReader(files).event(at: 300) }
        #expect(error?.code == "E_CORRUPT" && "\(error as Any)".contains(words), "\(error as Any)")
        #expect(
            code { _ = try SnapshotReader(files).rows(after: 250, through: 350, bytes: 1 << 20) } == "E_CORRUPT")
        let report = try Verifier(files).run()
        #expect(report.answer == .contradicted && report.findings.contains { $0.position == 300 })
    }

    @Test("A damaged row is E_CORRUPT for the projection, which names it and goes no further (INV-10)")
    func projection() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try change(files, "UPDATE event SET dependencies = x'ff' WHERE position = 300")
        let projector = try Projector(files)
        let error = #expect(throws: StoreError.self) { try projector.catchUp() }
        #expect(error?.code == "E_CORRUPT" && "\(error as Any)".contains("event 300"), "\(error as Any)")
        #expect(projector.position < 300)
    }

    @Test("A log that lacks a table is damaged, and no disk that fails")
    func lostTable() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try change(files, "DROP TABLE name")
        #expect(code { _ = try LogReader(files).event(at: 300) } == "E_CORRUPT")
        #expect(try Verifier(files).run().answer == .contradicted)
    }

    @Test("Views that lack a table are damaged, and built anew")
    func lostView() throws {
        let (folder, files) = try filled()
        defer { withExtendedLifetime(folder) {} }
        try Projector(files).catchUp()
        let digests = try ViewReader(files).digests()
        do {
            let connection = try Connection(path: files.views, mode: .write)
            try connection.execute("DROP TABLE profile")
        }
        #expect(code { _ = try ViewReader(files).profile(user: "u-1") } == "E_CORRUPT")
        let store = try EventStore(opening: files.folder)
        _ = try store.appendBlocking([.json("profile.changed", #"{"fields":{"a":1}}"#, user: "u-1")])
        store.close()
        try Projector(files).catchUp()
        #expect(try ViewReader(files).profile(user: "u-1").count == 1)
        #expect(try ViewReader(files).digests().count == digests.count)
    }

    // MARK: What a failed write means

    private func sqlite(_ code: Int32) -> DatabaseError {
        DatabaseError(extendedCode: code, message: "m", context: "c", path: "/p")
    }

    @Test("Codes of SQLite are told apart once: damage, disk, room, lock, fault")
    func codes() {
        let expected: [(Int32, String)] = [
            (11, "E_CORRUPT"), (11 | 1 << 8, "E_CORRUPT"), (26, "E_CORRUPT"), (1, "E_CORRUPT"), (2_067, "E_CORRUPT"),
            (10, "E_IO"), (10 | 1 << 8, "E_IO"), (10 | 33 << 8, "E_IO"), (7, "E_IO"), (14, "E_IO"), (8, "E_IO"),
            (13, "E_DISK"), (5, "E_BUSY"), (6, "E_BUSY"), (21, "E_INTERNAL"), (18, "E_INTERNAL"),
        ]
        for (code, name) in expected { #expect(StoreError(sqlite(code)).code == name, "\(code)") }
        #expect(StoreError(.misuse("m")).code == "E_INTERNAL" && StoreError(.cancelled) == .closed)
        #expect(StoreError(.file(.diskFull("d"))) == .diskFull("d"))
    }

    @Test(
        "After a failed read or write of the disk the store is dead; a refused statement, a lock or a full disk leave it (D23)"
    )
    func aftermath() {
        for code: Int32 in [2_067, 18, 20, 25, 9, 17, 13, 5, 6, 11, 26, 1] {
            #expect(sqlite(code).afterCommit == .statement, "\(code)")
        }
        for code: Int32 in [10, 10 | 1 << 8, 7, 8, 14, 3, 21] {
            #expect(sqlite(code).afterCommit == .store, "\(code)")
        }
        for code: Int32 in [10, 10 | 4 << 8, 11, 26] { #expect(sqlite(code).afterCopying == .store, "\(code)") }
        for code: Int32 in [13, 5, 6, 7, 10 | 12 << 8] { #expect(sqlite(code).afterCopying == .statement, "\(code)") }
        #expect(
            DatabaseError.misuse("a gap").afterCommit == .statement
                && DatabaseError.cancelled.afterCommit == .statement)
        #expect(DatabaseError.damaged(.table("t"), "w").afterCommit == .statement)
    }
}
