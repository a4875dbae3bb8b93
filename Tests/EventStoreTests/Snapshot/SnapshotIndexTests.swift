import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Indexes that are built part by part are what SQLite would have made.
struct SnapshotIndexTests {
    private static func entries(_ count: Int, ids: Int) -> [IndexEntry] {
        var random = SystemRandomNumberGenerator()
        return (1...count).map { position in
            let id = ids == 0 ? UInt64.random(in: 1 ... .max, using: &random) : UInt64(Int.random(in: 1...ids))
            return IndexEntry(a: id, b: id ^ 7, position: UInt64(position))
        }
    }

    @Test(
        "Sorted runs become an index in which each id stands once, with its first position; the others are twins",
        arguments: [(1, 0), (2, 0), (150, 0), (6_000, 0), (3_000, 1), (3_000, 2), (6_000, 40), (6_000, 3_000)],
        [1, 2, 5])
    func ids(_ shape: (count: Int, ids: Int), most: Int) throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let path = folder.path + "/index.db"
        let entries = Self.entries(shape.count, ids: shape.ids)
        let (root, sql) = try makeTable(path, entries)
        let twins = try SortedRuns(path: folder.path + "/twins")
        do {
            let runs = try SortedRuns(path: folder.path + "/runs")
            for start in stride(from: 0, to: entries.count, by: 700) {
                try runs.add(entries[start..<min(start + 700, entries.count)].sorted())
            }
            let file = try PageFile(path: path)
            let work = try IndexBuilder(.ids(twins: twins), runs, file: file, root: root, most: most, fewest: 40)
            try JobPool(work.jobs, threads: 3).finish()
            try work.finish()
            try file.finish()
        }
        let found = try mark(path, twins)
        try Connection(path: path, mode: .write).restoreSchema(of: "i", on: "t", root: root, sql: sql)

        let connection = try Connection(path: path, mode: .read)
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step())
        #expect(check.text(0) == "ok")
        let firsts = Dictionary(entries.map { ($0.a, $0.position) }) { min($0, $1) }
        #expect(found == entries.count - firsts.count)
        #expect(
            try connection.integer("SELECT count(*) FROM t INDEXED BY i WHERE twin IS NULL") == Int64(firsts.count))
        let marked = try connection.statement("SELECT position, twin FROM t WHERE twin IS NOT NULL")
        while try marked.step() {
            #expect(marked.uint64(1) == firsts[entries[Int(marked.int64(0)) - 1].a])
        }
        marked.reset()
    }

    /// A table with the rows of `entries` and an index without them, hidden; where that hangs, and its text.
    private func makeTable(_ path: String, _ entries: [IndexEntry]) throws -> (root: UInt32, sql: String) {
        do {
            let connection = try Connection(path: path, mode: .write)
            try connection.execute(
                """
                CREATE TABLE t(position INTEGER PRIMARY KEY, id BLOB, twin INTEGER);
                CREATE INDEX i ON t(id) WHERE twin IS NULL;
                """)
        }
        let connection = try Connection(path: path, mode: .write)
        let root = UInt32(try connection.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'i'") ?? 0)
        let sql = try connection.hideSchema(of: "i")
        let other = try Connection(path: path, mode: .write)
        try other.transaction { () throws(DatabaseError) in
            let insert = try other.statement("INSERT INTO t(position, id) VALUES(?, ?)")
            for entry in entries {
                try insert.bind(1, entry.position)
                try insert.bind(2, UUIDBits(high: entry.a, low: entry.b))
                try insert.run()
            }
        }
        return (root, sql)
    }

    /// Marks the rows that are twins; how many.
    private func mark(_ path: String, _ twins: SortedRuns) throws -> Int {
        let connection = try Connection(path: path, mode: .write)
        let update = try connection.statement("UPDATE t SET twin = ? WHERE position = ?")
        var found = 0
        try connection.transaction { () throws(DatabaseError) in
            try twins.sorted().merge { twin throws(DatabaseError) in
                try update.bind(1, twin.b)
                try update.bind(2, twin.a)
                try update.run()
                found += 1
            }
        }
        return found
    }
}
