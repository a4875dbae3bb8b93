/// A thread that does jobs one after another, each with a context that only one thread touches at a time.
///
/// ## Concurrency model
/// The context is made and dropped on the thread. A thread that uses it takes it out of the queue's monitor and puts
/// it back: the thread for each job, or a caller that finds nothing to be done before it (``lead(_:)``). Jobs come through
/// a queue behind that monitor; what may wait is bounded by those who submit (the credit of the peers, one read for each
/// session).
package final class SerialWorker<Context>: Sendable {
    package typealias Job = @Sendable (inout Context) -> Void

    private enum Next {
        case run(Job, Context)
        case stop
    }

    private struct Queue {
        var jobs: [Job] = []
        /// `nil` while a thread works with it.
        var context: Context?
        var isStopping = false

        /// What to do now; `nil`: wait.
        mutating func next() -> Next? {
            guard let context = context.take() else { return nil }
            if !jobs.isEmpty { return .run(jobs.removeFirst(), context) }
            if isStopping { return .stop }
            self.context = context
            return nil
        }
    }

    private let queue = Monitor(Queue())
    private let thread: WorkerThread

    /// Starts the thread; `name` has at most 15 bytes.
    package init(name: String, _ make: @escaping @Sendable () -> Context) {
        let queue = queue
        thread = WorkerThread(name: name) {
            let context = make()
            queue.withLock { $0.context = context }
            while case .run(let job, var context)? = queue.wait(for: { $0.next() }) {
                job(&context)
                queue.withLock { $0.context = context }
            }
        }
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
            return isTaken && queue.context != nil
        }
        return isTaken
    }

    /// Runs `body` on the calling thread, if nothing is queued or being done; else returns `nil`. What is submitted meanwhile
    /// waits for it.
    package func lead<Result>(_ body: (inout Context) -> Result) -> Result? {
        let idle = queue.withLock { queue in queue.jobs.isEmpty && !queue.isStopping ? queue.context.take() : nil }
        guard var context = idle else { return nil }
        let result = body(&context)
        queue.update { queue in
            queue.context = context
            return !queue.jobs.isEmpty || queue.isStopping
        }
        return result
    }

    /// Finishes what was submitted and ends the thread.
    package func stop() {
        queue.wakeAll { $0.isStopping = true }
        thread.join()
    }
}
