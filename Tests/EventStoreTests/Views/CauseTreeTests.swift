import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What led to an event and what followed from it (docs/reference/VIEWS.md, "What led to an event").
struct CauseTreeTests {
    private func id(_ number: UInt64) -> EventID { EventID(UUIDBits(high: 0x1d, low: number)) }

    /// A question, the bot's reply with its configuration, an answer of a survey, an edit; of two nodes.
    private func dialogue() throws -> LogFixture {
        let log = try LogFixture()
        try log.deliver([
            event(
                2, 1, hlc: 500, id: 9, type: "bot.configured", conversation: nil, user: "bot/medibot",
                #"{"model":"m-1","persona":{"name":"dr","version":3}}"#),
            event(1, 1, hlc: 1_000, id: 1, user: "kim"),
            event(
                2, 2, hlc: 2_000, id: 2, type: "bot.replied", user: "kim", author: "medibot", cause: id(1),
                #"{"text":"답"}"#),
            event(
                1, 2, hlc: 3_000, id: 3, type: "survey.answered", user: "kim", cause: id(2),
                #"{"survey":"s","question":"q","choice":"좋음"}"#),
            event(
                2, 3, hlc: 4_000, id: 4, type: "message.edited", user: "kim", author: "medibot", cause: id(3),
                #"{"message":"\#(id(2))","text":"고친 답"}"#),
            event(1, 3, hlc: 4_500, id: 5, type: "survey.answered", user: "kim", cause: id(2), #"{"survey":7}"#),
        ])
        return log
    }

    /// `depth id <- parent relation`.
    private func told(_ tree: CauseTree) -> [String] {
        tree.nodes.map { node in
            let state =
                switch node.state {
                case .event(_, let quarantined): quarantined.isEmpty ? "" : " !\(quarantined.map(\.view))"
                case .pending: " pending"
                case .hidden: " hidden"
                }
            let links = node.causes.map { "\($0.id.bits.low):\($0.relation.rawValue)" }.joined(separator: ",")
            return "\(node.depth) \(node.id.bits.low) <\(links)>\(state)" + (node.cut.map { " cut \($0)" } ?? "")
        }
    }

    private func tree(
        _ log: LogFixture, of number: UInt64, _ limits: CauseLimits = .usual, isWhole: Bool = true,
        isSeen: @escaping (EventHeader) -> Bool = { _ in true }
    ) throws -> CauseTree {
        try Projector(log.files).catchUp()
        let views = try ViewReader(log.files)
        let event = try #require(try views.log.countingEvent(id: id(number)))
        return try views.causes(of: event, limits, isWhole: isWhole) { header throws(StoreError) in isSeen(header) }
    }

    @Test(
        "From the first question to the last edit, across nodes, with the bot's configuration and what is quarantined"
    )
    func whole() throws {
        let log = try dialogue()
        #expect(
            told(try tree(log, of: 2)) == [
                "-1 9 <>", "-1 1 <>", "0 2 <1:cause,9:configuration>", "1 3 <2:cause>",
                "1 4 <2:amends,3:cause>", #"1 5 <2:cause> !["surveys"]"#,
            ])
        // Asked for the end, all that led to it comes first, the farthest before.
        #expect(
            told(try tree(log, of: 4)) == [
                "-2 9 <>", "-2 1 <>", "-1 2 <1:cause,9:configuration>", "-1 3 <2:cause>", "0 4 <2:amends,3:cause>",
            ])
        #expect(told(try tree(log, of: 1)).count == 5)
        // The text of the reply is the edit's.
        guard case .event(let entry, _) = try tree(log, of: 2).nodes[2].state else { throw Wrong() }
        #expect(entry.edited == "고친 답")
    }

    private struct Wrong: Error {}

    @Test("What is named and not here is pending; once it comes it is there")
    func pending() throws {
        let log = try LogFixture()
        try log.deliver([event(1, 1, hlc: 2_000, id: 2, cause: id(1)), event(1, 2, hlc: 3_000, id: 3, cause: id(2))])
        #expect(told(try tree(log, of: 3)) == ["-2 1 <> pending", "-1 2 <1:cause>", "0 3 <2:cause>"])
        try log.deliver([event(2, 1, hlc: 1_000, id: 1)])
        #expect(told(try tree(log, of: 3)) == ["-2 1 <>", "-1 2 <1:cause>", "0 3 <2:cause>"])
        #expect(told(try tree(log, of: 1)) == ["0 1 <>", "1 2 <1:cause>", "2 3 <2:cause>"])
    }

    @Test("Causes that lead back to themselves end: each event comes once")
    func circle() throws {
        let log = try LogFixture()
        try log.deliver([
            event(1, 1, hlc: 1_000, id: 1, cause: id(3)), event(1, 2, hlc: 2_000, id: 2, cause: id(1)),
            event(1, 3, hlc: 3_000, id: 3, cause: id(2)), event(1, 4, hlc: 4_000, id: 4, cause: id(4)),
        ])
        #expect(told(try tree(log, of: 1)) == ["-2 2 <1:cause>", "-1 3 <2:cause>", "0 1 <3:cause>"])
        #expect(told(try tree(log, of: 4)) == ["0 4 <4:cause>"])
    }

    @Test(
        "Of a message that was edited often the newest edits are told, and what else followed; it says that it is cut (INV-9)"
    )
    func manyEdits() throws {
        let log = try LogFixture()
        var events = [event(1, 1, hlc: 1_000, id: 1)]
        for number in UInt64(2)...1_500 {
            events.append(
                event(
                    1, number, hlc: 1_000 + Int64(number), id: number, type: "message.edited", cause: id(1),
                    #"{"message":"\#(id(1))","text":"고침 \#(number)"}"#))
        }
        for number in UInt64(1)...3 {
            events.append(event(2, number, hlc: 9_000 + Int64(number), id: 10_000 + number, cause: id(1)))
        }
        try log.deliver(events)
        let told = told(try tree(log, of: 1, CauseLimits(rows: 101, depth: 5)))
        #expect(told.count == 101 && told[0] == "0 1 <> cut rows")
        #expect(told.suffix(3) == (1...3).map { "1 \(10_000 + $0) <1:cause>" }[...])
        #expect(told[1] == "1 1404 <1:amends>" && told[97] == "1 1500 <1:amends>")
        // The same where all is seen, and no event is asked for.
        let views = try ViewReader(log.files)
        let root = try #require(try views.log.countingEvent(id: id(1)))
        #expect(try self.told(views.causes(of: root, CauseLimits(rows: 101, depth: 5))) == told)
        // Replies do not keep the edits away.
        try log.deliver((4...400).map { event(2, $0, hlc: 9_000 + Int64($0), id: 10_000 + $0, cause: id(1)) })
        let crowded = self.told(try tree(log, of: 1, CauseLimits(rows: 101, depth: 5)))
        #expect(crowded.count { $0.contains("amends") } == 50 && crowded.count { $0.contains("cause") } == 50)
        #expect(crowded[0] == "0 1 <> cut rows")
    }

    @Test("A tree that is too large or too deep is cut, and says where (INV-9)")
    func cut() throws {
        let log = try LogFixture()
        var events = [event(1, 1, hlc: 1_000, id: 1)]
        for number in UInt64(2)...900 {
            events.append(event(1, number, hlc: 1_000 + Int64(number), id: number, cause: id(number - 1)))
        }
        for number in UInt64(1)...900 {
            events.append(event(2, number, hlc: 3_000 + Int64(number), id: 10_000 + number, cause: id(900)))
        }
        try log.deliver(events)
        let long = told(try tree(log, of: 900, CauseLimits(rows: 500, depth: 10)))
        #expect(long.first == "-10 890 <889:cause> cut depth")
        #expect(long.contains("0 900 <899:cause> cut rows") && long.count == 500)
        let wide = told(try tree(log, of: 900, CauseLimits(rows: 100, depth: 500)))
        // What led to it takes half of them.
        #expect(wide.count == 100 && wide[0] == "-49 851 <850:cause> cut rows", "\(wide[0])")
        #expect(wide.contains("0 900 <899:cause> cut rows"))
        #expect(told(try tree(log, of: 900, CauseLimits(rows: 1, depth: 0))) == ["0 900 <899:cause> cut depth"])
        #expect(told(try tree(log, of: 10_900, CauseLimits(rows: 4, depth: 1))).last == "0 10900 <900:cause>")
        // All of it where there is room.
        let some = try tree(log, of: 300, CauseLimits(rows: 500, depth: 400))
        #expect(!some.isWhole && some.nodes.count == 500)
    }

    @Test("Long payloads end a tree, too (INV-9)")
    func bytes() throws {
        let log = try LogFixture()
        let text = #"{"text":"\#(String(repeating: "가", count: 80_000))"}"#
        var events = [event(1, 1, hlc: 1_000, id: 1)]
        for number in UInt64(2)...60 {
            events.append(event(1, number, hlc: 1_000 + Int64(number), id: number, cause: id(1), text))
        }
        try log.deliver(events)
        let tree = try tree(log, of: 1)
        #expect(tree.nodes.count < 25 && tree.nodes[0].cut == .rows)
    }

    @Test("Who does not see all is told neither of what they do not see nor whether it is here (INV-13)")
    func rights() throws {
        let log = try dialogue()
        let seen = try tree(log, of: 2, isWhole: false) {
            $0.type != "message.posted" && $0.author != "medibot" || $0.type == "bot.replied"
        }
        #expect(
            told(seen) == [
                "-1 1 <> hidden", "-1 9 <>", "0 2 <1:cause,9:configuration>", "1 3 <2:cause>",
                #"1 5 <2:cause> !["surveys"]"#,
            ])
    }

    @Test("An erased event keeps its place; of twins the one that counts stands there once (INV-6)")
    func erasedAndTwins() throws {
        let log = try LogFixture()
        let said = event(1, 2, hlc: 2_000, id: 2, cause: id(1))
        let gone = Event(header: said.header, body: .erased(payloadDigest: .zero))
        // The twin that counts comes last.
        try log.deliver([
            event(1, 1, hlc: 1_000, id: 1), gone, event(1, 3, hlc: 3_000, id: 3, cause: id(2)),
            event(2, 1, hlc: 2_500, id: 3, cause: id(2)),
        ])
        let tree = try tree(log, of: 1)
        #expect(told(tree) == ["0 1 <>", "1 2 <1:cause>", "2 3 <2:cause>"])
        guard case .event(let erased, _) = tree.nodes[1].state, case .event(let twin, _) = tree.nodes[2].state else {
            throw Wrong()
        }
        #expect(erased.stored.event.isErased)
        #expect(twin.stored.event.header.dot == Dot(origin: origin(2), seq: 1))
        #expect(try ViewsCheck(log.files).run().isIntact)
    }
}
