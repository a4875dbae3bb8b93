import Foundation
import TestSupport
import Testing

@testable import EventStore

/// The search follows the other views at a position of its own (decision 0092), and never says that it is complete when it is not.
struct DeferredViewsTests {
    private static let milliseconds: UInt64 = 1_000_000

    @Test(
        "A few events are taken up after a tenth of a second of quiet, many or awaited ones at once, and all after a second"
    )
    func pace() {
        var pace = DeferredPace()
        #expect(pace.due(pending: 0, isAwaited: true) == nil)
        pace.applied(at: 5_000 * Self.milliseconds)
        #expect(pace.due(pending: 1, isAwaited: false) == 5_100 * Self.milliseconds)
        #expect(pace.due(pending: 1, isAwaited: true) == 0)
        // Many are: but no step follows the last one at once.
        #expect(pace.due(pending: 1_024, isAwaited: false) == 0)
        // Events that go on to come put it off for no more than a second.
        for time in UInt64(5_000)...5_990 { pace.applied(at: time * Self.milliseconds) }
        #expect(pace.due(pending: 991, isAwaited: false) == 6_000 * Self.milliseconds)
        #expect(!pace.isOverdue(5_999 * Self.milliseconds, 0) && pace.isOverdue(6_000 * Self.milliseconds, 0))
        pace.stepped(from: 6_000 * Self.milliseconds, to: 6_010 * Self.milliseconds)
        #expect(pace.due(pending: 1_024, isAwaited: false) == 6_090 * Self.milliseconds)
        pace.applied(at: 6_200 * Self.milliseconds)
        #expect(pace.due(pending: 1_024, isAwaited: false) == 6_100 * Self.milliseconds)
        #expect(pace.due(pending: 1_023, isAwaited: false) == 6_300 * Self.milliseconds)
        #expect(!pace.isQuiet(6_299 * Self.milliseconds) && pace.isQuiet(6_300 * Self.milliseconds))
        #expect(!pace.isOverdue(7_009 * Self.milliseconds, 0) && pace.isOverdue(7_010 * Self.milliseconds, 0))
        // What was put off takes as long as the steps did, and is done when nothing comes.
        #expect(pace.owed == 10 * Self.milliseconds)
        #expect(pace.due(pending: 0, isAwaited: false, isTidy: false) == 6_300 * Self.milliseconds)
        pace.tidied(from: 6_300 * Self.milliseconds, to: 6_302 * Self.milliseconds)
        #expect(pace.owed == 8 * Self.milliseconds)
        #expect(pace.due(pending: 1_024, isAwaited: false) == 6_300 * Self.milliseconds)
        for time in UInt64(6_302)...6_500 { pace.applied(at: time * Self.milliseconds) }
        #expect(pace.due(pending: 1_024, isAwaited: false) == 6_320 * Self.milliseconds)
        pace.tidied(from: 0, to: 100 * Self.milliseconds)
        #expect(pace.owed == 0)
    }

