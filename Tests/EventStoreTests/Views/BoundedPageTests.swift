import TestSupport
import Testing

@testable import EventStore

/// A page costs no more than its bound, however rare what is asked for is, and the pages together have all of it, once (INV-9).
struct BoundedPageTests {
    /// 600 events of one conversation by two origins, many of them tied; every 41st is rare, and a fifth of them are twins.
    private func filled(generation: Int) throws -> LogFixture {
        let log = try LogFixture()
        var events: [Event] = []
        for number in UInt64(1)...600 {
            let (origin, seq) = (number % 2 + 1, (number + 1) / 2)
            let isTwin = number % 10 == 1 && number > 10
            events.append(
                event(
                    origin, seq, hlc: Int64(10_000 + number), id: isTwin ? number - 1 : number,
                    type: number % 41 == 0 ? "x.rare" : "message.posted", time: Int64(5_000 + number / 9), user: "u"))
        }
        try log.deliver(events)
        let projector = try Projector(log.files, tails: ViewMemtables(generation: generation))
        while projector.position < 600 { try projector.step(limit: 100) }
        return log
    }

    private func dots(
        _ reader: ViewReader, _ query: TimelineQuery, _ limit: Int, isBackward: Bool
    ) throws -> (dots: [Dot], empty: Int) {
        var (dots, empty): ([Dot], Int) = ([], 0)
        var bound: DisplayKey?
        repeat {
            let page =
                isBackward
                ? try reader.newest(limit, of: .conversation("c"), query, before: bound)
                : try reader.oldest(limit, of: .conversation("c"), query, after: bound)
            #expect(page.entries.count <= limit)
            empty += page.entries.isEmpty ? 1 : 0
            dots += page.entries.map { $0.stored.event.header.dot }
            bound = page.next
        } while bound != nil
        return (dots, empty)
    }

    @Test("Pages of a few rows have what one page of all rows has, in both directions", arguments: [24, 100_000])
    func pages(generation: Int) throws {
        let log = try filled(generation: generation)
        let reader = try ViewReader(log.files)
        var rare = TimelineQuery()
        rare.types = ["x.rare"]
        var known = TimelineQuery()
        known.knownAt = 450
        var both = rare
        both.knownAt = 333
        for (query, least) in [(TimelineQuery(), 500), (rare, 10), (known, 350), (both, 6)] {
            var all: [Dot] = []
            try reader.conversation("c", query) { entry in
                all.append(entry.stored.event.header.dot)
                return true
            }
            #expect((least..<600).contains(all.count) && Set(all).count == all.count)
            for isBackward in [true, false] {
                let expected = isBackward ? all.reversed() : all
                for most in [1, 7, 50] {
                    reader.mostRows = most
                    let found = try dots(reader, query, 3, isBackward: isBackward)
                    #expect(found.dots == expected, "\(most) \(isBackward)")
                    // What is in the tail is in memory, and bounded by itself.
                    let isSparse = generation == 24 && most < 41 && query.types == rare.types && query.knownAt == nil
                    #expect(!isSparse || found.empty > 3, "\(most): \(found.empty)")
                }
            }
        }
    }
}
