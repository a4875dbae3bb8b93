import Foundation
import TestSupport
import Testing

@testable import EventStore

/// What histories and timelines find by what their rows say, without a look into the log (INV-6).
struct ScopeTests {
    /// Events of three origins in several conversations, by users and bots, twins among them, in any order of arrival; the views stand
    /// wherever `random` left them: in the run, half merged, in the tail.
    private struct Scene {
        let log: LogFixture
        let tails: ViewMemtables
        let projector: Projector
        /// In the order of the log.
        private(set) var events: [Event] = []

        init(_ random: inout SplitMix64) throws {
            log = try LogFixture()
            tails = ViewMemtables(generation: 120)
            for seq in UInt64(1)...300 {
                for number in UInt64(1)...3 {
                    let isTwin = Int.random(in: 0..<6, using: &random) == 0
                    let user = "u-\(seq % 4)"
                    events.append(
                        event(
                            number, seq, hlc: Int64(1_000 + seq / 5), id: isTwin ? seq % 60 : nil,
                            type: ["message.posted", "bot.replied", "note", "survey.answered"][Int(seq % 7) % 4],
                            time: seq % 3 == 0 ? Int64.random(in: 0..<2_000, using: &random) : nil,
                            conversation: seq % 5 == 4 ? nil : "c-\(seq % 3)", user: user,
                            author: seq % 2 == 0 ? nil : "bot-\(seq % 4)",
                            #"{"text":"x","survey":"s","question":"q","answer":1}"#))
                }
            }
            events.shuffle(using: &random)
            projector = try Projector(log.files, tails: tails)
            for start in stride(from: 0, to: events.count, by: 100) {
                try log.deliver(Array(events[start..<min(start + 100, events.count)]))
                while projector.position < log.top { try projector.step(limit: 41) }
                if Bool.random(using: &random) {
                    try projector.merge(rows: Int.random(in: 1...150, using: &random))
                }
            }
        }

        /// The positions of those that match, in display order.
        func positions(_ matches: (EventHeader) -> Bool) -> [UInt64] {
            events.enumerated().filter { matches($0.element.header) }
                .sorted { $0.element.header.displayKey < $1.element.header.displayKey }
                .map { UInt64($0.offset + 1) }
        }
    }

    @Test(
        "The index gives each event of a scope, twins too, and any mix of filters what a look at every event gives",
        arguments: 1...6)
    func filters(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let scene = try Scene(&random)
        let readers = [
            try ViewReader(scene.log.files, tails: scene.tails), try ViewReader(scene.log.files),
        ]
        for round in 0..<60 {
            var query = TimelineQuery()
            query.withTwins = true
            if Bool.random(using: &random) { query.types = ["note", "bot.replied", "never.seen"] }
            if Bool.random(using: &random) { query.authors = ["bot-1", "u-2"] }
            if Bool.random(using: &random) { query.knownAt = UInt64.random(in: 1...scene.log.top, using: &random) }
            if Bool.random(using: &random) { query.since = Int64.random(in: 0..<1_100, using: &random) }
            if Bool.random(using: &random) { query.until = Int64.random(in: 500..<2_000, using: &random) }
            let isUser = round % 2 == 0
            if isUser, Bool.random(using: &random) { query.conversations = ["c-1", "c-\u{1100}"] }
            let name = isUser ? "u-\(round % 4)" : "c-\(round % 3)"
            let known = query.knownAt ?? .max
            let wanted = scene.positions { header in
                (isUser ? header.user : header.conversation ?? "") == name
                    && (query.types.isEmpty || query.types.contains(header.type))
                    && (query.authors.isEmpty || query.authors.contains(header.author))
                    && (query.conversations.isEmpty || header.conversation == "c-1")
                    && header.displayKey.time >= query.since ?? .min && header.displayKey.time < query.until ?? .max
            }.filter { $0 <= known }
            for reader in readers {
                let found =
                    try isUser
                    ? reader.positions(user: name, query) : reader.positions(conversation: name, query)
                #expect(found == wanted, "\(query)")
            }
            // What people are shown is the same without the twins that do not count.
            query.withTwins = false
            query.limit = .last(7)
            var shown: [UInt64] = []
            try readers[round % 2].timeline(isUser, name, query) { shown.append($0) }
            let counting = try readers[0].counting(wanted, through: known)
            #expect(shown == counting.suffix(7), "\(query)")
        }
    }

    @Test("Where none of the texts of a filter is known there is nothing to find")
    func unknown() throws {
        var random = SplitMix64(state: 9)
        let scene = try Scene(&random)
        let reader = try ViewReader(scene.log.files)
        for change in [\TimelineQuery.types, \.authors, \.conversations] {
            var query = TimelineQuery()
            query[keyPath: change] = ["never.seen"]
            #expect(try reader.positions(user: "u-1", query).isEmpty)
        }
        #expect(try reader.positions(user: "nobody", TimelineQuery()).isEmpty)
    }

    @Test("A query that goes on while generations are merged shows each event once (INV-2)", arguments: 1...4)
    func merging(seed: UInt64) throws {
        var random = SplitMix64(state: seed)
        let scene = try Scene(&random)
        for tails in [scene.tails, ViewMemtables()] {
            let reader = try ViewReader(scene.log.files, tails: tails)
            let wanted = try reader.positions(conversation: "c-1", TimelineQuery())
            var query = TimelineQuery()
            query.limit = .first(wanted.count)
            var rows = OwnerRows(
                .timeline, tails.timeline, owner: try #require(try reader.log.ref("c-1")))
            let connection = try openForReading(scene.log.files.views)
            var found: [UInt64] = []
            var cursor: SortedRow?
            while true {
                let page = try rows.rows(
                    in: RowRange(owner: rows.owner, since: .min, until: .max, cursor: cursor, isBackward: false),
                    limit: 10, connection)
                guard let last = page.rows.last else { break }
                found += page.rows.map(\.position)
                cursor = last
                try scene.projector.merge(rows: 30)
            }
            #expect(Set(found) == Set(wanted) && found.count == wanted.count)
        }
    }
}

extension ViewReader {
    fileprivate func timeline(
        _ isUser: Bool, _ name: String, _ query: TimelineQuery, _ body: (UInt64) -> Void
    ) throws {
        func take(_ entry: TimelineEntry) -> Bool {
            body(entry.stored.position)
            return true
        }
        if isUser { try history(user: name, query, take) } else { try conversation(name, query, take) }
    }

    /// Those of `positions` that counted when the log reached `known`: of events of one id, user, conversation, author and type the one
    /// recorded first.
    fileprivate func counting(_ positions: [UInt64], through known: UInt64) throws -> [UInt64] {
        var all: [StoredEvent] = []
        _ = try log.scan(after: 0, limit: 100_000) { event in
            if event.position <= known { all.append(event) }
            return true
        }
        var best: [String: StoredEvent] = [:]
        func key(_ header: EventHeader) -> String {
            "\(header.id) \(header.user) \(header.conversation ?? "-") \(header.author) \(header.type)"
        }
        for event in all {
            let header = event.event.header
            let rank = (header.hlc, header.dot)
            if let other = best[key(header)]?.event.header, (other.hlc, other.dot) < rank { continue }
            best[key(header)] = event
        }
        let counting = Set(best.values.map(\.position))
        return positions.filter(counting.contains)
    }
}
