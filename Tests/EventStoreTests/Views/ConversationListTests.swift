import TestSupport
import Testing

@testable import EventStore

/// The list of conversations, the latest active first. Its index knows four seconds at a time.
struct ConversationListTests {
    @Test("Pages of any size give every conversation once, in the order of its last event", arguments: 1...6)
    func pages(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let log = try LogFixture()
        var last: [String: Int64] = [:]
        var events: [Event] = []
        // Some all within four seconds, some spread over a minute, early and late ones in any order.
        let span = [3_000, 60_000][seed % 2]
        for number in 1...600 {
            let conversation = "c-\(Int.random(in: 0..<90, using: &random))"
            let hlc = Int64.random(in: 1...Int64(span), using: &random)
            last[conversation] = max(last[conversation] ?? 0, hlc)
            events.append(event(UInt64(number), 1, hlc: hlc, conversation: conversation))
        }
        try log.deliver(events)
        _ = try log.digests(batch: 17)
        let reader = try ViewReader(log.files)
        let expected = last.sorted { a, b in a.value != b.value ? a.value > b.value : a.key < b.key }.map(\.key)
        for limit in [1, 3, 40, 500] {
            var found: [ConversationSummary] = []
            while true {
                let page = try reader.conversations(limit: limit, before: found.last?.place)
                guard !page.isEmpty else { break }
                found += page
            }
            #expect(found.map(\.conversation) == expected)
            for summary in found { #expect(summary.lastTime == last[summary.conversation]) }
            #expect(found.reduce(0) { $0 + $1.events } == 600)
        }
    }
}
