import Foundation
import Interchange
import TestSupport
import Testing

/// Databases whose end is missing, as of a copy that broke off.
@Suite struct CutStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    /// Searches in pages of 1,024 bytes. The last pages have the end of a long one, where `isLong`, else rows.
    private static let maker = #"""
        import os, sqlite3, sys
        path, kind, isLong = sys.argv[1], sys.argv[2], sys.argv[3] == "true"
        db = sqlite3.connect(path)
        db.execute("PRAGMA page_size=1024")
        if kind != "plain": db.execute("PRAGMA journal_mode=wal")
        db.execute("CREATE TABLE ZSEARCHRESULT (Z_PK INTEGER PRIMARY KEY, ZID VARCHAR, ZNAME VARCHAR, ZDATE TIMESTAMP)")
        add = lambda key, text: db.execute("INSERT INTO ZSEARCHRESULT VALUES (?,?,?,?)", (key, f"k{key}", text, 700000000 + key))
        for key in range(1, 101): add(key, f"검색{key}")
        if isLong: add(101, "가" * 2000)
        db.commit()
        if kind == "copied":
            db.execute("PRAGMA wal_checkpoint(PASSIVE)")
        if kind == "logged":
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            add(102, "새 검색")
            db.commit()
        if kind == "plain": db.close()
        os._exit(0)
        """#

    /// The bytes of a store; its log, if it has one, lies beside ``path``.
    private func store(_ kind: String, isLong: Bool) throws -> [UInt8] {
        for ending in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + ending) }
        try python(["-c", Self.maker, path, kind, "\(isLong)"])
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    private var path: String { folder.file("Search.sqlite") }

    private func reading(_ bytes: some Sequence<UInt8>) throws -> Imported {
        try Data(bytes).write(to: URL(filePath: path))
        return try Imported(path)
    }

    private func refusal(_ bytes: some Sequence<UInt8>) throws -> String? {
        #expect(throws: ImportError.self) { try reading(bytes) }?.description
    }

    @Test(
        "A store that is cut anywhere is refused as cut, with the number of bytes that are missing",
        arguments: [true, false])
    func cut(_ isLong: Bool) throws {
        let whole = try store("plain", isLong: isLong)
        #expect(try reading(whole).events.count == (isLong ? 101 : 100))
        let cuts = Array(1...40) + Array(stride(from: 41, to: whole.count - 100, by: 97)) + [1_023, 1_024, 1_025]
        for cut in cuts {
            let missing = "it is cut: \(cut) of its \(whole.count) bytes are missing"
            #expect(try refusal(whole.dropLast(cut)) == "\(path): \(missing)", "\(cut)")
        }
        for left in [6, 15, 16, 40, 99] {
            #expect(
                try refusal(whole.prefix(left)) == "\(path): it is cut: not even its header of 100 bytes is whole",
                "\(left)")
        }
        // A program that does not write how long the file is leaves its count of changes behind.
        var old = whole
        old.replaceSubrange(92..<96, with: [0, 0, 0, 0])
        #expect(try reading(old).events.count == (isLong ? 101 : 100))
        #expect(try refusal(old.dropLast(3)) == "\(path): it is cut: 3 of its \(whole.count) bytes are missing")
        // What lies behind its last page is no part of it.
        #expect(try reading(whole + [1, 2, 3]).events.count == (isLong ? 101 : 100))
    }

    @Test("So it is in a folder and an archive")
    func folders() throws {
        let whole = try store("plain", isLong: true)
        let bytes = Array(whole.dropLast(2))
        let root = folder.file("x")
        try FileManager.default.createDirectory(atPath: root + "/a", withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: root + "/a/Search.sqlite"))
        let zip = ArchiveTests.Zip(entries: [.init(name: "a/Search.sqlite", bytes: bytes)])
        for given in [root, try folder.write(Data(zip.bytes), to: "x.zip")] {
            let error = #expect(throws: ImportError.self) { try Imported(given) }
            let missing = "it is cut: 2 of its \(whole.count) bytes are missing"
            #expect(error?.description == "\(given)/a/Search.sqlite: \(missing)")
        }
    }

    @Test(
        "Pages at the end that the log alone has are there: so a checkpoint leaves them that broke off",
        arguments: [true, false])
    func logHasThem(_ isLong: Bool) throws {
        let whole = try store("copied", isLong: isLong)
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        #expect(whole.count > 4_096 && log.count > whole.count)
        for cut in [0, 1, 1_023, 1_024, 1_500, whole.count - 1_024] {
            try log.write(to: URL(filePath: path + "-wal"))
            #expect(try reading(whole.dropLast(cut)).events.count == (isLong ? 101 : 100), "\(cut)")
        }
    }

    @Test("Pages that stand in neither are missing, and with the log that is said", arguments: [true, false])
    func logLacksThem(_ isLong: Bool) throws {
        let whole = try store("logged", isLong: isLong)
        let log = try Data(contentsOf: URL(filePath: path + "-wal"))
        #expect(try reading(whole).events.count == (isLong ? 102 : 101))
        // The last page has the last rows, and the log has it anew. The one before it has rows, or the end of the long search.
        for cut in [1, 1_023, 1_024] {
            try log.write(to: URL(filePath: path + "-wal"))
            #expect(try reading(whole.dropLast(cut)).events.count == (isLong ? 102 : 101), "\(cut)")
        }
        for cut in [1_025, 1_027, 2_047, 2_048, 3_000, whole.count - 1_024] {
            try log.write(to: URL(filePath: path + "-wal"))
            let missing = "\(cut) of its \(whole.count) bytes are missing, and its log does not have them"
            #expect(try refusal(whole.dropLast(cut)) == "\(path): it is cut: \(missing)", "\(cut)")
        }
    }

    @Test("A page that has lost a row is refused, as SQLite finds it; what is no database at all is called so")
    func damaged() throws {
        var whole = try store("plain", isLong: false)
        let leaf = try #require(stride(from: 1_024, to: whole.count, by: 1_024).first { whole[$0] == 0x0d })
        whole[leaf + 4] -= 1
        let told = try refusal(whole)
        #expect(told?.hasPrefix("\(path): it is damaged, as SQLite finds: ") == true, "\(told ?? "")")
        #expect(told?.contains("\n") == false)
        try Data("no database".utf8).write(to: URL(filePath: path))
        #expect(throws: ImportError(.malformed, path, "it is no SQLite file")) { try Imported(path, as: .coredata) }
    }
}
