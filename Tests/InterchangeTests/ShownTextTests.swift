import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// Messages whose text does not stand where it usually does: it is found, or what is missing is said with its place.
@Suite struct ShownTextTests {
    private func slack(_ message: String) throws -> Imported {
        let folder = try TemporaryFolder.made()
        let day = #"[{"type":"message","user":"U1","channel":"C1","ts":"1704067201.000100",\#(message)}]"#
        return try Imported(try folder.write(day, to: "2024-01-01.json"), as: .slack)
    }

    private func telegram(_ message: String) throws -> Imported {
        let folder = try TemporaryFolder.made()
        let text =
            #"{"id":5,"messages":[{"type":"message","date_unixtime":"1704103200","from_id":"user1",\#(message)}]}"#
        return try Imported(try folder.write(text, to: "result.json"), as: .telegram)
    }

    @Test("A user of Slack has the name that Slack shows, and the real one beside it where that is another")
    func slackNames() throws {
        let folder = try TemporaryFolder.made()
        try FileManager.default.createDirectory(atPath: folder.file("export"), withIntermediateDirectories: true)
        try Data(#"[{"id":"C1","name":"general","created":1}]"#.utf8).write(
            to: URL(filePath: folder.file("export/channels.json")))
        let users =
            #"[{"id":"U1","real_name":"김하늘","profile":{"display_name":"하늘"}},{"id":"U2","profile":{"real_name":"이서준","display_name":""}}]"#
        try Data(users.utf8).write(to: URL(filePath: folder.file("export/users.json")))
        let fields = try Imported(folder.file("export"), as: .slack).events
            .filter { $0.type == "profile.changed" }.map { $0.object.object("fields") }
        #expect(fields.map { $0?.string("name") } == ["하늘", "이서준"])
        #expect(fields.map { $0?.string("realName") } == ["김하늘", nil])
    }

