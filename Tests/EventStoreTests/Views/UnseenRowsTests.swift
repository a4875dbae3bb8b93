import TestSupport
import Testing

@testable import EventStore

/// A page has what its viewer sees, once, and tells nothing of the rest (INV-9, INV-13).
struct UnseenRowsTests {
    /// Times of recording: from there on the viewer does not see what others say.
    private static let end = Int64(500)

    /// 2,000 events of a conversation, a minute apart, by two in turn. In a third's history stand few of them, one late; one is a bot's own.
    private func filled(generation: Int) throws -> (LogFixture, ViewReader) {
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...2_000).map { seq in
                event(
                    1, seq, hlc: (1_000 + Int64(seq)) * 61_001, user: [7, 1_500].contains(seq) ? "eve" : "u",
                    author: seq == 1_700 ? "eve" : seq % 2 == 0 ? "bob" : "own")
            })
        let projector = try Projector(log.files, tails: ViewMemtables(generation: generation))
        while projector.position < log.top { try projector.step(limit: 500) }
        return (log, try ViewReader(log.files))
    }

    private func viewer() -> TimelineViewer {
        TimelineViewer(["eve"], sees: { $0.milliseconds < (1_000 + Self.end) * 61_001 }) { _ in true }
    }

    @Test("Pages have what is seen, once, in both directions, whatever bounds they have", arguments: [24, 100_000])
    func pages(generation: Int) throws {
        let (log, reader) = try filled(generation: generation)
        defer { withExtendedLifetime(log) {} }
        let seen = (UInt64(1)..<UInt64(Self.end)) + [1_500, 1_700]
        for (isBackward, most, limit) in [
            (true, 100_000, 500), (true, 300, 500), (true, 300, 3), (false, 100_000, 500), (false, 300, 500),
            (false, 300, 3),
        ] {
            reader.mostRows = most
            var (found, bound, pages): ([UInt64], DisplayKey?, Int) = ([], nil, 0)
            repeat {
                let page = try ask(reader, limit, TimelineQuery(), bound, isBackward)
                found += page.entries.map(\.stored.event.header.dot.seq)
                #expect(page.entries.count <= limit)
                if let next = page.next, next.hlc != page.entries.last?.key.hlc {
                    #expect(next.time % (1 << 10) == 0 && next.dot.seq == 0 && next.hlc.rawValue == 0, "\(next)")
                }
                if let from = bound, let next = page.next { #expect(isBackward ? next < from : next > from) }
                (bound, pages) = (page.next, pages + 1)
            } while bound != nil && pages < 1_000
            #expect(found == (isBackward ? seen.reversed() : Array(seen)), "\(isBackward) \(most) \(limit): \(pages)")
        }
    }

    @Test(
        "Whose rows are asked for, and whether the log knows them, hidden rows end a page alike",
        arguments: [24, 100_000])
    func filters(generation: Int) throws {
        let (log, reader) = try filled(generation: generation)
        defer { withExtendedLifetime(log) {} }
        for most in [100, 300, 900, 100_000] {
            reader.mostRows = most
            var ends: Set<String> = []
            for author in ["bob", "own", "carol", "u"] {
                var query = TimelineQuery()
                query.authors = [author]
                (query.since, query.until) = ((1_000 + 600) * 61_001, (1_000 + 1_400) * 61_001)
                let page = try ask(reader, 50, query, nil, true)
                #expect(page.entries.isEmpty)
                ends.insert("\(String(describing: page.next)) \(String(describing: page.cut))")
            }
            #expect(ends.count == 1, "\(most): \(ends)")
        }
    }

    @Test(
        "Of very many hidden rows of one millisecond a page ends where it tells nothing of them",
        arguments: [true, false])
    func oneTime(isBackward: Bool) throws {
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...4_500).map { seq in
                event(
                    1, seq, hlc: 99_000_000 + Int64(seq), time: 1_000 + Int64(seq / 1_500), user: "u",
                    author: seq % 2_000 == 0 ? "eve" : "own")
            })
        _ = try log.digests()
        let reader = try ViewReader(log.files)
        reader.mostRows = 700
        var (found, bound, pages): ([UInt64], DisplayKey?, Int) = ([], nil, 0)
        repeat {
            let page = try ask(reader, 3, TimelineQuery(), bound, isBackward)
            found += page.entries.map(\.stored.event.header.dot.seq)
            if let next = page.next { #expect(next.hlc.rawValue == 0, "\(pages): \(next)") }
            (bound, pages) = (page.next, pages + 1)
        } while bound != nil && pages < 100
        #expect(found == (isBackward ? [4_000, 2_000] : [2_000, 4_000]), "\(pages)")
    }

    private func ask(
        _ reader: ViewReader, _ limit: Int, _ query: TimelineQuery, _ bound: DisplayKey?, _ isBackward: Bool
    ) throws -> TimelinePage {
        isBackward
            ? try reader.newest(limit, of: .conversation("c"), query, before: bound, for: viewer())
            : try reader.oldest(limit, of: .conversation("c"), query, after: bound, for: viewer())
    }
}
