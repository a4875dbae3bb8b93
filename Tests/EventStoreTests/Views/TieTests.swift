import TestSupport
import Testing

@testable import EventStore

/// Where display times are equal the stamp and the dot decide, on every path (D7, D8, INV-2, INV-6): imports have times in whole
/// seconds, so ties are common.
struct TieTests {
    @Test("Of two writes of one time the later stamp stands, whichever came first: titles, categories, profiles")
    func registers() throws {
        let writes = [
            event(
                1, 1, hlc: 20_000, type: "conversation.started", time: 5_000, #"{"title":"늦음","category":"voice"}"#),
            event(
                2, 1, hlc: 10_000, type: "conversation.started", time: 5_000, #"{"title":"이름","category":"text"}"#),
            event(1, 2, hlc: 20_001, type: "profile.changed", time: 5_000, #"{"fields":{"f":"late"}}"#),
            event(2, 2, hlc: 10_001, type: "profile.changed", time: 5_000, #"{"fields":{"f":"early"}}"#),
        ]
        for order in [writes, [writes[1], writes[3], writes[0], writes[2]]] {
            // In one step, and in a step each.
            for batch in [10, 1] {
                let log = try LogFixture()
                try log.deliver(order)
                _ = try log.digests(batch: batch)
                let reader = try ViewReader(log.files)
                let summary = try #require(try reader.conversationSummary("c"))
                #expect(summary.title == "늦음" && summary.category == "voice")
                #expect(try reader.profile(user: "u").first?.winner.value == #""late""#)
            }
        }
    }

    @Test(
        "Of two profile writes of one time the later stamp stands, also over one that has seen it: a clock was ahead")
    func overtaken() throws {
        for batch in [10, 1] {
            let log = try LogFixture()
            try log.deliver([
                event(1, 1, hlc: 90_000, type: "profile.changed", time: 5_000, #"{"fields":{"f":"ahead"}}"#),
                event(
                    2, 1, hlc: 10_000, type: "profile.changed", time: 5_000,
                    dependencies: [Dot(origin: origin(1), seq: 1)], #"{"fields":{"f":"after"}}"#),
            ])
            _ = try log.digests(batch: batch)
            let field = try #require(try ViewReader(log.files).profile(user: "u").first)
            #expect(field.winner.value == #""ahead""#)
        }
    }

    @Test("A later generation with an equal time and a lower stamp does not become the conversation's last moment")
    func lastMoment() throws {
        let log = try LogFixture()
        let projector = try Projector(log.files, tails: ViewMemtables(generation: 1_000))
        func mergeAll() throws {
            while projector.position < log.top { try projector.step() }
            while projector.pending > 0 { try projector.merge() }
        }
        try log.deliver([event(1, 1, hlc: 20_000, time: 5_000)])
        try mergeAll()
        try log.deliver([event(2, 1, hlc: 10_000, time: 5_000), event(3, 1, hlc: 30_000, time: 5_000)])
        try mergeAll()
        try log.deliver([event(2, 2, hlc: 11_000, time: 5_000)])
        try mergeAll()
        let connection = try openForReading(log.files.views)
        let ref = try #require(try LogReader(log.files).ref("c"))
        let sum = try ConversationRow.load(ref, connection).sum
        var rows: [SortedRow] = []
        try SortedTable.timeline.all(connection) { rows.append($0) }
        #expect(sum == ConversationSum(rows))
        #expect(sum.last.hlc == HybridTime(milliseconds: 30_000, counter: 0).ordered)
        #expect(sum.first.hlc == HybridTime(milliseconds: 10_000, counter: 0).ordered)
    }

    @Test(
        "While a generation is half merged, rows tied with the last of a page in the base are on that page (INV-2)",
        arguments: [true, false], [[1, 2], [2, 1]])
    func pageBorder(isBackward: Bool, order: [UInt64]) throws {
        // Two origins with the same stamps: each pair is tied, one row in the base, the other in the tail. Which of them is shown first
        // says their origin, not which came first.
        let count = 40
        let log = try LogFixture()
        let tails = ViewMemtables(generation: 1_000)
        let projector = try Projector(log.files, tails: tails)
        for origin in order {
            try log.deliver((1...count).map { event(origin, UInt64($0), hlc: Int64($0)) })
            while projector.position < log.top { try projector.step() }
            if origin == order[0] { while projector.pending > 0 { try projector.merge() } }
        }
        // Some rows of the second origin go into the base, the rest stays.
        try projector.merge(rows: count / 2)
        #expect(projector.isMerging)
        let expected = (1...2).flatMap { origin in
            (1...count).map { Dot(origin: EventStoreTests.origin(UInt64(origin)), seq: UInt64($0)) }
        }
        .sorted { ($0.seq, $0.origin) < ($1.seq, $1.origin) }
        for tails in [tails, ViewMemtables()] {
            let reader = try ViewReader(log.files, tails: tails)
            for limit in 1...(2 * count) {
                var query = TimelineQuery()
                query.limit = isBackward ? .last(limit) : .first(limit)
                var found: [Dot] = []
                try reader.history(user: "u", query) { entry in
                    found.append(entry.stored.event.header.dot)
                    return true
                }
                #expect(found == Array(isBackward ? expected.suffix(limit) : expected.prefix(limit)), "\(limit)")
            }
        }
    }

    @Test("What was known at a position includes the event there")
    func knownAt() throws {
        let log = try LogFixture()
        try log.deliver((1...20).map { event(1, UInt64($0), hlc: Int64(100 - $0)) })
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        for position in UInt64(0)...21 {
            var query = TimelineQuery()
            query.knownAt = position
            for isHistory in [true, false] {
                var found: [UInt64] = []
                let body = { (entry: TimelineEntry) in
                    found.append(entry.stored.position)
                    return true
                }
                if isHistory {
                    try reader.history(user: "u", query, body)
                } else {
                    try reader.conversation("c", query, body)
                }
                #expect(found == (1...20).reversed().filter { $0 <= position }.map { UInt64($0) })
            }
        }
    }

    @Test(
        "What was known at a position is what a log that ends there shows: later twins hide nothing, later edits change nothing (D6)",
        arguments: 1...4)
    func knownBefore(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        var seqs: [UInt64: UInt64] = [:]
        let events = (1...60).map { number in
            let from = UInt64.random(in: 1...3, using: &random)
            seqs[from, default: 0] += 1
            let hlc = Int64.random(in: 1_000..<1_200, using: &random)
            let (id, isEdit) = (UInt64.random(in: 1...12, using: &random), number % 4 == 0)
            let target = EventID(UUIDBits(high: 0x1d, low: id))
            return event(
                from, seqs[from] ?? 1, hlc: hlc, id: isEdit ? 1_000 + id : id,
                type: isEdit ? "message.edited" : "message.posted",
                isEdit ? #"{"message":"\#(target)","text":"\#(number)"}"# : #"{"text":"x"}"#)
        }
        func shown(_ count: Int, at known: UInt64?) throws -> [String] {
            let log = try LogFixture()
            try log.deliver(Array(events.prefix(count)))
            _ = try log.digests()
            let reader = try ViewReader(log.files)
            var query = TimelineQuery()
            query.knownAt = known
            var found: [String] = []
            for limit in [TimelineQuery.Limit.all, .last(7), .first(5)] {
                query.limit = limit
                try reader.history(user: "u", query) { entry in
                    found.append("\(entry.stored.event.header.dot) \(entry.edited ?? "-") \(entry.edits)")
                    return true
                }
            }
            var bound: DisplayKey?
            query.limit = .all
            repeat {
                let page = try reader.newest(3, of: .conversation("c"), query, before: bound)
                found += page.entries.map { "\($0.stored.event.header.dot) \($0.edited ?? "-")" }
                bound = page.next
            } while bound != nil
            return found
        }
        for known in stride(from: 1, through: 60, by: 3) {
            #expect(try shown(60, at: UInt64(known)) == shown(known, at: nil), "\(known)")
        }
    }
}
