import EventStore
import Foundation
import Glibc
import Interchange
import TestSupport
import Testing

/// Names of files in Korean. A Mac takes syllables apart, and what an export says of its files may have them whole.
@Suite struct FileNameTests {
    struct Form: Sendable, CustomTestStringConvertible {
        let isSaidApart: Bool
        let isStoredApart: Bool
        var testDescription: String { "said \(isSaidApart ? "NFD" : "NFC"), stored \(isStoredApart ? "NFD" : "NFC")" }
        func said(_ text: String) -> String { FileNameTests.text(text, isApart: isSaidApart) }
        func stored(_ text: String) -> String { FileNameTests.text(text, isApart: isStoredApart) }
    }

    static let forms = [(false, false), (false, true), (true, false), (true, true)].map(Form.init)
    private static let notTaken = "a file of the export that is not taken"
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private static func text(_ text: String, isApart: Bool) -> String {
        isApart ? text.decomposedStringWithCanonicalMapping : text.precomposedStringWithCanonicalMapping
    }

    /// A folder of these files, and an archive of the same. Foundation may write a name in another form than it was given.
    private func both(_ files: [(name: String, bytes: [UInt8])]) throws -> [String] {
        let root = folder.file("x")
        try? FileManager.default.removeItem(atPath: root)
        for (name, bytes) in files {
            var path = root
            for part in name.split(separator: "/") {
                mkdir(path, 0o700)
                path += "/" + part
            }
            let file = try #require(fopen(path, "w"))
            fwrite(bytes, 1, bytes.count, file)
            fclose(file)
        }
        let zip = ArchiveTests.Zip(entries: files.map { .init(name: $0.name, bytes: $0.bytes) })
        return [root, try folder.write(Data(zip.bytes), to: "x.zip")]
    }

    /// Each importer of files takes those that lie there under the other form of their name, and tells of none that was left out.
    private func expect(
        _ format: ExportFormat, _ files: [(name: String, bytes: [UInt8])], taking bytes: [[UInt8]]
    ) throws {
        var events: [[EventDraft]] = []
        for path in try both(files) {
            let imported = try Imported(path)
            #expect(imported.format == format && imported.passedOver == 0, "\(imported.places)")
            #expect(try imported.attachments.map { try $0.bytes() } == bytes)
            events.append(imported.events)
        }
        #expect(events[0] == events[1])
    }

    @Test("WhatsApp: a picture and a document under the other form of their names", arguments: forms)
    func whatsApp(_ form: Form) throws {
        let chat = form.said(
            """
            13/10/2025, 09:05 - 영희: \u{200e}사진.png (file attached)
            13/10/2025, 09:06 - 영희: \u{200e}<첨부: 00000002-보고서.pdf>

            """)
        let files = [("chat.txt", chat), (form.stored("사진.png"), "하나"), (form.stored("00000002-보고서.pdf"), "둘")]
        try expect(.whatsapp, files.map { ($0, Array($1.utf8)) }, taking: [Array("하나".utf8), Array("둘".utf8)])
    }

    @Test("Telegram: files of a folder whose name has the other form, too", arguments: forms)
    func telegram(_ form: Form) throws {
        let messages = [#""photo":"사진/하나.jpg","text":"가""#, #""file":"파일/둘.pdf","text":"""#].enumerated().map {
            #"{"id":\#($0 + 1),"type":"message","date_unixtime":"17000000\#($0 + 10)","from":"홍","from_id":"user1",\#($1)}"#
        }
        let export = #"{"name":"방","type":"personal_chat","id":5,"messages":[\#(messages.joined(separator: ","))]}"#
        let files = [
            (form.stored("내보내기/result.json"), form.said(export)), (form.stored("내보내기/사진/하나.jpg"), "하나"),
            (form.stored("내보내기/파일/둘.pdf"), "둘"),
        ]
        try expect(.telegram, files.map { ($0, Array($1.utf8)) }, taking: [Array("하나".utf8), Array("둘".utf8)])
    }

    @Test("ChatGPT: a file that was uploaded without an id goes by its name", arguments: forms)
    func chatGPT(_ form: Form) throws {
        let uploaded = #"[{"name":"메모.txt"},{"id":"file-A","name":"보고서.pdf"}]"#
        let export =
            #"[{"conversation_id":"k","create_time":1,"mapping":{"n":{"parent":null,"message":{"author":{"role":"user"},"#
            + #""create_time":1,"content":{"content_type":"text","parts":["봐"]},"metadata":{"attachments":\#(uploaded)}}}}}]"#
        let files = [
            ("conversations.json", form.said(export)), (form.stored("메모.txt"), "하나"),
            (form.stored("file-A-보고서.pdf"), "둘"),
        ]
        try expect(.chatgpt, files.map { ($0, Array($1.utf8)) }, taking: [Array("하나".utf8), Array("둘".utf8)])
    }

