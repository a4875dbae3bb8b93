internal import EventStore

/// A thread that does jobs one after another, each with a context that only this thread touches.
///
/// ## Concurrency model
/// The context is made on the thread, used there and dropped there. Jobs come through a queue behind a monitor; what may
/// wait is bounded by those who submit (the credit of the peers, one read for each session).
final class Worker<Context>: Sendable {
    typealias Job = @Sendable (inout Context) -> Void

    private struct Queue {
        var jobs: [Job] = []
        var isStopping = false
    }

    private let queue = Monitor(Queue())
    private let thread: Lock<WorkerThread?>

    /// Starts the thread; `name` has at most 15 bytes.
    init(name: String, _ make: @escaping @Sendable () -> Context) {
        thread = Lock(nil)
        let queue = queue
        let started = WorkerThread(name: name) {
            var context = make()
            while let job = queue.wait(for: { queue -> Job?? in
                if !queue.jobs.isEmpty { return .some(queue.jobs.removeFirst()) }
                return queue.isStopping ? .some(nil) : nil
            }) ?? nil {
                job(&context)
            }
        }
        thread.withLock { $0 = started }
    }

    func submit(_ job: @escaping Job) {
        queue.update { queue in
            if !queue.isStopping { queue.jobs.append(job) }
            return true
        }
    }

    /// Finishes what was submitted and ends the thread.
    func stop() {
        queue.update { queue in
            queue.isStopping = true
            return true
        }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }
}
