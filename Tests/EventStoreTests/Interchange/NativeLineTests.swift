import TestSupport
import Testing

@testable import EventStore

struct NativeLineTests {
    private let parser = NativeLineParser()

    private func parse(_ text: String) throws(InvalidLine) -> NativeLine { try parser.parse(Array(text.utf8)) }

    @Test func wholeLine() throws {
        let line = try parse(
            #"""
            {"specversion":"1.0","id":"0198E2C4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","source":"kakao",
             "time":"2026-08-01T11:02:15.120+09:00","subject":"conversation/c-88","user":"u-1029","author":"bot",
             "cause":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60","datacontenttype":"application/json","dataversion":3,
             "recordid":"17","sequence":"5","position":7,"hlc":"x","leaf":null,"origin":[],"erased":false,
             "data" : { "text" : "어제부터 두통이 심해요" } }
            """#)
        let expected = EventDraft(
            id: EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"), type: "message.posted",
            time: 1_785_549_735_120, conversation: "c-88", user: "u-1029", author: "bot",
            cause: EventID(text: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60"), version: 3,
            payload: Array(#"{ "text" : "어제부터 두통이 심해요" }"#.utf8))
        #expect(line == NativeLine(draft: expected, isDerivedID: false, recordID: "17", source: "kakao"))
    }

    @Test func leastLine() throws {
        let line = try parse(#"{"type":"note","user":"u","data":{},"time":null,"subject":null,"id":null,"x":null}"#)
        #expect(line.isDerivedID)
        #expect(line.draft.time == nil && line.draft.conversation == nil && line.draft.author == nil)
        #expect(line.draft.version == 1 && line.draft.payload == Array("{}".utf8))
        #expect(line.recordID == nil && line.source == nil)
    }

    @Test func readsItsRangeOnly() throws {
        let text = Array(#"{"x{"type":"note","user":"u","data":{}}"#.utf8) + Array("\r\n{".utf8)
        #expect(try parser.parse(text, 3..<text.count - 1).draft.type == "note")
        #expect(throws: InvalidLine.notJSON(reason: "text ends too early", offset: 20)) {
            try parser.parse(text, 3..<23)
        }
    }

    @Test(
        arguments: [
            (#"{"type":"t","user":"u"}"#, .missing(member: "data")),
            (#"{"type":"t","data":{}}"#, .missing(member: "user")),
            (#"{"user":"u","data":{}}"#, .missing(member: "type")),
            (#"{"type":"t","user":"u","erased":true}"#, .erased),
            (#"{"type":"t","user":"u","data":null,"erased":true}"#, .erased),
            (#"{"type":"t","user":"u","data":[]}"#, .wrongType(member: "data", expected: "a JSON object")),
            (#"{"type":"t","user":"u","data":{"a":1,"a":2}}"#, .notJSON(reason: "duplicate member", offset: 37)),
            (#"{"type":"t","user":"u","data":{},"user":"v"}"#, .duplicate(member: "user")),
            (#"{"type":"t","user":null,"user":"v","data":{}}"#, .duplicate(member: "user")),
            (#"{"type":"t","user":"u","data":{},"\u0075ser":"v"}"#, .duplicate(member: "user")),
            (#"{"type":"t","user":"u","data":{},"room":"v"}"#, .unknown(member: "room")),
            (#"{"type":"t","user":"u","data_base64":"e30="}"#, .unreadable),
            (#"{"type":"t","user":"u","data":{}"#, .notJSON(reason: "text ends too early", offset: 32)),
            (
                #"{"type":"t","user":"u","data":{}} x"#,
                .notJSON(reason: "text after the end of the value", offset: 34)
            ),
            (#"[]"#, .notJSON(reason: "not a JSON object", offset: 0)),
            (#"{"type":1,"user":"u","data":{}}"#, .wrongType(member: "type", expected: "a string")),
            (#"{"type":"t","user":{},"data":{}}"#, .wrongType(member: "user", expected: "a string")),
            (#"{"type":"t","user":"u","data":{},"id":7}"#, .wrongType(member: "id", expected: "a string")),
            (#"{"type":"t","user":"u","data":{},"id":"7"}"#, .notUUID(member: "id")),
            (#"{"type":"t","user":"u","data":{},"cause":""}"#, .notUUID(member: "cause")),
            (#"{"type":"t","user":"u","data":{},"time":"yesterday"}"#, .time),
            (#"{"type":"t","user":"u","data":{},"time":1}"#, .wrongType(member: "time", expected: "a string")),
            (
                #"{"type":"t","user":"u","data":{},"subject":"c-88"}"#,
                .wrongValue(member: "subject", expected: "conversation/<id>")
            ),
            (
                #"{"type":"t","user":"u","data":{},"subject":"conversation/"}"#,
                .wrongValue(member: "subject", expected: "conversation/<id>")
            ),
            (
                #"{"type":"t","user":"u","data":{},"specversion":"0.3"}"#,
                .wrongValue(member: "specversion", expected: "\"1.0\"")
            ),
            (
                #"{"type":"t","user":"u","data":{},"datacontenttype":"text/plain"}"#,
                .wrongValue(member: "datacontenttype", expected: "\"application/json\"")
            ),
            (
                #"{"type":"t","user":"u","data":{},"dataversion":"2"}"#,
                .wrongType(member: "dataversion", expected: "an integer from 1 to 4294967295")
            ),
            (
                #"{"type":"t","user":"u","data":{},"dataversion":4294967296}"#,
                .wrongType(member: "dataversion", expected: "an integer from 1 to 4294967295")
            ),
            (
                #"{"type":"t","user":"u","data":{},"recordid":"a\u0000b"}"#,
                .wrongValue(member: "recordid", expected: "without U+0000")
            ),
            (#"{"type":"t","user":"u","data":{},"dataversion":0}"#, .event(.version)),
            (#"{"type":"t","user":"","data":{}}"#, .event(.identifier(field: "user", reason: "must not be empty"))),
            (#"{"type":"t\n","user":"u","data":{}}"#, .event(.type(reason: "has a control character"))),
        ] as [(String, InvalidLine)])
    func refuses(text: String, error: InvalidLine) {
        #expect(throws: error) { try parse(text) }
        #expect(error.code.hasPrefix("E_"))
        #expect(error.description.contains(":"))
    }

    @Test("A member under another service's name is told its name here")
    func whereItBelongs() {
        #expect(InvalidLine.unknown(member: "conversation").description.contains(#""subject":"conversation/ID""#))
        #expect(InvalidLine.unknown(member: "payload").description.hasSuffix("write it as data"))
        #expect(InvalidLine.unknown(member: "room").description.hasSuffix("put it into data"))
    }

    @Test func payloadLimits() throws {
        let long = String(repeating: "가", count: Limits.payload / 3)
        #expect(throws: InvalidLine.event(.payloadTooLarge(bytes: long.utf8.count + 8))) {
            try parse(#"{"type":"t","user":"u","data":{"a":"\#(long)"}}"#)
        }
        // The payload's own nesting counts, not that of the line around it.
        func nested(_ depth: Int) -> String {
            let inside = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
            return #"{"type":"t","user":"u","data":{"a":\#(inside)}}"#
        }
        #expect(try !parse(nested(Limits.nesting)).draft.payload.isEmpty)
        #expect(throws: InvalidLine.notJSON(reason: "nested too deep", offset: 98)) {
            try parse(nested(Limits.nesting + 1))
        }
    }

    @Test func codesAreDistinct() {
        let errors: [InvalidLine] = [
            .notJSON(reason: "", offset: 0), .missing(member: ""), .duplicate(member: ""), .unknown(member: ""),
            .wrongType(member: "", expected: ""), .wrongValue(member: "", expected: ""), .notUUID(member: ""), .time,
            .erased, .event(.version),
        ]
        #expect(Set(errors.map(\.code)).count == errors.count)
    }

    @Test func everyTruncationAndManyMutationsAreSafe() throws {
        let whole = Array(
            #"{"id":null,"type":"message.posted","time":"2026-08-01T02:02:15Z","user":"u","data":{"글":"두통 🤕"}}"#.utf8)
        _ = try parser.parse(whole)
        for count in 0..<whole.count {
            #expect(throws: InvalidLine.self) { try parser.parse(Array(whole[..<count])) }
        }
        var random = SplitMix64(state: 3)
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let first = Result { () throws(InvalidLine) in try parser.parse(bytes) }
            #expect(first == Result { () throws(InvalidLine) in try parser.parse(bytes) })
            // What is taken can be stored: its payload passes on its own.
            if case .success(let line) = first { try JSONScanner.validateObject(line.draft.payload) }
        }
    }
}
