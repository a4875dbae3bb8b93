import EventStore
import Testing

@testable import BotKit

/// What a bot asks for at a conversation's beginning (BE-001), and what becomes of the answers.
@Suite struct IntakeTests {
    private static let now = Timestamp.milliseconds("2026-11-24T10:00:00.000Z") ?? 0
    private static let intake = Intake(
        fields: [
            .init("name", .text, ask: BotText(["ko": "성함은요?"]), again: BotText(["ko": "성함을 한 줄로 적어 주세요."])),
            .init("birthdate", .date, ask: BotText(["ko": "생년월일은요?"]), again: BotText(["ko": "그런 날은 없습니다."])),
        ], skip: ["건너뛰기"], unless: ["아파"], done: BotText(["ko": "감사합니다. 어디가 불편하신가요?"]))

    private var settings: BotSettings {
        Sample.settings { $0.greeting = .init(BotText(["ko": "안녕하세요."]), intake: Self.intake) }
    }

    @Test("A date is a day of the calendar, neither to come nor long ago, however it is written (BE-001)")
    func dates() {
        func day(_ text: String) -> String? { Intake.Form.date.value(text, now: Self.now) }
        for text in ["1990-01-02", "1990. 1. 2.", "1990년 1월 2일입니다", "1990/1/2", "19900102", " 1990 1 2 "] {
            #expect(day(text) == "1990-01-02", "\(text)")
        }
        #expect(day("2024-02-29") == "2024-02-29" && day("2026-11-24") == "2026-11-24")
        for text in [
            "1990-13-40", "1990-02-30", "2023-02-29", "1990-00-01", "90-01-02", "01/02/1990", "1990-1", "어제", "",
            "2026-11-26", "1895-12-31", "1990-01-02 1991-01-02", "199001021", "1990-001-02",
            "9999999999999999999-1-1",
        ] { #expect(day(text) == nil, "\(text)") }
    }

    @Test("A text is one line of at most a hundred characters")
    func texts() {
        func line(_ text: String) -> String? { Intake.Form.text.value(text, now: Self.now) }
        #expect(line("  홍길동 \n") == "홍길동" && line("Kim Ha Neul") == "Kim Ha Neul")
        #expect(line(" \n ") == nil && line("a\nb") == nil && line(String(repeating: "가", count: 101)) == nil)
    }

    @Test("Words around an answer that are no part of it are left out, and an answer of such words alone stays")
    func around() {
        let field = Intake.Field(
            "name", .text, ask: BotText([:]), again: BotText([:]),
            without: ["안녕하세요", "저는", "입니다", "이에요", "라고 합니다", "my name is", "hello", "hi"])
        func name(_ text: String) -> String? { field.value(text, now: Self.now) }
        for text in ["안녕하세요 저는 홍길동이에요", "홍길동입니다.", "안녕하세요! 저는 홍길동라고 합니다", "홍길동"] {
            #expect(name(text) == "홍길동", "\(text)")
        }
        #expect(
            name("Hello, my name is Hilda Hi") == "Hilda" && name("Hilda") == "Hilda" && name("Gandhi") == "Gandhi")
        #expect(name("안녕하세요") == "안녕하세요" && name("저는입니다") != nil && name(" ") == nil)
    }

