import EventStore
import Testing

@testable import BotKit

/// A delivery's machine, without clock, chance or network (INV-14: what is delivered ends acked, parked or given back).
@Suite struct ReplyMachineTests {
    private typealias Effect = ReplyMachine.Effect

    @Test("A question is read, asked, stored with its ack, and ends")
    func answered() throws {
        var run = MachineRun()
        let reply = EventID(replyTo: EventID(text: Sample.message)!, by: "medibot")
        guard case .read(let query) = run.last.first else { return #expect(Bool(false), "\(run.last)") }
        #expect(query.reply == reply && !query.isElsewhere && query.rows == 20)
        run.feed(.dialogue(Sample.dialogue()))
        #expect(run.request?.turns == [Turn(.system, "너는 Dr.Bot이다."), Turn(.user, "두통이 있어요")])
        run.answer("쉬세요")
        let event = try #require(run.appended.first)
        #expect(event.string("id") == reply.description && event.string("type") == "bot.replied")
        #expect(event.string("cause") == Sample.message && event.string("subject") == "conversation/c1")
        #expect(event.string("user") == "u1" && event.string("author") == "medibot")
        let data = try #require(event.object("data"))
        #expect(data.string("text") == "쉬세요" && data.string("model") == "m-1" && data.string("finish") == "stop")
        #expect(data.object("persona")?.string("sha256")?.count == 64 && data.integer("attempt") == 1)
        #expect(run.feed(.stored(isAcked: true)) == [.note(.replied(milliseconds: 40, tokens: 0)), .end])
        #expect(run.machine.hasEnded && run.feed(.time) == [])
    }

    @Test("What is stored without its ack is acked; what another worker said is acked and not said again (INV-14)")
    func settled() {
        for (input, effects) in [
            (.stored(isAcked: false), [.note(.replied(milliseconds: 40, tokens: 0)), .ack, .end]),
            (.saidBefore, [.note(.passedOver("answered by another worker")), .ack, .end]),
            (.refused("no"), [.park(reason: "no"), .end]),
        ] as [(ReplyMachine.Input, [Effect])] {
            var run = MachineRun()
            run.feed(.dialogue(Sample.dialogue()))
            run.answer("a")
            #expect(run.feed(input) == effects)
        }
    }

    @Test(
        "Where someone else's event has the id, the reply goes to the next one, eight in all, and is never taken for given (INV-14)"
    )
    func takenIDs() throws {
        let message = try #require(EventID(text: Sample.message))
        let survey = BotSettings.Survey(
            id: "s", offer: .reply, first: Self.survey.first, second: nil, after: [])
        var run = MachineRun(Sample.settings { $0.survey = survey })
        run.feed(.dialogue(Sample.dialogue()))
        run.answer("a")
        for turn in 2...EventID.replyTurns {
            let before = run.appended.count
            #expect(run.feed(.taken).first == .note(.taken))
            let lines = run.appended[before...]
            let reply = EventID(replyTo: message, by: "medibot", turn: turn).description
            #expect(lines.map { $0.string("type") } == ["bot.replied", "survey.offered"])
            #expect(lines.first?.string("id") == reply && lines.first?.object("data")?.string("text") == "a")
            #expect(lines.last?.object("data")?.string("about") == reply)
        }
        #expect(Set(run.appended.compactMap { $0.string("id") }).count == 2 * EventID.replyTurns)
        var last = run
        #expect(run.feed(.saidBefore) == [.note(.passedOver("answered by another worker")), .ack, .end])
        let effects = last.feed(.taken)
        guard case .park(let reason) = effects.dropLast().last else { return #expect(Bool(false), "\(effects)") }
        #expect(reason.contains("ids") && !effects.contains(.ack) && last.machine.hasEnded)
    }

    @Test("Two workers write one id, whatever they say and whenever (one effect a message)")
    func sameID() {
        var ids: Set<String> = []
        for text in ["a", "b"] {
            var run = MachineRun()
            run.feed(.dialogue(Sample.dialogue()), after: UInt64(text.utf8.first ?? 0))
            run.answer(text)
            ids.insert(run.appended[0].string("id") ?? "")
        }
        #expect(ids.count == 1)
    }

    @Test("What wants no answer is acked without a request")
    func passedOver() {
        let own = Sample.event(author: "medibot")
        #expect(MachineRun(Sample.settings(), own).last.suffix(2) == [.ack, .end])
        #expect(MachineRun(Sample.settings(), Sample.event("bot.replied")).last.suffix(2) == [.ack, .end])
        #expect(
            MachineRun(Sample.settings(), Sample.event("bot.retryRequested", data: "{}", more: "")).last.suffix(2)
                == [
                    .ack, .end,
                ])
        for dialogue in [
            Sample.dialogue(isAnswered: true), Sample.dialogue(participants: ["u1", "u2"]),
            Sample.dialogue(participants: []),
            Sample.dialogue(Sample.event(data: "{}")), Sample.dialogue(Sample.event(data: #"{"text":" \n"}"#)),
            Sample.dialogue(Sample.event(data: #"{"text":7}"#)),
            Sample.dialogue(rows: [Sample.row(Sample.event(), isRetracted: true)]),
            Sample.dialogue(Sample.event("bot.replied")), Sample.dialogue(Sample.event(author: "medibot")),
        ] {
            var run = MachineRun()
            run.feed(.dialogue(dialogue))
            #expect(run.last.suffix(2) == [.ack, .end] && run.request == nil, "\(dialogue)")
        }
        var absent = MachineRun()
        #expect(absent.feed(.noDialogue).suffix(2) == [.ack, .end])
        var named = MachineRun()
        named.feed(.dialogue(Sample.dialogue(participants: ["u1", "medibot"])))
        #expect(named.request != nil)
    }

    @Test("The text after its last edit is asked; what was retracted is not told, and no reply to it")
    func context() {
        let question = Sample.event()
        let earlier = Sample.event(id: "0198e2c4-77aa-7c01-8b1e-000000000001", data: #"{"text":"비밀"}"#)
        let reply = Sample.event(
            "bot.replied", id: "0198e2c4-77aa-7c01-8b1e-000000000002", author: "medibot",
            data: #"{"text":"비밀 들었습니다"}"#,
            more: #","cause":"0198e2c4-77aa-7c01-8b1e-000000000001""#)
        let later = Sample.event(id: "0198e2c4-77aa-7c01-8b1e-000000000003", data: #"{"text":"뒤"}"#)
        var run = MachineRun()
        run.feed(
            .dialogue(
                Sample.dialogue(rows: [
                    Sample.row(earlier, isRetracted: true), Sample.row(reply), Sample.row(question, text: "고친 물음"),
                    Sample.row(later),
                ])))
        #expect(run.request?.turns.map(\.text) == ["너는 Dr.Bot이다.", "고친 물음"])
        // Two questions at once: the reply to the first comes after the second, and stands behind its message all the same.
        let lateReply = Sample.event(
            "bot.replied", id: "0198e2c4-77aa-7c01-8b1e-000000000004", author: "medibot", data: #"{"text":"답"}"#,
            more: #","cause":"0198e2c4-77aa-7c01-8b1e-000000000001""#)
        var twice = MachineRun()
        twice.feed(
            .dialogue(
                Sample.dialogue(rows: [
                    Sample.row(earlier), Sample.row(question), Sample.row(later), Sample.row(lateReply),
                ])))
        #expect(twice.request?.turns.dropFirst().map(\.text) == ["비밀", "답", "두통이 있어요"])
        var kept = MachineRun()
        kept.feed(.dialogue(Sample.dialogue(rows: [Sample.row(earlier), Sample.row(reply), Sample.row(question)])))
        #expect(kept.request?.turns.map(\.role) == [.system, .user, .assistant, .user])
    }

    @Test("The language is the profile's, and only the fields that are named go to the model")
    func profile() {
        var run = MachineRun(Sample.settings { $0.profile = ["name"] })
        run.feed(.dialogue(Sample.dialogue(profile: [("name", "홍길동"), ("language", "en"), ("phone", "010")])))
        #expect(run.request?.turns.first?.text == "You are Dr.Bot.\n\nWhat is known of the user:\nname: 홍길동")
    }

    @Test("A request that fails is made again after its pause, and the question fails after the last one")
    func retried() throws {
        var run = MachineRun()
        run.feed(.dialogue(Sample.dialogue()))
        let busy = ModelFault(.status, "busy", status: 503)
        for attempt in 1..<5 {
            run.feed(.answerFails(busy), chance: .max)
            guard case .wait(let pause) = run.last.last else { return #expect(Bool(false), "\(run.last)") }
            #expect(pause <= 1_000 << UInt64(attempt - 1))
            #expect(run.feed(.waited, after: pause).contains { if case .ask = $0 { true } else { false } })
        }
        run.feed(.answerFails(busy))
        let event = try #require(run.appended.first)
        #expect(event.string("type") == "bot.failed")
        #expect(
            event.string("id")
                == EventID(replyTo: EventID(text: Sample.message)!, by: "medibot", label: "failed").description)
        let data = try #require(event.object("data"))
        #expect(data.string("code") == "status" && data.integer("status") == 503 && data.integer("attempt") == 5)
        #expect(data.bool("final") == true && data.string("inReplyTo") == Sample.message)
        #expect(run.feed(.stored(isAcked: true)) == [.note(.failed(busy, attempts: 5)), .end])
    }

    @Test("A question that failed is answered when a retry is asked for, and fails in another event")
    func retryRequested() throws {
        let retry = Sample.event(
            "bot.retryRequested", id: "0198e2c4-77aa-7c01-8b1e-000000000009",
            data: #"{"inReplyTo":"\#(Sample.message)"}"#)
        var run = MachineRun(Sample.settings(), retry)
        guard case .read(let query) = run.last.first else { return #expect(Bool(false)) }
        #expect(query.isElsewhere && query.question == EventID(text: Sample.message)!)
        run.feed(.dialogue(Sample.dialogue()))
        run.answer("네")
        #expect(
            run.appended[0].string("id") == query.reply.description
                && run.appended[0].string("cause") == Sample.message
        )
        var again = MachineRun(Sample.settings(), retry)
        again.feed(.dialogue(Sample.dialogue()))
        again.feed(.answerFails(ModelFault(.quota, "nothing left", status: 429)))
        #expect(again.appended[0].string("type") == "bot.failed")
        #expect(
            again.appended[0].string("id")
                != EventID(replyTo: EventID(text: Sample.message)!, by: "medibot", label: "failed").description)
    }

    @Test(
        "A key that does not count fails no question: after a pause another one is tried, and the pauses grow with each"
    )
    func degraded() {
        let fault = ModelFault(.noKey, "wrong key", status: 401)
        for refusals in 0..<20 {
            var run = MachineRun(refusals: refusals)
            run.feed(.dialogue(Sample.dialogue()))
            run.feed(.answerFails(fault))
            let pause = min(1_000 << UInt64(refusals), ReplyMachine.degradedPause)
            #expect(run.last == [.note(.degraded(fault, times: refusals + 1)), .wait(pause)])
            // Whose fault it was, the endpoint has not said: it is no attempt of this message.
            #expect(
                run.feed(.waited) == [.release(delay: 0, error: "the endpoint takes nothing", isUntried: true), .end])
            #expect(run.appended.isEmpty)
        }
    }

    @Test("An endpoint that finds it too long gets half, once")
    func tooLong() {
        var run = MachineRun()
        run.feed(.dialogue(Sample.dialogue()))
        let fault = ModelFault(.tooLong, "", status: 400)
        #expect(run.feed(.answerFails(fault)).contains { if case .ask = $0 { true } else { false } })
        run.feed(.answerFails(fault))
        #expect(run.appended[0].object("data")?.string("code") == "too_long")
        var long = MachineRun(Sample.settings { $0.longestQuestion = 3 })
        long.feed(.dialogue(Sample.dialogue()))
        #expect(long.request == nil && long.appended[0].object("data")?.string("code") == "too_long")
    }

    @Test("A delivery is extended while the model thinks and while it waits, and let go when another has it")
    func extended() {
        var run = MachineRun(Sample.settings { $0.patience = 30_000 })
        run.feed(.dialogue(Sample.dialogue()))
        #expect(run.feed(.time, after: 5_000) == [])
        #expect(run.feed(.time, after: 5_000) == [.extend])
        #expect(run.feed(.time, after: 100) == [])
        #expect(run.feed(.time, after: 10_000) == [.extend])
        #expect(run.feed(.lost) == [.hangUp, .note(.lost), .end])
        var paused = MachineRun()
        paused.feed(.dialogue(Sample.dialogue()))
        paused.feed(.answerFails(ModelFault(.network, "")))
        #expect(paused.feed(.time, after: 15_000) == [.extend])
    }

    @Test("Who has asked may cancel, while the model thinks and while it is waited for; others may not")
    func cancelled() {
        for isPausing in [false, true] {
            var run = MachineRun()
            run.feed(.dialogue(Sample.dialogue()))
            if isPausing { run.feed(.answerFails(ModelFault(.network, ""))) }
            #expect(run.feed(.cancelled(by: "u2")) == [])
            let hangUp: [Effect] = isPausing ? [] : [.hangUp]
            #expect(run.feed(.cancelled(by: "u1")) == hangUp + [.note(.passedOver("cancelled")), .ack, .end])
        }
        var storing = MachineRun()
        storing.feed(.dialogue(Sample.dialogue()))
        storing.answer("a")
        #expect(storing.feed(.cancelled(by: "u1")) == [])
    }

    @Test("A message that is taken back meanwhile is looked at again, and answered only if it stands")
    func retractedMeanwhile() {
        var run = MachineRun()
        run.feed(.dialogue(Sample.dialogue()))
        run.feed(.retracted)
        guard run.last.count == 2, run.last[0] == .hangUp, case .read = run.last[1] else {
            return #expect(Bool(false), "\(run.last)")
        }
        run.feed(.dialogue(Sample.dialogue(rows: [Sample.row(Sample.event(), isRetracted: true)])))
        #expect(run.last.suffix(2) == [.ack, .end] && run.appended.isEmpty)
        var stands = MachineRun()
        stands.feed(.dialogue(Sample.dialogue()))
        stands.feed(.retracted)
        stands.feed(.dialogue(Sample.dialogue()))
        stands.answer("네")
        #expect(stands.appended.count == 1)
    }

    @Test("An answer that takes too long is given up")
    func timeout() {
        var run = MachineRun(Sample.settings { $0.timeout = 20_000 })
        run.feed(.dialogue(Sample.dialogue()))
        #expect(!run.feed(.time, after: 19_000).contains(.hangUp))
        #expect(run.feed(.time, after: 2_000).contains(.hangUp))
    }

    @Test("A program that ends gives back what it has not stored")
    func stops() {
        var asking = MachineRun()
        asking.feed(.dialogue(Sample.dialogue()))
        #expect(
            asking.feed(.stops) == [.hangUp, .release(delay: 0, error: "the worker ends", isUntried: true), .end])
        var storing = MachineRun()
        storing.feed(.dialogue(Sample.dialogue()))
        storing.answer("a")
        #expect(storing.feed(.stops) == [] && storing.feed(.stored(isAcked: true)).last == .end)
    }

    @Test("An answer that misses a rule is asked for once more, with the rule named")
    func repaired() {
        var rule = AnswerGuard("see_doctor", .words(groups: [["병원"]], least: 1, last: nil))
        rule.repair = "끝에 병원에 가라고 하세요."
        rule.append = BotText(["ko": "병원에 가세요."])
        for (second, result, text) in [
            ("쉬고 병원에 가세요", "repaired", "쉬고 병원에 가세요"), ("쉬세요 제발", "appended", "쉬세요 제발\n\n병원에 가세요."),
        ] {
            var run = MachineRun(Sample.settings { $0.guards = [rule] })
            run.feed(.dialogue(Sample.dialogue()))
            run.answer("쉬세요")
            #expect(
                run.appended.isEmpty
                    && run.request?.turns.suffix(2) == [Turn(.assistant, "쉬세요"), Turn(.user, rule.repair ?? "")])
            run.answer(second)
            let data = run.appended[0].object("data")
            #expect(data?.string("text") == text)
            #expect(data?.elements("guards")?.first?.object?.string("result") == result)
        }
        // A repair that fails leaves the first answer.
        var run = MachineRun(Sample.settings { $0.guards = [rule] })
        run.feed(.dialogue(Sample.dialogue()))
        run.answer("쉬세요")
        run.feed(.answerFails(ModelFault(.network, "")))
        #expect(run.appended[0].object("data")?.string("text") == "쉬세요\n\n병원에 가세요.")
    }

    @Test("Words of an emergency are answered at once, without the model")
    func emergency() {
        let text = BotText(["ko": "119에 전화하세요."])
        var run = MachineRun(Sample.settings { $0.emergencies = [Emergency("heart", words: ["두통"], text: text)] })
        run.feed(.dialogue(Sample.dialogue()))
        #expect(run.request == nil)
        let data = run.appended[0].object("data")
        #expect(data?.string("text") == "119에 전화하세요." && data?.string("emergency") == "heart")
    }

    private static let survey = BotSettings.Survey(
        id: "satisfaction", offer: .close,
        first: .init(
            "helpful", BotText(["ko": "도움이 되셨나요?"]),
            [.init("satisfied", BotText(["ko": "네"])), .init("dissatisfied", BotText(["ko": "아니요"]))]),
        second: .init("reason", BotText(["ko": "왜요?"]), [.init("content", BotText(["ko": "내용"]))]),
        after: ["dissatisfied"])

    @Test("A farewell closes the conversation and offers the survey, in one append, without the model")
    func farewell() {
        var run = MachineRun(
            Sample.settings {
                $0.farewell = .init(words: ["끝"], text: BotText(["ko": "안녕히 가세요."]))
                $0.survey = Self.survey
            })
        run.feed(.dialogue(Sample.dialogue(Sample.event(data: #"{"text":"끝"}"#))))
        #expect(run.request == nil)
        #expect(run.appended.map { $0.string("type") } == ["bot.replied", "conversation.closed", "survey.offered"])
        #expect(Set(run.appended.map { $0.string("id") }).count == 3)
        #expect(run.appended[2].object("data")?.string("about") == run.appended[0].string("id"))
    }

    @Test("The second question of the survey comes after the choice that leads to it, and after no other")
    func survey() {
        func run(_ data: String) -> MachineRun {
            MachineRun(Sample.settings { $0.survey = Self.survey }, Sample.event("survey.answered", data: data))
        }
        let asked = run(#"{"survey":"satisfaction","question":"helpful","choice":"dissatisfied"}"#)
        #expect(asked.appended.map { $0.object("data")?.string("question") } == ["reason"])
        for data in [
            #"{"survey":"satisfaction","question":"helpful","choice":"satisfied"}"#,
            #"{"survey":"satisfaction","question":"reason","choice":"dissatisfied"}"#,
            #"{"survey":"other","question":"helpful","choice":"dissatisfied"}"#, "{}",
        ] { #expect(run(data).last.suffix(2) == [.ack, .end]) }
    }

    @Test("A conversation that names the bot is greeted once")
    func greeted() {
        let settings = Sample.settings { $0.greeting = .init(BotText(["ko": "안녕하세요.", "en": "Hello."])) }
        let started = { (data: String) in Sample.event("conversation.started", data: data) }
        func greeted(_ data: String, _ language: String? = nil) -> JSONObject? {
            let event = started(data)
            var run = MachineRun(settings, event)
            let profile = language.map { [(name: "language", value: $0)] } ?? []
            run.feed(.dialogue(Sample.dialogue(event, rows: [], profile: profile)))
            return run.appended.first?.object("data")
        }
        #expect(greeted(#"{"participants":["u1","medibot"]}"#)?.bool("greeting") == true)
        #expect(greeted(#"{"title":"상담","bot":"medibot"}"#)?.string("text") == "안녕하세요.")
        // S4-20: the language of the profile comes first.
        #expect(greeted(#"{"title":"상담","bot":"medibot"}"#, "en")?.string("text") == "Hello.")
        #expect(greeted(#"{"title":"talk","bot":"medibot"}"#, "ko")?.string("text") == "안녕하세요.")
        #expect(MachineRun(settings, started(#"{"participants":["u1"]}"#)).last.suffix(2) == [.ack, .end])
        #expect(
            settings.types.contains("conversation.started")
                && !Sample.settings().types.contains("conversation.started")
        )
    }

    @Test("Whatever comes in whatever order, a machine ends with one settlement at most (INV-14)")
    func anyOrder() {
        var chance = SeededGenerator(seed: 7)
        for _ in 0..<600 {
            var run = MachineRun(Sample.settings { $0.isStreamed = Bool.random(using: &chance) })
            for _ in 0..<30 where !run.machine.hasEnded {
                let inputs: [ReplyMachine.Input] = [
                    .dialogue(Sample.dialogue()), .noDialogue, .answerBegins(contentType: "text/event-stream"),
                    .answerBegins(contentType: nil), .piece(Sample.stream(["가"], done: false)),
                    .piece(Sample.stream([])),
                    .answerEnds,
                    .answerFails(ModelFault(.cut, "")), .waited, .stored(isAcked: false), .saidBefore, .refused(""),
                    .lost, .time, .time, .cancelled(by: "u2"), .retracted,
                    .dialogue(Sample.dialogue()),
                ]
                run.feed(
                    inputs.randomElement(using: &chance) ?? .time,
                    after: UInt64.random(in: 0..<9_000, using: &chance), chance: chance.next())
            }
            let settled = run.all.count {
                if case .ack = $0 {
                    true
                } else if case .park = $0 {
                    true
                } else if case .release = $0 {
                    true
                } else {
                    false
                }
            }
            #expect(settled <= 1)
            #expect(run.all.count { $0 == .end } == (run.machine.hasEnded ? 1 : 0))
            let appends = run.all.count { if case .append = $0 { true } else { false } }
            #expect(appends <= 1)
        }
    }
}
