import EventStore
import Testing

@testable import BotKit

/// Pictures: drawn, fetched where they lie elsewhere, kept, and only then told of.
@Suite struct PictureTests {
    static let png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 2, 3]
    private static let address = "https://pictures.example/1?sig=a"

    private func run(_ change: (inout BotSettings) -> Void = { _ in }) -> MachineRun {
        var run = MachineRun(
            Sample.settings {
                $0.kind = .image(.init())
                $0.model = "dall-e-2"
                $0.parameters = [.init("size", json: #""1024x1024""#)]
                change(&$0)
            }, Sample.event(data: #"{"text":"고양이 그림"}"#))
        run.feed(.dialogue(Sample.dialogue(Sample.event(data: #"{"text":"고양이 그림"}"#))))
        return run
    }

    private func here(_ bytes: [UInt8]) -> String { #"{"data":[{"b64_json":"\#(base64Text(bytes))"}]}"# }

    @Test(
        "The request is the configuration's; the bytes are kept before the reply names them, under its one id (INV-14)"
    )
    func drawn() throws {
        var run = run()
        guard case .image(let request) = run.asked else { return #expect(Bool(false), "\(run.last)") }
        #expect(
            String(decoding: request.body, as: UTF8.self)
                == #"{"model":"dall-e-2","prompt":"고양이 그림","n":1,"size":"1024x1024"}"#)
        run.json(#"{"created":1,"data":[{"b64_json":"\#(base64Text(Self.png))","revised_prompt":"a cat"}]}"#)
        guard case .keep(let media) = run.last.last else { return #expect(Bool(false), "\(run.last)") }
        #expect(media.bytes == Self.png && media.mediaType == "image/png" && run.appended.isEmpty)
        run.kept()
        let event = try #require(run.appended.first)
        #expect(event.string("id") == EventID(replyTo: EventID(text: Sample.message)!, by: "medibot").description)
        let data = try #require(event.object("data"))
        let item = try #require(data.elements("attachments")?.first?.object)
        #expect(item.string("sha256") == SHA256().digest(Self.png).description)
        #expect(
            item.integer("bytes") == 11 && item.string("mediaType") == "image/png" && item.string("alt") == "a cat")
        #expect(data.string("prompt") == "고양이 그림" && data.string("revised_prompt") == "a cat" && data["text"] == nil)
        #expect(data.string("model") == "dall-e-2" && data.integer("attempt") == 1)
        #expect(run.feed(.stored(isAcked: true)).last == .end && run.machine.hasEnded)
    }

    @Test("A picture that lies elsewhere is fetched at once; from a place that is gone another one is asked for")
    func fetched() throws {
        var run = run()
        run.json(#"{"data":[{"url":"\#(Self.address)"}]}"#)
        #expect(run.asked == .fetch(address: Self.address))
        // A fault that passes: the same place is asked again.
        run.feed(.answerFails(ModelFault(.cut, "broke off")))
        run.feed(.waited)
        #expect(run.asked == .fetch(address: Self.address))
        run.feed(.answerFails(ModelFault(.status, "gone", status: 403)))
        run.feed(.waited)
        guard case .image = run.asked else { return #expect(Bool(false), "\(run.last)") }
        run.json(#"{"data":[{"url":"\#(Self.address)"}]}"#)
        run.answer("image/png", Self.png)
        run.kept()
        #expect(run.appended.first?.object("data")?.elements("attachments")?.count == 1)
    }

    @Test("A picture that is nowhere ends after all attempts: a paid one is not asked for without end")
    func neverThere() throws {
        var run = run { $0.retries.attempts = 4 }
        var drawn = 0
        while run.appended.isEmpty {
            if case .image = run.asked {
                drawn += 1
                run.json(#"{"data":[{"url":"\#(Self.address)"}]}"#)
            }
            run.feed(.answerFails(ModelFault(.status, "gone", status: 404)))
            run.feed(.waited)
        }
        let data = try #require(run.appended.first?.object("data"))
        #expect(drawn == 2 && data.string("step") == "fetch" && data.string("code") == "cut")
        #expect(data.integer("attempt") == 4 && data.integer("status") == 404)
    }

    @Test(
        "What is no picture is told by its own code, and by the step",
        arguments: [
            (#"{"data":[]}"#, "no_data"), (#"{"created":1}"#, "no_data"), (#"{"data":[{}]}"#, "no_data"),
            (#"{"data":[{"b64_json":"***"}]}"#, "decode"), (#"{"data":[{"b64_json":"aGVsbG8="}]}"#, "decode"),
            (#"{"data":[{"b64_json":"\#(base64Text(Array("<svg/>".utf8)))"}]}"#, "decode"), ("[", "decode"),
            ("", "no_data"),
        ])
    func noPicture(_ answer: String, _ code: String) throws {
        var run = run { $0.retries.attempts = 1 }
        run.json(answer)
        let data = try #require(run.appended.first?.object("data"))
        #expect(data.string("code") == code && data.string("step") == "draw" && data.bool("final") == true)
    }

    @Test("A picture over the limit is not taken, in an answer or where it lies, and not asked for again (INV-9)")
    func tooLarge() throws {
        let small: (inout BotSettings) -> Void = {
            var picture = BotKind.Picture()
            picture.longest = 10
            $0.kind = .image(picture)
        }
        var inAnswer = run(small)
        inAnswer.json(here(Self.png))
        #expect(inAnswer.appended.first?.object("data")?.string("code") == "too_large")
        var endless = run(small)
        endless.feed(.answerBegins(contentType: "application/json"))
        #expect(endless.feed(.piece([UInt8](repeating: 0x20, count: 70_000))).first == .hangUp)
        #expect(endless.appended.first?.object("data")?.string("code") == "too_large")
        var elsewhere = run(small)
        elsewhere.json(#"{"data":[{"url":"\#(Self.address)"}]}"#)
        elsewhere.feed(.answerBegins(contentType: "image/png"))
        #expect(elsewhere.feed(.piece(Self.png)).first == .hangUp)
        let data = try #require(elsewhere.appended.first?.object("data"))
        #expect(data.string("code") == "too_large" && data.string("step") == "fetch")
    }

    @Test("A page in place of a picture is tried again; a refusal is final, whatever its endpoint calls it")
    func refused() {
        var page = run()
        page.feed(.answerBegins(contentType: "text/html"))
        page.feed(.piece([0x3c]))
        #expect(page.last.contains { if case .wait = $0 { true } else { false } })
        for name in ["content_policy_violation", "moderation_blocked", "content_filter"] {
            let body = #"{"error":{"code":"\#(name)","message":"no"}}"#
            var run = run()
            run.feed(.answerFails(ModelFault(status: 400, retryAfter: nil, body: Array(body.utf8), secret: nil)))
            #expect(run.appended.first?.object("data")?.string("code") == "filtered", "\(name)")
        }
    }

    @Test("Pictures are fetched encrypted, or from the endpoint itself: an answer leads to nothing else of a network")
    func addresses() {
        let endpoint = "http://127.0.0.1:8080/v1"
        for (address, isAllowed) in [
            (Self.address, true), ("http://127.0.0.1:8080/pictures/1", true), ("HTTP://127.0.0.1:8080?x", true),
            ("http://127.0.0.1:8081/1", false), ("http://127.0.0.1:8080@evil/1", false),
            ("http://169.254.169.254/latest", false), ("https://user:word@host/1", false), ("https://", false),
            ("file:///etc/passwd", false), ("ftp://127.0.0.1:8080/1", false), ("https://host/a b", false),
            ("https://host/\r\nX: y", false), ("/1", false), ("", false),
        ] {
            #expect(PictureAddress.isAllowed(address, endpoint: endpoint) == isAllowed, "\(address)")
        }
    }

    @Test("Cancelled at any moment before the reply is stored, nothing is stored", arguments: 0..<4)
    func cancelled(_ step: Int) {
        var run = run()
        if step > 0 { run.json(#"{"data":[{"url":"\#(Self.address)"}]}"#) }
        if step > 1 { run.feed(.answerFails(ModelFault(.cut, "broke off"))) }
        if step > 2 {
            run.feed(.waited)
            run.answer("image/png", Self.png)
        }
        #expect(run.feed(.cancelled(by: "u2")).isEmpty)
        #expect(run.feed(.cancelled(by: "u1")).suffix(2) == [.ack, .end])
        run.kept()
        #expect(run.appended.isEmpty)
    }

    @Test("A conversation chooses among the models that are offered; another one fails its message, and says so")
    func chosen() throws {
        for (model, asked) in [("dall-e-3", "dall-e-3"), (nil, "dall-e-2"), ("gpt-4", nil)] as [(String?, String?)] {
            var run = MachineRun(
                Sample.settings {
                    $0.kind = .image(.init())
                    ($0.model, $0.models) = ("dall-e-2", ["dall-e-2", "dall-e-3"])
                })
            guard case .read(let query) = run.last.first else { return #expect(Bool(false)) }
            #expect(query.asksModel)
            var dialogue = Sample.dialogue()
            dialogue.model = model
            run.feed(.dialogue(dialogue))
            if case .image(let request) = run.asked {
                #expect(request.model == asked)
            } else {
                #expect(asked == nil && run.appended.first?.object("data")?.string("code") == "model")
            }
        }
    }
}
