import EventStore
import Foundation
import Testing

@testable import BotKit

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy()
    private let busy = ModelFault(.status, "", status: 503)

    @Test("Pauses double from a second to a minute, with chance, and end after five requests")
    func doubling() {
        for (attempt, most) in [(1, 1_000), (2, 2_000), (3, 4_000), (4, 8_000)] as [(Int, UInt64)] {
            for chance in [0, 1, most, most + 1, .max / 2, .max] as [UInt64] {
                let pause = policy.pause(after: attempt, busy, chance: chance)
                #expect(pause.map { $0 <= most } == true)
            }
            #expect(policy.pause(after: attempt, busy, chance: most) == most)
        }
        #expect(policy.pause(after: 5, busy, chance: 0) == nil)
        var patient = RetryPolicy()
        patient.attempts = 100
        #expect(patient.pause(after: 99, busy, chance: 60_000) == 60_000)
        #expect((patient.pause(after: 70, busy, chance: .max) ?? .max) <= 60_000)
    }

    @Test("What the endpoint asks for counts first, within bounds")
    func asked() {
        func pause(_ seconds: Int) -> UInt64? {
            policy.pause(after: 1, ModelFault(.rate, "", status: 429, retryAfter: seconds), chance: 500)
        }
        #expect(pause(7) == 7_000 && pause(100_000) == RetryPolicy.longestAsked)
        #expect(pause(0) == 500 && pause(-3) == 500)
    }

    @Test("What will not get better is not tried again")
    func final() {
        for code in [ModelFault.Code.quota, .noKey, .filtered, .tooLong, .model] {
            #expect(policy.pause(after: 1, ModelFault(code, "", status: 400), chance: 0) == nil)
        }
        for code in [ModelFault.Code.network, .timeout, .cut, .decode, .rate] {
            #expect(policy.pause(after: 1, ModelFault(code, ""), chance: 9) == 9)
        }
    }
}

@Suite struct ContextWindowTests {
    private func window(_ turns: Int, _ tokens: Int) -> ContextWindow {
        var window = ContextWindow()
        (window.turns, window.tokens) = (turns, tokens)
        return window
    }

    private let before = [
        Turn(.user, "제 이름은 김하늘이에요"), Turn(.assistant, "반갑습니다"), Turn(.user, "오늘 뭐 먹을까요?"), Turn(.assistant, "국수요"),
    ]

    @Test("All that fits goes along, in order, with the system text first")
    func whole() {
        let turns = window(20, 3_000).fit(system: "s", before: before, question: "제 이름이 뭐죠?")
        #expect(turns.map(\.role) == [.system, .user, .assistant, .user, .assistant, .user])
        #expect(turns.last?.text == "제 이름이 뭐죠?" && turns[1].text.contains("김하늘"))
        #expect(window(20, 3_000).fit(system: nil, before: [], question: "q") == [Turn(.user, "q")])
    }

    @Test("The oldest go first, and a window never begins with an answer")
    func trimmed() {
        for turns in 1...6 {
            for tokens in 1...80 {
                let fit = window(turns, tokens).fit(system: "s", before: before, question: "q")
                #expect(fit.first == Turn(.system, "s") && fit.last == Turn(.user, "q"))
                let kept = fit.dropFirst().dropLast()
                #expect(kept.first.map { $0.role == .user } ?? true)
                #expect(Array(before.suffix(kept.count)) == Array(kept) && kept.count < turns)
                if !kept.isEmpty {
                    #expect(fit.map { ContextWindow.estimate($0.text) }.reduce(0, +) <= tokens)
                }
            }
        }
        #expect(window(3, 3_000).fit(system: nil, before: before, question: "q").count == 3)
        #expect(window(2, 3_000).fit(system: nil, before: before, question: "q").count == 1)
    }

    @Test("An endpoint that finds it too much gets half of it")
    func halved() {
        let fit = window(6, 3_000).fit(system: "s", before: before, question: "q", halvings: 1)
        #expect(fit.count == 4 && fit[1] == before[2])
    }

    @Test("Tokens are estimated by a rule that is written down")
    func estimate() {
        #expect(ContextWindow.estimate("") == 4 && ContextWindow.estimate("abcd") == 5)
        #expect(ContextWindow.estimate("abcde") == 6 && ContextWindow.estimate("두통") == 6)
    }
}

