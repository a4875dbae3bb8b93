import TestSupport
import Testing

@testable import EventStore

struct DeferredTests {
    @Test("Work is done once, whoever wants it and however many do", arguments: [false, true])
    func once(isOffered: Bool) {
        for _ in 0..<50 {
            let count = Lock(0)
            let work = Deferred {
                count.withLock { count in
                    count += 1
                    return count
                }
            }
            if isOffered { work.offer() }
            let seen = Lock([Int]())
            let threads = (0..<4).map { number in
                WorkerThread(name: "taker-\(number)") {
                    let output = work.output()
                    seen.withLock { $0.append(output) }
                }
            }
            for thread in threads { thread.join() }
            #expect(seen.withLock { $0 } == [1, 1, 1, 1])
        }
    }

    @Test("Work that nobody was asked to do is done by who wants it")
    func alone() {
        let work = Deferred { 7 }
        let more = Deferred { work.output() + 1 }
        #expect(more.output() == 8)
    }
}
