import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What each view says about a small log that can be followed by hand.
struct ViewContentTests {
    private func read(_ log: SyntheticLog) throws -> (TemporaryFolder, ViewReader) {
        let (folder, _) = try StoreMold().store(log.order { $0.first ?? 0 })
        return (folder, try ViewReader(StoreFiles(folder.path)))
    }

    @Test("Edits and retractions are found by message or by cause; the last writer's text stands (D8)")
    func messages() throws {
        func id(_ low: UInt64) -> EventID { EventID(UUIDBits(high: 100, low: low)) }
        var log = SyntheticLog(origins: 1)
        for (index, text) in ["하나", "둘", "셋"].enumerated() {
            log.append(
                .json("message.posted", #"{"text":"\#(text)"}"#), origin: 0, milliseconds: 2_000 + Int64(index))
        }
        // The second edit is dated before the first: it counts, but its text does not stand.
        log.append(
            .json("message.edited", #"{"message":"\#(id(2))","text":"고침"}"#, time: 2_500), origin: 0,
            milliseconds: 3_000)
        log.append(
            .json("message.edited", #"{"text":"이전"}"#, time: 2_400, cause: id(2)), origin: 0, milliseconds: 3_100)
        log.append(.json("message.retracted", "{}", cause: id(3)), origin: 0, milliseconds: 3_200)
        log.append(.json("message.edited", #"{"message":"\#(id(3))","text":"늦음"}"#), origin: 0, milliseconds: 3_300)
        for payload in [#"{"text":"x"}"#, #"{"message":"7","text":"x"}"#, #"{"message":"\#(id(4))"}"#] {
            log.append(.json("message.edited", payload), origin: 0, milliseconds: 3_400)
        }
        log.append(.json("message.retracted", #"{"message":4}"#), origin: 0, milliseconds: 3_500)
        let (folder, reader) = try read(log)
        defer { withExtendedLifetime(folder) {} }
        var query = TimelineQuery()
        query.types = ["message.posted"]
        var found: [String] = []
        try reader.conversation("c", query) { entry in
            found.append("\(entry.edited ?? "-") \(entry.edits) \(entry.isRetracted)")
            return true
        }
        #expect(found == ["고침 2 false", "늦음 1 true", "- 0 false"])
        let refused = try reader.quarantine()
        #expect(refused.map(\.view) == [String](repeating: "messages", count: 4))
        #expect(refused.map(\.position) == [10, 11, 12, 13])
        #expect(try reader.progress() == 13)
    }

    @Test("Participants: named, joined and left by the last writer; whoever spoke is one")
    func participants() throws {
        var log = SyntheticLog(origins: 1)
        let events: [(String, String, Int64?)] = [
            ("conversation.started", #"{"title":"상담","category":"text","participants":["가","나","bot"]}"#, nil),
            ("participant.left", #"{"user":"나"}"#, nil), ("participant.joined", #"{"user":"나"}"#, 3_900),
            ("participant.joined", "{}", nil), ("participant.left", #"{"user":7}"#, nil),
            ("message.posted", #"{"text":"x"}"#, nil), ("conversation.started", #"{"participants":["다",7]}"#, nil),
            ("conversation.renamed", #"{"title":"새 이름"}"#, nil), ("conversation.renamed", #"{"title":null}"#, nil),
        ]
        for (index, (type, payload, time)) in events.enumerated() {
            log.append(
                .json(type, payload, time: time, user: "라", author: type == "message.posted" ? "마" : nil), origin: 0,
                milliseconds: 4_000 + Int64(index))
        }
        // A name in decomposed letters is another name.
        log.append(
            .json("participant.left", "{}", user: "가".decomposedStringWithCanonicalMapping), origin: 0,
            milliseconds: 5_000)
        let (folder, reader) = try read(log)
        defer { withExtendedLifetime(folder) {} }
        let found = try reader.participants(of: "c").map { participant in
            "\(participant.user) \(participant.user.utf8.count) \(participant.messages) \(participant.joined.map(String.init) ?? "-")"
        }
        // Byte counts tell the two spellings of 가 apart; 다 and the number were refused together.
        #expect(
            found == [
                "bot 3 0 true", "가 6 0 false", "가 3 0 true", "나 3 0 false", "라 3 0 true", "마 3 1 -",
            ])
        #expect(try reader.quarantine().map(\.view) == ["participants", "participants", "conversations"])
        let summary = try #require(try reader.conversationSummary("c"))
        #expect(summary.title == "새 이름" && summary.category == "text" && summary.startedBy == "라")
        #expect(summary.events == 9 && summary.messages == 1)
        #expect(try reader.conversationVersion("c").version == 9)
    }

    @Test("Profile fields against the table of who knew of what (D8)")
    func profiles() throws {
        /// Writes by (origin, value, origins taken in before), the values left as causally maximal, and the winner.
        typealias Step = (origin: Int, value: String, knows: [Int])
        let table: [(steps: [Step], maximal: [String], winner: String)] = [
            ([(0, "a", [])], ["a"], "a"),
            ([(0, "a", []), (0, "b", [])], ["b"], "b"),
            ([(0, "a", []), (1, "b", [0])], ["b"], "b"),
            ([(0, "a", []), (1, "b", [])], ["a", "b"], "b"),
            ([(0, "a", []), (1, "b", []), (2, "c", [0])], ["b", "c"], "c"),
            ([(0, "a", []), (1, "b", []), (2, "c", [0, 1])], ["c"], "c"),
            ([(0, "a", []), (1, "b", [0]), (2, "c", [1])], ["c"], "c"),
            ([(0, "a", []), (1, "b", []), (0, "c", []), (1, "d", [0])], ["d"], "d"),
            ([(0, "a", []), (1, "a", [])], ["a", "a"], "a"),
        ]
        for (index, row) in table.enumerated() {
            var log = SyntheticLog(origins: 3)
            for (number, step) in row.steps.enumerated() {
                for other in step.knows { log.exchange(step.origin, from: other) }
                log.append(
                    .json("profile.changed", #"{"fields":{"f":"\#(step.value)"}}"#), origin: step.origin,
                    milliseconds: 2_000 + Int64(number))
            }
            for choose in [{ $0.first ?? 0 }, { $0.last ?? 0 }] as [([Int]) -> Int] {
                let (folder, _) = try StoreMold().store(log.order(choose))
                let field = try #require(try ViewReader(StoreFiles(folder.path)).profile(user: "u").first)
                #expect(field.winner.value == #""\#(row.winner)""#, "row \(index)")
                let values = ([field.winner] + field.concurrent).map { $0.value.dropFirst().dropLast() }
                #expect(values.sorted().map(String.init) == row.maximal, "row \(index)")
                #expect(field.isConflict == (Set(row.maximal).count > 1), "row \(index)")
            }
        }
    }

    @Test("Survey counts equal a count by hand, each choice once for an event, twins once (D6)")
    func surveys() throws {
        var random = SplitMix64(state: 8)
        var log = SyntheticLog(origins: 2)
        var expected: [String: UInt64] = [:]
        var counted: Set<UInt64> = []
        for step in 0..<400 {
            let number = UInt64.random(in: 0..<150, using: &random)
            let question = "q\(number % 3)"
            let values = (0..<(number % 4)).map { "v\(($0 &* number) % 5)" }
            let list = values.map { "\"\($0)\"" }.joined(separator: ",")
            log.append(
                .json(
                    "survey.answered", #"{"survey":"s","question":"\#(question)","choices":[\#(list)]}"#,
                    id: EventID(UUIDBits(high: 9, low: number))), origin: step % 2,
                milliseconds: 2_000 + Int64(step / 2))
            guard counted.insert(number).inserted else { continue }
            for value in Set(values) { expected["\(question) \(value)", default: 0] += 1 }
        }
        let (folder, reader) = try read(log)
        defer { withExtendedLifetime(folder) {} }
        var found: [String: UInt64] = [:]
        try reader.survey("s") { count in
            found["\(count.question) \(count.value)"] = count.count
            return true
        }
        #expect(found == expected)
        #expect(try reader.surveys().map(\.answers) == [expected.values.reduce(0, +)])
    }
}
