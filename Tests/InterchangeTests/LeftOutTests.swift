import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// What lies in an export and is not taken is named, once each.
@Suite struct LeftOutTests {
    private static let notTaken = "a file of the export that is not taken"
    /// An event of Matrix.
    private static let left =
        #"{"type":"m.room.member","sender":"@a:x","event_id":"$1","room_id":"!r:x","origin_server_ts":1,"content":{"membership":"leave"}}"#

    private func folder(_ files: [String: String]) throws -> (TemporaryFolder, String) {
        let folder = try TemporaryFolder.made()
        for (name, text) in files {
            let url = URL(filePath: folder.file("export/" + name))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: url)
        }
        return (folder, folder.file("export"))
    }

    @Test("Pictures, films and lists beside a chat that no message names are counted, whatever the format")
    func files() throws {
        let telegram =
            #"{"id":5,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"user1","text":"","photo":"photos/1.jpg"}]}"#
        let kakao =
            MalformedExportTests.windows + "--------------- 2025년 10월 13일 월요일 ---------------\n[홍] [오후 2:37] 말\n"
        let day = #"[{"type":"message","user":"U1","text":"a","ts":"1704067201.000100"}]"#
        let conversations = #"[{"conversation_id":"k","mapping":{}}]"#
        for (format, given, left) in [
            (
                ExportFormat.whatsapp,
                [
                    "WhatsApp Chat with Z.txt": "13/03/24, 10:00 - Eve: IMG-1.jpg (file attached)\n",
                    "IMG-1.jpg": "x",
                    "IMG-2.jpg": "y",
                ], 1
            ),
            (.kakaotalk, ["KakaoTalkChats.txt": kakao, "a.jpg": "x", "b/c.mp4": "y"], 2),
            (.telegram, ["result.json": telegram, "photos/1.jpg": "x", "photos/2.jpg": "y"], 1),
            (.matrix, ["export.json": #"{"messages":[\#(Self.left)]}"#, "images/a.png": "x"], 1),
            (.chatgpt, ["conversations.json": conversations, "message_feedback.json": "[]", "chat.html": ""], 2),
            (
                .slack,
                [
                    "channels.json": #"[{"id":"C1","name":"g"}]"#, "g/2024-01-01.json": day,
                    "integration_logs.json": "[]",
                ], 1
            ),
        ] as [(ExportFormat, [String: String], Int)] {
            let (place, path) = try folder(given)
            defer { withExtendedLifetime(place) {} }
            let imported = try Imported(path, as: format)
            #expect(imported.skipped == [Self.notTaken: left], "\(format) \(imported.skipped)")
        }
        // Without the files beside it each message with one is counted.
        let (place, path) = try folder(["result.json": telegram])
        defer { withExtendedLifetime(place) {} }
        #expect(try Imported(path + "/result.json").skipped == ["the bytes of a file: its name is taken": 1])
    }

    @Test("A picture of ChatGPT that is not there is told, and one that is there is not")
    func pictures() throws {
        let message =
            #"{"author":{"role":"user"},"create_time":1,"content":{"content_type":"multimodal_text","parts":[{"content_type":"image_asset_pointer","asset_pointer":"file-service://file-abc"},"봐"]}}"#
        let conversations = #"[{"conversation_id":"k","mapping":{"a":{"parent":null,"message":\#(message)}}}]"#
        for isThere in [true, false] {
            var files = ["conversations.json": conversations]
            if isThere { files["file-abc-photo.png"] = "\u{1}PNG" + String(repeating: "x", count: 300_000) }
            let (place, path) = try folder(files)
            defer { withExtendedLifetime(place) {} }
            let imported = try Imported(path, as: .chatgpt)
            let told = "1 time: a picture or file that is not in what was given: its name is taken"
            #expect(imported.remarks.map { $0.hasPrefix(told) } == (isThere ? [] : [true]), "\(imported.remarks)")
            #expect(imported.attachments.map(\.count) == (isThere ? [300_004] : []))
            #expect(imported.passedOver == 0)
        }
    }

    @Test("A member that stands twice in one object is told, with the places, and the first counts")
    func memberTwice() throws {
        let chat =
            #"{"name":"방","id":7,"type":"personal_chat","messages":[{"id":1,"type":"message","date":"2026-01-01T00:00:00","#
            + #""date_unixtime":"1767225600","from":"k","from_id":"user1","text":"앞","t\u0065xt":"뒤"},"#
            + #"{"id":2,"type":"message","date":"2026-01-01T00:00:01","date_unixtime":"1767225601","from":"k","#
            + #""from_id":"user1","text":"둘","more":[{},{"a":[1,{"b":2,"b":2}]}]}]}"#
        let line =
            #"{"messages":[{"role":"user","content":"물음","content":"다른 물음"},{"role":"assistant","content":"답"}]}"#
        for (format, name, text, places, texts) in [
            (.telegram, "result.json", chat, "$.messages[0], $.messages[1]", ["앞", "둘"]),
            (.openai, "a.jsonl", line, "line 1", ["물음", "답"]),
        ] as [(ExportFormat, String, String, String, [String])] {
            let (place, path) = try folder([name: text])
            defer { withExtendedLifetime(place) {} }
            let imported = try Imported("\(path)/\(name)", as: format)
            let count = places.contains(",") ? "2 times" : "1 time"
            #expect(
                imported.remarks.contains(
                    "\(count): a member stands twice in one object: the first counts (\(places))"),
                "\(imported.remarks)")
            #expect(imported.texts == texts)
        }
    }

    @Test("ChatGPT's export in parts is known by their names, and other JSON is not taken for one")
    func parts() throws {
        let part = { (id: String) in
            #"[{"conversation_id":"\#(id)","mapping":{"n":{"message":{"author":{"role":"user"},"#
                + #""content":{"content_type":"text","parts":["\#(id)"]}}}}}]"#
        }
        let (kept, path) = try folder(["a/conversations-000.json": part("a"), "a/conversations-001.json": part("b")])
        defer { withExtendedLifetime(kept) {} }
        let imported = try Imported(path)
        #expect(imported.format == .chatgpt && imported.texts == ["a", "b"] && imported.passedOver == 0)
        for name in ["conversations-of-mine.json", "conversations-.json"] {
            let (kept, other) = try folder([name: "[]"])
            defer { withExtendedLifetime(kept) {} }
            #expect(try Sniffer.look(at: ExportFiles(other)) == nil, "\(name)")
        }
    }

    @Test("ChatGPT: of two nodes of one name the first is taken, and the second is told")
    func repeated() throws {
        let node = { (text: String) in
            #""n":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["\#(text)"]}}}"#
        }
        let list = #"[{"conversation_id":"k","mapping":{\#(node("a")),\#(node("b"))}}]"#
        let (kept, path) = try folder(["conversations.json": list])
        defer { withExtendedLifetime(kept) {} }
        let imported = try Imported(path)
        #expect(imported.texts == ["a"] && imported.places == ["$[0].mapping.n"])
        #expect(imported.skipped == ["a node whose name another one has": 1])
    }

    @Test("Matrix: a message of a thread has the thread's first message as its cause, if it answers no other")
    func threads() throws {
        let message = { (id: Int, relation: String) in
            #"{"type":"m.room.message","sender":"@a:x","event_id":"$\#(id)","room_id":"!r:x","origin_server_ts":\#(id),"#
                + #""content":{"msgtype":"m.text","body":"\#(id)"\#(relation)}}"#
        }
        let thread = #","m.relates_to":{"rel_type":"m.thread","event_id":"$1""#
        let list = [
            message(1, ""), message(2, thread + "}"),
            message(3, thread + #","m.in_reply_to":{"event_id":"$2"}}"#),
        ]
        let (kept, path) = try folder([
            "export.json": #"{"room_name":"r","messages":[\#(list.joined(separator: ","))]}"#
        ])
        defer { withExtendedLifetime(kept) {} }
        let events = try Imported(path).events
        #expect(events.map(\.cause) == [nil, events[0].id, events[1].id])
    }

    @Test("Matrix: a place is kept with its geo_uri, and one without is told")
    func places() throws {
        let place = { (id: Int, uri: String) in
            #"{"type":"m.room.message","sender":"@a:x","event_id":"$\#(id)","room_id":"!r:x","origin_server_ts":\#(id),"#
                + #""content":{"msgtype":"m.location","body":"남산"\#(uri)}}"#
        }
        let list = [place(1, #","geo_uri":"geo:37.5512,126.9882;u=35""#), place(2, "")].joined(separator: ",")
        let (kept, path) = try folder(["export.json": #"{"room_name":"r","messages":[\#(list)]}"#])
        defer { withExtendedLifetime(kept) {} }
        let imported = try Imported(path)
        #expect(imported.events.map { $0.object.string("geo_uri") } == ["geo:37.5512,126.9882;u=35", nil])
        #expect(imported.events.map { $0.object.string("kind") } == ["m.location", "m.location"])
        #expect(imported.remarks == ["1 time: a place without its geo_uri: its text is taken ($.messages[1])"])
    }

    @Test("OpenAI lines: members that no event has are counted, with the line; those that say nothing are not")
    func members() throws {
        let lines = [
            #"{"messages":[{"role":"user","content":"a","audio":{"id":"x"},"refusal":null,"weight":1}],"tools":[]}"#,
            #"{"messages":[{"role":"user","content":"b"}],"functions":[{"name":"g"}],"parallel_tool_calls":false}"#,
        ]
        let (kept, path) = try folder(["train.jsonl": lines.joined(separator: "\n")])
        defer { withExtendedLifetime(kept) {} }
        let imported = try Imported(path)
        #expect(imported.skipped == ["a member of a line or a message that no event has": 4])
        #expect(
            imported.places == [
                "line 1: tools", "line 1, message 1: audio", "line 2: functions", "line 2: parallel_tool_calls",
            ])
    }

    @Test("What Telegram has beside chats, and what a channel of Slack is about, are passed over and counted")
    func lists() throws {
        let (telegram, account) = try folder([
            "result.json": #"""
            {"about":"","personal_information":{"user_id":1,"first_name":"홍","phone_number":"+82"},
            "contacts":{"about":"","list":[{"first_name":"영희"},{"first_name":"철수"}]},"frequent_contacts":{"list":[]},
            "profile_pictures":[{"photo":"a.jpg"}],"sessions":{"about":"","list":[{"last_ip":"::1"}]},
            "other_data":{"about_meta":"","drafts":{"about":"","list":[{"chat":"x"}]},"language":"ko"},"version":1,
            "chats":{"list":[{"id":5,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"user1","text":"a"}]}]}}
            """#
        ])
        let (slack, export) = try folder([
            "channels.json": #"""
            [{"id":"C1","name":"g","topic":{"value":"주제"},"purpose":{"value":"까닭"}},
            {"id":"C2","name":"h","topic":{"value":""},"purpose":{"value":""}}]
            """#
        ])
        defer { withExtendedLifetime((telegram, slack)) {} }
        let contacts = try Imported(account, as: .telegram)
        #expect(
            contacts.skipped == [
                "what stands under personal_information": 1, "what stands under contacts": 2,
                "what stands under profile_pictures": 1, "what stands under sessions": 1,
                "what stands under other_data": 2, "what stands under version": 1,
            ])
        #expect(contacts.texts == ["a"] && contacts.places.contains("$.personal_information"))
        let channels = try Imported(export, as: .slack)
        #expect(channels.skipped == ["the topic of a channel": 1, "the purpose of a channel": 1])
    }

    /// An export of each format of JSON, with all that its records have.
    private static let exports: [(ExportFormat, String)] = [
        (
            .telegram,
            #"{"name":"방","id":5,"messages":[{"id":1,"type":"message","date_unixtime":"1","from_id":"user1","text":["가",{"text":"나"}]}]}"#
        ),
        (.slack, #"[{"type":"message","channel":"c","user":"U1","text":"가","ts":"1704067201.000100"}]"#),
        (
            .matrix,
            #"{"room_name":"r","messages":[{"type":"m.room.message","sender":"@a:x","event_id":"$1","room_id":"!r:x","origin_server_ts":1,"content":{"msgtype":"m.text","body":"가"}}]}"#
        ),
        (
            .chatgpt,
            #"[{"conversation_id":"k","create_time":1,"mapping":{"a":{"parent":null,"message":{"author":{"role":"user"},"create_time":1,"content":{"content_type":"text","parts":["가"]}}}}}]"#
        ),
        (
            .openai,
            #"{"messages":[{"role":"user","content":"가"},{"role":"assistant","content":[{"type":"text","text":"나"}]}]}"#
        ),
        (
            .firestore,
            #"{"__collections__":{"chats":{"k":{"senderId":"u","senderName":"n","messageId":"m","sentDate":1,"text":"가","botResponse":"나","__collections__":{"c":{"d":{"x":1}}}}}}}"#
        ),
        (
            .firestore,
            #"{"documents":[{"name":"chats/k","fields":{"senderId":{"stringValue":"u"},"senderName":{"stringValue":"n"},"messageId":{"stringValue":"m"},"sentDate":{"doubleValue":1.5},"text":{"stringValue":"가"},"botResponse":{"stringValue":"나"},"more":{"mapValue":{"fields":{"x":{"arrayValue":{"values":[{"nullValue":null}]}}}}}}}]}"#
        ),
        (
            .firebase,
            #"{"Users":{"u":{"id":"u","name":"홍"}},"ChatRooms":{"u":{"v":{"chatRoomId":"r","otherUserId":"v"}}},"Chats":{"r":{"k":{"userId":"u","date":1700000000,"message":"가"}}}}"#
        ),
        (.firebase, #"{"홍":{"user":["가",null,"나"],"assistant":{"-N":"다"},"messages":[{"role":"user"}]}}"#),
    ]

    /// Each value of a document in turn, with another one in its place.
    private static func changed(_ value: Any, _ other: Any) -> [Any] {
        var all: [Any] = [other]
        if let object = value as? [String: Any] {
            for (name, inner) in object {
                all += changed(inner, other).map { object.merging([name: $0]) { $1 } }
            }
        } else if let list = value as? [Any] {
            for index in list.indices {
                all += changed(list[index], other).map { changed in
                    var copy = list
                    copy[index] = changed
                    return copy
                }
            }
        }
        return all
    }

    @Test(
        "Whatever stands in the place of a value of an export: its events come, or it is said that they do not, or it is refused",
        arguments: 0..<exports.count)
    func shapes(_ number: Int) throws {
        let (format, text) = Self.exports[number]
        let folder = try TemporaryFolder.made()
        let whole = try Imported(try folder.write(text, to: "a.json"), as: format)
        #expect(!whole.events.isEmpty)
        let tree = try JSONSerialization.jsonObject(with: Data(text.utf8))
        var (told, refused) = (0, 0)
        for other in [7, "글", [7], ["글": 7], [Int](), [String: Int]()] as [Any] {
            for document in Self.changed(tree, other) {
                let bytes = try JSONSerialization.data(withJSONObject: document, options: .fragmentsAllowed)
                let path = try folder.write(bytes, to: "a.json")
                do {
                    let imported = try Imported(path, as: format)
                    let isSaid =
                        imported.skipped.contains { whole.skipped[$0.key] ?? 0 < $0.value }
                        || !Set(imported.places).isSubset(of: whole.places)
                    let isEmptied = "\(other)" == "[]" || "\(other)" == "[:]"
                    // Nothing stands in an empty list that could be lost: but of all of a file there is something.
                    let isThere = isEmptied ? !imported.events.isEmpty || imported.passedOver > 0 : false
                    #expect(
                        isSaid || isThere || imported.events.count >= whole.events.count,
                        "\(String(decoding: bytes, as: UTF8.self)): \(imported.events.count), \(imported.skipped)")
                    told += 1
                } catch is ImportError {
                    refused += 1
                }
            }
        }
        #expect(told > 0 && refused > 0)
    }

    @Test("A database that names its messages before its rooms is the same one")
    func order() throws {
        let folder = try TemporaryFolder.made()
        let rooms = #""ChatRooms":{"v":{"u":{"chatRoomId":"r","otherUserId":"u"}}}"#
        let chats = #""Chats":{"r":{"k":{"userId":"u","date":1700000000,"message":"가"}}}"#
        let one = try Imported(try folder.write("{\(rooms),\(chats)}", to: "a.json"))
        let other = try Imported(try folder.write("{\(chats),\(rooms)}", to: "b.json"))
        #expect(one.counts == ["conversation.started": 1, "message.posted": 1])
        #expect(one.events.map(\.id) == other.events.map(\.id))
        #expect(one.events.map(\.conversation) == other.events.map(\.conversation))
    }

    @Test("A file of a format in which nothing is, not even what could be passed over, is refused by its name")
    func nothing() throws {
        for (name, text, title) in [
            ("a.txt", MalformedExportTests.windows, "KakaoTalk, text or CSV"),
            ("a.csv", "Date,User,Message\n", "KakaoTalk, text or CSV"),
            ("result.json", #"{"chats":{"list":[]}}"#, "Telegram Desktop JSON"),
            ("export.json", #"{"room_name":"r","messages":[]}"#, "Matrix room export of Element"),
            ("firestore.json", #"{"__collections__":{"chats":{}}}"#, "Firestore JSON"),
            ("database.json", #"{"Chats":{}}"#, "Firebase Realtime Database JSON"),
        ] {
            let (place, path) = try folder([name: text, "picture.png": "x"])
            defer { withExtendedLifetime(place) {} }
            for path in [path + "/" + name, path] {
                #expect(
                    throws: ImportError(.malformed, path, "read as \(title), and nothing was found in it")
                ) { try Imported(path) }
            }
        }
        let (place, path) = try folder(["a.jsonl": "{\"messages\":[ ]}\n"])
        defer { withExtendedLifetime(place) {} }
        let lines = try Imported(path + "/a.jsonl", as: .openai)
        #expect(lines.skipped == ["a conversation without messages": 1] && lines.places == ["line 1"])
    }
}
