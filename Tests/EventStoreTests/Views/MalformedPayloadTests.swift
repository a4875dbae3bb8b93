import TestSupport
import Testing

@testable import EventStore

/// Payloads that are not of the form that docs/reference/FORMATS.md §5 gives are quarantined, listed and not counted.
struct MalformedPayloadTests {
    private func quarantined(_ type: String, _ payload: String) throws -> (view: String?, reader: ViewReader) {
        let log = try LogFixture()
        try log.deliver([event(1, 1, hlc: 10, type: type, payload)])
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        return (try reader.quarantine().first?.view, reader)
    }

    @Test(
        "A message has a text, or attachments",
        arguments: [
            (#"{"text":5}"#, false), (#"{}"#, false), (#"{"text":null}"#, false), (#"{"text":["a"]}"#, false),
            (#"{"attachments":[]}"#, false), (#"{"attachments":[ ]}"#, false), (#"{"attachments":{"a":1}}"#, false),
            (#"{"text":7,"attachments":[{}]}"#, false), (#"{"x":{"text":"inside"}}"#, false),
            (#"{"text":""}"#, true), (#"{"a":[{"b":"}"}],"text":"x"}"#, true), (#"{"\u0074ext":"x"}"#, true),
            (#"{"attachments":[{"sha256":"\#(String(repeating: "0a", count: 32))","bytes":1}]}"#, true),
            (#"  { "text" : "x" } "#, true),
        ])
    func messages(payload: String, isGood: Bool) throws {
        for type in ["message.posted", "bot.replied"] {
            let (view, reader) = try quarantined(type, payload)
            #expect(view == (isGood ? nil : "messages"), "\(type) \(payload)")
            let summary = try #require(try reader.conversationSummary("c"))
            #expect(summary.events == 1 && summary.messages == (isGood ? 1 : 0))
            #expect(try reader.participants(of: "c").map(\.user) == (isGood ? ["u"] : []))
            #expect(try reader.history(user: "u", TimelineQuery()) { _ in true })
        }
    }

    @Test(
        "Categories are those of the catalogue, moderators a list of texts",
        arguments: [
            (#"{"category":"text"}"#, true), (#"{"category":"image"}"#, true), (#"{"category":"voice"}"#, true),
            (#"{"category":null}"#, true), (#"{"category":"video"}"#, false), (#"{"category":""}"#, false),
            (#"{"category":7}"#, false), (#"{"moderators":["a"]}"#, true), (#"{"moderators":[]}"#, true),
            (#"{"moderators":null}"#, true), (#"{"moderators":"a"}"#, false), (#"{"moderators":["a",7]}"#, false),
            (#"{"moderators":{"a":1}}"#, false),
        ])
    func conversations(payload: String, isGood: Bool) throws {
        let (view, reader) = try quarantined("conversation.started", payload)
        #expect(view == (isGood ? nil : "conversations"))
        #expect(try reader.conversationSummary("c")?.events == (isGood ? 1 : nil))
    }

    @Test(
        "What a view would quarantine is refused beforehand for the same reason, and nothing else is (INV-13)",
        arguments: [
            ("message.posted", #"{"txt":"x"}"#), ("message.posted", #"{"text":"x"}"#),
            ("bot.replied", #"{"text":7}"#),
            ("message.posted", #"{"text":"x","attachments":[{"sha256":"x"}]}"#),
            ("message.edited", #"{"text":"x"}"#), ("message.edited", #"{"message":"x","text":"x"}"#),
            ("message.edited", #"{"message":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"}"#),
            ("message.retracted", #"{"message":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"}"#),
            ("message.read", #"{"message":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"}"#),
            ("message.read", #"{"upTo":7}"#),
            ("message.read", #"{"upTo":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"}"#),
            ("conversation.hidden", "{}"), ("conversation.shown", "{}"), ("conversation.started", #"{"title":7}"#),
            ("conversation.started", #"{"participants":"a"}"#), ("conversation.started", #"{"participants":["a"]}"#),
            ("conversation.renamed", "{}"), ("conversation.renamed", #"{"title":"x"}"#),
            ("participant.joined", #"{"user":7}"#), ("participant.left", "{}"),
            ("survey.answered", #"{"survey":"s"}"#),
            ("survey.answered", #"{"survey":"s","question":"q"}"#),
            ("survey.answered", #"{"survey":"s","question":"q","choices":["a",1]}"#),
            ("survey.answered", #"{"survey":"s","question":"q","rating":7}"#), ("profile.changed", #"{"name":"x"}"#),
            ("profile.changed", #"{"fields":{"name":"x"}}"#), ("contact.added", #"{"contact":"x","name":7}"#),
            ("contact.removed", "{}"), ("search.remembered", #"{"query":""}"#),
            ("search.forgotten", #"{"all":true}"#),
            ("bot.transcribed", "{}"), ("note", #"{"text":7}"#),
        ])
    func beforehand(type: String, payload: String) throws {
        let log = try LogFixture()
        try log.deliver([event(1, 1, hlc: 10, type: type, payload)])
        _ = try log.digests()
        let draft = EventDraft(type: type, conversation: "c", user: "u", payload: Array(payload.utf8))
        #expect(try ViewReader(log.files).quarantine().map(\.reason).first == PayloadForm.refusal(draft))
    }

    @Test("Numbers that are equal are one answer, exactly, however they are written")
    func numbers() throws {
        let same: [(String, [String])] = [
            ("7", ["7", "7.0", "7.000", "70e-1", "0.7E1", "7e0", "0.07e+2"]),
            ("0", ["0", "-0", "0.0", "0e99", "-0.0e-5"]),
            ("-1.5", ["-1.5", "-15e-1", "-1.50"]), ("4200", ["4200", "42e2", "4.2E+3"]),
            ("0.125", ["0.125", "125e-3"]), ("9007199254740993", ["9007199254740993", "9007199254740993.0"]),
            ("1e21", ["1e21", "1000000000000000000000"]), ("100000000000000000000", ["1e20"]),
            ("0.000000000000000000001", ["1e-21"]), ("1e-22", ["1e-22", "0.1e-21"]), ("1e999999999", ["1e999999999"]),
        ]
        for (plain, texts) in same {
            for text in texts {
                let json = Array(text.utf8)
                #expect(JSONValue(bytes: json, range: 0..<json.count).plainNumber == plain, "\(text)")
            }
        }
        let log = try LogFixture()
        let texts = ["7", "7.0", "70e-1", "7.1", "1e1000000000"]
        try log.deliver(
            texts.enumerated().map { index, text in
                event(
                    1, UInt64(index + 1), hlc: 10 + Int64(index), type: "survey.answered",
                    #"{"survey":"s","question":"q","rating":\#(text)}"#)
            })
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        var counts: [String] = []
        try reader.survey("s") { count in
            counts.append("\(count.value) \(count.count)")
            return true
        }
        #expect(counts == ["7 3", "7.1 1"])
        #expect(try reader.quarantine().map(\.position) == [5])
    }
}
