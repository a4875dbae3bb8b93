import EventStore
import Testing

@testable import BotKit

/// Answers as they come: pieces that are told live, forms, and bounds.
@Suite struct LivePiecesTests {
    private func told(_ run: MachineRun) -> [(Int64, String)] {
        run.all.compactMap { if case .tell(let number, let text, "c1", _) = $0 { (number, text) } else { nil } }
    }

    @Test("Pieces are told in order as they come, and are the reply together")
    func live() {
        var run = MachineRun(Sample.settings { $0.isStreamed = true })
        run.feed(.dialogue(Sample.dialogue()))
        run.feed(.answerBegins(contentType: "text/event-stream; charset=utf-8"))
        for text in ["물을 ", "자주 ", "드", "세요"] { run.feed(.piece(Sample.stream([text], done: false)), after: 150) }
        run.feed(.piece(Sample.stream([])), after: 150)
        run.feed(.answerEnds)
        let pieces = told(run)
        #expect(pieces.map(\.0) == Array(0..<Int64(pieces.count)) && pieces.count >= 4)
        #expect(pieces.map(\.1).joined() == "물을 자주 드세요")
        #expect(run.appended[0].object("data")?.string("text") == "물을 자주 드세요")
    }

    @Test("After a stream that broke off its pieces are not told again")
    func brokenStream() {
        var run = MachineRun(Sample.settings { $0.isStreamed = true })
        run.feed(.dialogue(Sample.dialogue()))
        run.feed(.answerBegins(contentType: "text/event-stream"))
        run.feed(.piece(Sample.stream(["가나다"], done: false)), after: 150)
        run.feed(.answerEnds)
        #expect(run.last.contains { if case .wait = $0 { true } else { false } })
        run.feed(.waited)
        run.feed(.answerBegins(contentType: "text/event-stream"))
        run.feed(.piece(Sample.stream(["라마바"])), after: 150)
        run.feed(.answerEnds)
        #expect(told(run).map(\.1) == ["가나"])
        #expect(run.appended[0].object("data")?.string("text") == "라마바")
    }

    @Test("A forbidden word is never told live, however it is cut, and not stored")
    func forbidden() {
        var rule = AnswerGuard("no", .forbidden(["처방전"]))
        rule.instead = BotText(["ko": "드릴 수 없습니다."])
        for pieces in [
            ["저는 처방전을"], ["저는 처", "방", "전을"], ["저는 ", "처방전"], ["저는 처방전\u{301}을"],
            ["저는 처\u{200b}\u{200b}", "\u{200b}\u{200b}방", "\u{2060}\u{200b}", "전\u{fe0f}"],
        ] {
            var run = MachineRun(
                Sample.settings {
                    $0.isStreamed = true; $0.guards = [rule]
                })
            run.feed(.dialogue(Sample.dialogue()))
            run.feed(.answerBegins(contentType: "text/event-stream"))
            for piece in pieces { run.feed(.piece(Sample.stream([piece], done: false)), after: 150) }
            run.feed(.piece(Sample.stream([" 드립니다"])), after: 150)
            run.feed(.answerEnds)
            #expect(!told(run).map(\.1).joined().contains("처"), "\(pieces): \(told(run))")
            #expect(run.appended[0].object("data")?.string("text") == "드릴 수 없습니다.")
        }
    }

    @Test("A model that does not come to an end is cut off at the longest answer, at a character (INV-9)")
    func endless() {
        var run = MachineRun(
            Sample.settings {
                $0.isStreamed = true; $0.longestAnswer = 100
            })
        run.feed(.dialogue(Sample.dialogue()))
        run.feed(.answerBegins(contentType: "text/event-stream"))
        for _ in 0..<40 where run.appended.isEmpty { run.feed(.piece(Sample.stream(["두통약"], done: false)), after: 1) }
        #expect(run.all.contains(.hangUp))
        let data = run.appended.first?.object("data")
        #expect(data?.string("text") == String(repeating: "두통약", count: 11) && data?.string("finish") == "length")
    }

    @Test("Another form than was asked for is read by what it says it is")
    func forms() {
        var run = MachineRun(Sample.settings { $0.isStreamed = true })
        run.feed(.dialogue(Sample.dialogue()))
        run.answer("한 번에")
        #expect(run.appended[0].object("data")?.string("text") == "한 번에")
        var portal = MachineRun()
        portal.feed(.dialogue(Sample.dialogue()))
        portal.feed(.answerBegins(contentType: "text/html"))
        portal.feed(.piece(Array("<html>".utf8)))
        #expect(portal.last.first == .hangUp && portal.last.contains { if case .wait = $0 { true } else { false } })
    }
}
