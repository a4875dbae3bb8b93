import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A long transaction of ours beside a writer.
struct GuestTests {
    private let folder = TemporaryFolder()

    private func makeDatabase() throws -> Connection {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let writer = try Connection(path: folder.path + "/a.db", mode: .write)
        try writer.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t(b BLOB); INSERT INTO t VALUES(zeroblob(10000));
            """)
        return writer
    }

    /// Reads for minutes.
    private func read(_ connection: Connection) throws(DatabaseError) -> Int64? {
        try connection.integer(
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c, t WHERE n < 0")
    }

    @Test("It ends when the WAL has grown for it, and what it found is not used; the WAL can begin anew then")
    func ended() throws {
        let writer = try makeDatabase()
        let reader = try Connection(path: folder.path + "/a.db", mode: .read)
        let path = folder.path + "/a.db"
        let thread = WorkerThread(name: "other") {
            let other = try? Connection(path: path, mode: .write)
            other?.keepWAL()
            try? other?.execute("PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0;")
            for _ in 0..<30 { try? other?.execute("INSERT INTO t VALUES(randomblob(2000000));") }
        }
        let found = try reader.asGuest(bytes: 4 << 20) { () throws(DatabaseError) in try read(reader) }
        #expect(found == nil)
        thread.join()
        let left = try writer.checkpoint()
        #expect(left.wal > 0 && left.copied == left.wal, "no one reads")
        #expect(try reader.integer("SELECT count(*) FROM t") == 31)
    }

    @Test("Where nobody writes much it comes to its end, with its result or its error")
    func undisturbed() throws {
        let writer = try makeDatabase()
        let reader = try Connection(path: folder.path + "/a.db", mode: .read)
        let count = try reader.asGuest { () throws(DatabaseError) in
            try writer.execute("INSERT INTO t VALUES(randomblob(200000));")
            sleepMilliseconds(120)
            return try reader.integer("SELECT count(*) FROM t")
        }
        #expect(count == 2)
        #expect(throws: DatabaseError.self) {
            try reader.asGuest { () throws(DatabaseError) in try reader.integer("SELECT count(*) FROM missing") }
        }
    }

    @Test("A log that is written much is checked as a database in a copy, which finds the same")
    func copied() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        _ = try store.appendBlocking((0..<2_000).map { .message("\($0)", user: "u-\($0 % 7)") })
        let connection = try openForReading(store.files.log)
        let check = DatabaseCheck(connection: connection)
        #expect(try check.linesOfCopy() == [])
        let integrity = DatabaseCheck.integrity(at: store.files.log, isWritten: true)
        #expect(try DatabaseCheck.findings(of: integrity)?.isEmpty == true)
    }

    @Test("A verification that gives way to the writer looks at everything, and ends when no one wants it any more")
    func cancelled() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) { store.close() } }
        _ = try store.appendBlocking((0..<2_000).map { .message("\($0)", user: "u-\($0 % 7)") })
        let term = AnswerTerm(page: .max, whole: .max)
        let verifier = Verifier(store.files, threads: 1)
        let report = try verifier.run(asGuest: term)
        #expect(report.isIntact && report.events == 2_001 && report.notes.isEmpty, "\(report)")
        #expect(throws: StoreError.closed) {
            try verifier.run(asGuest: term) { done, _ in if done > 0 { term.cancel() } }
        }
    }
}
