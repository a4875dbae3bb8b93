import Glibc
import Testing

@testable import EventStore

/// When the views take up what the log has gained.
struct BatchingDelayTests {
    private let start: UInt64 = 1_000_000_000

    @Test("The first event is applied at once, and so is one after a quiet time")
    func leadingEdge() {
        var pace = BatchingDelay()
        #expect(pace.due(pending: 1, isAwaited: false) == 0)
        pace.stepped(from: start, to: start + 1_000)
        #expect(pace.due(pending: 1, isAwaited: false) == start + BatchingDelay.interval)
    }

    @Test("A stream of single events takes one step for each interval, and none of them waits longer than one")
    func stream() {
        var pace = BatchingDelay()
        var steps: [UInt64] = []
        var oldest: UInt64?
        for now in stride(from: start, to: start + 100 * BatchingDelay.interval, by: 100_000) {
            let first = oldest ?? now
            oldest = first
            guard now >= pace.due(pending: (now - first) / 100_000 + 1, isAwaited: false) else { continue }
            #expect(now - first <= BatchingDelay.interval)
            pace.stepped(from: now, to: now + 90_000)
            steps.append(now)
            oldest = nil
        }
        #expect(steps.count == 100)
        #expect(zip(steps, steps.dropFirst()).allSatisfy { $1 - $0 == BatchingDelay.interval })
    }

    @Test("Steps that take long are followed by longer pauses, up to a limit", arguments: [4, 10, 30, 50_000])
    func slowSteps(milliseconds: UInt64) {
        var pace = BatchingDelay()
        let took = milliseconds * 1_000_000
        pace.stepped(from: start, to: start + took)
        let pause = pace.due(pending: 1, isAwaited: false) - (start + took)
        let rest = min(took * 3, 100_000_000)
        #expect(pause == (took + rest < BatchingDelay.interval ? BatchingDelay.interval - took : rest))
    }

    @Test("Many events are due at once, and so is everything somebody waits for")
    func atOnce() {
        var pace = BatchingDelay()
        pace.stepped(from: start, to: start + 1_000)
        #expect(pace.due(pending: BatchingDelay.enough - 1, isAwaited: false) == start + BatchingDelay.interval)
        #expect(pace.due(pending: BatchingDelay.enough, isAwaited: false) == 0)
        #expect(pace.due(pending: 1, isAwaited: true) == 0)
    }

    @Test("All of a stream of commits is seen, without anybody asking and although nothing comes after it")
    func gathered() throws {
        let (folder, store) = try makeStore()
        defer { withExtendedLifetime(folder) {} }
        let thread = ProjectorThread(store.files, top: 1)
        #expect(thread.wait(for: 1, milliseconds: 60_000))
        let token = store.observeCommits { thread.logAdvanced(to: $0.top) }
        defer { store.removeObserver(token) }
        let started = MonotonicClock.now
        var last: UInt64 = 0
        for number in 0..<300 {
            let outcome = try store.appendBlocking([.message("\(number)", user: "u", conversation: "c")])
            last = try #require(outcome.first?.receipt?.position)
        }
        while thread.applied < last, MonotonicClock.now - started < 20_000_000_000 {
            usleep(1_000)
        }
        thread.stop()
        #expect(try ViewReader(store.files).conversationVersion("c").version == 300)
    }
}
