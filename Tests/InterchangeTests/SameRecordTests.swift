import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// An event is a function of its record, not of how a file writes it or what it calls its owner (D63, INV-8).
struct SameRecordTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder.made() }

    private func read(_ text: String, _ name: String, _ format: ExportFormat, me: String? = nil) throws -> Imported {
        var options = ImportOptions.test
        options.me = me
        return try Imported(try folder.write(text, to: name), as: format, options)
    }

    @Test("What is kept of a record does not depend on the blanks and escapes of the file")
    func spelling() throws {
        let message =
            #"{"id":1,"type":"message","date_unixtime":"1704067200","from":"A","from_id":"user1","text":["hi ",{"type":"bold","text":"두 \" \n"}],"poll":{"n":[1.0,-2e3,true,null,{}],"q":"a/b"}}"#
        let spread = message.replacing(":[", with: " : [\n  ").replacing(",", with: " ,\n\t").replacing(
            "두", with: "\\ub450"
        )
        .replacing("a/b", with: "a\\/b")
        func chat(_ message: String) -> String {
            #"{"name":"방","type":"personal_chat","id":77,"messages":[\#(message)]}"#
        }
        let one = try read(chat(message), "a.json", .telegram)
        let other = try read(#"{"chats":{"list":[ \#(chat(spread)) ]}}"#, "b.json", .telegram)
        #expect(one.events == other.events)
        let object = one.events[1].object
        #expect(
            object.raw("entities").map { String(decoding: $0, as: UTF8.self) }
                == #"["hi ",{"type":"bold","text":"두 \" \n"}]"#)
        #expect(
            object.raw("poll").map { String(decoding: $0, as: UTF8.self) }
                == #"{"n":[1.0,-2e3,true,null,{}],"q":"a/b"}"#)
        // Half a pair is no text: it stays as it is written.
        let half = try read(chat(message.replacing("a/b", with: "\\ud83d")), "c.json", .telegram)
        #expect(String(decoding: half.events[1].payload, as: UTF8.self).contains(#""q":"\ud83d""#))
        let line =
            #"{"messages":[{"role":"user","content":[{"type":"text","text":"q"},{"type":"image_url","image_url":{"url":"http://x"}}]}]}"#
        let loose = line.replacing(":", with: ": ").replacing(",", with: ", ").replacing(
            "http: //", with: "http:\\/\\/")
        #expect(try read(line, "a.jsonl", .openai).events == read(loose, "b.jsonl", .openai).events)
    }

    private static let windows =
        "방 님과 카카오톡 대화\n저장한 날짜 : 2025-10-14 21:03:11\n\n--------------- 2025년 10월 13일 월요일 ---------------\n"
        + "[홍길동] [오후 1:00] 점심 먹자\n[홍길동] [오후 1:00] 점심 먹자\n[김영희] [오후 1:01] 그래\n"
    private static func phone(_ owner: String) -> String {
        "방 2 님과 카카오톡 대화\n저장한 날짜 : 2025년 10월 14일 오후 9:03\n\n2025년 10월 13일 오후 1:00\n"
            + "2025년 10월 13일 오후 1:00, \(owner) : 점심 먹자\n2025년 10월 13일 오후 1:00, \(owner) : 점심 먹자\n"
            + "2025년 10월 13일 오후 1:01, 김영희 : 그래\n"
    }

    @Test("By --me the owner of a phone and a name of Windows are one, and what was imported without it is known")
    func owner() throws {
        let plain = try read(Self.windows, "w.txt", .kakaotalk)
        let windows = try read(Self.windows, "w.txt", .kakaotalk, me: "홍길동")
        let phone = try read(Self.phone("회원님"), "a.txt", .kakaotalk, me: "홍길동")
        #expect(windows.events == phone.events)
        #expect(windows.events.map(\.user) == ["hana", "hana", "kakaotalk:김영희"])
        let ids = try [("회원님", "회원님"), ("회원님", nil), ("Me", "홍길동")].map {
            try read(Self.phone($0.0), "a.txt", .kakaotalk, me: $0.1).events.map(\.id)
        }
        #expect(ids.allSatisfy { $0 == windows.events.map(\.id) })
        // Each comes with the event that an import without the option makes of it.
        #expect(windows.others.map { $0.map(\.id) } == [[plain.events[0].id], [plain.events[1].id], []])
        #expect(
            windows.others[0].first?.object.object("source")?.string("id")
                == plain.events[0].object.object("source")?.string("id"))
        #expect(try read(Self.phone("Me"), "a.txt", .kakaotalk, me: "홍길동").others[0].count == 2)
        // Without the option no id changes.
        #expect(try read(Self.phone("Me"), "a.txt", .kakaotalk).events[0].id != windows.events[0].id)
    }

    @Test("A table of KakaoTalk whose quoted field goes on behind its end is refused by line")
    func table() throws {
        let head = "Date,User,Message\n2025-10-13 09:05:26,\"a\",\"x \"\"y\"\"\nz\"\n"
        #expect(try read(head, "m.csv", .kakaotalk).texts == ["x \"y\"\nz"])
        do {
            _ = try read(head + "2025-10-13 09:05:27,\"a\",\"x\"y\"\n", "n.csv", .kakaotalk)
            Issue.record("it was taken")
        } catch let error as ImportError {
            #expect(error.place == "line 4" && error.reason.contains("behind the end of a quoted field"), "\(error)")
        }
    }

    private static func event(_ type: String, _ id: Int, _ sender: String, _ content: String, _ rest: String = "")
        -> String
    {
        #"{"type":"\#(type)","room_id":"!r:e","sender":"\#(sender)","content":\#(content),"origin_server_ts":\#(1_700_000_000_000 + id),"event_id":"$\#(id)"\#(rest)}"#
    }

    private static func redacted(_ id: Int, by sender: String, _ content: String = #"{"reason":"bad"}"#) -> String {
        event(
            "m.room.message", id, "@a:e", "{}",
            #","unsigned":{"redacted_because":{"event_id":"$9","sender":"\#(sender)","origin_server_ts":1700000009000,"content":\#(content)}}"#
        )
    }

    private func room(_ events: String...) throws -> Imported {
        try read(#"{"room_name":"방","messages":[\#(events.joined(separator: ","))]}"#, "export.json", .matrix)
    }

    @Test(
        "What a moderator of Matrix has redacted is retracted, and says by whom; of an own redaction nothing changes")
    func redactions() throws {
        let (by, own) = (
            try room(Self.redacted(2, by: "@mod:e")).events[0], try room(Self.redacted(2, by: "@a:e")).events[0]
        )
        #expect(by.type == "message.retracted" && by.user == "@a:e" && by.author == nil && by.cause == own.cause)
        #expect(by.object.string("retractedBy") == "@mod:e" && by.object.string("reason") == "by @mod:e: bad")
        #expect(try room(Self.redacted(2, by: "@mod:e", "{}")).events[0].object.string("reason") == "by @mod:e")
        #expect(own.user == "@a:e" && own.object.string("reason") == "bad" && own.object["retractedBy"] == nil)
        // What releases before took of one by another did not count, and keeps its id.
        #expect(by.id != own.id && own.id == EventID(record: "$9", of: "matrix"))
    }

    @Test(
        "The opening of a room of Matrix names who may redact there",
        arguments: [
            (#"{"creator":"@c:e"}"#, nil, ["@c:e"]),
            (#"{"creator":"@c:e"}"#, #"{"users":{"@z:e":100,"@m:e":50,"@n:e":49}}"#, ["@m:e", "@z:e"]),
            (#"{"room_version":"11"}"#, #"{"redact":75,"users":{"@z:e":"100","@m:e":50}}"#, ["@z:e"]),
            (
                #"{"room_version":"12","additional_creators":["@d:e"]}"#, #"{"users":{"@m:e":50}}"#,
                ["@c:e", "@d:e", "@m:e"]
            ),
            ("{}", "{}", nil),
        ] as [(String, String?, [String]?)])
    func moderators(_ creation: String, _ levels: String?, _ expected: [String]?) throws {
        var events = [Self.event("m.room.create", 0, "@c:e", creation)]
        if let levels {
            // The last in time counts, wherever it stands.
            events.append(Self.event("m.room.power_levels", 3, "@c:e", levels))
            events.append(Self.event("m.room.power_levels", 1, "@c:e", #"{"users":{"@old:e":100}}"#))
        }
        let opening = try room(events.joined(separator: ",")).events[0]
        #expect(opening.object.strings("moderators") == expected)
    }
}