@Suite struct AnswerGuardTests {
    private func items(_ question: String, _ answer: String) -> Bool? {
        let rule = AnswerGuard("n", .items(units: ["가지", "ways", "medicines"]))
        return rule.applies(to: question) ? rule.passes(answer, to: question) : nil
    }

    @Test("As many numbered lines as the question asks for")
    func numbered() {
        let three = "1. 쉬기\n2. 찜질\n3. 운동"
        #expect(items("방법 3가지 알려줘", three) == true)
        #expect(items("방법 3 가지 알려줘", "서론\n\n" + three + "\n\n병원에 가세요.") == true)
        #expect(items("tell me 3 ways", "1) a\n2) b\n3) c") == true)
        #expect(items("방법 3가지", three + "\n4. 물") == false)
        #expect(items("방법 3가지", "1. 쉬기\n3. 운동") == false)
        #expect(items("방법 3가지", "") == false)
        #expect(items("방법 알려줘", three) == nil && items("3층인데 아파요", three) == nil)
        // Numbers of strangers.
        #expect(items("99999999999999999999가지", three) == nil && items("0가지", three) == nil)
        #expect(items("1000000000가지", three) == nil)
    }

    @Test("Words are found without regard to case, composed or not, and only where they are wanted")
    func words() {
        let doctor = AnswerGuard("d", .words(groups: [["병원", "의사"], ["Doctor"]], least: 1, last: 10))
        #expect(doctor.passes("… 병원에 가세요", to: ""))
        #expect(doctor.passes("see a DOCTOR", to: ""))
        #expect(!doctor.passes("병원" + String(repeating: ".", count: 20), to: ""))
        #expect(doctor.passes("\u{1107}\u{1167}\u{11BC}\u{110B}\u{116F}\u{11AB}", to: ""), "decomposed Hangul")
        var medical = doctor
        medical.when = ["두통", "아파"]
        medical.unless = ["자동차"]
        #expect(medical.applies(to: "두통이요") && !medical.applies(to: "안녕") && !medical.applies(to: "자동차가 아파"))
    }

