import Foundation
import TestSupport
import Testing

@testable import EventStore

/// An answer takes no longer than its term, and ends when no one waits for it (INV-9).
struct AnswerTermTests {
    /// 4,000 events of one user and one conversation, each by an author who joins; every 1,000th is rare.
    private func filled(generation: Int = 24) throws -> LogFixture {
        let log = try LogFixture()
        try log.deliver(
            (UInt64(1)...4_000).map { number in
                event(
                    1, number, hlc: Int64(10_000 + number),
                    type: number % 1_000 == 0 ? "x.rare" : "participant.joined",
                    time: Int64(5_000 + number), user: "u", #"{"user":"a-\#(number)"}"#)
            })
        let projector = try Projector(log.files, tails: ViewMemtables(generation: generation))
        while projector.position < log.top { try projector.step(limit: 500) }
        return log
    }

    /// A term of which both ends have come, or the first alone.
    private func term(whole: UInt64 = 60_000_000_000) -> AnswerTerm {
        let term = AnswerTerm(page: 0, whole: whole)
        term.begin()
        return term
    }

    @Test(
        "Pages that are due at once go on, say why they ended, and have all there is, once",
        arguments: [true, false], [true, false])
    func due(isBackward: Bool, isRare: Bool) throws {
        let log = try filled()
        let reader = try ViewReader(log.files)
        reader.term = term()
        var query = TimelineQuery()
        if isRare { query.types = ["x.rare"] }
        var (seqs, pages, short): ([UInt64], Int, Int) = ([], 0, 0)
        var bound: DisplayKey?
        repeat {
            let page =
                isBackward
                ? try reader.newest(100, of: .user("u"), query, before: bound)
                : try reader.oldest(100, of: .user("u"), query, after: bound)
            seqs += page.entries.map(\.stored.event.header.dot.seq)
            #expect(page.next == nil || page.entries.count == 100 || page.cut == .time)
            #expect(page.next == nil || isRare || !page.entries.isEmpty)
            (pages, short) = (pages + 1, short + (page.cut == .time ? 1 : 0))
            bound = page.next
        } while bound != nil && pages < 1_000
        let all = (1...4_000).map(UInt64.init).filter { !isRare || $0 % 1_000 == 0 }
        #expect(seqs == (isBackward ? all.reversed() : all))
        #expect(short >= (isRare ? 4 : 100), "\(short) of \(pages)")
    }

    @Test("What an earlier state is made of is not cut, but given whole or given up")
    func past() throws {
        let log = try filled()
        let reader = try ViewReader(log.files)
        var moment = PointInTime()
        moment.knownAt = 3_000
        reader.term = term()
        #expect(try reader.conversationSummary("c", at: moment)?.events == 3_000)
        reader.term = term(whole: 0)
        #expect(throws: StoreError.tooWide("it took longer than an answer may")) {
            _ = try reader.conversationSummary("c", at: moment)
        }
    }

    @Test("Who takes part is given up when the time is over or the client leaves; the reader is whole after it")
    func givenUp() throws {
        let log = try filled()
        let reader = try ViewReader(log.files)
        reader.term = term()
        #expect(try reader.participants(of: "c").count == 3_996)
        for isLeft in [false, true] {
            let term = term(whole: isLeft ? 60_000_000_000 : 0)
            if isLeft { term.cancel() }
            reader.term = term
            #expect(throws: StoreError.tooWide("it took longer than an answer may")) {
                _ = try reader.participants(of: "c")
            }
            reader.term = nil
            #expect(try reader.participants(of: "c").count == 3_996)
            #expect(try reader.newest(10, of: .user("u")).entries.count == 10)
        }
    }

    @Test("To one who sees only part each edit is looked at, until the time is over or the client leaves")
    func edits() throws {
        let log = try LogFixture()
        let id = EventID(UUIDBits(high: 0x1d, low: 1))
        let edits = (UInt64(2)...3_001).map { number in
            event(
                1, number, hlc: Int64(number), type: "message.edited", user: "u",
                #"{"message":"\#(id)","text":"\#(number)"}"#)
        }
        try log.deliver([event(1, 1, hlc: 1, id: 1)] + edits)
        try Projector(log.files).catchUp()
        let reader = try ViewReader(log.files)
        let message = try #require(try reader.log.countingEvent(id: id))
        var asked = 0
        func causes(_ body: @escaping () -> Void) throws -> CauseTree {
            asked = 0
            return try reader.causes(of: message, isWhole: false) { _ in
                asked += 1
                body()
                return true
            }
        }
        reader.term = term()
        #expect(try causes {}.nodes.count == 200 && asked > 3_000)
        let left = term()
        reader.term = left
        #expect(throws: StoreError.tooWide("it took longer than an answer may")) { _ = try causes { left.cancel() } }
        #expect(asked < 1_000)
    }

    @Test("A page of the log ends when it is due, and has something")
    func log() throws {
        let log = try filled()
        let reader = try LogReader(log.files)
        let page = try reader.page(after: 0, limit: 500, term())
        #expect((1..<100).contains(page.count))
        #expect(try reader.page(after: 0, limit: 500).count == 500)
    }

    @Test("A term begins anew after a wait, but not when its client has left")
    func again() {
        let term = AnswerTerm(page: 50_000_000, whole: 60_000_000_000)
        usleep(60_000)
        #expect(!term.isDue && !term.isOver)
        term.begin()
        usleep(60_000)
        #expect(term.isDue && !term.isOver)
        term.begin()
        #expect(!term.isDue && !term.isCancelled)
        term.cancel()
        term.begin()
        #expect(term.isDue && term.isOver && term.isCancelled)
    }

    @Test("A client that may have left gets a fifth of the time, also after a wait")
    func haste() {
        let term = AnswerTerm(page: 300_000_000_000, whole: 1_000_000_000)
        term.hasten()
        for _ in 0..<2 {
            term.begin()
            #expect(!term.isOver)
            usleep(250_000)
            #expect(!term.isDue && term.isOver)
        }
    }

    @Test("A message with many long edits has the last of them up to a MiB, and a page of such ends early")
    func longEdits() throws {
        let log = try LogFixture()
        let text = String(repeating: "y", count: 200_000)
        var events: [Event] = []
        for number in UInt64(1)...3 { events.append(event(1, number, hlc: Int64(number), id: number, user: "u")) }
        for number in UInt64(4)...33 {
            let message = EventID(UUIDBits(high: 0x1d, low: number % 3 + 1))
            events.append(
                event(
                    1, number, hlc: Int64(number), type: "message.edited", user: "u",
                    #"{"message":"\#(message)","text":"\#(number)\#(text)"}"#))
        }
        try log.deliver(events)
        try Projector(log.files).catchUp()
        let reader = try ViewReader(log.files)
        var query = TimelineQuery()
        query.types = ["message.posted"]
        var (found, bound, pages): ([TimelineEntry], DisplayKey?, Int) = ([], nil, 0)
        repeat {
            let page = try reader.oldest(10, of: .conversation("c"), query, after: bound)
            #expect(page.entries.reduce(0) { $0 + $1.bytes } < 3 << 20)
            #expect(page.next == nil || page.cut == .bytes)
            (found, bound, pages) = (found + page.entries, page.next, pages + 1)
        } while bound != nil && pages < 10
        #expect(found.map(\.stored.event.header.dot.seq) == [1, 2, 3] && pages >= 3)
        for entry in found {
            let history = try #require(entry.history)
            #expect(history.count == 10 && history.edits == 10)
            #expect((5...6).contains(history.amendments.count))
            #expect(history.amendments.last?.text == history.edit?.text)
        }
    }
}
