import Testing

@testable import EventStore

/// The vectors were computed from the text of the definition by another program in another language.
struct DerivedEventIDTests {
    private let parser = NativeLineParser()

    @Test(
        arguments: [
            (
                #"{"type":"t","user":"u","time":"2026-08-01T02:02:15.120Z","data":{}"#
                    + #","source":"kakao/export","recordid":"row-17"}"#,
                "019fbb0e-c4d0-8556-a510-a7f819ceb807"
            ),
            (#"{"type":"t","user":"u","recordid":"row-17","data":{}}"#, "00000000-0000-8070-abd1-7960d4d3702d"),
            (
                #"{"type":"message.posted","time":"2026-08-01T11:02:15.12+09:00","subject":"conversation/c-88""#
                    + #","user":"u-1029","data":{"text":"어제부터 두통이 심해요"}}"#,
                "019fbb0e-c4d0-8ce7-bfac-661a831405d0"
            ),
            (
                #"{"type":"note","user":"u","author":"bot","cause":"0198E2C4-77AA-7C01-8B1E-0A1B2C3D4E5F""#
                    + #","dataversion":2,"data":{ }}"#,
                "00000000-0000-8f72-a2a9-5b6d35ea94d3"
            ),
            (
                #"{"type":"note","user":"u","time":"1969-12-31T23:59:59Z","data":{}}"#,
                "00000000-0000-8431-b790-a1e8dbdfb841"
            ),
        ])
    func vectors(line: String, id: String) throws {
        let parsed = try parser.parse(Array(line.utf8))
        #expect(parsed.isDerivedID)
        #expect(parsed.draft.id == EventID(text: id))
    }

    @Test(
        "The id of a reply: vectors of docs/reference/FORMATS.md §4, made with Python's hashlib",
        arguments: [
            ("0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "medibot", "", "0198e2c4-77aa-80a6-bf76-bef8caa642f3"),
            ("0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "medibot", "summary", "0198e2c4-77aa-8f8d-b1b7-dac69e64b078"),
            ("0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "의료봇", "요약 2", "0198e2c4-77aa-8437-bf35-ee088fc0c88d"),
            ("f47ac10b-58cc-4372-a567-0e02b2c3d479", "medibot", "", "f47ac10b-58cc-8238-ab0a-6534983fe877"),
            ("019fbb0e-c4d0-8556-a510-a7f819ceb807", "bot:gpt-4", "1", "019fbb0e-c4d0-84cc-82b5-5e8a8083dce3"),
        ])
    func replies(cause: String, bot: String, label: String, id: String) throws {
        let cause = try #require(EventID(text: cause))
        #expect(EventID(replyTo: cause, by: bot, label: label) == EventID(text: id))
        #expect(EventID(replyTo: cause, by: bot + label) != EventID(replyTo: cause, by: bot, label: label + "x"))
    }

    @Test(
        "The ids of a reply that come next, where another one's event has those before: vectors of FORMATS §4",
        arguments: [
            ("", 2, "0198e2c4-77aa-8165-a61e-0770803cecd6"), ("", 8, "0198e2c4-77aa-82ce-a49d-ce6d219013fb"),
            ("summary", 2, "0198e2c4-77aa-8f54-8231-f8657cfc4c3e"),
        ])
    func nextReplies(label: String, turn: Int, id: String) throws {
        let cause = try #require(EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"))
        #expect(EventID(replyTo: cause, by: "medibot", label: label, turn: turn) == EventID(text: id))
        #expect(
            EventID(replyTo: cause, by: "medibot", label: label, turn: 1)
                == EventID(replyTo: cause, by: "medibot", label: label))
    }

    @Test func formDoesNotMatterButContentDoes() throws {
        func id(_ members: String) throws -> EventID? { try parser.parse(Array("{\(members)}".utf8)).draft.id }
        let plain = try id(#""type":"t","user":"u","data":{"a":1}"#)
        #expect(
            try id(#" "data" : {"a":1}, "author":"u","user":"\u0075","dataversion":1,"type":"t","id":null"#) == plain)
        let others = try [
            #""type":"t2","user":"u","data":{"a":1}"#, #""type":"t","user":"u2","data":{"a":1}"#,
            #""type":"t","user":"u","data":{"a": 1}"#, #""type":"t","user":"u","author":"b","data":{"a":1}"#,
            #""type":"t","user":"u","dataversion":2,"data":{"a":1}"#,
            #""type":"t","user":"u","subject":"conversation/c","data":{"a":1}"#,
            #""type":"t","user":"u","time":"1970-01-01T00:00:00Z","data":{"a":1}"#,
            #""type":"t","user":"u","recordid":"1","data":{"a":1}"#,
            #""type":"tu","user":"u","data":{"a":1}"#, #""type":"t","user":"uu","data":{"a":1}"#,
        ].map(id)
        #expect(Set(others + [plain]).count == others.count + 1)
        #expect(try id(#""type":"t","user":"u","recordid":"1","data":{"a":2}"#) == others[7])
    }

    @Test func idsSortByTime() throws {
        let ids = try (0..<100).map { second in
            let time = Timestamp.text(Int64(second) * 1000)
            return try #require(
                try parser.parse(Array(#"{"type":"t","user":"u","time":"\#(time)","data":{}}"#.utf8)).draft.id)
        }
        #expect(ids == ids.sorted())
        #expect(ids.allSatisfy { $0.bits.high >> 12 & 15 == 8 && $0.bits.low >> 62 == 2 })
    }
}
