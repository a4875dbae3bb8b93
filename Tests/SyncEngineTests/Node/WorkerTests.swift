import EventStore
import Testing

@testable import SyncEngine

struct WorkerTests {
    @Test("What was submitted is finished; what comes after the end is refused, and said to be")
    func end() {
        let done = Lock([Int]())
        let worker = Worker<Int>(name: "test") { 40 }
        for number in 1...3 {
            #expect(
                worker.submit { context in
                    context += number
                    let value = context
                    sleepMilliseconds(5)
                    done.withLock { $0.append(value) }
                })
        }
        worker.stop()
        #expect(done.withLock { $0 } == [41, 43, 46])
        #expect(!worker.submit { _ in done.withLock { $0.append(0) } })
        #expect(done.withLock { $0.count } == 3)
    }
}
