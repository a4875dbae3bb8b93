import CommandLineKit
import EventStore
import Testing

@testable import BotKit

/// A voice: heard, recorded as text, answered, spoken, kept, and then told of.
@Suite struct VoiceTests {
    private static let sound = Array("ID3 what was recorded".utf8)
    private static let digest = SHA256().digest(sound)
    private static let question = Sample.event(
        data: #"{"attachments":[{"sha256":"\#(digest)","bytes":\#(sound.count),"mediaType":"audio/mp4"}]}"#)

    private func settings(_ change: (inout BotSettings) -> Void = { _ in }) -> BotSettings {
        Sample.settings {
            var hearing = BotKind.Hearing(model: "whisper-1")
            hearing.parameters = [.init("language", json: #""ko""#), .init("temperature", json: "0")]
            var speech = BotKind.Speech(model: "tts-1", voice: "alloy")
            speech.parameters = [.init("speed", json: "1.0")]
            speech.longestText = 5
            $0.kind = .voice(.init(hearing: hearing, speech: speech))
            change(&$0)
        }
    }

    private func run(_ change: (inout BotSettings) -> Void = { _ in }) -> MachineRun {
        var run = MachineRun(settings(change), Self.question)
        run.feed(.dialogue(Sample.dialogue(Self.question)))
        return run
    }

    /// How far it has come: 0 the recording is asked for, 1 heard, 2 recorded, 3 answered, 4 spoken.
    private func run(to step: Int, _ change: (inout BotSettings) -> Void = { _ in }) -> MachineRun {
        var run = run(change)
        if step > 0 { run.feed(.loaded(Self.sound)) }
        if step > 1 { run.json(#"{"text":" 머리가 아파요 ","language":"ko"}"#) }
        if step > 2 { run.feed(.stored(isAcked: false)) }
        if step > 3 { run.answer("푹 쉬세요") }
        return run
    }

    @Test(
        "Each step follows the one before; what was heard is recorded at once, and one reply has text and sound (INV-14)"
    )
    func whole() throws {
        var run = run()
        guard case .load(let item, let longest) = run.last.last else { return #expect(Bool(false), "\(run.last)") }
        #expect(item.digest == Self.digest && longest == 25 << 20)
        run.feed(.loaded(Self.sound))
        guard case .transcription(let request) = run.asked else { return #expect(Bool(false), "\(run.last)") }
        #expect(request.model == "whisper-1" && request.sound == Self.sound)
        run.json(#"{"text":" 머리가 아파요 ","language":"ko"}"#)
        let transcript = try #require(run.recorded.first)
        let message = EventID(text: Sample.message)!
        #expect(transcript.string("id") == EventID(replyTo: message, by: "medibot", label: "transcript").description)
        #expect(transcript.string("type") == "bot.transcribed" && transcript.string("author") == "medibot")
        #expect(transcript.string("cause") == Sample.message && transcript.string("user") == "u1")
        let heard = try #require(transcript.object("data"))
        #expect(heard.string("text") == "머리가 아파요" && heard.string("model") == "whisper-1")
        #expect(heard.string("attachment") == Self.digest.description && heard.string("lang") == "ko")
        #expect(run.appended.isEmpty && !run.all.contains(.ack))
        run.feed(.stored(isAcked: false))
        #expect(run.request?.turns.last == Turn(.user, "머리가 아파요"))
        run.answer("푹 쉬세요 그리고")
        guard case .speech(let speech) = run.asked else { return #expect(Bool(false), "\(run.last)") }
        #expect(
            String(decoding: speech.body, as: UTF8.self)
                == #"{"model":"tts-1","input":"푹 쉬세요","voice":"alloy","response_format":"mp3","speed":1.0}"#)
        run.answer("audio/mpeg", Self.sound)
        #expect(run.appended.isEmpty)
        run.kept()
        let data = try #require(run.appended.first?.object("data"))
        #expect(data.string("text") == "푹 쉬세요 그리고" && data.string("transcript") == "머리가 아파요")
        let spoken = try #require(data.elements("attachments")?.first?.object)
        #expect(spoken.string("mediaType") == "audio/mpeg" && spoken.string("transcript") == "푹 쉬세요")
        #expect(run.feed(.stored(isAcked: true)).last == .end)
        #expect(run.appended.count == 1 && run.recorded.count == 1)
    }

    @Test("The form of a recording has its fields, its name's end, and its bytes as they are")
    func form() throws {
        var run = run()
        run.feed(.loaded(Self.sound))
        guard case .transcription(let request) = run.asked else { return #expect(Bool(false)) }
        let boundary = try #require(request.contentType.split(separator: "=").last)
        #expect(request.contentType == "multipart/form-data; boundary=\(boundary)" && boundary.count < 70)
        let text = String(decoding: request.body, as: UTF8.self)
        #expect(text.hasPrefix("--\(boundary)\r\n") && text.hasSuffix("\r\n--\(boundary)--\r\n"))
        for part in [
            "name=\"model\"\r\n\r\nwhisper-1\r\n", "name=\"response_format\"\r\n\r\njson\r\n",
            "name=\"language\"\r\n\r\nko\r\n", "name=\"temperature\"\r\n\r\n0\r\n",
            "name=\"file\"; filename=\"recording.m4a\"\r\nContent-Type: audio/mp4\r\n\r\nID3 what was recorded\r\n",
        ] { #expect(text.contains(part), "\(part)") }
        for (type, ending) in [
            ("audio/webm", "webm"), ("audio/mpeg", "mp3"), ("audio/wav", "wav"), ("audio/ogg", "ogg"),
            ("audio/webm;codecs=opus", "webm"),
        ] {
            let body = TranscriptionRequest(model: "m", sound: [1], mediaType: type).body
            #expect(String(decoding: body, as: UTF8.self).contains("recording.\(ending)\""), "\(type)")
        }
    }

    @Test("A worker that begins anew finds what was heard, and does not have it heard again")
    func resumed() throws {
        var dialogue = Sample.dialogue(Self.question)
        dialogue.transcript = "머리가 아파요"
        var run = MachineRun(settings(), Self.question)
        guard case .read(let query) = run.last.first else { return #expect(Bool(false)) }
        #expect(
            query.transcript == EventID(replyTo: EventID(text: Sample.message)!, by: "medibot", label: "transcript"))
        run.feed(.dialogue(dialogue))
        #expect(run.request?.turns.last?.text == "머리가 아파요" && run.recorded.isEmpty)
        #expect(!run.all.contains { if case .load = $0 { true } else { false } })
    }

    @Test(
        "What another worker heard and recorded first is what is answered; what is in its place and no transcript is passed over"
    )
    func heardBefore() {
        for (theirs, asked) in [("배가 아파요", "배가 아파요"), (nil, "머리가 아파요")] as [(String?, String)] {
            var run = run(to: 2)
            guard case .read = run.feed(.saidBefore).last else { return #expect(Bool(false), "\(run.last)") }
            var dialogue = Sample.dialogue(Self.question)
            dialogue.transcript = theirs
            run.feed(.dialogue(dialogue))
            #expect(run.request?.turns.last?.text == asked && run.recorded.count == 1)
        }
    }

    @Test("A transcript whose id someone else's event has is recorded under the next one")
    func transcriptElsewhere() throws {
        var run = run(to: 2)
        run.feed(.taken)
        let message = try #require(EventID(text: Sample.message))
        let id = EventID(replyTo: message, by: "medibot", label: "transcript", turn: 2).description
        #expect(run.recorded.last?.string("id") == id && run.recorded.count == 2)
        run.feed(.stored(isAcked: false))
        #expect(run.request?.turns.last?.text == "머리가 아파요")
    }

    @Test("What is written beside a recording, or without one, is asked, too")
    func written() {
        let beside = Sample.event(
            data:
                #"{"text":"어디가 문제죠?","attachments":[{"sha256":"\#(Self.digest)","bytes":9,"mediaType":"audio/webm"}]}"#
        )
        var run = MachineRun(settings(), beside)
        run.feed(.dialogue(Sample.dialogue(beside)))
        run.feed(.loaded(Self.sound))
        run.json(#"{"text":"머리"}"#)
        run.feed(.stored(isAcked: false))
        #expect(run.request?.turns.last?.text == "어디가 문제죠?\n머리")
        var text = MachineRun(settings())
        text.feed(.dialogue(Sample.dialogue()))
        #expect(text.request?.turns.last?.text == "두통이 있어요")
        let picture = Sample.event(
            data: #"{"attachments":[{"sha256":"\#(Self.digest)","bytes":9,"mediaType":"image/png"}]}"#)
        var none = MachineRun(settings(), picture)
        none.feed(.dialogue(Sample.dialogue(picture)))
        #expect(none.last.suffix(2) == [.ack, .end])
    }

    @Test(
        "A fault says in which step it came about",
        arguments: [(0, "transcribe"), (1, "transcribe"), (3, "answer"), (4, "speak")])
    func faults(_ at: Int, _ step: String) throws {
        var run = run(to: at) { $0.retries.attempts = 2 }
        for _ in 0..<2 {
            let fault = ModelFault(at == 0 ? .missing : .status, "busy", status: 503)
            run.feed(at == 0 ? .loadFails(fault) : .answerFails(fault))
            run.feed(.waited)
        }
        let event = try #require(run.appended.first)
        let data = try #require(event.object("data"))
        #expect(event.string("type") == "bot.failed" && data.string("step") == step && data.integer("attempt") == 2)
        #expect(data.string("code") == (at == 0 ? "missing" : "status"))
        #expect(run.recorded.count == (at > 2 ? 1 : 0))
    }

    @Test("What is no sound, or no text of it, is told as such")
    func noSound() throws {
        var silent = run(to: 1)
        silent.json(#"{"text":" "}"#)
        #expect(silent.appended.first?.object("data")?.string("code") == "no_data")
        var page = run(to: 4) { $0.retries.attempts = 1 }
        page.answer("audio/mpeg", Array("<html>a portal</html>".utf8))
        let data = try #require(page.appended.first?.object("data"))
        #expect(data.string("code") == "decode" && data.string("step") == "speak")
        var json = run(to: 4) { $0.retries.attempts = 1 }
        json.json("{}")
        #expect(json.appended.first?.object("data")?.string("code") == "decode")
    }

    @Test("A recording or a sound over its limit is not taken (INV-9)")
    func tooLarge() throws {
        let small: (inout BotSettings) -> Void = {
            guard case .voice(var voice) = $0.kind else { return }
            (voice.hearing.longest, voice.speech.longest) = (5, 5)
            $0.kind = .voice(voice)
        }
        let recording = run(small)
        #expect(!recording.all.contains { if case .load = $0 { true } else { false } })
        #expect(recording.appended.first?.object("data")?.string("code") == "too_large")
        var dialogue = Sample.dialogue(Self.question)
        dialogue.transcript = "a"
        var sound = MachineRun(settings(small), Self.question)
        sound.feed(.dialogue(dialogue))
        sound.answer("b")
        sound.feed(.answerBegins(contentType: "audio/mpeg"))
        #expect(sound.feed(.piece(Self.sound)).first == .hangUp)
        let data = try #require(sound.appended.first?.object("data"))
        #expect(data.string("code") == "too_large" && data.string("step") == "speak")
    }

    @Test("Cancelled in any step, no reply is stored, and the next step is not asked for (S4-17)", arguments: 0...4)
    func cancelled(_ step: Int) {
        var run = run(to: step)
        #expect(run.feed(.cancelled(by: "u2")).isEmpty)
        #expect(run.feed(.cancelled(by: "u1")).suffix(2) == [.ack, .end] && run.machine.hasEnded)
        #expect(run.feed(.stored(isAcked: false)).isEmpty && run.feed(.answerEnds).isEmpty)
        #expect(run.appended.isEmpty)
    }

    @Test(
        "Taken back while it is worked on, the conversation is read again; then nothing is answered", arguments: 0...4
    )
    func retracted(_ step: Int) {
        var run = run(to: step)
        guard case .read = run.feed(.retracted).last else { return #expect(Bool(false), "\(run.last)") }
        // What was under way comes too late.
        #expect(run.feed(.loaded(Self.sound)).isEmpty && run.feed(.stored(isAcked: false)).isEmpty)
        let gone = Sample.dialogue(Self.question, rows: [Sample.row(Self.question, isRetracted: true)])
        #expect(run.feed(.dialogue(gone)).suffix(2) == [.ack, .end] && run.appended.isEmpty)
    }

    @Test(
        "A wrong key in any step fails nothing; an answer that was paid for is kept, and spoken when the key counts")
    func degraded() {
        let fault = ModelFault(.noKey, "wrong", status: 401)
        for step in [1, 3] {
            var run = run(to: step)
            #expect(run.feed(.answerFails(fault)) == [.note(.degraded(fault, times: 1)), .wait(1_000)])
            let given = run.feed(.waited)
            #expect(given.last == .end && given.contains { if case .release = $0 { true } else { false } })
            #expect(run.appended.isEmpty)
        }
        var run = run(to: 4)
        for times in 1...4 {
            #expect(
                run.feed(.answerFails(fault)) == [.note(.degraded(fault, times: times)), .wait(500 << UInt64(times))])
            run.feed(.waited)
            guard case .speech = run.asked else { return #expect(Bool(false), "\(run.last)") }
        }
        #expect(run.appended.isEmpty)
    }

    @Test("Earlier recordings are told to the model as what was heard in them")
    func turns() {
        let earlier = "0198e2c4-77aa-7c01-8b1e-000000000001"
        let spoken = Sample.event(id: earlier, data: #"{"attachments":[]}"#)
        let reply = Sample.event(
            "bot.replied", id: "0198e2c4-77aa-7c01-8b1e-000000000002", author: "medibot", data: #"{"text":"쉬세요"}"#,
            more: #","cause":"\#(earlier)""#)
        let heard = SpokenRow(
            id: reply.id, isReply: true, author: "medibot", cause: spoken.id, text: "쉬세요", transcript: "아파요",
            isRetracted: false)
        let dialogue = Sample.dialogue(rows: [Sample.row(spoken), heard, Sample.row(Sample.event())])
        #expect(dialogue.turns(of: "medibot") == [Turn(.user, "아파요"), Turn(.assistant, "쉬세요")])
    }

    @Test("What a bot is configured as says how it hears and speaks")
    func configured() {
        let line = JSONObject(validated: settings().configured(version: "1").utf8)
        #expect(line.string("kind") == "voice" && line.object("hear")?.string("model") == "whisper-1")
        #expect(line.object("speak")?.string("voice") == "alloy")
        let chat = JSONObject(validated: Sample.settings().configured(version: "1").utf8)
        #expect(chat.string("kind") == "chat" && chat["hear"] == nil && chat["models"] == nil)
    }
}