    @Test("Who answers in Korean is answered in Korean, whatever was asked first; a date tells nothing")
    func language() {
        let both = Intake(
            fields: [
                .init("name", .text, ask: BotText([:]), again: BotText([:])),
                .init(
                    "birthdate", .date, ask: BotText(inOrder: [("en", "When?"), ("ko", "생년월일은요?")]),
                    again: BotText([:])),
            ], skip: [], unless: [], done: BotText(inOrder: [("en", "Thanks."), ("ko", "감사합니다.")]))
        func said(_ text: String, asked: String, _ field: String) -> String? {
            let settings = Sample.settings {
                $0.persona = BotText(inOrder: [("en", "You."), ("ko", "너.")])
                $0.greeting = .init(BotText(inOrder: [("en", "Hello."), ("ko", "안녕하세요.")]), intake: both)
            }
            let question = Sample.event(data: #"{"text":"\#(text)"}"#)
            let row = SpokenRow(
                id: EventID(replyTo: question.id, by: "x"), isReply: true, author: "medibot", cause: nil, text: asked,
                isRetracted: false, intake: .init(field, of: "u1"))
            var run = MachineRun(settings, question)
            run.feed(.dialogue(Sample.dialogue(question, rows: [row, Sample.row(question)])))
            return run.appended.first?.object("data")?.string("text")
        }
        #expect(said("홍길동", asked: "Hello.", "name") == "생년월일은요?" && said("Kim", asked: "Hello.", "name") == "When?")
        #expect(said("1990-01-02", asked: "생년월일은요?", "birthdate") == "감사합니다.")
        #expect(said("1990-01-02", asked: "When?", "birthdate") == "Thanks.")
    }

    @Test("What is known is not asked: the greeting has the first question that is open")
    func greeting() {
        let event = Sample.event("conversation.started", data: #"{"title":"상담","bot":"medibot"}"#)
        func greeted(_ profile: [(name: String, value: String)]) -> JSONObject? {
            var run = MachineRun(settings, event)
            run.feed(.dialogue(Sample.dialogue(event, rows: [], profile: profile)))
            return run.appended.first?.object("data")
        }
        #expect(greeted([])?.string("text") == "안녕하세요.\n\n성함은요?" && greeted([])?.string("intake") == "name")
        #expect(greeted([("name", "홍길동")])?.string("intake") == "birthdate")
        let known = greeted([("name", "홍길동"), ("birthdate", "1990-01-02")])
        #expect(known?.string("text") == "안녕하세요." && known?["intake"] == nil)
    }

    /// - Parameter field: What the bot has asked for before the message.
    private func said(
        _ text: String, after field: String?, of user: String = "u1", profile: [(name: String, value: String)] = []
    ) -> MachineRun {
        let question = Sample.event(data: #"{"text":"\#(text)"}"#)
        let id = EventID(replyTo: question.id, by: "medibot", label: "greeting")
        let greeting = SpokenRow(
            id: id, isReply: true, author: "medibot", cause: nil, text: "안녕하세요.", isRetracted: false,
            intake: field.map { .init($0, of: user) })
        var run = MachineRun(settings, question)
        run.feed(.dialogue(Sample.dialogue(question, rows: [greeting, Sample.row(question)], profile: profile)))
        return run
    }

    @Test("An answer is stored as a profile with the reply that asks on; of another form it is asked again (BE-001)")
    func answers() {
        var run = said("홍길동", after: "name")
        #expect(run.appended.map { $0.string("type") } == ["bot.replied", "profile.changed"])
        #expect(run.appended[0].object("data")?.string("intake") == "birthdate" && run.request == nil)
        #expect(run.appended[1].object("data")?.object("fields")?.string("name") == "홍길동")
        #expect(run.appended[1].string("user") == "u1" && run.appended[1].string("author") == "medibot")
        // A date has no language: the bot goes on in the one in which it has asked.
        #expect(run.machine.language == "ko" && said("Kim", after: "name").machine.language == "ko")
        run = said("1990-13-40", after: "birthdate")
        #expect(run.appended.map { $0.object("data")?.string("text") } == ["그런 날은 없습니다."])
        #expect(run.appended[0].object("data")?.string("intake") == "birthdate")
        run = said("1990년 1월 2일", after: "birthdate", profile: [("name", "홍길동")])
        #expect(run.appended[0].object("data")?.string("text") == "감사합니다. 어디가 불편하신가요?")
        #expect(run.appended[0].object("data")?.bool("intake") == false)
        #expect(run.appended[1].object("data")?.object("fields")?.string("birthdate") == "1990-01-02")
    }

    @Test("Who wants to say nothing is not asked on, and a question is answered as a question")
    func others() {
        let skipped = said("건너뛰기", after: "name").appended
        #expect(skipped.map { $0.string("type") } == ["bot.replied"])
        #expect(skipped[0].object("data")?.bool("intake") == false)
        for run in [
            said("머리가 아파요", after: "name"), said("홍길동", after: nil), said("홍길동", after: "name", of: "u2"),
            said("홍길동", after: "city"),
        ] { #expect(run.appended.isEmpty && run.request?.turns.last?.role == .user) }
    }

    @Test("Two answers that come at once go to two questions: the reply to the first stands behind the second")
    func atOnce() {
        let first = Sample.event(id: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e50", data: #"{"text":"홍길동"}"#)
        let second = Sample.event(data: #"{"text":"1990-01-02"}"#)
        let reply = SpokenRow(
            id: EventID(replyTo: first.id, by: "medibot"), isReply: true, author: "medibot", cause: first.id,
            text: "생년월일은요?", isRetracted: false, intake: .init("birthdate", of: "u1"))
        var run = MachineRun(settings, second)
        run.feed(.dialogue(Sample.dialogue(second, rows: [Sample.row(first), Sample.row(second), reply])))
        #expect(run.appended.last?.object("data")?.object("fields")?.string("birthdate") == "1990-01-02")
        // A retry of the first does not take what was asked after it for its own question.
        var retried = MachineRun(settings, first)
        retried.feed(.dialogue(Sample.dialogue(first, rows: [Sample.row(first), Sample.row(second), reply])))
        #expect(retried.appended.isEmpty && retried.request != nil)
    }
}
