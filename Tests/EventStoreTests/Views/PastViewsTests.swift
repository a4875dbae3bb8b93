import Foundation
import TestSupport
import Testing

@testable import EventStore

/// Answers of an earlier moment beside those of a store that has no more than what was then (INV-6).
struct PastViewsTests {
    private static let users = ["u-0", "u-1", "u-2"]
    private static let names = ["c-0", "c-1", "c-2", "c-3"]

    /// Three origins that exchange now and then; twins among messages, answers and titles if `withTwins`.
    private func log(seed: Int, withTwins: Bool) -> SyntheticLog {
        var random = SplitMix64(state: UInt64(seed) &* 7_919)
        var log = SyntheticLog(origins: 3)
        var clocks: [Int64] = [2_000, 2_000, 2_000]
        for _ in 0..<160 {
            let origin = Int.random(in: 0..<3, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                log.exchange(origin, from: Int.random(in: 0..<3, using: &random))
            }
            clocks[origin] += Int64.random(in: 1...60, using: &random)
            let late =
                Int.random(in: 0..<3, using: &random) == 0
                ? clocks[origin] - Int64.random(in: 0...900, using: &random) : nil
            log.append(draft(&random, time: late, withTwins), origin: origin, milliseconds: clocks[origin])
        }
        return log
    }

