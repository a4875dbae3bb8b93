import CommandLineKit
import EventStore
import Testing

@testable import syncd

/// What a daemon counts and says of those who follow its log.
struct FollowingFigureTests {
    @Test("Stalled and set aside are told once each, and their ends with how long they took")
    func troubles() {
        var troubles = SubscriptionTroubles()
        typealias State = SubscriptionTroubles.State
        #expect(troubles.look("bot", State(), now: 0).isEmpty)
        let full = State(open: 4_096, isStalled: true)
        #expect(troubles.look("bot", full, now: 1_000).map(\.code) == ["SUBSCRIPTION_STALLED"])
        #expect(troubles.look("bot", full, now: 2_000).isEmpty)
        let parked = State(parked: 2, parkedSince: 2_500, reason: "not answered in time")
        let lines = troubles.look("bot", parked, now: 3_000)
        #expect(lines.map(\.code) == ["SUBSCRIPTION_GOES_ON", "SUBSCRIPTION_PARKED"])
        #expect(lines[0].fields == [LogLine.Field("subscription", "bot"), .duration(milliseconds: 2_000)])
        #expect(
            lines[1].text == "subscription bot: 2 events were set aside: not answered in time; 2 in all")
        #expect(troubles.look("bot", parked, now: 4_000).isEmpty)
        #expect(troubles.look("bot", State(parked: 1, parkedSince: 2_500), now: 5_000).isEmpty)
        let end = troubles.look("bot", State(), now: 62_500)
        #expect(end.map(\.text) == ["subscription bot: no event is set aside any more, after 60 s"])
        #expect(end[0].level == .info && troubles.look("bot", State(), now: 70_000).isEmpty)
    }

    @Test("A line of JSON has time, level, code, message and fields")
    func lines() {
        let line = LogLine(
            level: .warning, code: "X", text: "one \"two\"\n三", fields: [.init("peer", "서울"), .init("n", 3)])
        #expect(
            line.json(at: 1_793_000_000_123)
                == #"{"time":"2026-10-26T07:33:20.123Z","level":"warning","code":"X","message":"one \"two\"\n三","#
                + #""fields":{"peer":"서울","n":3}}"#)
    }

    @Test("An event's commit is the first that reached it; what is long past is not known")
    func commits() {
        var commits = CommitTimes()
        #expect(commits.time(of: 1) == nil)
        commits.add([(top: 3, at: 10), (top: 4, at: 20)])
        commits.add([(top: 9, at: 30)])
        #expect([3, 4, 5, 9].map { commits.time(of: $0) } == [10, 20, 30, 30])
        #expect(commits.time(of: 10) == nil)
    }

    @Test("Most subscriptions have no label of their own: their sum has one")
    func others() {
        var figures = SubscriptionFigures()
        for number in 0..<150 {
            figures.add(SubscriptionFigures.One(name: "s\(number)", behind: 2, parked: 1, oldest: Int64(number)))
        }
        let series = figures.series
        #expect(series.count == SubscriptionFigures.mostNamed + 1 && series.first?.name == "s0")
        #expect(series.last?.name == nil && series.last?.behind == 100 && series.last?.parked == 50)
        #expect(series.last?.oldest == 149)
    }
}
