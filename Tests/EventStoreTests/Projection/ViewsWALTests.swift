import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The WAL of the views beside a reader that does not end.
struct ViewsWALTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path + "/views.db" }

    private func open() throws -> Connection {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let connection = try Connection(path: path, mode: .write)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE t(n INTEGER PRIMARY KEY, b BLOB);
            """)
        return connection
    }

    /// Bytes of the WAL's file.
    private var size: Int {
        (try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int) ?? 0
    }

    /// Does what is due, as the projector's thread does, until `condition` holds.
    private func follow(_ wal: ViewsWAL, until condition: () -> Bool) throws {
        for _ in 0..<3_000 where !condition() {
            if wal.isDue { try wal.copyBack() }
            sleepMilliseconds(5)
        }
        #expect(condition())
    }

    @Test("It is copied beside the steps once its reader, who is named, has gone, and is short soon after")
    func held() throws {
        let connection = try open()
        let wal = ViewsWAL(connection)
        var steps = 0
        func step() throws {
            try connection.execute("INSERT INTO t(b) VALUES(randomblob(2000000))")
            steps += 1
            if wal.isDue { try wal.copyBack() }
        }
        try step()
        let reader = try Connection(path: path, mode: .read)
        try reader.execute("BEGIN")
        #expect(try reader.integer("SELECT count(*) FROM t") == 1)
        while size < Connection.walBytes(pages: WALStanding.long + 2_000) { try step() }
        try follow(wal) { wal.watch?.isHeld == true }
        let standing = try #require(wal.watch?.standing)
        #expect(standing.held?.reader == "this process itself", "\(standing.text)")
        #expect(standing.text.hasPrefix("views.db-wal has ") && standing.text.contains("into views.db"))
        let due = try #require(wal.due)
        #expect(due > MonotonicClock.now, "nothing to do for a while")
        #expect(try reader.integer("SELECT count(*) FROM t") == 1)
        try reader.execute("COMMIT")
        try follow(wal) { wal.watch == nil && size <= Connection.walBytes(pages: ViewsWAL.duePages) }
        #expect(wal.due == nil)
        try step()
        wal.close()
        #expect(try connection.integer("SELECT count(*) FROM t") == Int64(steps))
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step() && check.text(0) == "ok")
    }

    @Test("Without readers it is copied beside the steps, never by one of them, is short soon after, and is whole")
    func short() throws {
        let connection = try open()
        let wal = ViewsWAL(connection)
        var copiers = 0
        for number in 0..<120 {
            try connection.execute("INSERT OR REPLACE INTO t VALUES(\(number % 3), randomblob(2000000))")
            let hadCopier = wal.watch != nil
            let isLong = connection.walPages >= ViewsWAL.duePages
            if wal.isDue { try wal.copyBack() }
            #expect(isLong || !hadCopier || wal.watch == nil, "the thread is there for a long one alone")
            if !hadCopier, isLong {
                #expect(wal.watch != nil)
                copiers += 1
            }
        }
        #expect(copiers > 0)
        try follow(wal) { wal.watch == nil && size <= Connection.walBytes(pages: 2 * ViewsWAL.duePages) }
        wal.close()
        #expect(try connection.integer("SELECT count(*) FROM t") == 3)
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step() && check.text(0) == "ok")
    }
}
