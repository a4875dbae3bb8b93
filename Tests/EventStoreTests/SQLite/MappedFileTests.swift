import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Pages that are read where the kernel has them: the same rows as by reading, however the file grows, and no lock is lost.
struct MappedFileTests {
    private func database(_ path: String) throws -> Connection {
        let writer = try Connection(path: path, mode: .write)
        try writer.execute(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; CREATE TABLE t(n INTEGER PRIMARY KEY, b BLOB);")
        return writer
    }

    /// Rows of a mebibyte, each filled with its number.
    private func fill(_ writer: Connection, _ numbers: Range<Int64>) throws {
        try writer.transaction { () throws(DatabaseError) in
            for number in numbers {
                let insert = try writer.statement("INSERT OR REPLACE INTO t VALUES(?, ?)")
                try insert.bind(1, number)
                try insert.bind(2, blob: [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 << 20))
                try insert.run()
            }
        }
    }

    private func check(_ reader: Connection, _ number: Int64) throws {
        let select = try reader.statement("SELECT b FROM t WHERE n = ?")
        defer { select.reset() }
        try select.bind(1, number)
        #expect(try select.step())
        let expected = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 1 << 20)
        let isEqual = select.bytes(0) == expected
        #expect(isEqual, "row \(number)")
    }

    /// How often this process has the file open: once for each connection, and once for the mapping.
    private func opened(_ path: String) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)) == path
        }.count
    }

    @Test("Rows in every window are read, while the file grows and after it was copied back")
    func windows() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        let writer = try database(path)
        try fill(writer, 0..<20)
        try writer.checkpoint()
        let reader = try openForReading(path, .scattered)
        for number in Int64(0)..<20 { try check(reader, number) }
        #expect(try opened(path) == 3)
        // Two windows more, a part of it still in the WAL.
        for start in stride(from: Int64(20), to: 150, by: 26) {
            try fill(writer, start..<start + 26)
            try check(reader, start + 25)
            try writer.checkpoint()
            try check(reader, start + 25)
            try check(reader, 3)
        }
        // Pages that are mapped change.
        try writer.execute("UPDATE t SET b = zeroblob(1048576) WHERE n = 100")
        try writer.checkpoint()
        let select = try reader.statement("SELECT b FROM t WHERE n = 100")
        #expect(try select.step())
        let isZero = select.bytes(0) == [UInt8](repeating: 0, count: 1 << 20)
        #expect(isZero)
        select.reset()
        for number in stride(from: Int64(0), to: 150, by: 7) where number != 100 { try check(reader, number) }
    }

    @Test("A mapping ends with the last connection to its file, and takes no lock of another with it")
    func locks() throws {
        let folder = TemporaryFolder()
        let path = folder.path + ".db"
        defer { for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) } }
        var writer: Connection? = try database(path)
        if let writer { try fill(writer, 0..<2) }
        var status = stat()
        try #require(stat(path, &status) == 0)
        func locks() throws -> Int {
            try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n")
                .filter { $0.contains(" \(getpid()) ") && $0.contains(":\(status.st_ino) ") }.count
        }
        #expect(try locks() > 0)
        for _ in 0..<3 {
            let reader = try openForReading(path, .scattered)
            try check(reader, 1)
        }
        #expect(try locks() > 0, "closing the mapping has given back the writer's lock")
        writer = nil
        #expect(try locks() == 0)
        #expect(try opened(path) == 0)
    }
}
