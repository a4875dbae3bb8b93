import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Pictures and files of exports: what events name of them, and their bytes.
@Suite struct ImportedPictureTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    /// Bytes that begin as a picture of 7 × 5 points does.
    private static func picture(_ count: Int, _ seed: UInt8) -> [UInt8] {
        let head: [UInt8] = [
            0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 7, 0, 0, 0,
            5,
        ]
        return head + (head.count..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) ^ seed }
    }

    private func write(_ bytes: [UInt8], to name: String) throws {
        let path = URL(filePath: folder.file(name))
        try FileManager.default.createDirectory(
            at: path.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: path)
    }

    private func archive(_ name: String) throws -> String {
        try python([
            "-c", "import shutil,sys; shutil.make_archive(sys.argv[1], 'zip', sys.argv[1])", folder.file(name),
        ])
        return folder.file(name + ".zip")
    }

    private func digest(_ bytes: [UInt8]) -> String { SHA256().digest(bytes).description }

    /// A store as SwiftData writes it: a relation in a table of its own, roles as property lists, and the newest row in the log alone. A 1
    /// stands before what is in a row and could be outside, a 2 before the name of what is outside.
    static let maker = #"""
        import os, plistlib, sqlite3, sys
        folder = sys.argv[1]
        read = lambda name: open(f"{folder}/{name}.png", "rb").read()
        db = sqlite3.connect(f"{folder}/default.store")
        db.executescript("PRAGMA journal_mode=wal;"
            "CREATE TABLE ZCONVERSATION (Z_PK INTEGER PRIMARY KEY, ZCATEGORY INTEGER, ZCREATED TIMESTAMP, ZID VARCHAR);"
            "CREATE TABLE ZMESSAGE (Z_PK INTEGER PRIMARY KEY, ZCREATEDAT TIMESTAMP, ZCONTENT BLOB, ZID VARCHAR, ZROLE BLOB);"
            "CREATE TABLE Z_1MESSAGES (Z_1CONVERSATIONS INTEGER, Z_2MESSAGES INTEGER);"
            "INSERT INTO ZCONVERSATION VALUES (1, 1, 700000000, 'c');")
        def add(key, role, content):
            plist = plistlib.dumps({"rawValue": role}, fmt=plistlib.FMT_BINARY)
            db.execute("INSERT INTO ZMESSAGE VALUES (?,?,?,?,?)", (key, 700000000 + key, content, f"m{key}", plist))
            db.execute("INSERT INTO Z_1MESSAGES VALUES (1,?)", (key,))
        add(1, "user", "그림".encode())
        add(2, "assistant", b"\x01" + read("row"))
        add(3, "assistant", b"\x028E0C3D3C-0000-4000-8000-00000000000A\0")
        add(4, "assistant", b"\x028E0C3D3C-0000-4000-8000-00000000000B\0")
        add(5, "user", b"\x01" + "긴 글".encode())
        add(6, "assistant", b"\x00\xff\xfe")
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        add(7, "user", read("log"))
        db.commit()
        os._exit(0)
        """#

    @Test("A SwiftData store: pictures in rows, in the log and outside; one that is gone leaves its name")
    func swiftData() throws {
        let (row, outside, log) = (Self.picture(787_252, 1), Self.picture(700_000, 2), Self.picture(200_000, 3))
        try write(row, to: "row.png")
        try write(log, to: "log.png")
        try write(outside, to: ".default_SUPPORT/_EXTERNAL_DATA/8E0C3D3C-0000-4000-8000-00000000000A")
        try python(["-c", Self.maker, folder.path])
        let logBytes = try Data(contentsOf: URL(filePath: folder.file("default.store-wal"))).count
        #expect(logBytes > log.count)
        let there = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        let imported = try Imported(folder.file("default.store"))
        #expect(imported.format == .swiftdata)
        #expect(imported.counts == ["conversation.started": 1, "message.posted": 3, "bot.replied": 3])
        #expect(imported.texts == ["그림", "긴 글"])
        #expect(imported.skipped == ["a content that is neither text nor a picture": 1])
        let items = imported.events.flatMap(\.items)
        #expect(items.map { $0.string("sha256") } == [digest(row), digest(outside), nil, digest(log)])
        #expect(items.map { $0.integer("bytes") } == [787_252, 700_000, nil, 200_000])
        #expect(items.map { $0.string("mediaType") } == ["image/png", "image/png", nil, "image/png"])
        #expect(items[0].integer("width") == 7 && items[0].integer("height") == 5 && items[0]["data"] == nil)
        #expect(items[2].string("name") == "8E0C3D3C-0000-4000-8000-00000000000B")
        #expect(try imported.attachments.map { try $0.bytes() } == [row, outside, log])
        #expect(
            imported.remarks == [
                "1 time: a content whose file is not in .default_SUPPORT beside the store, or cannot be read: "
                    + "its name is taken (ZMESSAGE 4)"
            ])
        // Nothing of what was given was written.
        #expect(try Data(contentsOf: URL(filePath: folder.file("default.store-wal"))).count == logBytes)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == there)
    }

    @Test("A link in the place of a file outside is not followed")
    func link() throws {
        let secret = try folder.write(Data(Self.picture(100, 9)), to: "secret")
        for name in ["row", "log"] { try write(Self.picture(100, 1), to: name + ".png") }
        let outside = ".default_SUPPORT/_EXTERNAL_DATA/8E0C3D3C-0000-4000-8000-00000000000"
        try write(Self.picture(100, 2), to: outside + "B")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file(outside + "A"), withDestinationPath: secret)
        try python(["-c", Self.maker, folder.path])
        let imported = try Imported(folder.file("default.store"))
        #expect(imported.attachments.map(\.count) == [100, 100, 100])
        #expect(imported.remarks.first?.contains("(ZMESSAGE 3)") == true)
    }

    @Test("Telegram: files of a folder and of its archive are named by their digests; what is not there by its name")
    func telegram() throws {
        let (photo, paper) = (Self.picture(300_000, 4), Array("%PDF-1.7 글".utf8))
        try write(photo, to: "t/photos/photo_1.jpg")
        try write(paper, to: "t/files/글.pdf")
        try write(paper, to: "outside.pdf")
        let absent = "(File not included. Change data exporting settings to download.)"
        let messages = [
            #""photo":"photos/photo_1.jpg","width":70,"height":50,"text":"사진""#,
            #""file":"files/글.pdf","file_name":"글 1.pdf","mime_type":"application/pdf","text":"""#,
            #""file":"\#(absent)","mime_type":"video/mp4","duration_seconds":3,"text":"""#,
            #""file":"../outside.pdf","text":"나가기""#,
        ]
        let list = messages.enumerated().map {
            #"{"id":\#($0 + 1),"type":"message","date_unixtime":"17000000\#($0 + 10)","from":"홍","from_id":"user1",\#($1)}"#
        }
        let export = #"{"name":"방","type":"personal_chat","id":5,"messages":[\#(list.joined(separator: ","))]}"#
        try write(Array(export.utf8), to: "t/result.json")
        let archived = try Imported(try archive("t")), plain = try Imported(folder.file("t"))
        #expect(archived.events == plain.events)
        for imported in [archived, plain] {
            let items = imported.events.flatMap(\.items)
            #expect(items.map { $0.string("sha256") } == [digest(photo), digest(paper), nil, nil])
            // What a picture is its bytes say.
            #expect(items.map { $0.string("mediaType") } == ["image/png", "application/pdf", "video/mp4", nil])
            #expect(items.map { $0.string("name") } == ["photos/photo_1.jpg", "글 1.pdf", absent, "../outside.pdf"])
            #expect(items[0].integer("width") == 70 && items[2].integer("duration_ms") == 3_000)
            #expect(try imported.attachments.map { try $0.bytes() } == [photo, paper])
            #expect(imported.skipped == ["the bytes of a file: its name is taken": 2])
        }
        // Beside a file alone nothing is read, and its events are the same ones.
        let alone = try Imported(folder.file("t/result.json"))
        #expect(alone.attachments.isEmpty && alone.skipped == ["the bytes of a file: its name is taken": 4])
        #expect(alone.events.map(\.id) == plain.events.map(\.id))
    }

    @Test("WhatsApp: the files that Android and iOS name, in the phone's language; what is not there is told")
    func whatsApp() throws {
        let photo = Self.picture(300_000, 5)
        try write(photo, to: "a/IMG-20240101-WA0001.jpg")
        try write(photo, to: "i/00000012-PHOTO-2024-01-01.jpg")
        let android = """
            13/06/24, 21:25 - 영희: \u{200e}IMG-20240101-WA0001.jpg (파일 첨부됨)
            설명
            13/06/24, 21:26 - 영희: IMG-20240101-WA0002.jpg (file attached)
            13/06/24, 21:27 - 영희: 안녕 (하하)
            13/06/24, 21:28 - 영희: WhatsApp Chat with 영희.txt
            13/06/24, 21:29 - 영희: 보고서.pdf (file attached)
            13/06/24, 21:30 - 영희: \u{200e}보고서.pdf (bestand bijgevoegd)

            """
        let ios = """
            [13/06/24, 21:25:01] 영희: \u{200e}<첨부: 00000012-PHOTO-2024-01-01.jpg>
            [13/06/24, 21:25:02] 영희: \u{200e}<attached: 00000013-PHOTO-2024-01-01.jpg>
            [13/06/24, 21:25:03] 영희: <a: b>

            """
        try write(Array(android.utf8), to: "a/WhatsApp Chat with 영희.txt")
        try write(Array(ios.utf8), to: "i/WhatsApp Chat - 영희.txt")
        for name in ["a", "i"] {
            let archived = try Imported(try archive(name)), plain = try Imported(folder.file(name))
            #expect(archived.events == plain.events && archived.format == .whatsapp)
            #expect(archived.events.map(\.items.count) == (name == "a" ? [1, 0, 0, 0, 0, 0] : [1, 0, 0]))
            let item = try #require(archived.events.first?.items.first)
            #expect(item.string("sha256") == digest(photo) && item.integer("bytes") == 300_000)
            #expect(item.string("mediaType") == "image/png" && item.string("name")?.hasSuffix(".jpg") == true)
            #expect(try archived.attachments.map { try $0.bytes() } == [photo])
            #expect(archived.skipped == ["the bytes of a file: its name is taken": name == "a" ? 3 : 1])
            #expect(archived.texts[0].hasSuffix(name == "a" ? "(파일 첨부됨)\n설명" : ".jpg>"))
        }
    }

    @Test("WhatsApp of iOS: a file is named behind a document's title, and behind, before and below a caption")
    func captions() throws {
        let said = [
            "보고서.pdf • \u{200e}3 pages \u{200e}<attached: 1-보고서.pdf>",
            "우리 고양이 \u{200e}<attached: 2-PHOTO.jpg>",
            "\u{200e}<attached: 3-PHOTO.jpg>\n캡션", "캡션이 앞줄에\n\n둘째 줄\n\u{200e}<attached: 4-PHOTO.jpg>",
            "\u{200e}<첨부: 5: 하나.jpg> \u{200e}<This message was edited>", "<3 하트 <adjunto: 6-PHOTO.jpg>",
            "\u{200e}<pièce jointe : 7-PHOTO.jpg>",
        ]
        let names = [
            "1-보고서.pdf", "2-PHOTO.jpg", "3-PHOTO.jpg", "4-PHOTO.jpg", "5: 하나.jpg", "6-PHOTO.jpg", "7-PHOTO.jpg",
        ]
        for name in names { try write(Array("bytes of \(name)".utf8), to: "w/" + name) }
        // What a person has written so names no file.
        let other = [
            "사라진 것 \u{200e}<attached: 8-PHOTO.jpg>", "<see: this.one> and <a: b>", "a > b, b < c: d.e > f",
            String(repeating: "<", count: 100_000) + ": a.b" + String(repeating: ">", count: 100_000),
        ]
        let lines = (said + other).enumerated().map { "[13/06/24, 21:25:\($0 + 10)] 영희: \($1)\n" }
        try write(Array(lines.joined().utf8), to: "w/WhatsApp Chat - 영희.txt")
        let archived = try Imported(try archive("w")), plain = try Imported(folder.file("w"))
        #expect(archived.events == plain.events)
        #expect(plain.texts == said + other)
        #expect(
            plain.events.map { $0.items.map { $0.string("name") } } == names.map { [$0] } + other.map { _ in [] })
        #expect(try plain.attachments.map { try $0.bytes() } == names.map { Array("bytes of \($0)".utf8) })
        #expect(plain.skipped == ["the bytes of a file: its name is taken": 1])
    }

    @Test("ChatGPT: files that were uploaded come with their names, each once; one that is not there leaves its name")
    func uploads() throws {
        let paper = Array("%PDF-1.7 글".utf8)
        try write(paper, to: "g/file-DOC1-보고서.pdf")
        try write(Self.picture(100, 7), to: "g/file-PIC1-p.png")
        let messages = [
            (
                #"["이 파일 봐"]"#,
                #"[{"id":"file-DOC1","name":"보고서.pdf","mime_type":"application/pdf","size":12}]"#
            ),
            (#"[]"#, #"[{"id":"file-GONE","name":"사라진.pdf","mime_type":"application/pdf","size":14}]"#),
            (
                #"[{"asset_pointer":"file-service://file-PIC1"},"그림"]"#,
                #"[{"id":"file-PIC1","name":"p.png"},{"id":"file-DOC1","name":"보고서.pdf"}]"#
            ),
        ]
        let nodes = messages.enumerated().map { number, message in
            #""n\#(number)":{"parent":null,"message":{"author":{"role":"user"},"create_time":\#(number + 1),"#
                + #""content":{"content_type":"multimodal_text","parts":\#(message.0)},"#
                + #""metadata":{"attachments":\#(message.1)}}}"#
        }
        let export = #"[{"conversation_id":"k","create_time":1,"mapping":{\#(nodes.joined(separator: ","))}}]"#
        try write(Array(export.utf8), to: "g/conversations.json")
        let archived = try Imported(try archive("g")), plain = try Imported(folder.file("g"))
        #expect(archived.events == plain.events && plain.passedOver == 0)
        let items = plain.events.map { $0.items.map { $0.string("name") } }
        #expect(items == [[], ["보고서.pdf"], ["사라진.pdf"], ["file-PIC1-p.png", "보고서.pdf"]])
        let gone = try #require(plain.events.first { $0.items.first?.string("name") == "사라진.pdf" }?.items.first)
        #expect(gone["sha256"] == nil && gone.integer("bytes") == 14 && gone.string("mediaType") == "application/pdf")
        #expect(try plain.attachments.map { try $0.bytes() } == [paper, Self.picture(100, 7), paper])
        #expect(
            plain.remarks == [
                "1 time: a picture or file that is not in what was given: its name is taken ($[0].mapping.n1)"
            ])
    }

    @Test("ChatGPT: voices and films of a call stand one level deeper, and need no text beside them")
    func calls() throws {
        let parts = [
            #"{"content_type":"audio_transcription","text":""},{"content_type":"real_time_user_audio_video_asset_pointer","#
                + #""frames_asset_pointers":["sediment://file_frame",{"asset_pointer":"sediment://file_gone"}],"#
                + #""video_container_asset_pointer":{"asset_pointer":"sediment://file_film"},"#
                + #""audio_asset_pointer":{"asset_pointer":"sediment://file_voice","size_bytes":5}}"#,
            #"{"content_type":"real_time_user_audio_video_asset_pointer","frames_asset_pointers":[],"#
                + #""video_container_asset_pointer":null,"audio_asset_pointer":{"asset_pointer":"sediment://file_voice"}}"#,
        ]
        let nodes = parts.enumerated().map { number, parts in
            #""n\#(number)":{"parent":null,"message":{"author":{"role":"user"},"create_time":\#(number + 1),"#
                + #""content":{"content_type":"multimodal_text","parts":[\#(parts)]}}}"#
        }
        let export = #"[{"conversation_id":"k","create_time":1,"mapping":{\#(nodes.joined(separator: ","))}}]"#
        try write(Array(export.utf8), to: "v/conversations.json")
        for name in ["frame", "film", "voice"] { try write(Array(name.utf8), to: "v/k/file_\(name)-x.bin") }
        let imported = try Imported(folder.file("v"))
        #expect(imported.passedOver == 0, "\(imported.places)")
        let names = imported.events.dropFirst().map { $0.items.map { $0.string("name") } }
        #expect(
            names == [
                ["file_voice-x.bin", "file_film-x.bin", "file_frame-x.bin", "file_gone"], ["file_voice-x.bin"],
            ])
        let told = ["voice", "film", "frame", "voice"].map { Array($0.utf8) }
        #expect(try imported.attachments.map { try $0.bytes() } == told)
        #expect(
            imported.remarks == [
                "1 time: a picture or file that is not in what was given: its name is taken ($[0].mapping.n0)"
            ])
    }

    @Test("A picture that the archive has damaged refuses the export before any of it is handed in")
    func damaged() throws {
        let picture = Self.picture(5_000, 6)
        let zip = ArchiveTests.Zip(entries: [
            .init(name: "conversations.json", bytes: Array(ArchiveTests.conversation.utf8)),
            .init(name: "file_abc-picture.png", bytes: picture, sum: 1),
        ])
        let path = try folder.write(Data(zip.bytes), to: "a.zip")
        let error = #expect(throws: ImportError.self) { _ = try Imported(path) }
        #expect(error?.description.contains("file_abc-picture.png") == true)
    }
}
