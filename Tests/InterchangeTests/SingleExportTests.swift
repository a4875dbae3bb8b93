import Foundation
import Interchange
import TestSupport
import Testing

/// Exports of one file, in the archive or the folder that they stand in.
@Suite struct SingleExportTests {
    private let folder: TemporaryFolder
    private static let notTaken = "a file of the export that is not taken"
    private static let chats =
        #"{"__collections__":{"chats":{"k":{"senderId":"u","senderName":"n","messageId":"m","sentDate":1,"text":"가","botResponse":"나"}}}}"#
    private static let messenger =
        #"{"Chats":{"r":{"k":{"userId":"u","date":1700000000,"message":"가"}}},"Users":{"u":{"id":"u","name":"홍"}}}"#
    private static let picture =
        [UInt8]([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) + [UInt8](repeating: 7, count: 900)
    /// Searches, of which the newest is in the log alone.
    private static let searches = #"""
        import os, sqlite3, sys
        db = sqlite3.connect(f"{sys.argv[1]}/Search.sqlite")
        db.executescript("PRAGMA journal_mode=wal;"
            "CREATE TABLE ZSEARCHRESULT (Z_PK INTEGER PRIMARY KEY, ZID VARCHAR, ZNAME VARCHAR, ZDATE TIMESTAMP);"
            "INSERT INTO ZSEARCHRESULT VALUES (1, 'a', '서울', 700000000);")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("INSERT INTO ZSEARCHRESULT VALUES (2, 'b', '부산', 700000001)")
        db.commit()
        os._exit(0)
        """#

    init() throws { folder = try TemporaryFolder.made() }

    private func write(_ bytes: [UInt8], to name: String) throws {
        let path = URL(filePath: folder.file(name))
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: path)
    }

    private func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    /// The folder `x`, and the archive that Python makes of it.
    private func both() throws -> [String] {
        try python([
            "-c", "import shutil,sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[1])", folder.file("x"),
        ])
        return [folder.file("x"), folder.file("x.zip")]
    }

    @Test(
        "What no importer reads is refused by its name in a folder and an archive, too, and is taken for no other one",
        arguments: [
            (
                "your_instagram_activity/messages/inbox/a_1/message_1.json", "Instagram or Facebook Messenger",
                #"{"participants":[{"name":"a"}],"messages":[{"sender_name":"a","timestamp_ms":1,"content":"b"}]}"#
            ),
            (
                "export.json", "LibreChat",
                #"{"conversationId":"k","exportAt":"x","recursive":true,"messages":[{"messageId":"m","text":"a"}]}"#
            ),
        ])
    func strangers(_ name: String, _ service: String, _ text: String) throws {
        try write(text, to: "x/" + name)
        try write("[1]", to: "x/a.json")
        for path in try both() {
            let refusal = ImportError(.unknownFormat, path, "an export of \(service), which import does not read")
            #expect(throws: refusal) { try Sniffer.look(at: ExportFiles(path)) }
        }
    }

    @Test(
        "A folder or an archive with one JSON of a database is read as that file is; what lies beside it is named",
        arguments: [(ExportFormat.firestore, Self.chats), (.firebase, Self.messenger)])
    func json(_ format: ExportFormat, _ text: String) throws {
        try write(text, to: "x/data/any name.json")
        // Neither is of a database: they are not read.
        try write("[1]", to: "x/data/settings.json")
        try write("읽어 보세요", to: "x/README")
        let alone = try Imported(folder.file("x/data/any name.json"))
        #expect(alone.events.count == 2 && alone.format == format)
        for path in try both() {
            let imported = try Imported(path)
            #expect(imported.format == format && imported.events == alone.events)
            #expect(imported.skipped == [Self.notTaken: 2])
            #expect(imported.places == ["README", "data/settings.json"])
        }
    }

    @Test("A Core Data store in a folder or an archive: its log is read with it")
    func coreData() throws {
        try write("x", to: "x/a/note.txt")
        try python(["-c", Self.searches, folder.file("x/a")])
        let alone = try Imported(folder.file("x/a/Search.sqlite"))
        #expect(alone.events.count == 2)
        for path in try both() {
            let imported = try Imported(path)
            #expect(imported.format == .coredata && imported.events == alone.events)
            #expect(imported.skipped == [Self.notTaken: 1] && imported.places == ["a/note.txt"])
        }
        // Nothing was written beside it.
        let there = try FileManager.default.contentsOfDirectory(atPath: folder.file("x/a")).sorted()
        #expect(there == ["Search.sqlite", "Search.sqlite-shm", "Search.sqlite-wal", "note.txt"])
    }

    @Test("A SwiftData store in a folder or an archive: pictures of its rows, its log, and the folder beside it")
    func swiftData() throws {
        for name in ["row", "log"] { try write(Self.picture + Array(name.utf8), to: "x/\(name).png") }
        try write(Self.picture, to: "x/.default_SUPPORT/_EXTERNAL_DATA/8E0C3D3C-0000-4000-8000-00000000000A")
        try python(["-c", ImportedPictureTests.maker, folder.file("x")])
        let alone = try Imported(folder.file("x/default.store"))
        #expect(alone.attachments.count == 3 && alone.events.count == 7)
        for path in try both() {
            let imported = try Imported(path)
            #expect(imported.format == .swiftdata && imported.events == alone.events)
            #expect(try imported.attachments.map { try $0.bytes() } == alone.attachments.map { try $0.bytes() })
            #expect(imported.remarks == alone.remarks && imported.skipped[Self.notTaken] == 2, "\(imported.places)")
        }
    }

    @Test("A store without a log is read where it lies in a folder, and from an archive")
    func withoutLog() throws {
        try write("x", to: "x/note.txt")
        try python(["-c", Self.searches.replacing("os._exit(0)", with: "db.close()"), folder.file("x")])
        for path in try both() { #expect(try Imported(path).events.count == 2) }
        try write("x", to: "x/Search.sqlite-journal")
        for path in try both() {
            let error = #expect(throws: ImportError.self) { try Imported(path) }
            #expect(
                error?.description == path + "/Search.sqlite: a rollback journal stands beside it: "
                    + "open and close it with its app first")
        }
    }

    @Test("Two exports in one folder or archive are refused, with both names")
    func two() throws {
        func refuse(_ one: String, _ other: String) throws {
            for path in try both() {
                #expect(
                    throws: ImportError(
                        .malformed, path, "two exports are in it, \(one) and \(other): import one of them alone")
                ) { try Imported(path) }
            }
        }
        try write(Self.chats, to: "x/a.json")
        try write(Self.chats, to: "x/b/c.json")
        try refuse("a.json", "b/c.json")
        // Told what they are, both are read.
        for path in try both() { #expect(try Imported(path, as: .firestore).events.count == 4) }
        try write(Self.messenger, to: "x/b/c.json")
        try refuse("a.json", "b/c.json")
        try python(["-c", Self.searches, folder.file("x")])
        try FileManager.default.removeItem(atPath: folder.file("x/b"))
        try refuse("Search.sqlite", "a.json")
        try FileManager.default.removeItem(atPath: folder.file("x/a.json"))
        try write("x", to: "x/b/note.txt")
        try python(["-c", Self.searches, folder.file("x/b")])
        try refuse("Search.sqlite", "b/Search.sqlite")
    }

    @Test("A damaged store in an archive is refused, and a log that is a link in a folder is not followed")
    func hostile() throws {
        try write("SQLite format 3\u{0}nonsense", to: "x/default.store")
        for path in try both() {
            #expect(throws: ImportError.self) { try Imported(path, as: .swiftdata) }
        }
        try FileManager.default.removeItem(atPath: folder.file("x"))
        try write("x", to: "x/note.txt")
        try python(["-c", Self.searches, folder.file("x")])
        try FileManager.default.moveItem(atPath: folder.file("x/Search.sqlite-wal"), toPath: folder.file("wal"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("x/Search.sqlite-wal"), withDestinationPath: folder.file("wal"))
        #expect(try Imported(folder.file("x")).events.count == 1)
    }
}
