internal import EventStore

/// A thread that does jobs one after another, each with a context that only this thread touches.
///
/// ## Concurrency model
/// The context is made on the thread, used there and dropped there. Jobs come through a queue behind a monitor; what may
/// wait is bounded by those who submit (the credit of the peers, one read for each session).
package final class Worker<Context>: Sendable {
    package typealias Job = @Sendable (inout Context) -> Void

    private enum Next {
        case run(Job)
        case stop
    }

    private struct Queue {
        var jobs: [Job] = []
        var isStopping = false

        /// What to do now; `nil`: wait.
        mutating func next() -> Next? {
            if !jobs.isEmpty { return .run(jobs.removeFirst()) }
            return isStopping ? .stop : nil
        }
    }

    private let queue = Monitor(Queue())
    private let thread: Lock<WorkerThread?>

    /// Starts the thread; `name` has at most 15 bytes.
    package init(name: String, _ make: @escaping @Sendable () -> Context) {
        thread = Lock(nil)
        let queue = queue
        let started = WorkerThread(name: name) {
            var context = make()
            while case .run(let job)? = queue.wait(for: { $0.next() }) { job(&context) }
        }
        thread.withLock { $0 = started }
    }

    /// Whether a job waits behind the one that is being done.
    package var hasMore: Bool { queue.withLock { !$0.jobs.isEmpty } }

    /// Queues a job. Returns false when the thread is ending: then the job is dropped.
    @discardableResult
    package func submit(_ job: @escaping Job) -> Bool {
        var isTaken = false
        queue.update { queue in
            isTaken = !queue.isStopping
            if isTaken { queue.jobs.append(job) }
            return true
        }
        return isTaken
    }

    /// Finishes what was submitted and ends the thread.
    package func stop() {
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
