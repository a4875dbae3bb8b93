import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// What is malformed is refused as a whole, by file and place.
@Suite struct MalformedExportTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let format: ExportFormat
        let name: String
        let text: String
        let message: String
        var testDescription: String { "\(format) \(message)" }

        init(_ format: ExportFormat, _ name: String, _ text: String, _ message: String) {
            (self.format, self.name, self.text, self.message) = (format, name, text, message)
        }
    }

    static let windows = "방 님과 카카오톡 대화\n저장한 날짜 : 2025-10-14 21:03:11\n\n"

    static let cases = [
        Case(.kakaotalk, "a.txt", "", "it is empty"),
        Case(.kakaotalk, "a.txt", "안녕\n", "line 1: no header"),
        Case(.kakaotalk, "a.txt", windows + "[홍] [오후 2:37] 날이 없음\n", "line 4: a message stands before the first day"),
        Case(.kakaotalk, "a.txt", windows + "무엇\n", "line 4: neither a day nor a message"),
        Case(
            .kakaotalk, "a.csv", "Date,User,Message\n2025-10-13 09:05:26,\"홍\",\"끝이 없음\n",
            "line 2: a quoted field does not end"),
        Case(
            .kakaotalk, "a.csv", "Date,User,Message\n2025-10-13 09:05:26,\"홍\"\n", "line 2: a record has three fields"
        ),
        Case(
            .kakaotalk, "a.csv", "Date,User,Message\n2025-13-13 09:05:26,\"홍\",\"x\"\n",
            "line 2: '2025-13-13 09:05:26' is no time"),
        Case(.whatsapp, "a.txt", "nothing\n", "line 1: no date, time and name"),
        Case(.whatsapp, "a.txt", "\n", "no message in it"),
        Case(.whatsapp, "_chat.txt", "13/06/18, 21:25 - a: m\n", ""),
        Case(.telegram, "result.json", #"{"messages":[{"id":1}]}"#, "$.messages[0], line 1: a message has neither"),
        Case(.telegram, "result.json", #"{"messages":[{"type":"what","date_unixtime":"1"}]}"#, "unknown type 'what'"),
        Case(.telegram, "result.json", #"{"name":"x"}"#, "neither 'chats' nor 'messages'"),
        Case(
            .telegram, "result.json", #"{"messages":[{"id":1,"date_unixtime":"1","text":"x"}"#, "text ends too early"),
        Case(.telegram, "result.json", #"{"messages":[1]}"#, "a message is no object"),
        Case(.slack, "2018-01-20.json", #"[{"text":"x","channel":"c"}]"#, "$[0], line 1: a message has no 'ts'"),
        Case(.slack, "2018-01-20.json", #"[{"ts":"1.2","channel":"c"} {}]"#, "a comma or ] is expected"),
        Case(.matrix, "export.json", #"{"messages":[{"type":"m.room.message"}]}"#, "lacks type, sender, event_id"),
        Case(.matrix, "export.json", "{}", "no list 'messages'"),
        Case(.chatgpt, "conversations.json", #"[{"title":"x"}]"#, "$[0], line 1: a conversation has no 'mapping'"),
        Case(.chatgpt, "conversations.json", #"{"a":1}"#, "no list 'conversations'"),
        Case(.chatgpt, "conversations.json", "[{\"mapping\":{}}]", "a conversation has no id"),
        Case(
            .openai, "a.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}\n{\"messages\":1}\n",
            "line 2: no list 'messages'"),
        Case(.openai, "a.jsonl", "{\"messages\":[{\"content\":\"x\"}]}", "line 1: message 1 has no role"),
        Case(.openai, "a.jsonl", "{\"messages\":[{\"role\":\"king\",\"content\":\"x\"}]}", "unknown role 'king'"),
        Case(.openai, "a.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":7}]}", "the content of message 1"),
        Case(.openai, "a.jsonl", "{\"messages\"", "line 1:"),
        Case(
            .firestore, "a.json", #"{"__collections__":{"chats":{"d":1}}}"#,
            "$.__collections__.chats.d, line 1: a document is no object"),
        Case(.firestore, "a.json", "[]", "an object is expected"),
        Case(
            .firebase, "a.json", #"{"Chats":{"r":{"k":{"userId":"u"}}}}"#,
            "$.Chats.r.k, line 1: a message has no date"),
        Case(.firebase, "a.json", #"{"Chats":{"r":{"k":{"date":1}}}}"#, "a message has no userId"),
        Case(.firebase, "a.json", #"{"ChatRooms":{"a":{"b":{}}}}"#, "a room has no chatRoomId"),
        Case(.coredata, "a.sqlite", "SQLite format 3\u{0}nonsense", ""),
        Case(.swiftdata, "a.sqlite", "no database at all", ""),
    ]

    @Test("Malformed files of each kind are refused, with the place", arguments: cases)
    func refused(_ example: Case) throws {
        let folder = try TemporaryFolder.made()
        let path = try folder.write(example.text, to: example.name)
        do {
            let imported = try Imported(path, as: example.format)
            // Only a chat whose folder tells its name is taken.
            #expect(example.name == "_chat.txt" && imported.events.isEmpty)
        } catch let error as ImportError {
            #expect(example.message.isEmpty || error.description.contains(example.message), "\(error)")
            #expect(error.file.hasPrefix(folder.path), "\(error)")
        }
    }

    @Test("Bytes that are no text are refused by line")
    func encodings() throws {
        let folder = try TemporaryFolder.made()
        let head = Array(Self.windows.utf8) + Array("--------------- 2025년 10월 13일 월요일 ---------------\n".utf8)
        let broken = try folder.write(
            Data(head + Array("[홍] [오후 2:37] ".utf8) + [0xed, 0xa0, 0x80, 0x0a]), to: "a.txt")
        #expect(throws: ImportError(.malformed, broken, at: "line 5", TextLines.notUTF8)) { try Imported(broken) }
        let wide: [(bytes: [UInt8], line: Int)] = [
            ([0xff, 0xfe, 0x41, 0x00, 0x42], 1), ([0xff, 0xfe, 0x3d, 0xd8], 1), ([0xfe, 0xff, 0xdc, 0x00], 1),
            ([0xfe, 0xff, 0xd8, 0x3d, 0xde, 0x00, 0x00, 0x0a, 0xdc, 0x00, 0x00, 0x0a], 2),
            ([0xff, 0xfe, 0x0a, 0x00, 0x0a, 0x00, 0x3d, 0xd8, 0x0a, 0x00], 3),
        ]
        for (bytes, line) in wide {
            let path = try folder.write(Data(bytes), to: "b.txt")
            let error = ImportError(.malformed, path, at: "line \(line)", "it begins as UTF-16 does, and is none")
            #expect(throws: error) { try Imported(path, as: .kakaotalk) }
            #expect(throws: error) { try Imported(path) }
        }
        // 홍길동 님과 카카오톡 대화, as CP949 has it: nothing is known of such a file but what to do about it.
        let old = try folder.write(
            Data([0xc8, 0xab, 0xb1, 0xe6, 0xb5, 0xbf, 0x20, 0xb4, 0xd4, 0xb0, 0xfa, 0x0d, 0x0a]), to: "c.txt")
        #expect(throws: ImportError(.malformed, old, at: "line 1", TextLines.notUTF8)) { try Imported(old) }
        let late = try folder.write(Data([0x61, 0x0a, 0x62, 0x0a, 0xb4, 0xd4, 0x0a]), to: "d.txt")
        #expect(throws: ImportError(.malformed, late, at: "line 3", TextLines.notUTF8)) { try Imported(late) }
        #expect(TextLines.notUTF8.contains("iconv -f cp949 -t utf-8"))
        let bad = try folder.write(
            Data(
                Array(#"{"messages":[{"id":1,"date_unixtime":"1","text":""#.utf8) + [0xc0, 0x80]
                    + Array(#""}]}"#.utf8)), to: "r.json")
        #expect(throws: ImportError.self) { try Imported(bad, as: .telegram) }
    }

    @Test("UTF-16 with its mark is read as the same text in UTF-8, whatever piece of it comes at a time")
    func wide() throws {
        let folder = try TemporaryFolder.made()
        let text =
            Self.windows + "--------------- 2025년 10월 13일 월요일 ---------------\n"
            + (0..<5_000).map { "[홍길동] [오후 2:37] 안녕 😀 \($0)\n" }.joined()
            // Pairs at both places that a piece may end at.
            + String(repeating: "😀", count: 20_000) + "가" + String(repeating: "😀", count: 20_000) + "\n"
        let narrow = try Imported(try folder.write(text, to: "a.txt"))
        #expect(narrow.events.count == 5_000 && narrow.format == .kakaotalk)
        for (name, mark, encoding) in [
            ("le", [0xff, 0xfe] as [UInt8], String.Encoding.utf16LittleEndian),
            ("be", [0xfe, 0xff], .utf16BigEndian),
        ] {
            let bytes = Data(mark) + (try #require(text.data(using: encoding)))
            let wide = try Imported(try folder.write(bytes, to: "\(name).txt"))
            #expect(wide.events.map(\.id) == narrow.events.map(\.id) && wide.texts == narrow.texts, "\(name)")
        }
        let json = #"{"id":9,"messages":[{"id":1,"date_unixtime":"1","from_id":"user1","text":"가😀"}]}"#
        let telegram = Data([0xff, 0xfe]) + (try #require(json.data(using: .utf16LittleEndian)))
        #expect(try Imported(try folder.write(telegram, to: "r.json"), as: .telegram).texts == ["가😀"])
    }

    @Test("What ChatGPT has for a time and is none is told with its place")
    func times() throws {
        let folder = try TemporaryFolder.made()
        func node(_ name: String, _ parent: String, _ time: String) -> String {
            let content = #""content":{"content_type":"text","parts":["\#(name)"]}"#
            let message = #"{"author":{"role":"user"},"create_time":\#(time),\#(content)}"#
            return #""\#(name)":{"parent":\#(parent),"message":\#(message)}"#
        }
        let nodes = [
            node("a", "null", "100"), node("b", #""a""#, "1e300"), node("c", #""b""#, #""어제""#),
            node("d", #""c""#, "null"),
        ]
        let export = #"[{"conversation_id":"k","create_time":"x","mapping":{\#(nodes.joined(separator: ","))}}]"#
        let imported = try Imported(try folder.write(export, to: "conversations.json"), as: .chatgpt)
        #expect(imported.texts == ["a", "b", "c", "d"])
        #expect(imported.events.dropFirst().map(\.time) == [100_000, 100_001, 100_002, 100_003])
        let told = imported.remarks.filter { $0.contains("create_time") }
        #expect(told.count == 2 && told.contains { $0.hasPrefix("2 times: its create_time") }, "\(told)")
        #expect(told.contains { $0.contains(".mapping.b, ") && $0.contains(".mapping.c)") }, "\(told)")
        #expect(told.contains { $0.hasPrefix("1 time: the create_time of a conversation") }, "\(told)")
        #expect(imported.events[0].time == 99_999)
    }

    @Test("NUL, decomposed letters and lone halves of pairs are kept or replaced, and refuse nothing")
    func texts() throws {
        let folder = try TemporaryFolder.made()
        let text =
            #"{"id":9,"messages":[{"id":1,"date_unixtime":"1","from_id":"user1","text":"a\u0000b \ud800 \#("각".decomposedStringWithCanonicalMapping)"}]}"#
        let imported = try Imported(try folder.write(text, to: "r.json"), as: .telegram)
        #expect(
            imported.texts.last?.unicodeScalars.elementsEqual(
                "a\u{0}b \u{fffd} \u{1100}\u{1161}\u{11a8}".unicodeScalars) == true)
    }

    @Test("A text that no event can hold is passed over, and said; a name that no id can hold is cut")
    func tooLarge() throws {
        let folder = try TemporaryFolder.made()
        let long = String(repeating: "가", count: 90_000), name = String(repeating: "나", count: 200)
        let text = """
            {"id":9,"messages":[{"id":1,"date_unixtime":"1","from":"\(name)","text":"\(long)"},{"id":2,"date_unixtime":"2","from":"\(name)","text":"x"},
            {"id":3,"date_unixtime":"999999999999","from":"z","text":"x"}]}
            """
        let imported = try Imported(try folder.write(text, to: "r.json"), as: .telegram)
        #expect(imported.texts == ["x"])
        #expect(imported.skipped["larger than 262144 bytes"] == 1)
        #expect(imported.skipped["its time is before year 1 or after year 9999"] == 1)
        let user = try #require(imported.events.last?.user)
        #expect(user.utf8.count <= 256 && user.contains("~"))
    }

    @Test("Pipes, links and unknown files are refused")
    func others() throws {
        let folder = try TemporaryFolder.made()
        let unknown = try folder.write("한 줄\n", to: "a.txt")
        #expect(try Sniffer.look(at: ExportFiles(unknown)) == nil)
        #expect(
            try Sniffer.look(
                at: ExportFiles(
                    try folder.write(#"{"specversion":"1.0","type":"a","user":"u","data":{}}"# + "\n", to: "n.ndjson")
                )) == .native)
        let pipe = folder.file("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: ImportError(.unreadable, pipe, "it is no regular file")) { try ExportFiles(pipe) }
        // A link in a folder that others made leads nowhere.
        let inner = folder.file("slack")
        try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
        #expect(symlink("/etc/passwd", inner + "/channels.json") == 0)
        #expect(try ExportFiles(inner).names.isEmpty)
    }

    @Test("A file that changes between the two readings gives nothing")
    func changed() throws {
        let folder = try TemporaryFolder.made()
        let day = "--------------- 2025년 10월 13일 월요일 ---------------\n[홍] [오후 2:37] 말\n"
        let path = try folder.write(Self.windows + day, to: "a.txt")
        let importing = ExportImport(try ExportFiles(path), as: .kakaotalk, .test)
        _ = try importing.check()
        try FileHandle(forWritingTo: URL(filePath: path)).write(contentsOf: Data("방 님과 카카오톡 대화".utf8))
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("more".utf8))
        #expect(throws: ImportError.self) { try importing.run { _ in true } }
    }
}