    private func draft(_ random: inout SplitMix64, time: Int64?, _ withTwins: Bool) -> EventDraft {
        let number = Int.random(in: 0..<4, using: &random)
        var conversation: String? = Self.names[Int.random(in: 0..<4, using: &random)]
        var user = Self.users[Int.random(in: 0..<3, using: &random)]
        let kind = Int.random(in: 0..<9, using: &random)
        // The same id, type, user, author and conversation, and not always the same words.
        var id: EventID?
        if withTwins, Int.random(in: 0..<3, using: &random) == 0 {
            (conversation, user) = ("c-0", "u-0")
            id = EventID(UUIDBits(high: 9, low: UInt64(kind * 2 + number % 2)))
        }
        let (type, payload): (String, String) =
            switch kind {
            case 0:
                (
                    "conversation.started",
                    #"{"title":"제목 \#(number)","participants":["u-\#(number)"],"moderators":["u-0"]}"#
                )
            case 1: ("conversation.renamed", number == 3 ? #"{"title":3}"# : #"{"title":"이름 \#(number)"}"#)
            case 2: ("participant.joined", #"{"user":"u-\#(number)"}"#)
            case 3: ("participant.left", #"{"user":"u-\#(number)"}"#)
            case 4, 5:
                ("profile.changed", #"{"fields":{"name":"김\#(number)","lang":\#(number == 0 ? "null" : "\"ko\"")}}"#)
            case 6: ("survey.answered", #"{"survey":"s-\#(number % 2)","question":"q","rating":\#(number)}"#)
            case 7: ("survey.answered", #"{"survey":"s-0","question":"m","choices":["a","b\#(number)"]}"#)
            default: ("message.posted", #"{"text":"안녕 \#(number)"}"#)
            }
        return .json(
            type, payload, id: id, time: time, conversation: type == "profile.changed" ? nil : conversation,
            user: user)
    }

    /// All that views answer, as text without positions.
    private func answers(_ views: ViewReader, at moment: PointInTime = PointInTime()) throws -> [String] {
        var all: [String] = []
        func text(_ write: ProfileWrite) -> String { "\(write.value) \(write.author) \(write.time) \(write.dot)" }
        for user in Self.users {
            for field in try views.profile(user: user, at: moment) {
                all.append("\(user) \(field.name) \(text(field.winner)) \(field.concurrent.map(text))")
            }
        }
        func text(_ summary: ConversationSummary) -> String {
            "\(summary.conversation) \(summary.title ?? "-") \(summary.category ?? "-") \(summary.startedBy ?? "-") "
                + "\(summary.events) \(summary.messages) \(summary.firstTime) \(summary.lastTime)"
        }
        for name in Self.names {
            var query = TimelineQuery()
            (query.asOf, query.knownAt) = (moment.asOf, moment.knownAt)
            try views.conversation(name, query) {
                all.append("\(name) \($0.stored.event.header.dot) \($0.stored.event.header.type)")
                return true
            }
            all.append("\(name): \(try views.conversationSummary(name, at: moment).map(text) ?? "none")")
            all += try views.participants(of: name, at: moment).map { "\(name) \($0)" }
        }
        var place: ConversationPlace?
        while true {
            let page = try views.conversations(limit: 2, before: place, at: moment)
            all += page.map { "listed \(text($0))" }
            guard page.count >= 2 else { break }
            place = page.last?.place
        }
        for (survey, count) in try views.surveys(at: moment) { all.append("\(survey) \(count)") }
        for survey in ["s-0", "s-1", "s-2"] {
            try views.survey(survey, at: moment) {
                all.append("\($0)")
                return true
            }
            try views.survey(
                survey, question: "q", after: SurveyCount(survey: survey, question: "q", value: "1", count: 0),
                at: moment
            ) {
                all.append("later \($0)")
                return true
            }
        }
        return all
    }

    @Test(
        "What was known at a position is what a store answers that has no more, twins and conflicts included",
        arguments: 1...8)
    func knownAt(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let mold = try StoreMold()
        let events = log(seed: seed, withTwins: true).order { $0.randomElement(using: &random) ?? 0 }
        let (folder, projector) = try mold.store(events)
        defer { withExtendedLifetime((folder, projector)) {} }
        let views = try ViewReader(StoreFiles(folder.path))
        let base = try views.log.top() - UInt64(events.count)
        for _ in 0..<4 {
            let count = Int.random(in: 3..<events.count, using: &random)
            let (other, made) = try mold.store(Array(events.prefix(count)))
            defer { withExtendedLifetime((other, made)) {} }
            var moment = PointInTime()
            moment.knownAt = base + UInt64(count)
            let (then, expected) = (try answers(views, at: moment), try answers(ViewReader(StoreFiles(other.path))))
            #expect(
                then == expected,
                "seed \(seed), \(count) events: \(zip(then, expected).first { $0 != $1 }.map { "\($0)" } ?? "lengths")"
            )
        }
        var beyond = PointInTime()
        beyond.knownAt = .max
        #expect(try answers(views, at: beyond) == answers(views))
    }

    @Test("What had happened by a time is what a store answers that has no more", arguments: 1...8)
    func asOf(seed: Int) throws {
        var random = SplitMix64(state: UInt64(seed))
        let made = log(seed: seed, withTwins: false)
        let order = made.order { $0.randomElement(using: &random) ?? 0 }
        // Each with all that its origin had applied: what is left out must not take along what tells of others.
        var applied: [OriginID: VersionVector] = [:]
        let events = order.map { event in
            var header = event.header
            for dot in header.dependencies { applied[header.dot.origin, default: VersionVector()].advance(to: dot) }
            header.dependencies = applied[header.dot.origin]?.entries ?? []
            return Event(header: header, body: event.body)
        }
        func views(_ events: [Event]) throws -> (ViewReader, LogFixture) {
            let fixture = try LogFixture()
            try fixture.deliver(events)
            _ = try fixture.digests()
            return (try ViewReader(fixture.files), fixture)
        }
        let (whole, fixture) = try views(order)
        defer { withExtendedLifetime(fixture) {} }
        for _ in 0..<4 {
            let time = Int64.random(in: 1_500...5_000, using: &random)
            let (then, kept) = try views(
                events.filter { min($0.header.time, $0.header.hlc.milliseconds) <= time })
            defer { withExtendedLifetime(kept) {} }
            var moment = PointInTime()
            moment.asOf = time
            let (found, expected) = (try answers(whole, at: moment), try answers(then))
            #expect(
                found == expected,
                "seed \(seed), \(time): \(zip(found, expected).first { $0 != $1 }.map { "\($0)" } ?? "lengths")")
        }
    }

    @Test("What would cost too much is refused with E_SCOPE, and says what costs less")
    func tooWide() throws {
        let fixture = try LogFixture()
        for start: UInt64 in [0, 7_000, 14_000] {
            try fixture.deliver(
                (UInt64(1)...7_000).map { (index: UInt64) -> Event in
                    event(
                        1, start + index, hlc: Int64(2_000 + start + index), type: "profile.changed",
                        conversation: nil,
                        #"{"fields":{"n":1}}"#)
                })
        }
        _ = try fixture.digests()
        let views = try ViewReader(fixture.files)
        var moment = PointInTime()
        moment.knownAt = 20_500
        let error = #expect(throws: StoreError.self) { try views.profile(user: "u", at: moment) }
        #expect(error?.code == "E_SCOPE", "\(String(describing: error))")
        moment.knownAt = 20
        #expect(try views.profile(user: "u", at: moment).first?.winner.position == 20)
    }

    @Test(
        "A list of conversations of which too many have changed since is refused before any of them is looked up (INV-9)"
    )
    func tooManyConversations() throws {
        let fixture = try LogFixture()
        let most = UInt64(200_000 / (PastMoment.rowsOfConversation + 1))
        for start in stride(from: UInt64(1), through: most, by: 4_000) {
            try fixture.deliver(
                (start...min(start + 3_999, most + 1)).map { (index: UInt64) -> Event in
                    event(1, index, hlc: Int64(2_000 + index), conversation: "c-\(index)", #"{"text":"a"}"#)
                })
        }
        _ = try fixture.digests()
        var moment = PointInTime()
        moment.asOf = 1
        let views = try ViewReader(fixture.files)
        let error = #expect(throws: StoreError.self) { try views.conversations(limit: 5, at: moment) }
        #expect(error?.code == "E_SCOPE", "\(String(describing: error))")
    }
}
