import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What a page showed at two moments (docs/operating/auditing.md, "What changed").
struct TimelineDifferenceTests {
    private func id(_ number: UInt64) -> EventID { EventID(UUIDBits(high: 0x1d, low: number)) }

    private func known(_ position: UInt64) -> PointInTime {
        var moment = PointInTime()
        moment.knownAt = position
        return moment
    }

    private func differences(
        _ views: ViewReader, _ owner: TimelineOwner, _ earlier: PointInTime, _ later: PointInTime
    ) throws -> [TimelineChange] {
        var changes: [TimelineChange] = []
        try views.differences(of: owner, from: earlier, to: later) { change throws(StoreError) in
            changes.append(change)
            return true
        }
        return changes
    }

    /// `kinds id: before -> after`.
    private func told(_ changes: [TimelineChange]) -> [String] {
        changes.map { change in
            func text(_ entry: TimelineEntry?) -> String {
                guard let entry else { return "-" }
                let said = entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("text") }
                return (entry.isRetracted ? "(back) " : "") + (entry.edited ?? said ?? "?")
            }
            let kinds = change.kinds.map(\.rawValue).joined(separator: "+")
            return
                "\(kinds) \(change.after.stored.event.header.id.bits.low): \(text(change.before)) -> \(text(change.after))"
        }
    }

    private func edit(_ seq: UInt64, _ target: UInt64, _ text: String, by author: String? = nil) -> Event {
        event(
            1, seq, hlc: 1_000 + Int64(seq), id: 100 + seq, type: "message.edited", author: author,
            #"{"message":"\#(id(target))","text":"\#(text)"}"#)
    }

    @Test("Added, edited, taken back and edited by others; what is the same is not told")
    func kinds() throws {
        let log = try LogFixture()
        try log.deliver([
            event(1, 1, hlc: 1_001, id: 1, #"{"text":"하나"}"#), event(1, 2, hlc: 1_002, id: 2, #"{"text":"둘"}"#),
            event(1, 3, hlc: 1_003, id: 3, #"{"text":"셋"}"#), edit(4, 1, "하나 반"),
            edit(5, 1, "하나 끝"), edit(6, 2, "남의 둘", by: "mallory"),
            event(
                1, 7, hlc: 1_007, id: 107, type: "message.retracted", #"{"message":"\#(id(3))"}"#),
            event(1, 8, hlc: 1_008, id: 8, time: 900, #"{"text":"늦게"}"#),
        ])
        try Projector(log.files).catchUp()
        let views = try ViewReader(log.files)
        let all = told(try differences(views, .conversation("c"), known(4), known(8)))
        #expect(
            all.filter { !$0.contains("added 10") } == [
                "added 8: - -> 늦게", "edited 1: 하나 반 -> 하나 끝", "beside 2: 둘 -> 둘", "retracted 3: 셋 -> (back) 셋",
            ])
        #expect(all.filter { $0.contains("added 10") }.count == 3)
        #expect(try differences(views, .conversation("c"), known(8), known(8)).isEmpty)
        #expect(try differences(views, .conversation("other"), known(1), known(8)).isEmpty)
        // By when things happened.
        var (then, later) = (PointInTime(), PointInTime())
        (then.asOf, later.asOf) = (1_003, 1_004)
        #expect(
            told(try differences(views, .user("u"), then, later)) == [
                "edited 1: 하나 -> 하나 반", "added 104: - -> 하나 반",
            ])
    }

    @Test("The twin that counts later stands in the place of the one that counted (INV-6)")
    func twins() throws {
        let log = try LogFixture()
        try log.deliver([
            event(1, 1, hlc: 2_000, id: 1, #"{"text":"같은 말"}"#), event(1, 2, hlc: 2_500, id: 2),
            event(2, 1, hlc: 1_500, id: 1, #"{"text":"같은 말"}"#), event(2, 2, hlc: 3_000, id: 2),
        ])
        try Projector(log.files).catchUp()
        let changes = try differences(try ViewReader(log.files), .conversation("c"), known(2), known(4))
        #expect(told(changes) == ["twin 1: 같은 말 -> 같은 말"])
        #expect(changes.first?.before?.stored.event.header.dot == Dot(origin: origin(1), seq: 1))
        #expect(changes.first?.after.stored.event.header.dot == Dot(origin: origin(2), seq: 1))
    }

    @Test(
        "What was erased between the moments is told by its header, what was erased before or after is not (INV-11)")
    func erased() throws {
        let (folder, store) = try makeStore()
        _ = try store.appendBlocking([
            .message("비밀", user: "u-1", conversation: "c"), .message("남는 말", user: "u-2", conversation: "c"),
        ])
        let before = try LogReader(store.files).top()
        _ = try store.eraseBlocking([Erasure(subject: .user("u-1"))], author: "operator")
        try store.finishErasures()
        let after = try LogReader(store.files).top()
        _ = try store.appendBlocking([.message("나중", user: "u-2", conversation: "c")])
        store.close()
        _ = try Projector.catchUp(StoreFiles(folder.path))
        let views = try ViewReader(StoreFiles(folder.path))
        let changes = try differences(views, .conversation("c"), known(before), known(after))
        #expect(changes.map(\.kinds) == [[.erased]])
        #expect(try differences(views, .conversation("c"), known(after), known(after + 1)).map(\.kinds) == [[.added]])
        #expect(
            try differences(views, .conversation("c"), known(before - 1), known(before)).map(\.kinds) == [[.added]])
    }

    @Test("Fields of a profile that were said otherwise, with both values")
    func profile() throws {
        let log = try LogFixture()
        try log.deliver([
            event(1, 1, hlc: 1_000, id: 1, type: "profile.changed", #"{"fields":{"name":"김","age":7,"old":1}}"#),
            event(1, 2, hlc: 2_000, id: 2, type: "profile.changed", #"{"fields":{"name":"이","new":"x","old":null}}"#),
        ])
        try Projector(log.files).catchUp()
        let changes = try ViewReader(log.files).profileDifferences(of: "u", from: known(1), to: known(2))
        let told = changes.map {
            "\($0.before?.name ?? "-") \($0.before?.winner.value ?? "-") \($0.after?.winner.value ?? "-")"
        }
        #expect(told == [#"name "김" "이""#, #"- - "x""#, "old 1 -"])
    }

    @Test("Changes make the earlier page into the later one, whatever came in which order", arguments: 1...12)
    func random(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let log = try LogFixture()
        var seqs: [UInt64: UInt64] = [:]
        var events: [Event] = []
        for number in UInt64(1)...600 {
            let from = UInt64.random(in: 1...3, using: &random)
            seqs[from, default: 0] += 1
            let target = UInt64.random(in: 1...40, using: &random)
            let (type, payload): (String, String) =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: ("message.edited", #"{"message":"\#(id(target))","text":"고침 \#(number)"}"#)
                case 1: ("message.retracted", #"{"message":"\#(id(target))"}"#)
                default: ("message.posted", #"{"text":"말 \#(number)"}"#)
                }
            events.append(
                event(
                    from, seqs[from] ?? 1, hlc: 1_000 + Int64(number),
                    id: type == "message.posted" ? target : 1_000 + number,
                    type: type, time: Bool.random(using: &random) ? Int64.random(in: 0...1_000, using: &random) : nil,
                    payload))
        }
        events.shuffle(using: &random)
        // An origin's events come in its order.
        var next: [OriginID: UInt64] = [:]
        events = events.map { event in
            next[event.header.dot.origin, default: 0] += 1
            let seq = next[event.header.dot.origin] ?? 1
            return events.first { $0.header.dot == Dot(origin: event.header.dot.origin, seq: seq) } ?? event
        }
        try log.deliver(events)
        try Projector(log.files).catchUp()
        let views = try ViewReader(log.files)
        func page(_ moment: PointInTime) throws -> [String] {
            var lines: [String] = []
            var query = TimelineQuery()
            query.knownAt = moment.knownAt
            try views.conversation("c", query) { entry in
                lines.append(state(entry))
                return true
            }
            return lines
        }
        for _ in 0..<6 {
            let (a, b) = (
                UInt64.random(in: 1...log.top, using: &random), UInt64.random(in: 1...log.top, using: &random)
            )
            let (earlier, later) = (known(min(a, b)), known(max(a, b)))
            let changes = try differences(views, .conversation("c"), earlier, later)
            var expected = Set(try page(earlier))
            for change in changes {
                if let before = change.before { #expect(expected.remove(state(before)) != nil, "\(seed)") }
                #expect(expected.insert(state(change.after)).inserted, "\(seed)")
            }
            #expect(expected == Set(try page(later)), "\(seed)")
        }
    }

    private func state(_ entry: TimelineEntry) -> String {
        let history = entry.history
        return "\(entry.stored.event.header.dot) \(entry.edited ?? "-") \(entry.isRetracted) \(history?.count ?? 0)"
    }
}
