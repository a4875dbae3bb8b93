import Foundation
import TestSupport
import Testing

@testable import EventStore

/// A WAL that is copied back in pieces, each of which is synced, gives the same database.
struct CheckpointPacingTests {
    private func open(_ path: String) throws -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, b BLOB);
            """)
        return connection
    }

    private func fill(_ connection: Connection, rows: Int) throws {
        try connection.execute(
            """
            WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < \(rows))
            INSERT OR REPLACE INTO t SELECT n, randomblob(3500) FROM c;
            """)
    }

    @Test("Some pages at a time are synced, on another connection than the one that writes, again after each WAL")
    func pieces() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let writer = try open(path)
        let copier = try open(path)
        var syncs = 0
        copier.paceCopying { syncs += 1 }
        try fill(writer, rows: 20)
        #expect(try copier.checkpoint().copied > 20)
        #expect(syncs == 0)
        for round in 1...3 {
            try fill(writer, rows: 300)
            let copied = try copier.checkpoint().copied
            #expect(copied >= 300, "all of them are new")
            // Those of the piece before count, too.
            #expect(syncs >= round * (300 / 64) && syncs <= round * copied / 64 + 1)
            try copier.syncDatabase()
        }
        let select = try writer.statement("PRAGMA integrity_check")
        #expect(try select.step() && select.text(0) == "ok")
        select.reset()
        #expect(try writer.integer("SELECT count(*) FROM t") == 300)
    }

    @Test("The database is whole in the file alone, and can be opened by others when the connection is closed")
    func closed() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        let copy = folder.path + ".copy"
        defer { for suffix in ["", "-wal", "-shm"] { for path in [path, copy] { unlink(path + suffix) } } }
        do {
            let copier = try open(path)
            copier.paceCopying()
            try fill(copier, rows: 200)
            let result = try copier.checkpoint()
            #expect(result.wal == result.copied)
            try FileManager.default.copyItem(atPath: path, toPath: copy)
        }
        for path in [path, copy] {
            let other = try Connection(path: path, mode: .write)
            #expect(try other.integer("SELECT count(*) FROM t WHERE length(b) = 3500") == 200)
        }
    }
}