    @Test("Slack: a channel's folder goes by the id of the list, in either form", arguments: forms)
    func slack(_ form: Form) throws {
        let files = [
            ("channels.json", form.said(#"[{"id":"C1","name":"일반","created":1,"members":["U1"]}]"#)),
            (
                form.stored("일반/2023-11-14.json"),
                #"[{"type":"message","user":"U1","text":"안녕","ts":"1700000000.100000"}]"#
            ),
        ]
        try expect(.slack, files.map { ($0, Array($1.utf8)) }, taking: [])
        #expect(try Imported(folder.file("x")).events.map(\.conversation) == ["slack:C1", "slack:C1"])
    }

    @Test("SwiftData: the folder beside a store, whose name has the other form", arguments: forms)
    func swiftData(_ form: Form) throws {
        for name in ["row", "log"] { _ = try folder.write(Data([0x89, 0x50]), to: name + ".png") }
        try python(["-c", ImportedPictureTests.maker, folder.path])
        let outside = form.stored(".검색_SUPPORT/_EXTERNAL_DATA/8E0C3D3C-0000-4000-8000-00000000000A")
        let picture = [UInt8]([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 7])
        var files = [(outside, picture)]
        for ending in ["", "-wal"] {
            let bytes = try Data(contentsOf: URL(filePath: folder.file("default.store" + ending)))
            files.append((form.said("검색.store") + ending, [UInt8](bytes)))
        }
        for path in try both(files) {
            let imported = try Imported(path)
            #expect(try imported.attachments.map { try $0.bytes() } == [picture])
            #expect(imported.skipped[Self.notTaken] == nil, "\(imported.places)")
        }
    }

    @Test("Of two files whose names are equivalent, the one of the same bytes is meant, and the other one is told")
    func two() throws {
        let chat = { (isApart: Bool) in
            "13/10/2025, 09:05 - a: \u{200e}\(Self.text("사진.png", isApart: isApart)) (file attached)\n"
        }
        let names = [false, true].map { Self.text("사진.png", isApart: $0) }
        for isApart in [false, true] {
            let files = [("chat.txt", chat(isApart)), (names[0], "whole"), (names[1], "apart")]
            let meant = Array((isApart ? "apart" : "whole").utf8)
            for path in try both(files.map { ($0, Array($1.utf8)) }) {
                let imported = try Imported(path)
                #expect(try imported.attachments.map { try $0.bytes() } == [meant])
                #expect(imported.places.map { Array($0.utf8) } == [Array(names[isApart ? 0 : 1].utf8)])
            }
        }
    }

    @Test("A database or JSON is found in a folder and an archive in letters of either case")
    func endings() throws {
        try python([
            "-c",
            """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1])
            db.execute("CREATE TABLE ZSEARCHRESULT (Z_PK INTEGER PRIMARY KEY, ZID VARCHAR, ZNAME VARCHAR, ZDATE TIMESTAMP)")
            db.execute("INSERT INTO ZSEARCHRESULT VALUES (1, 'a', '서울', 700000000)")
            db.commit()
            """, folder.file("s"),
        ])
        let store = [UInt8](try Data(contentsOf: URL(filePath: folder.file("s"))))
        let chats =
            #"{"__collections__":{"chats":{"k":{"senderId":"u","senderName":"n","messageId":"m","sentDate":1,"text":"가","botResponse":"나"}}}}"#
        let lines = #"{"messages":[{"role":"user","content":"안녕"}]}"#
        let cases: [(String, [UInt8], ExportFormat)] = [
            ("SEARCH.SQLITE", store, .coredata), ("Search.Sqlite3", store, .coredata), ("a/S.DB", store, .coredata),
            ("DEFAULT.STORE", store, .coredata), ("CHATS.JSON", Array(chats.utf8), .firestore),
            ("Train.JSONL", Array(lines.utf8), .openai),
        ]
        for (name, bytes, format) in cases {
            for path in try both([(name, bytes)]) {
                let imported = try Imported(path)
                #expect(imported.format == format && !imported.events.isEmpty && imported.passedOver == 0, "\(name)")
            }
        }
    }
}
