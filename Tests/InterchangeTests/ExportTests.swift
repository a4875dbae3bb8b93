import CommandLineKit
import EventStore
import Foundation
import Interchange
import TestSupport
import Testing

/// A store with some events, and what a writer makes of a conversation in it.
struct ExportStore {
    private let folder = TemporaryFolder()
    private let store: EventStore
    private let reader: EventReader

    init(_ drafts: [EventDraft]) throws {
        try EventStore.create(in: folder.path, name: "test")
        store = try EventStore(opening: folder.path)
        reader = try EventReader(store)
        _ = try append(drafts)
    }

    /// How many were new, and how many there already.
    @discardableResult
    func append(_ drafts: [EventDraft]) throws -> (new: Int, already: Int) {
        var counts = (new: 0, already: 0)
        for outcome in try store.appendBlocking(drafts, atomicity: .each) {
            switch outcome {
            case .appended: counts.new += 1
            case .already: counts.already += 1
            case .rejected(let reason): Issue.record("\(reason)")
            }
        }
        return counts
    }

    func entries(_ conversation: String, _ types: [String] = []) throws -> [TimelineEntry] {
        var entries: [TimelineEntry] = []
        var query = TimelineQuery()
        query.types = types
        try reader.views().conversation(conversation, query) {
            entries.append($0)
            return true
        }
        return entries
    }