    @Test("Segments are merged in small pieces, and no commit of the search takes on what has gathered")
    func merged() throws {
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...4_000).map { event(1, $0, hlc: Int64($0) * 10, #"{"text":"말 w\#($0 &* 7_919)x \#($0)"}"#) })
        let projector = try Projector(log.files)
        while projector.position < log.top { try projector.step() }
        func segments() throws -> Int64 {
            try mapped { () throws(DatabaseError) in
                try projector.target.store.connection.integer("SELECT count(DISTINCT segid) FROM search_idx") ?? 0
            }
        }
        while projector.indexed < projector.position { try projector.stepDeferred(limit: 64) }
        let many = try segments()
        #expect(many > 8)
        var pieces = 0
        while !projector.isTidy {
            try projector.tidyDeferred()
            pieces += 1
        }
        #expect(try segments() < 8 && pieces > 3)
        #expect(try search(log.files).unindexed == 0)
        #expect(try ViewsCheck(log.files).run().isIntact)
    }

    private func log(_ count: UInt64) throws -> LogFixture {
        let log = try LogFixture()
        try log.deliver((1...count).map { event(1, $0, hlc: Int64($0) * 10, #"{"text":"두통 \#($0)"}"#) })
        return log
    }

    private func search(_ files: StoreFiles) throws -> (hits: Int, unindexed: UInt64, count: UInt64) {
        let reader = try ViewReader(files)
        let query = SearchQuery(try SearchWords("두통"))
        let page = try reader.search(query, limit: 500)
        let ranked = try reader.ranked(query, limit: 500).page
        #expect(ranked.unindexed == page.unindexed && ranked.hits.count == page.hits.count)
        return (page.hits.count, page.unindexed, try reader.searchCount(query))
    }

    @Test("The others do not wait for it; a search says how many events it lacks (INV-6)")
    func lacking() throws {
        let log = try log(400)
        let projector = try Projector(log.files)
        while projector.position < log.top { try projector.step() }
        #expect(projector.indexed == 0 && !projector.isRebuilding)
        #expect(try ViewReader(log.files).progress() == 400)
        #expect(try search(log.files) == (0, 400, 0))
        // It gives way after some milliseconds of work, and no step is lost or done twice.
        try projector.stepDeferred(mayGoOn: { false })
        let first = projector.indexed
        #expect(first > 0 && first < 400)
        #expect(try search(log.files) == (Int(first), 400 - first, first))
        try projector.stepDeferred(through: 390)
        #expect(projector.indexed == 390)
        #expect(try search(log.files) == (390, 10, 390))
        try projector.stepDeferred()
        #expect(try search(log.files) == (400, 0, 400))
        #expect(try ViewsCheck(log.files).run().isIntact)
    }

    @Test("Views are proven where they are, also while the search lacks events")
    func proven() throws {
        let log = try log(400)
        do {
            let projector = try Projector(log.files)
            while projector.position < log.top { try projector.step() }
            try projector.stepDeferred(through: 123)
        }
        #expect(try ViewsCheck(log.files).run().isIntact)
        let connection = try Connection(path: log.files.views, mode: .write)
        try connection.execute("UPDATE view SET position = 122 WHERE name = 'search'")
        #expect(try !ViewsCheck(log.files).run().isIntact)
    }

    @Test("Views of a release in which all stood together are gone on with (INV-14)")
    func together() throws {
        let log = try log(20)
        _ = try log.digests()
        do {
            let connection = try Connection(path: log.files.views, mode: .write)
            try connection.execute("UPDATE view SET position = NULL WHERE name = 'search'")
        }
        try log.deliver([event(1, 21, hlc: 300, #"{"text":"두통 21"}"#)])
        let projector = try Projector(log.files)
        #expect(projector.renewal == nil && projector.indexed == 20)
        try projector.step()
        #expect(try search(log.files) == (20, 1, 20))
        try projector.catchUp()
        #expect(try search(log.files) == (21, 0, 21))
    }

    @Test("A running store finds what was appended when someone searches, and soon by itself")
    func followed() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = try ProjectorThread.following(store)
        let reader = EventReader(Freshness(store.files, projector: thread))
        let query = SearchQuery(try SearchWords("두통"))
        for number in 1...20 {
            _ = try store.appendBlocking([.message("두통 \(number)", user: "u", conversation: "c")])
            let page = try reader.fresh(isIndexed: true) { views throws(StoreError) in
                try views.search(query, limit: 100)
            }
            #expect(page.hits.count == number && page.unindexed == 0)
        }
        _ = try store.appendBlocking([.message("두통 21", user: "u", conversation: "c")])
        let top = try LogReader(store.files).top()
        let start = MonotonicClock.now
        while thread.indexed < top, MonotonicClock.now - start < 60_000_000_000 { usleep(5_000) }
        #expect(thread.indexed == top)
        // No one waited for that one, so it was left alone for a while.
        #expect(MonotonicClock.now - start >= DeferredPace.quiet / 2)
        store.close()
    }

    @Test("Whether an edit is the author's stands in the log; moderators alone are looked up in the views")
    func amendments() throws {
        let log = try LogFixture()
        try log.deliver([event(1, 1, hlc: 10, #"{"text":"a"}"#)])
        let reader = try LogReader(log.files)
        let message = try #require(try reader.events(at: [1], bytes: 1 << 20).0.first).event.header
        func draft(_ type: String, author: String, conversation: String? = "c") -> EventDraft {
            EventDraft(
                type: type, conversation: conversation, user: author,
                payload: Array(#"{"message":"\#(message.id)","text":"b"}"#.utf8))
        }
        #expect(try reader.verdict(on: draft("message.edited", author: message.author)) == .settled(.counts))
        #expect(
            try reader.verdict(on: draft("message.edited", author: "x")) == .settled(.foreign(author: message.author))
        )
        #expect(
            try reader.verdict(on: draft("message.retracted", author: message.author, conversation: "d"))
                == .settled(.foreign(author: message.author)))
        #expect(
            try reader.verdict(on: draft("message.retracted", author: "x"))
                == .moderated(conversation: "c", author: message.author))
    }
}