    @Test(
        "A message of Slack without a text has what its blocks show, else what its attachments do",
        arguments: [
            (#""attachments":[{"text":"a &lt;b&gt;"}]"#, "a <b>"),
            (
                #""attachments":[{"fallback":"f","pretext":"p","title":"t","text":"x","fields":[{"title":"k","value":"v"}]}]"#,
                "p\nt\nx\nk: v"
            ),
            (#""attachments":[{"fallback":"f"},{"text":"g"}]"#, "f\ng"),
            (#""attachments":[{"blocks":[{"type":"section","text":{"type":"mrkdwn","text":"in"}}]}]"#, "in"),
            (
                #""blocks":[{"type":"rich_text","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"hi "},{"type":"user","user_id":"U2"},{"type":"link","url":"http://x","text":"y"},{"type":"emoji","name":"wave"}]},{"type":"rich_text_list","elements":[{"type":"rich_text_section","elements":[{"type":"text","text":"one"}]}]}]}],"attachments":[{"text":"not this"}]"#,
                "hi <@U2><http://x|y>:wave:\none"
            ),
            (
                #""blocks":[{"type":"header","text":{"type":"plain_text","text":"H"}},{"type":"section","fields":[{"type":"mrkdwn","text":"F"}],"accessory":{"type":"button","text":{"type":"plain_text","text":"B"}}},{"type":"context","elements":[{"type":"image","alt_text":"I"},{"type":"mrkdwn","text":"C"}]}]"#,
                "H\nF\nB\nI\nC"
            ),
        ])
    func slackShown(_ message: String, _ text: String) throws {
        for empty in [#""text":"","#, ""] {
            let imported = try slack(empty + message)
            #expect(imported.texts == [text] && imported.remarks.allSatisfy { !$0.contains("empty") })
        }
    }

    @Test("What a message of Slack shows beside its text is counted; one with nothing at all is said")
    func slackTold() throws {
        let beside = try slack(#""text":"x","attachments":[{"text":"y"}]"#)
        #expect(beside.texts == ["x"] && beside.passedOver == 1)
        let app = try slack(#""text":"x","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"y"}}]"#)
        #expect(app.texts == ["x"] && app.passedOver == 1)
        // What people write has the same in its blocks.
        let person = try slack(#""text":"x","blocks":[{"type":"rich_text","elements":[]}]"#)
        #expect(person.passedOver == 0)
        let nothing = try slack(#""text":"""#)
        #expect(nothing.remarks.contains { $0.contains("a message without text, blocks, attachments and files") })
        let picture = try slack(#""text":"","attachments":[{"image_url":"http://x/a.png","fallback":"a.png"}]"#)
        let item = try #require(picture.events.first?.object.elements("attachments")?.first?.object)
        #expect(item.string("url") == "http://x/a.png" && item.string("name") == "a.png")
        let file = try slack(#""text":"","files":[{"id":"F1","name":"a.pdf"}]"#)
        #expect(file.events.first?.object.elements("attachments")?.count == 1)
        #expect(file.remarks.allSatisfy { !$0.contains("empty") })
    }

    @Test(
        "A message of Telegram has its text in each of its forms",
        arguments: [
            (#""id":1,"text":{"type":"bold","text":"b"}"#, "b"),
            (#""id":1,"text":"","text_entities":[{"type":"plain","text":"e"},{"type":"bold","text":"f"}]"#, "ef"),
            (#""id":1,"text_entities":[{"type":"plain","text":"e"}]"#, "e"),
            (#""id":1,"text":["a",5,{"type":"custom_emoji","text":"c"}]"#, "a5c"),
            (
                #""id":1,"text":"","todo_list":{"title":"할일","answers":[{"id":1,"text":"x"},{"id":2,"text":["y",{"type":"bold","text":"z"}]}]}"#,
                "할일\n- x\n- yz"
            ),
            (
                #""id":1,"text":"","inline_bot_buttons":[[{"type":"url","text":"하나"}],[{"type":"url","text":"둘"}]]"#,
                "하나\n둘"
            ),
            (#""id":1,"text":"","invoice_information":{"title":"t","description":"d","amount":5}"#, "t\nd"),
            (#""id":1,"text":"","game_title":"g""#, "g"),
        ])
    func telegramShown(_ message: String, _ text: String) throws {
        let imported = try telegram(message)
        #expect(imported.texts == [text] && imported.remarks.allSatisfy { !$0.contains("nothing of a message") })
    }

    @Test(
        "What stands in place of a text is kept as it is; a message of which nothing is known is said, with its members"
    )
    func telegramTold() throws {
        let list = try telegram(#""id":1,"text":"","todo_list":{"title":"t","answers":[]}"#)
        #expect(list.events.last?.object.object("todo_list")?.string("title") == "t")
        let gift = try telegram(#""id":1,"text":"","giveaway_information":{"quantity":1}"#)
        #expect(gift.events.last?.object.object("giveaway_information")?.integer("quantity") == 1)
        let unknown = try telegram(#""id":1,"text":"","brand_new":{"x":1}"#)
        #expect(unknown.remarks.contains { $0.contains("nothing of a message is known") && $0.contains("brand_new") })
        let buttons = try telegram(#""id":1,"text":"x","inline_bot_buttons":[[{"type":"url","text":"b"}]]"#)
        #expect(buttons.texts == ["x"] && buttons.passedOver == 1)
        let sticker = try telegram(#""id":1,"text":"","file":"a.webp","media_type":"sticker","sticker_emoji":"😂""#)
        #expect(sticker.remarks.allSatisfy { !$0.contains("nothing") })
    }

    @Test(
        "What the release before has stored without its text has the same id: it is recognised, and not there twice (INV-8)"
    )
    func before() throws {
        let unnamed = try telegram(#""text":{"type":"bold","text":"굵게"}"#)
        #expect(unnamed.events.last?.id?.description == "00000000-0000-86b9-8be4-122f59f73fd6")
        let list = try telegram(#""id":2,"text":"","todo_list":{"title":"할일","answers":[{"text":"x"}]}"#)
        #expect(list.events.last?.id?.description == "00000000-0000-8016-9846-3dabcb74a4ba")
        #expect(try slack(#""text":"""#).events.map(\.id) == slack(#""attachments":[{"text":"a"}]"#).events.map(\.id))
    }

    @Test("A date that is no time is told: the key of the message has one, and the id stays")
    func firebase() throws {
        let folder = try TemporaryFolder.made()
        func export(_ date: String, _ key: String) throws -> Imported {
            let text = #"{"Chats":{"r":{"\#(key)":{"date":\#(date),"message":"안녕","userId":"u"}}}}"#
            return try Imported(try folder.write(text, to: "r.json"), as: .firebase)
        }
        let key = "-NoxudGvaaaaaaaaaaa0"
        let good = try export("1706140800.123", key), huge = try export("1e300", key)
        #expect(good.events.map(\.id) == huge.events.map(\.id))
        #expect(huge.events.first?.moment == "2024-01-25T00:00:00.123Z")
        #expect(huge.remarks.contains { $0.contains("is no time: its key has one") && $0.contains(key) })
        #expect(good.remarks.allSatisfy { !$0.contains("no time") })
        let bare = try export("-1e300", "k")
        #expect(bare.remarks.contains { $0.contains("beginning of 1970") } && bare.events.first?.time == 0)
    }
}
