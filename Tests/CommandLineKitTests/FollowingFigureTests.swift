import CommandLineKit
import EventStore
import Testing

@testable import syncd

/// What a daemon counts and says of those who follow its log.
struct FollowingFigureTests {
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
