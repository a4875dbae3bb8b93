import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A store made anew of the events of another (docs/operating/auditing.md, "A store made anew").
struct StoreReplayTests {
    /// Two nodes that have the same; twins, an erasure, something quarantined.
    private func filled() throws -> (TemporaryFolder, TemporaryFolder) {
        let (folder, store) = try makeStore()
        let (other, second) = try makeStore()
        let id = EventID(UUIDBits(high: 9, low: 1))
        let twin = EventDraft(
            id: id, type: "message.posted", time: 1_000, conversation: "c", user: "u-2",
            payload: Array(#"{"text":"같은 말"}"#.utf8))
        for number in 0..<300 {
            _ = try store.appendBlocking([
                .message("말 \(number)", user: "u-\(number % 3)", conversation: "c-\(number % 5)")
            ])
        }
        _ = try store.appendBlocking([
            twin, .json("survey.answered", #"{"survey":7}"#, conversation: "c", user: "u-1"),
        ])
        _ = try second.appendBlocking([twin, .message("다른 노드의 말", user: "u-1", conversation: "c")])
        for each in [store, second] { try each.flushBlocking() }
        try pull(store, from: second)
        _ = try store.eraseBlocking([Erasure(subject: .user("u-0"))], author: "operator")
        try store.finishErasures()
        for each in [store, second] { each.close() }
        return (folder, other)
    }

    private func pull(_ store: EventStore, from other: EventStore) throws {
        let known = try LogReader(store.files).vector()
        let reader = try OutgoingReader(other)
        let batch = try reader.batch(
            after: try reader.start(for: known), lacking: known, limits: OutgoingLimits(events: 4_096))
        let verified = try store.makeVerifierBlocking().verify(batch.events, batch.coverage)
        try blocking { store.ingest(verified, completion: $0) }
    }

    private func digests(_ folder: String) throws -> [ViewDigest] {
        _ = try Projector.catchUp(StoreFiles(folder))
        return try ViewReader(StoreFiles(folder)).digests()
    }

    @Test("Roots, vectors, positions and views are equal; nothing of the key goes along (INV-3, INV-6)")
    func equal() throws {
        let (folder, _) = try filled()
        let copy = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let report = try StoreReplay(StoreFiles(folder.path)).make(in: copy)
        let (old, new) = (try LogReader(StoreFiles(folder.path)), try LogReader(StoreFiles(copy)))
        #expect(report.differing.isEmpty && report.origins.count == 2)
        #expect(try report.position == old.top() && new.top() == old.top() && new.vector() == old.vector())
        #expect(try digests(folder.path) == digests(copy))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: copy).sorted().filter { !$0.hasPrefix("views") } == [
                "log.db"
            ])
        #expect(throws: StoreError.self) { try EventStore(opening: copy) }
        let verdict = try Verifier(StoreFiles(copy)).run { _, _ in }
        #expect(verdict.findings.isEmpty && verdict.erased == 100, verdict.text)
        #expect(try new.incarnation() != old.incarnation())
        for position in 1...report.position {
            let (a, b) = (try #require(try old.event(at: position)), try #require(try new.event(at: position)))
            #expect(a.event == b.event && a.twinOf == b.twinOf)
        }
    }

    @Test("Up to a position it is the store of then")
    func prefix() throws {
        let (folder, _) = try filled()
        let copy = TemporaryFolder.unusedPath()
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let report = try StoreReplay(StoreFiles(folder.path), through: 200).make(in: copy)
        #expect(report.position == 200 && report.differing.isEmpty)
        #expect(try LogReader(StoreFiles(copy)).top() == 200)
        #expect(try digests(copy).first { $0.view == "history" }?.rows == 200)
    }

    @Test("A folder with something in it is refused and left alone; what is broken off leaves nothing")
    func refused() throws {
        let (folder, _) = try filled()
        let full = try TemporaryFolder.made()
        try Data("x".utf8).write(to: URL(filePath: full.path + "/mine"))
        #expect(throws: StoreError.self) { try StoreReplay(StoreFiles(folder.path)).make(in: full.path) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: full.path) == ["mine"])
        let copy = TemporaryFolder.unusedPath()
        #expect(throws: StoreError.closed) { try StoreReplay(StoreFiles(folder.path)).make(in: copy) { _ in false } }
        #expect(!FileManager.default.fileExists(atPath: copy))
        let empty = try TemporaryFolder.made()
        #expect(try StoreReplay(StoreFiles(folder.path)).make(in: empty.path).differing.isEmpty)
    }

    @Test(
        "A payload or a tree that was changed in the log is told: the roots differ, or the head is not of the events")
    func changed() throws {
        for sql in [
            "UPDATE node SET hash = zeroblob(32)",
            #"UPDATE event SET payload = '{"text":"위조"}' WHERE position = 3"#,
            "UPDATE head SET root = zeroblob(32)",
        ] {
            let (folder, _) = try filled()
            let connection = try Connection(path: StoreFiles(folder.path).log, mode: .write)
            try connection.execute(sql)
            guard connection.changes > 0 else { continue }
            let copy = TemporaryFolder.unusedPath()
            defer { try? FileManager.default.removeItem(atPath: copy) }
            do {
                let report = try StoreReplay(StoreFiles(folder.path)).make(in: copy)
                #expect(!report.differing.isEmpty, "\(sql)")
            } catch {
                #expect("\(error)".contains("head"), "\(sql): \(error)")
                #expect(!FileManager.default.fileExists(atPath: copy))
            }
        }
    }
}
