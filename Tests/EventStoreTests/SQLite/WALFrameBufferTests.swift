import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Frames that are written in one piece: the same database as without, whatever a transaction does to its WAL.
struct WALFrameBufferTests {
    private func database(_ path: String, _ mode: String, isGathering: Bool) throws -> Connection {
        let connection = try Connection(path: path, mode: .write)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL; PRAGMA synchronous = \(mode); PRAGMA cache_size = 4; PRAGMA wal_autocheckpoint = 0;
            CREATE TABLE IF NOT EXISTS t(n INTEGER PRIMARY KEY, b BLOB);
            """)
        if isGathering { connection.gatherWALWrites() }
        return connection
    }

    private func remove(_ path: String) {
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    private func put(_ connection: Connection, _ row: UInt64, _ bytes: Int, _ value: UInt64) throws(DatabaseError) {
        let insert = try connection.statement("INSERT OR REPLACE INTO t VALUES(?, ?)")
        try insert.bind(1, Int64(row))
        try insert.bind(2, blob: [UInt8](repeating: UInt8(truncatingIfNeeded: value), count: bytes))
        try insert.run()
    }

    private func rows(_ connection: Connection) throws -> [String] {
        let select = try connection.statement("SELECT n, hex(b) FROM t ORDER BY n")
        defer { select.reset() }
        var rows: [String] = []
        while try select.step() { rows.append("\(select.int64(0)) \(select.text(1))") }
        return rows
    }

    /// Transactions small and large, some of them taken back; with four pages of cache most of them write pages into the WAL,
    /// read them from there and write them once more before they commit.
    private func work(_ connection: Connection, seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        try connection.execute("BEGIN")
        for _ in 0..<random.next() % 60 {
            try put(connection, random.next() % 60, Int(random.next() % 3_000), random.next())
        }
        try connection.execute(random.next() % 4 == 0 ? "ROLLBACK" : "COMMIT")
    }

    @Test(
        "Spilled, repeated and taken back: every commit is there at once for others, and after a crash",
        arguments: ["OFF", "NORMAL", "FULL"])
    func equal(mode: String) throws {
        let folder = TemporaryFolder()
        let (one, other) = (folder.path + ".a", folder.path + ".b")
        defer { for path in [one, other] { remove(path) } }
        let plain = try database(one, mode, isGathering: false)
        let gathering = try database(other, mode, isGathering: true)
        let reader = try Connection(path: other, mode: .read)
        for seed in 0..<150 as Range<UInt64> {
            try work(plain, seed: seed)
            try work(gathering, seed: seed)
            let expected = try rows(plain)
            #expect(try rows(reader) == expected, "seed \(seed)")
            if seed % 40 == 39 {
                try plain.checkpoint()
                try gathering.checkpoint(truncate: seed % 80 == 79)
            }
            guard seed % 10 == 0 else { continue }
            // What the kernel has of the files at this moment is all that a crash leaves.
            let copy = "\(folder.path).\(seed)"
            defer { remove(copy) }
            for suffix in ["", "-wal"] where access(other + suffix, F_OK) == 0 {
                try FileManager.default.copyItem(atPath: other + suffix, toPath: copy + suffix)
            }
            let recovered = try Connection(path: copy, mode: .write)
            #expect(try rows(recovered) == expected, "after a crash, seed \(seed)")
            let intact = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"
            #expect(try recovered.integer(intact) == 1)
        }
    }

    @Test("Each commit is told of when its frames are written, with the place where they stand")
    func places() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { remove(path) }
        let connection = try database(path, "NORMAL", isGathering: false)
        var told: [(offset: Int64, count: Int)] = []
        connection.gatherWALWrites { told.append(($0, $1)) }
        connection.countWALPages()
        // Before it no reader knows where the WAL ends.
        try put(connection, 1_000, 100, 0)
        for row in 1...60 as ClosedRange<UInt64> {
            let before = told.count
            try put(connection, row, row % 7 == 0 ? 300_000 : 100, row)
            #expect(told.count == before + 1)
            let place = try #require(told.last)
            #expect(Int(place.offset) + place.count == Connection.walBytes(pages: connection.walPages))
            if row % 7 == 0 { #expect(place.count > 300_000) }
            if row > 1, row % 7 > 1 { #expect((4_096..<65_536).contains(place.count)) }
            if row % 20 == 0 { try connection.checkpoint(truncate: true) }
        }
        let before = told.count
        try connection.execute("BEGIN; INSERT INTO t VALUES(100, zeroblob(10)); ROLLBACK")
        _ = try rows(connection)
        #expect(told.count == before)
    }

    /// Runs `body` while no file of this process can grow beyond `most` bytes (setrlimit(2)).
    private func without(roomBeyond most: Int, _ body: () throws -> Void) rethrows {
        var before = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
        let handler = signal(SIGXFSZ, SIG_IGN)
        var limit = rlimit(rlim_cur: rlim_t(most), rlim_max: before.rlim_max)
        setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
        defer {
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &before)
            signal(SIGXFSZ, handler)
        }
        try body()
    }

    @Test(
        "What was written of a commit that finds no room does not stay, and nothing of one before it goes (INV-1)",
        arguments: [false, true])
    func noRoom(afterSpill: Bool) throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { remove(path) }
        let connection = try database(path, "NORMAL", isGathering: true)
        for row in 1...3 as ClosedRange<UInt64> { try put(connection, row, 100, row) }
        if afterSpill {
            // Its frames are in the WAL, and the next commits are written over them.
            try connection.execute("BEGIN")
            for row in 10...40 as ClosedRange<UInt64> { try put(connection, row, 3_000, 7) }
            try connection.execute("ROLLBACK")
            try put(connection, 4, 100, 4)
            try put(connection, 5, 100, 5)
        }
        let whole = try rows(connection)
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
        without(roomBeyond: size + 90_000) {
            #expect(throws: DatabaseError.self) {
                try connection.execute("BEGIN")
                for row in 100...200 as ClosedRange<UInt64> { try put(connection, row, 3_000, 9) }
                try connection.execute("COMMIT")
            }
        }
        connection.rollback()
        if !afterSpill {
            #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int == size)
        }
        try put(connection, 6, 100, 6)
        // As a start finds it: the WAL alone says what was committed.
        let copy = folder.path + ".copy"
        defer { remove(copy) }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        #expect(
            try rows(try Connection(path: copy, mode: .write)) == whole + ["6 " + String(repeating: "06", count: 100)]
        )
        if !afterSpill { #expect(try WALInspection(path: path + "-wal")?.lostCommits == 0) }
    }

    @Test("A commit for whose frames the WAL's index finds no room leaves nothing in the WAL (INV-1)")
    func noRoomForIndex() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { remove(path) }
        let connection = try database(path, "NORMAL", isGathering: true)
        connection.countWALPages()
        // The first part of the index has 4,062 frames.
        var row: UInt64 = 0
        while connection.walPages < 3_960 {
            row += 1
            try put(connection, row, connection.walPages < 3_880 ? 300_000 : 3_000, 1)
        }
        let size = try #require(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int)
        try failWrites(to: path + "-shm")
        #expect {
            try put(connection, 1_000, 600_000, 2)
        } throws: {
            ($0 as? DatabaseError)?.isFull == true
        }
        connection.rollback()
        #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int == size)
        try put(connection, 2_000, 100, 3)
        #expect(try WALInspection(path: path + "-wal")?.lostCommits == 0)
        let copy = folder.path + ".copy"
        defer { remove(copy) }
        for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
        let recovered = try Connection(path: copy, mode: .write)
        #expect(try recovered.integer("SELECT sum(n) FROM t") == Int64(row * (row + 1) / 2 + 2_000))
    }

    @Test("A connection may end before its last statement, and in the middle of a transaction")
    func ends() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { remove(path) }
        var connection: Connection? = try database(path, "NORMAL", isGathering: true)
        let insert = try connection?.statement("INSERT INTO t VALUES(1, x'07')")
        try insert?.run()
        try connection?.execute("BEGIN; INSERT INTO t VALUES(2, zeroblob(100000))")
        connection = nil
        try withExtendedLifetime(insert) {
            let next = try database(path, "NORMAL", isGathering: true)
            #expect(try rows(next) == ["1 07"])
        }
    }
}
