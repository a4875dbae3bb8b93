import TestSupport
import Testing

@testable import EventStore

/// Words stay under the name of who said them (D24; docs/reference/VIEWS.md, "messages").
struct EditRuleTests {
    private func id(_ low: UInt64, of origin: UInt64 = 0) -> EventID {
        EventID(UUIDBits(high: 100 + origin, low: low))
    }

    /// What every reader sees of the messages of conversation `c`, whatever came first: `text|edits that count|retracted by|what does
    /// not count`.
    private func shown(_ log: SyntheticLog) throws -> [String] {
        let mold = try StoreMold()
        var answers: [[String]] = []
        for choose in [{ $0.first ?? 0 }, { $0.last ?? 0 }] as [([Int]) -> Int] {
            let (folder, projector) = try mold.store(log.order(choose), limit: 3)
            defer { withExtendedLifetime(folder) {} }
            _ = try projector.allDigests()
            var query = TimelineQuery()
            query.types = ["message.posted", "bot.replied"]
            var found: [String] = []
            try ViewReader(StoreFiles(folder.path)).conversation("c", query) { entry in
                let others = (entry.history?.amendments ?? []).filter { !$0.counts }.map {
                    "\($0.author) \($0.isEdit ? $0.text ?? "?" : "retracts")"
                }
                found.append(
                    "\(entry.edited ?? "-")|\(entry.edits)|\(entry.history?.retraction?.author ?? "-")|"
                        + others.joined(separator: ","))
                return true
            }
            answers.append(found)
        }
        #expect(answers[0] == answers[1])
        return answers[0]
    }

    private func edit(
        _ message: EventID, by author: String, _ text: String, in conversation: String? = "c", time: Int64? = nil,
        id: EventID? = nil
    ) -> EventDraft {
        .json(
            "message.edited", #"{"message":"\#(message)","text":"\#(text)"}"#, id: id, time: time,
            conversation: conversation, user: "u", author: author)
    }

