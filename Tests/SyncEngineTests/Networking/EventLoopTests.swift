import Foundation
import Testing

import EventStore
@testable import SyncEngine

@Suite struct EventLoopTests {
    @Test func jobsOfManyThreadsAllRunInOrderOfEach() async throws {
        let test = try TestLoop()
        let seen = Lock<[[Int]]>([[], [], [], []])
        await withTaskGroup(of: Void.self) { group in
            for producer in 0..<4 {
                group.addTask {
                    for number in 0..<5_000 {
                        test.loop.post { seen.withLock { $0[producer].append(number) } }
                    }
                }
            }
        }
        #expect(test.loop.sync { true } == true)
        for producer in 0..<4 { #expect(seen.withLock { $0[producer] } == Array(0..<5_000)) }
    }

    @Test func timersFireInOrderAndCancelledOnesDoNot() async throws {
        let test = try TestLoop()
        let fired = Lock<[Int]>([])
        test.loop.post {
            let cancelled = test.loop.schedule(after: .milliseconds(5)) { fired.withLock { $0.append(0) } }
            test.loop.schedule(after: .milliseconds(30)) { fired.withLock { $0.append(3) } }
            test.loop.schedule(after: .milliseconds(15)) { fired.withLock { $0.append(2) } }
            test.loop.schedule(after: .zero) { fired.withLock { $0.append(1) } }
            cancelled.cancel()
        }
        #expect(await eventually { fired.withLock { $0.count } >= 3 })
        #expect(fired.withLock { $0 } == [1, 2, 3])
    }

    @Test func stopRunsPostedJobsAndRefusesLaterOnes() throws {
        let loop = try EventLoop()
        try loop.start(name: "stop")
        let count = Lock(0)
        for _ in 0..<100 { loop.post { count.withLock { $0 += 1 } } }
        loop.stop()
        #expect(count.withLock { $0 } == 100)
        #expect(!loop.post { count.withLock { $0 += 1 } })
        #expect(loop.sync { 1 } == nil)
        loop.stop()
    }

    @Test func stopDropsWaitingTimers() throws {
        let loop = try EventLoop()
        try loop.start(name: "stop")
        let token = Lock(0)
        _ = loop.sync { _ = loop.schedule(after: .seconds(60)) { token.withLock { $0 = 1 } } }
        loop.stop()
        #expect(token.withLock { $0 } == 0)
    }

    @Test func loopThatNeverStartedGoesQuietly() throws {
        let loop = try EventLoop()
        #expect(loop.sync { 1 } == nil)
        loop.stop()
        let other = try EventLoop()
        #expect(!other.isOnLoop)
    }

    @Test func isOnLoopOnlyThere() throws {
        let test = try TestLoop()
        #expect(!test.loop.isOnLoop)
        #expect(test.loop.sync { test.loop.isOnLoop } == true)
    }

    @Test func signalsArriveOnTheLoop() async throws {
        // Blocked in the loop's thread alone, and sent to that thread alone.
        let test = try TestLoop()
        let seen = Lock<[Int32]>([])
        let watch = try test.make {
            EventLoop.blockSignals([SIGUSR1])
            let watch = try test.loop.onSignal([SIGUSR1]) { signal in seen.withLock { $0.append(signal) } }
            pthread_kill(pthread_self(), SIGUSR1)
            return watch
        }
        #expect(await eventually { seen.withLock { $0 } == [SIGUSR1] })
        watch.post { $0.cancel() }
    }

    @Test func durationsBecomeWholeMicroseconds() {
        #expect((Duration.seconds(3) + .nanoseconds(1_500_000_001)).wholeMicroseconds == 4_500_001)
        #expect(Duration.seconds(-1).wholeMicroseconds == 0)
        #expect(Duration.milliseconds(250).wholeMicroseconds == 250_000)
    }
}