    func text(_ writer: any ConversationWriter, _ conversations: String...) throws -> String {
        var bytes = writer.begin()
        for id in conversations {
            var conversation = ExportedConversation(id)
            if let summary = try reader.summary(of: id) {
                (conversation.title, conversation.startedBy) = (summary.title, summary.startedBy)
                (conversation.messages, conversation.firstTime) = (summary.messages, summary.firstTime)
                conversation.lastTime = summary.lastTime
            }
            if let wish = writer.survey {
                for entry in try entries(id, SurveyAnswers.contextTypes) { conversation.answers.note(entry) }
                for entry in try entries(id, SurveyAnswers.types) { conversation.answers.take(entry, wish) }
            }
            bytes += writer.begin(conversation)
            for entry in try entries(id, writer.types) { bytes += writer.add(entry) }
            bytes += writer.end()
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Events of a conversation `c` of the user `u`, a second apart.
struct Script {
    private(set) var events: [EventDraft] = []

    @discardableResult
    mutating func add(
        _ type: String, _ data: String, by author: String = "u", cause: EventID? = nil,
        after milliseconds: Int64 = 1_000, id named: EventID? = nil
    ) -> EventID {
        let id = named ?? EventID(record: "\(events.count)", of: "script")
        let time = (events.last?.time ?? 1_785_542_399_000) + milliseconds
        events.append(
            EventDraft(
                id: id, type: type, time: time, conversation: "c", user: "u", author: author == "u" ? nil : author,
                cause: cause, payload: Array(data.utf8)))
        return id
    }

    @discardableResult
    mutating func say(_ text: String, by author: String = "u", cause: EventID? = nil) -> EventID {
        var payload = Payload()
        payload.add("text", text)
        let type = author == "bot" ? "bot.replied" : "message.posted"
        return add(type, String(decoding: payload.json, as: UTF8.self), by: author, cause: cause)
    }
}

@Suite struct ExportTests {
    @Test("What was imported from lines for fine-tuning is written so that importing it again adds nothing")
    func roundTrip() throws {
        let lines = [
            #"{"messages":[{"role":"system","content":"짧게 답하라"},{"role":"user","content":"caf\u00e9 \"q\"\n"},{"role":"assistant","content":"a"}]}"#,
            #"{"messages": [{"role": "user", "content": "x", "name": "hana"}, {"role": "assistant", "content": "y", "weight": 0}, "#
                + #"{"role": "user", "content": "z"}, {"role": "assistant", "content": "끝", "weight": 1}]}"#,
            #"{"messages":[{"role":"developer","content":"d"},{"role":"user","content":[{"type":"text","text":"그림"},{"type":"image_url","image_url":{"url":"https://e.invalid/x.png"}}]},"#
                + #"{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},"#
                + #"{"role":"tool","tool_call_id":"c1","content":"7"},{"role":"assistant","content":"일곱"}]}"#,
            #"{"messages":[{"role":"system","content":""},{"role":"user","content":""},{"role":"assistant","content":""}]}"#,
        ]
        let folder = try TemporaryFolder.made()
        let first = try Imported(try folder.write(lines.joined(separator: "\n"), to: "a.jsonl"), as: .openai)
        let store = try ExportStore(first.events)
        let conversations = first.events.compactMap(\.conversation)
        #expect(Set(conversations).count == 4)
        var text = ""
        for id in Set(conversations) { text += try store.text(OpenAILines(context: nil, nil), id) }
        #expect(text.contains(#"{"role":"user","content":"café \"q\"\n"}"#))
        #expect(text.contains(#""tool_call_id":"c1""#) && text.contains(#""weight":0"#) && text.contains("image_url"))
        let again = try Imported(try folder.write(text, to: "b.jsonl"), as: .openai)
        #expect(try store.append(again.events) == (0, first.events.count))
    }

    @Test("A line ends with an answer; edits count, and what was taken back is left out")
    func openai() throws {
        var script = Script()
        let first = script.say("처음")
        script.add("message.edited", #"{"message":"\#(first)","text":"고침"}"#, cause: first)
        script.say("답 1", by: "bot")
        let back = script.say("실수")
        script.add("message.retracted", #"{"message":"\#(back)"}"#, cause: back)
        script.say("답 2", by: "bot")
        script.say("남은 말")
        let store = try ExportStore(script.events)
        let whole = OpenAILines(context: nil, nil)
        #expect(
            try store.text(whole, "c")
                == #"{"messages":[{"role":"user","content":"고침"},{"role":"assistant","content":"답 1"},{"role":"assistant","content":"답 2"}]}"#
                + "\n")
        #expect(
            whole.leftOut == [
                "messages that were taken back, erased or cannot be read": 1, "messages after the last answer": 1,
            ])
        let each = OpenAILines(context: 1, nil)
        #expect(
            try store.text(each, "c")
                == #"{"messages":[{"role":"user","content":"고침"},{"role":"assistant","content":"답 1"}]}"# + "\n")
        #expect(each.leftOut["answers without a question"] == 1)
        let two = OpenAILines(context: 2, nil)
        #expect(try store.text(two, "c").split(separator: "\n").count == 2 && two.written == 2)
    }

    @Test("Messages without a text are left out of lines for fine-tuning, and each is counted, whoever said it")
    func emptyMessages() throws {
        var script = Script()
        script.add("bot.configured", #"{"text":""}"#, by: "bot")
        script.add("bot.configured", #"{"model":"m"}"#, by: "bot")
        script.say("")
        script.say("물음")
        script.say("", by: "bot")
        script.say("답", by: "bot")
        let lines = OpenAILines(context: nil, nil)
        #expect(
            try ExportStore(script.events).text(lines, "c")
                == #"{"messages":[{"role":"user","content":"물음"},{"role":"assistant","content":"답"}]}"# + "\n")
        #expect(lines.leftOut == ["messages without a text": 3])
    }

    private func asked() throws -> (store: ExportStore, first: EventID) {
        var script = Script()
        let one = script.say("아파요"), other = script.say("어디가요?")
        script.say("배요", by: "bot", cause: other)
        let reply = script.say("=1+1", by: "bot", cause: one)
        script.say("네")
        script.say("-끝", by: "bot")
        func answer(_ question: String, _ choice: String, _ about: String) {
            script.add(
                "survey.answered",
                #"{"survey":"satisfaction","question":"\#(question)","choice":"\#(choice)","about":"\#(about)","comment":"길다"}"#
            )
        }
        answer("helpful", "satisfied", "c")
        answer("helpful", "neutral", reply.description)
        answer("helpful", "dissatisfied", reply.description)
        answer("reason", "format", reply.description)
        return (try ExportStore(script.events), reply)
    }

    @Test("Pairs: the question is the cause, else the last one; the last answer to a survey about a reply counts")
    func dialogues() throws {
        let (store, _) = try asked()
        let text = try store.text(Dialogues(SurveyWish("satisfaction")), "c")
        let rows = text.components(separatedBy: "\r\n").dropLast().map { $0.components(separatedBy: ",") }
        #expect(rows.map { $0[4] } == ["question", "어디가요?", "아파요", "네"])
        // No formula.
        #expect(rows.map { $0[6] } == ["answer", "배요", "'=1+1", "'-끝"])
        #expect(rows.map { $0[7] } == ["seconds", "1.000", "3.000", "1.000"])
        #expect(rows.map { $0[8] } == ["satisfaction", "satisfied", "dissatisfied", "satisfied"])
        #expect(rows.map { $0[9] } == ["reason", "", "format", ""])
        let wish = try #require(SurveyWish(text: "satisfaction=dissatisfied"))
        #expect(try store.text(Dialogues(wish), "c").components(separatedBy: "\r\n").count == 3)
        #expect(SurveyWish(text: "=x") == nil && SurveyWish(text: "a=") == nil)
    }

    @Test(
        "What was answered at the close counts for what was asked before it, with or without a word of what it is about",
        arguments: [true, false])
    func closed(saysAbout: Bool) throws {
        var script = Script()
        let asked = script.say("아파요")
        script.say("쉬세요", by: "bot", cause: asked)
        let word = script.say("끝")
        let farewell = EventID(replyTo: word, by: "bot")
        script.add("bot.replied", #"{"text":"건강하세요","farewell":true}"#, by: "bot", cause: word, id: farewell)
        script.add("conversation.closed", #"{"reason":"farewell"}"#, by: "bot", cause: word)
        func offer(_ question: String, _ about: EventID, _ cause: EventID) -> EventID {
            script.add(
                "survey.offered", #"{"survey":"satisfaction","question":"\#(question)","about":"\#(about)"}"#,
                by: "bot",
                cause: cause)
        }
        func answer(_ question: String, _ choice: String, _ offer: EventID) -> EventID {
            let about = saysAbout ? #","about":"\#(farewell)""# : ""
            return script.add(
                "survey.answered",
                #"{"survey":"satisfaction","question":"\#(question)","choice":"\#(choice)","comment":"길다"\#(about)}"#,
                cause: offer)
        }
        let first = offer("helpful", farewell, word)
        let found = answer("helpful", "dissatisfied", first)
        // As the bot offers it: about what the answer is about, which without a word of it is the first question.
        _ = answer("reason", "content", offer("reason", saysAbout ? farewell : first, found))
        let store = try ExportStore(script.events)
        let wish = try #require(SurveyWish(text: "satisfaction=dissatisfied"))
        let rows = try store.text(Dialogues(wish), "c").components(separatedBy: "\r\n").dropFirst().dropLast()
            .map { $0.components(separatedBy: ",") }
        #expect(rows.map { $0[4] } == ["아파요", "끝"])
        #expect(rows.allSatisfy { $0[8...10] == ["dissatisfied", "content", "길다"] }, "\(rows)")
        let lines = try store.text(OpenAILines(context: 4, wish), "c").split(separator: "\n")
        #expect(lines.count == 2 && lines[0].hasSuffix(#"{"role":"assistant","content":"쉬세요"}]}"#))
    }

    @Test("Lines of what did not help: a conversation with such an answer, or with a context that reply alone")
    func dissatisfied() throws {
        let (store, _) = try asked()
        let wish = try #require(SurveyWish(text: "satisfaction=dissatisfied"))
        #expect(try store.text(OpenAILines(context: nil, wish), "c").split(separator: "\n").count == 1)
        let each = try store.text(OpenAILines(context: 8, wish), "c").split(separator: "\n")
        #expect(each.count == 1 && each[0].hasSuffix(#"{"role":"assistant","content":"=1+1"}]}"#))
        // What was said first was taken back by the second answer.
        let neutral = try #require(SurveyWish(text: "satisfaction=neutral"))
        #expect(try store.text(OpenAILines(context: nil, neutral), "c").isEmpty)
    }

    @Test("Messages as records: what stands now, what stood there, and what became of it; nothing is a formula")
    func messages() throws {
        var script = Script()
        let first = script.say("=cmd|'/c calc'!A1")
        script.add("message.edited", #"{"message":"\#(first)","text":"+고침"}"#, cause: first)
        script.add("profile.changed", #"{"fields":{"name":"하늘"}}"#)
        let back = script.say("a,\"b\"\n둘", by: "bot", cause: first)
        script.add("message.retracted", #"{"message":"\#(back)"}"#, by: "bot", cause: back)
        let text = try ExportStore(script.events).text(MessagesCSV(), "c")
        #expect(
            text == MessagesCSV.columns.joined(separator: ",") + "\r\n"
                + "c,2026-08-01T00:00:00.000Z,user,u,u,,'+고침,edited,'=cmd|'/c calc'!A1,,\(first),\r\n"
                + "c,2026-08-01T00:00:03.000Z,assistant,u,bot,,\"a,\"\"b\"\"\n둘\",retracted,,,\(back),\(first)\r\n")
    }
}