    private func retract(
        _ message: EventID, by author: String, in conversation: String? = "c", time: Int64? = nil
    ) -> EventDraft {
        .json(
            "message.retracted", #"{"message":"\#(message)"}"#, time: time, conversation: conversation, user: author)
    }

    @Test("An edit counts from the message's author in its conversation; anybody else's changes nothing (D24)")
    func edits() throws {
        var log = SyntheticLog(origins: 2)
        // The message comes from one origin, all edits from another that never saw it: they may arrive first.
        log.append(.json("bot.replied", #"{"text":"하나"}"#, user: "u", author: "bot"), origin: 0, milliseconds: 2_000)
        let edits = [
            edit(id(2), by: "mallory", "남의 글"), edit(id(2), by: "bot", "다른 방", in: "d"),
            edit(id(2), by: "bot", "방 없음", in: nil), edit(id(2), by: "u", "사용자는 글쓴이가 아니다"),
        ]
        for (index, draft) in edits.enumerated() {
            log.append(draft, origin: 1, milliseconds: 3_000 + Int64(index))
        }
        #expect(try shown(log) == ["-|0|-|mallory 남의 글,bot 다른 방,bot 방 없음,u 사용자는 글쓴이가 아니다"])
        // Of those that count the last in display order stands, not the last that was recorded.
        log.append(edit(id(2), by: "bot", "고침"), origin: 1, milliseconds: 3_010)
        log.append(edit(id(2), by: "bot", "먼저 고침", time: 2_500), origin: 1, milliseconds: 3_020)
        #expect(try shown(log).first?.hasPrefix("고침|2|-|") == true)
    }

    @Test("An edit of an edit changes no text, and twins of edits and of messages count once (D6, D24)")
    func editsOfEditsAndTwins() throws {
        var log = SyntheticLog(origins: 2)
        let twin = EventID(UUIDBits(high: 9, low: 1))
        let message = EventID(UUIDBits(high: 9, low: 2))
        // The same id from two authors: two messages, each its author's to edit. Of the same author's two one counts.
        log.append(
            .json("message.posted", #"{"text":"둘째"}"#, id: message, user: "b"), origin: 0, milliseconds: 2_100)
        log.append(
            .json("message.posted", #"{"text":"첫째"}"#, id: message, user: "a"), origin: 1, milliseconds: 2_000)
        log.append(
            .json("message.posted", #"{"text":"셋째"}"#, id: message, user: "a"), origin: 0, milliseconds: 2_200)
        log.append(edit(message, by: "a", "가", id: twin), origin: 0, milliseconds: 3_000)
        log.append(edit(message, by: "a", "나", id: twin), origin: 1, milliseconds: 2_900)
        log.append(edit(message, by: "b", "다"), origin: 1, milliseconds: 3_100)
        log.append(edit(twin, by: "a", "라"), origin: 1, milliseconds: 3_200)
        #expect(try shown(log).sorted() == ["나|1|-|b 다", "다|1|-|a 나"])
    }

    @Test(
        "Retractions: the author's and those of moderators that the first recorded start named; the earliest stands")
    func retractions() throws {
        func start(_ moderators: String, time: Int64? = nil) -> EventDraft {
            .json("conversation.started", #"{"title":"t","moderators":\#(moderators)}"#, time: time)
        }
        var log = SyntheticLog(origins: 2)
        log.append(start(#"["지기","bot"]"#), origin: 0, milliseconds: 1_500)
        // Who moderates another conversation moderates that one.
        log.append(
            .json("conversation.started", #"{"moderators":["지기"]}"#, conversation: "d"), origin: 1,
            milliseconds: 1_600)
        for index in Int64(0)..<4 {
            log.append(
                .json("message.posted", #"{"text":"\#(index)"}"#, user: "a"), origin: 0, milliseconds: 2_000 + index)
        }
        // No author becomes a moderator by a later start, whatever time it states.
        log.append(start(#"["mallory"]"#, time: 5), origin: 1, milliseconds: 2_500)
        log.append(retract(id(3), by: "mallory"), origin: 1, milliseconds: 3_000)
        log.append(retract(id(4), by: "지기"), origin: 1, milliseconds: 3_010)
        log.append(retract(id(4), by: "a", time: 2_900), origin: 1, milliseconds: 3_020)
        log.append(retract(id(5), by: "지기", in: "d"), origin: 1, milliseconds: 3_030)
        log.append(retract(id(6), by: "bot"), origin: 1, milliseconds: 3_040)
        log.append(edit(id(6), by: "bot", "지기도 남의 글은 못 고친다"), origin: 1, milliseconds: 3_050)
        log.append(edit(id(4), by: "a", "거둔 뒤"), origin: 1, milliseconds: 3_060)
        #expect(
            try shown(log) == [
                "-|0|-|mallory retracts", "거둔 뒤|1|a|", "-|0|-|지기 retracts", "-|0|bot|bot 지기도 남의 글은 못 고친다",
            ])
    }

    @Test("A message without a conversation is edited without one; a hundred thousand edits cost no memory (INV-9)")
    func manyEdits() throws {
        let log = try LogFixture()
        var events = [event(1, 1, hlc: 10, id: 1, conversation: nil, user: "a")]
        let target = events[0].header.id
        for seq in UInt64(2)...1_500 {
            events.append(
                event(
                    1, seq, hlc: 10 + Int64(seq), type: "message.edited", conversation: nil,
                    user: seq == 2 ? "a" : "mallory", #"{"message":"\#(target)","text":"\#(seq)"}"#))
        }
        try log.deliver(events)
        _ = try log.digests()
        var entries: [TimelineEntry] = []
        try ViewReader(log.files).history(user: "a", TimelineQuery()) { entry in
            entries.append(entry)
            return true
        }
        let history = try #require(entries.first?.history)
        // The one that counts is found behind 1,498 that do not.
        #expect(history.edit?.text == "2" && history.edits == 1)
        #expect(history.amendments.count == 100 && history.count == 1_499)
        #expect(history.amendments.last?.text == "1500" && history.amendments.allSatisfy { !$0.counts })
    }
}