    @Test("A rule holds for short questions alone, and once asked back it is not asked again (S0-2, S0-29)")
    func shortAndOnce() {
        var back = AnswerGuard("b", .words(groups: [["?"], ["언제"]], least: 2, last: nil))
        (back.longestQuestion, back.isOnce, back.when) = (10, true, ["아파"])
        #expect(back.applies(to: "머리가 아파요") && !back.applies(to: "어제부터 왼쪽 머리가 아파요"))
        #expect(back.applies(to: "아파요", after: ["안녕하세요.", "언제든 오세요."]))
        #expect(!back.applies(to: "아파요", after: ["언제부터 아프신가요?", "쉬세요."]))
        var run = MachineRun(
            Sample.settings {
                back.instead = BotText(["ko": "언제부터 아프신가요?"])
                back.repair = "물으세요."
                $0.guards = [back]
            }, Sample.event(data: #"{"text":"머리가 아파요"}"#))
        run.feed(.dialogue(Sample.dialogue(run.machine.delivery.event)))
        run.answer("쉬세요.")
        #expect(run.request?.turns.suffix(2) == [Turn(.assistant, "쉬세요."), Turn(.user, "물으세요.")])
        run.answer("물을 드세요.")
        #expect(run.appended[0].object("data")?.string("text") == "언제부터 아프신가요?")
        // After that answer of its own, what the user says is answered.
        let later = Sample.event(id: "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e60", data: #"{"text":"계속 아파요"}"#)
        let asked = SpokenRow(
            id: EventID(replyTo: later.id, by: "x"), isReply: true, author: "medibot", cause: nil,
            text: "언제부터 아프신가요?", isRetracted: false)
        var next = MachineRun(run.machine.settings, later)
        next.feed(.dialogue(Sample.dialogue(later, rows: [asked, Sample.row(later)])))
        next.answer("쉬세요.")
        #expect(next.appended.first?.object("data")?.string("text") == "쉬세요.")
    }

    private func guarded(_ answer: String, _ guards: [AnswerGuard], missed: Set<String> = []) -> GuardedAnswer {
        GuardedAnswer(answer, to: "두통 약 3가지", guards: guards, missed: missed, language: "ko")
    }

    @Test("What a rule does to an answer that misses it stands in the result")
    func results() {
        var caution = AnswerGuard("caution", .words(groups: [["주의"]], least: 1, last: nil))
        #expect(guarded("주의", [caution]).results.map(\.result) == [.passed])
        #expect(guarded("주의", [caution], missed: ["caution"]).results.map(\.result) == [.repaired])
        #expect(guarded("약", [caution]).results.map(\.result) == [.failed])
        caution.append = BotText(["ko": "복용에 주의하세요.", "en": "Take care."])
        #expect(guarded("약", [caution]).text == "약\n\n복용에 주의하세요.")
        var forbidden = AnswerGuard("no", .forbidden(["처방전"]))
        forbidden.instead = BotText(["en": "I cannot say that."])
        let answer = guarded("처방전을 드릴게요", [forbidden, caution])
        #expect(answer.text == "I cannot say that.\n\n복용에 주의하세요.")
        #expect(answer.results.map(\.result) == [.replaced, .appended])
        #expect(guarded("가나다라", [AnswerGuard("l", .longest(2))]).text == "가나")
    }

    @Test("A mark, a joiner or a variation selector behind a word, or in it, hides no word")
    func hiddenWords() {
        var forbidden = AnswerGuard("no", .forbidden(["처방전", "Opioid"]))
        forbidden.instead = BotText(["en": "no"])
        for answer in [
            "처방전", "처방전\u{301}", "처방전\u{200d}을", "처방전\u{fe0f}", "\u{600}처방전", "처\u{200b}방\u{ad}전", "OPIOID\u{20dd}",
            "opio\u{2060}id",
            "처방전".decomposedStringWithCanonicalMapping,
        ] {
            #expect(guarded(answer, [forbidden]).text == "no", "\(answer.unicodeScalars.map(\.value))")
            #expect(Emergency("e", words: ["처방전", "opioid"], text: BotText([:])).applies(to: answer))
        }
        for answer in ["처방 전", "opi oid", ""] { #expect(guarded(answer, [forbidden]).text == answer) }
    }

    @Test("A word of farewell is all that is said")
    func farewell() {
        let farewell = BotSettings.Farewell(words: ["bye", "끝", "안녕히계세요"], text: BotText(["en": "Bye"]))
        for text in ["bye", " Bye! ", "끝", "끝.", "안녕히계세요~", "안녕히 계세요.", "b y e"] {
            #expect(farewell.isSaid(in: text), "\(text)")
        }
        for text in ["", "끝이 아파요", "goodbye", "!!", "   "] { #expect(!farewell.isSaid(in: text), "\(text)") }
    }

    @Test("A user is answered in the language of the profile, else of the text")
    func language() {
        #expect(SpokenLanguage.of("아파요", profile: nil, spoken: ["en", "ko"]) == "ko")
        #expect(SpokenLanguage.of("it hurts", profile: nil, spoken: ["en", "ko"]) == "en")
        #expect(SpokenLanguage.of("아파요", profile: "en", spoken: ["en", "ko"]) == "en")
        #expect(SpokenLanguage.of("아파요", profile: "fr", spoken: ["en"]) == "en")
        #expect(SpokenLanguage.of("hi", profile: nil, spoken: ["ko"]) == "ko")
        #expect(SpokenLanguage.of("아파요", profile: "ja", spoken: ["en", "ja", "ko"]) == "ja", "S4-20")
        // Where nothing tells, the first that the bot has.
        for text in ["", "1990-01-02", "?"] {
            #expect(SpokenLanguage.of(text, profile: nil, spoken: ["ko", "en"]) == "ko")
            #expect(SpokenLanguage.of(text, profile: nil, spoken: ["en", "ko"]) == "en")
        }
        #expect(SpokenLanguage.of("it hurts", profile: nil, spoken: ["ko", "en"]) == "en")
        let persona = BotText(inOrder: [("ko", "의사"), ("en", "doctor")])
        #expect(BotSettings(bot: "b", name: "b", persona: persona, model: "m").languages == ["ko", "en"])
    }
}
