import EventStore
import Testing

@testable import SyncEngine

struct SerialWorkerTests {
    @Test("What was submitted is finished; what comes after the end is refused, and said to be")
    func end() {
        let done = Lock([Int]())
        let worker = SerialWorker<Int>(name: "test") { 40 }
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

    @Test("A caller that finds nothing to be done works with the context; what is submitted meanwhile waits for it")
    func lead() {
        let done = Lock([String]())
        let worker = SerialWorker<Int>(name: "test") { 1 }
        var led: Int?
        // The thread has to make the context first.
        while led == nil {
            led = worker.lead { context in
                worker.submit { context in
                    let value = context
                    done.withLock { $0.append("thread \(value)") }
                }
                #expect(worker.lead { $0 } == nil)
                sleepMilliseconds(5)
                done.withLock { $0.append("caller \(context)") }
                context += 1
                return context
            }
        }
        #expect(led == 2)
        worker.stop()
        #expect(done.withLock { $0 } == ["caller 1", "thread 2"])
        #expect(worker.lead { $0 } == nil)
    }

    @Test("Nobody takes the context while the thread works with it, and several callers never work at once")
    func exclusive() {
        let worker = SerialWorker<(count: Int, isBusy: Bool)>(name: "test") { (0, false) }
        let work: @Sendable (inout (count: Int, isBusy: Bool)) -> Void = { context in
            #expect(!context.isBusy)
            context.isBusy = true
            context.count += 1
            context.isBusy = false
        }
        let callers = (0..<3).map { _ in
            WorkerThread(name: "caller") {
                for _ in 0..<2_000 { if worker.lead({ work(&$0) }) == nil { worker.submit(work) } }
            }
        }
        for caller in callers { caller.join() }
        let total = Lock(0)
        worker.submit { context in
            let count = context.count
            total.withLock { $0 = count }
        }
        worker.stop()
        #expect(total.withLock { $0 } == 6_000)
    }
}
