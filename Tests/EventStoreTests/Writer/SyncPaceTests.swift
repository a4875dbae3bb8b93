import Testing

@testable import EventStore

/// How long a thread that syncs stays awake for a quick disk.
struct SyncPaceTests {
    private let start: UInt64 = 1_000_000_000

    /// Syncs of commits that are handed to the disk, one after another; for how long the thread stays awake in the next.
    private func awake(after took: [UInt64], _ pace: inout SyncPace) -> UInt64 {
        var now = start
        for took in took {
            pace.begun = now
            pace.ended(from: now + 10_000, to: now + took)
            now += took
        }
        pace.begun = now
        let until = pace.awake(at: now + 10_000)
        return until > now ? until - now : 0
    }

    @Test("A quick disk is awaited for less than half of what it takes, from when it was handed the commit")
    func quick() {
        var pace = SyncPace()
        let awake = awake(after: [UInt64](repeating: 100_000, count: 40), &pace)
        #expect((35_000...40_000).contains(awake))
    }

    @Test("A slow disk is not; one that stood still for once is soon known to be quick again")
    func slow() {
        var pace = SyncPace()
        #expect(awake(after: [UInt64](repeating: 2_000_000, count: 8), &pace) == 0)
        #expect(awake(after: [UInt64](repeating: 80_000, count: 24), &pace) > 0)
        var other = SyncPace()
        #expect(awake(after: [80_000, 80_000, 700_000_000] + [UInt64](repeating: 80_000, count: 10), &other) > 0)
    }

    @Test("Nobody stays awake for what was handed over long ago, or by others since")
    func late() {
        var pace = SyncPace()
        #expect(awake(after: [UInt64](repeating: 100_000, count: 40), &pace) > 0)
        let handed = pace.begun
        #expect(pace.awake(at: handed + 1_000_000) < handed + 1_000_000)
        // The next commit is written while this one is about to be synced.
        pace.begun = handed + 5_000_000
        #expect(pace.awake(at: handed + 1_000_000) < handed + 1_100_000)
    }

    @Test("No wait is longer than two fifths of what counts as quick")
    func bounded() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var pace = SyncPace()
            let took = (0..<20).map { _ in UInt64.random(in: 1...600_000, using: &random) }
            #expect(awake(after: took, &pace) <= SyncPace.quick * 2 / 5)
        }
    }
}
