import EventStore
import Testing

@testable import BotKit

/// Requests and answers of endpoints that are shaped like OpenAI's.
@Suite struct CompletionTests {
    private func completion(_ text: String) throws(ModelFault) -> Completion {
        try Completion(body: Array(text.utf8))
    }

    @Test("A request has the members in their order, and parameters as they were written")
    func request() {
        let request = CompletionRequest(
            model: "gpt-3.5-turbo", isStreamed: false,
            turns: [Turn(.system, "너는 \"의사\"다"), Turn(.user, "머리가\n아파요")],
            parameters: [.init("temperature", json: "0"), .init("max_tokens", json: "1024")])
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"model":"gpt-3.5-turbo","stream":false,"messages":[{"role":"system","content":"너는 \"의사\"다"},"#
                + #"{"role":"user","content":"머리가\n아파요"}],"temperature":0,"max_tokens":1024}"#)
    }

    @Test("An answer has text, model, finish and usage; members that are not known pass")
    func answer() throws {
        let answer = try completion(
            #"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-3.5-turbo-0125","x":{"y":[1]},"#
                + #""choices":[{"index":0,"message":{"role":"assistant","content":"네, \ud83d\ude00"},"finish_reason":"length"}],"#
                + #""usage":{"prompt_tokens":9,"completion_tokens":12,"total_tokens":21},"system_fingerprint":null}"#)
        #expect(answer.text == "네, 😀")
        #expect(answer.model == "gpt-3.5-turbo-0125")
        #expect(answer.finish == "length")
        #expect(answer.usage?.total == 21)
        let bare = try completion(#"{"choices":[{"message":{"content":"a"}}]}"#)
        #expect(bare.text == "a" && bare.model == nil && bare.finish == nil && bare.usage == nil)
    }

    @Test(
        "What is no answer is told as such",
        arguments: [
            ("", .decode), ("[]", .decode), ("{}", .decode), (#"{"choices":[]}"#, .decode),
            (#"{"choices":[{"message":{"content":null}}]}"#, .decode), (#"{"choices":[{"message":{}}]}"#, .decode),
            (#"{"choices":[{"message":{"content":"\ud83d"}}]}"#, .decode), (#"{"choices":{"message":1}}"#, .decode),
            (#"{"choices":[{"message":{"content":"a"},"finish_reason":"content_filter"}]}"#, .filtered),
            (#"{"choices":[{"message":{"content":"a"}}]"#, .decode), ("<html>", .decode),
        ] as [(String, ModelFault.Code)])
    func noAnswer(text: String, code: ModelFault.Code) {
        #expect { try completion(text) } throws: { ($0 as? ModelFault)?.code == code }
    }

    @Test("Usage of hostile numbers is none, or bounded")
    func usage() throws {
        for numbers in ["-1,\"completion_tokens\":-2", "1e400", "\"9\"", "99999999999999999999"] {
            let answer = try completion(
                #"{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":\#(numbers)}}"#)
            #expect(answer.usage == nil)
        }
    }

    private static let stream = [
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"role":"assistant"}}]}"#,
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"두"}}]}"#,
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"통 "}}]}"#,
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{"content":"약"}}]}"#,
        #"{"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        #"{"id":"c","model":"m","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3}}"#,
    ]

    private func bytes(_ events: [String], _ end: String = "\n") -> [UInt8] {
        Array(events.map { "data: \($0)\(end)\(end)" }.joined().utf8)
    }

    @Test("A stream is put together, however it is cut", arguments: ["\n", "\r\n"])
    func streamed(end: String) throws {
        let whole = bytes(Self.stream + ["[DONE]"], end)
        for size in [1, 2, 3, 7, 64, whole.count] {
            var stream = CompletionStream()
            var text = ""
            for start in stride(from: 0, to: whole.count, by: size) {
                text += try stream.take(whole[start..<min(start + size, whole.count)])
            }
            let answer = try stream.end()
            #expect(text == "두통 약" && answer.text == text)
            #expect(answer.finish == "stop" && answer.model == "m" && answer.usage?.total == 3)
        }
    }

    @Test("Of several choices one is the answer, however their pieces are mixed")
    func choices() throws {
        let mixed = [
            #"{"choices":[{"index":0,"delta":{"content":"안"}}]}"#,
            #"{"choices":[{"index":1,"delta":{"content":"X"}}]}"#,
            #"{"choices":[{"index":1,"delta":{"content":"Y"}},{"index":0,"delta":{"content":"녕"}}]}"#,
            #"{"choices":[{"index":1,"delta":{},"finish_reason":"content_filter"}]}"#,
            #"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
        ]
        var stream = CompletionStream()
        #expect(try stream.take(bytes(mixed)) == "안녕")
        #expect(try stream.end().text == "안녕" && stream.end().finish == "stop")
        let whole = #"{"choices":[{"index":1,"message":{"content":"X"}},{"index":0,"message":{"content":"안녕"}}]}"#
        #expect(try Completion(body: Array(whole.utf8)).text == "안녕")
    }

    @Test("The halves of a surrogate pair that come in two pieces are one character")
    func surrogates() throws {
        func text(_ contents: [String]) throws -> String {
            var stream = CompletionStream()
            for content in contents {
                _ = try stream.take(bytes([#"{"choices":[{"delta":{"content":"\#(content)"}}]}"#]))
            }
            _ = try stream.take(bytes(["[DONE]"]))
            return try stream.end().text
        }
        #expect(try text([#"x\ud83d"#, #"\ude00y"#]) == "x😀y")
        #expect(try text([#"x\ud83d"#, "", #"\ude00y"#]) == "x😀y")
        #expect(try text([#"x\ud83d"#, "y"]) == "x\u{fffd}y" && text([#"x\ud83d"#]) == "x\u{fffd}")
        #expect(try text([#"x\\ud83d"#, "y"]) == #"x\ud83dy"# && text([#"\ude00"#]) == "\u{fffd}")
    }

    @Test("A stream that ends without [DONE] or a reason was cut, and is no answer")
    func cut() throws {
        for count in 0..<4 {
            var stream = CompletionStream()
            _ = try stream.take(bytes(Array(Self.stream.prefix(count))))
            #expect { try stream.end() } throws: { ($0 as? ModelFault)?.code == .cut }
        }
        // What was not ended by a blank line was not said.
        var stream = CompletionStream()
        _ = try stream.take(bytes(Array(Self.stream.prefix(4))) + Array("data: [DONE]\n".utf8))
        #expect { try stream.end() } throws: { ($0 as? ModelFault)?.code == .cut }
        var ended = CompletionStream()
        _ = try ended.take(bytes(Array(Self.stream.prefix(5))))
        #expect(try ended.end().text == "두통 약")
    }

    @Test("An error within a stream, a piece that is no JSON and an answer that is withheld end it")
    func broken() {
        for (piece, code) in [
            (#"{"error":{"message":"overloaded"}}"#, ModelFault.Code.cut), ("{", .decode), ("null", .decode),
            (#"{"choices":[{"delta":{},"finish_reason":"content_filter"}]}"#, .filtered),
        ] {
            var stream = CompletionStream()
            #expect { try stream.take(bytes([Self.stream[1], piece])) } throws: { ($0 as? ModelFault)?.code == code }
        }
    }

    @Test("After [DONE] nothing counts")
    func afterDone() throws {
        var stream = CompletionStream()
        _ = try stream.take(bytes([Self.stream[1], "[DONE]", Self.stream[2], "{"]))
        #expect(try stream.end().text == "두")
    }

    @Test(
        "A status is what it means",
        arguments: [
            (401, "", .noKey, false), (403, "", .status, false), (403, "invalid_api_key", .noKey, false),
            (403, "unsupported_country_region_territory", .noKey, false), (403, "model_not_found", .model, false),
            (403, "content_filter", .filtered, false), (429, "", .rate, true),
            (429, "insufficient_quota", .quota, false), (408, "", .status, true), (425, "", .status, true),
            (500, "", .status, true), (503, "", .status, true), (501, "", .status, false), (418, "", .status, false),
            (400, "context_length_exceeded", .tooLong, false), (413, "", .tooLong, false),
            (404, "model_not_found", .model, false), (404, "", .status, false),
            (400, "content_policy_violation", .filtered, false), (302, "", .status, false),
        ] as [(Int, String, ModelFault.Code, Bool)])
    func status(status: Int, word: String, code: ModelFault.Code, isTransient: Bool) {
        let body = #"{"error":{"message":"words","type":"x","code":"\#(word)"}}"#
        let fault = ModelFault(status: status, retryAfter: 3, body: Array(body.utf8), secret: nil)
        #expect(fault.code == code && fault.isTransient == isTransient && fault.words == "words")
        #expect(fault.reason == "HTTP status \(status): x" + (word.isEmpty ? "" : ", \(word)"))
        #expect(fault.status == status && fault.retryAfter == 3)
    }

    @Test("No reason has words of the endpoint in it; what it says has no key, and is not long")
    func secret() {
        let body = #"{"error":{"message":"Incorrect API key provided: sk-42. sk-42 is wrong"}}"#
        let fault = ModelFault(status: 401, retryAfter: nil, body: Array(body.utf8), secret: "sk-42")
        #expect(
            fault.words == "Incorrect API key provided: [key]. [key] is wrong" && fault.reason == "HTTP status 401")
        let said = #"{"error":{"message":"m","type":"두통이 있어요","code":"http://10.0.0.1/v1"}}"#
        #expect(
            ModelFault(status: 400, retryAfter: nil, body: Array(said.utf8), secret: nil).reason == "HTTP status 400")
        let midway = #"{"error":{"message":"두통이 있어요","code":"server_error"}}"#
        var stream = CompletionStream()
        #expect { try stream.take(bytes([midway])) } throws: {
            ($0 as? ModelFault)?.reason == "the endpoint reported an error in its answer: server_error"
        }
        let page = #"{"error":{"message":"\#(String(repeating: "가", count: 10_000))"}}"#
        #expect(ModelFault(status: 500, retryAfter: nil, body: Array(page.utf8), secret: nil).words?.count == 300)
        #expect(
            ModelFault(status: 502, retryAfter: nil, body: Array("<html>".utf8), secret: nil).reason
                == "HTTP status 502")
    }
}
