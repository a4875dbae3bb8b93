import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Table `name` and its index, built of pages, are what SQLite would have made.
struct NameWorkTests {
    /// Texts that begin alike, end early, and are not ASCII.
    private static let names: [String] = (0..<5_000).map { number in
        switch number % 5 {
        case 0: "c-\(number * 7_919 % 100_003)"
        case 1: "the same beginning \(number * 7_919 % 100_003)"
        case 2: String(repeating: "u", count: number / 5 % 128 + 1) + (number < 640 * 5 ? "" : "\(number)")
        case 3: "\(number)"
        default: "가나다라-\(number)-" + String(repeating: "é", count: number % 60)
        }
    }

    private static let list: NameList = {
        var texts: [UInt8] = []
        var entries: [NameList.Entry] = []
        for (index, name) in distinct.enumerated() {
            entries.append(
                NameList.Entry(
                    ref: Int64(index * 3 + 1), start: UInt32(texts.count), count: UInt32(name.utf8.count)))
            texts += Array(name.utf8)
        }
        return NameList(texts: texts, entries: entries)
    }()

    private static let distinct: [String] = {
        var seen: Set<[UInt8]> = []
        return names.filter { seen.insert(Array($0.utf8)).inserted }
    }()

    @Test("Names are passed on ascending by ref, and ascending by their bytes")
    func orders() throws {
        var refs: [Int64] = []
        var texts: [[UInt8]] = []
        try Self.list.each { ref, _ in refs.append(ref) }
        try Self.list.eachByText { ref, text in
            texts.append(Array(text))
            #expect(Array(Self.distinct[Int(ref) / 3].utf8) == Array(text))
        }
        #expect(refs == refs.sorted() && refs.count == Self.distinct.count)
        #expect(texts == Self.distinct.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test("Made of memory or of the scratch database, the table and its index are whole", arguments: [true, false])
    func builds(fromMemory: Bool) throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let (path, scratch) = (folder.path + "/log.db", folder.path + "/scratch.db")
        do {
            let connection = try Connection(path: path, mode: .write)
            try connection.execute("CREATE TABLE name(ref INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);")
            let names = try Connection(path: scratch, mode: .write)
            try names.execute("CREATE TABLE fresh(ref INTEGER PRIMARY KEY, text TEXT NOT NULL);")
            try names.transaction { () throws(DatabaseError) in
                let insert = try names.statement("INSERT INTO fresh(ref, text) VALUES(?, ?)")
                for (index, name) in Self.distinct.enumerated() {
                    try insert.bind(1, Int64(index * 3 + 1))
                    try insert.bind(2, .text(name))
                    try insert.run()
                }
            }
        }
        let root = { (name: String) in
            try Connection(path: path, mode: .read)
                .integer("SELECT rootpage FROM sqlite_schema WHERE name = '\(name)'")
        }
        let file = try PageFile(path: path)
        let work = NameWork(
            file: file, source: fromMemory ? .memory(Self.list) : .database(scratch),
            tableRoot: UInt32(try #require(try root("name"))),
            indexRoot: UInt32(try #require(try root("sqlite_autoindex_name_1"))))
        try JobPool(work.jobs, threads: 1).finish()
        try file.finish()

        let connection = try Connection(path: path, mode: .read)
        let check = try connection.statement("PRAGMA integrity_check")
        #expect(try check.step())
        #expect(check.text(0) == "ok")
        for (index, name) in Self.distinct.enumerated() {
            let found = try connection.integer("SELECT ref FROM name WHERE text = ?", .text(name))
            #expect(found == Int64(index * 3 + 1))
        }
        #expect(try connection.integer("SELECT count(*) FROM name NOT INDEXED") == Int64(Self.distinct.count))
    }
}
