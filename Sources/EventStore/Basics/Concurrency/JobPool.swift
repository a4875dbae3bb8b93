/// Does jobs on some threads, what was added last first. Dropping it waits for the jobs that were begun.
final class JobPool<Failure: Error> {
    typealias Job = @Sendable () throws(Failure) -> Void

    private struct State {
        var jobs: [Job]
        /// Whether no more will be added.
        var isComplete = false
        var failure: Failure?
    }

    private let state: Monitor<State>
    private var threads: [WorkerThread] = []

    init(_ jobs: [Job], threads count: Int) {
        let state = Monitor(State(jobs: jobs))
        self.state = state
        threads = (0..<count).map { _ in WorkerThread(name: "snapshot-index") { Self.run(state) } }
    }

    deinit { end() }

    func add(_ jobs: [Job]) {
        state.wakeAll { state in
            if state.failure == nil { state.jobs += jobs }
        }
    }

    /// Takes part until all is done. Throws the first error of a job; what was not begun before it is not done.
    func finish() throws(Failure) {
        state.wakeAll { $0.isComplete = true }
        Self.run(state)
        end()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    private func end() {
        state.wakeAll { state in
            state.isComplete = true
            state.jobs = []
        }
        for thread in threads { thread.join() }
        threads = []
    }

    private static func run(_ state: Monitor<State>) {
        func next(_ state: inout State) -> Waiting<Job?> {
            if let job = state.jobs.popLast() { return .done(job) }
            return state.isComplete ? .done(nil) : .forever
        }
        while let job = state.wait(for: next) {
            do throws(Failure) {
                try job()
            } catch {
                state.withLock { state in
                    state.failure = state.failure ?? error
                    state.jobs = []
                }
            }
        }
    }
}
