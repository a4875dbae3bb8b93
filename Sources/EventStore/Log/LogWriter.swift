/// The one writer of `log.db` (D2).
///
/// ## Concurrency model
/// One at a time *leads*: takes what has queued, commits it in one transaction, answers each request once, tells the
/// observers. The leader is who has taken the committer, and with it the one writing connection, out of `queue`. Mostly that is
/// the writer's thread. A caller that may block and finds nothing queued leads itself, so that a lone append waits for the
/// disk and not for two threads to wake each other (a third of its latency). What is not anybody's answer, signing heads
/// and copying the WAL back, is left to the writer's thread. Completions and observers run on the leader's thread: they
/// must be short.
final class LogWriter: Sendable {
    private struct Queue {
        var jobs: [Job] = []
        var events = 0
        /// `nil` while somebody leads.
        var committer: LogCommitter?
        /// What the last commit left to do.
        var isCheckpointDue = false
        var isHeadDue = false
        var isReserveDue = false
        /// Whether the WAL has room for all that may come.
        var isReserved = false
        /// Whether a stored head speaks of everything committed.
        var isSettled = true
        /// Whether memory was given back since the last commit.
        var isResting = true
        /// Nanoseconds of the monotonic clock; at first, of the opening.
        var lastCommit = MonotonicClock.now
        var lastHead: UInt64 = 0
        var isClosing = false
        var failure: StoreError?
        /// Why nothing is stored for now.
        var hold: String?

        /// Why `job` cannot be queued; `nil` if it can.
        func refusal(of job: Job) -> StoreError? {
            if let failure { return failure }
            if isClosing { return .closed }
            if let hold, job.events > 0 { return .busy(hold) }
            if job.isBounded, events > 0, events + job.events > LogWriter.capacity {
                return .busy("\(events) events are waiting for the disk")
            }
            return nil
        }
    }

    /// Most events in one transaction, so that one client's flood does not become everybody's wait.
    private static let group = 8_192
    /// Most events that may wait.
    private static let capacity = 65_536
    /// How often a head is signed under load.
    private static let headInterval: (events: UInt64, nanoseconds: UInt64) = (4_096, 20_000_000)
    /// How long nothing is committed before room is made for what will be.
    private static let reserveNanoseconds: UInt64 = 50_000_000
    /// How long nothing is committed before a head is signed and stored.
    private static let idleNanoseconds: UInt64 = 250_000_000
    /// How long nothing is committed before memory is given back.
    private static let restNanoseconds: UInt64 = 5_000_000_000

    private let queue: Monitor<Queue>
    private struct Observer {
        let token: Int
        let body: @Sendable (CommitNotice) -> Void
        let afterwards: (@Sendable () -> Void)?
    }

    private let observers = Lock([Observer]())
    private let signer: HeadSigner
    private let witness: WitnessKeeper?
    private let thread: Lock<WorkerThread?>

    /// Opens the log for writing and starts the writer's thread.
    init(
        files: StoreFiles, durability: Durability, signer: HeadSigner, witness: WitnessKeeper?,
        wall: @escaping WallTime
    ) throws(StoreError) {
        self.signer = signer
        self.witness = witness
        thread = Lock(nil)
        let committer = try LogCommitter(files: files, durability: durability, signer: signer, wall: wall)
        queue = Monitor(Queue(committer: committer))
        thread.withLock {
            $0 = WorkerThread(name: "log-writer") { [self] in run() }
        }
    }

    // MARK: Any thread

    func append(_ request: AppendRequest, completion: @escaping AppendCompletion) {
        submit([.append(request, completion)])
    }

    /// Queues jobs in one go, so that one commit can take them. If `leading`, commits them on the calling thread, which
    /// then has had its answers, provided that nothing is queued before them.
    ///
    /// - Parameter following: Does then what the observers would do on threads of their own.
    func submit(_ jobs: [Job], leading: Bool, following: Bool = false) {
        guard leading, let committer = takeLead() else { return submit(jobs) }
        commit(jobs, committer, following: following)
        release(committer)
        guard following else { return }
        for observer in observers.withLock({ $0 }) { observer.afterwards?() }
    }

    /// As ``append(_:completion:)``; commits on the calling thread when nothing is queued before it.
    func appendBlocking(_ request: AppendRequest) throws(StoreError) -> [AppendOutcome] {
        guard let committer = takeLead() else { return try blocking { append(request, completion: $0) } }
        defer { release(committer) }
        switch committer.append(request) {
        case .success(let outcomes):
            announce(committer)
            return outcomes
        case .failure(let failure):
            if failure.isFatal { fail(failure.error) }
            throw failure.error
        }
    }

    /// The log's state between two transactions.
    func snapshot(_ completion: @escaping @Sendable (Result<LogState, StoreError>) -> Void) {
        submit([.snapshot(completion)])
    }

    /// From now on appends and received events are refused as busy, with `reason`; `nil` ends that.
    func hold(_ reason: String?) {
        queue.update { queue in
            queue.hold = reason
            return false
        }
    }

    func flush(_ completion: @escaping Completion) { submit([.flush(completion)]) }

    func startOrigin(_ change: OriginChange, known: UInt64, completion: @escaping OriginCompletion) {
        submit([.startOrigin(change, known: known, completion)])
    }

    func remember(_ values: [String: String], completion: @escaping Completion) {
        submit([.remember(values, completion)])
    }

    func observe(
        _ body: @escaping @Sendable (CommitNotice) -> Void, afterwards: (@Sendable () -> Void)? = nil
    ) -> Int {
        observers.withLock { observers in
            let token = (observers.last?.token ?? 0) + 1
            observers.append(Observer(token: token, body: body, afterwards: afterwards))
            return token
        }
    }

    func removeObserver(_ token: Int) { observers.withLock { $0.removeAll { $0.token == token } } }

    /// Finishes what is queued, stores a head, and ends the thread.
    func close() {
        queue.update { queue in
            queue.isClosing = true
            return true
        }
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    func submit(_ jobs: [Job]) {
        var refused: [(job: Job, error: StoreError)] = []
        queue.update { queue in
            for job in jobs {
                if let error = queue.refusal(of: job) {
                    refused.append((job, error))
                } else {
                    queue.jobs.append(job)
                    queue.events += job.events
                }
            }
            return queue.committer != nil && refused.count < jobs.count
        }
        for (job, error) in refused { job.fail(error) }
    }

    // MARK: Leading

    /// Takes the lead if nothing at all stands before a request of the calling thread.
    private func takeLead() -> LogCommitter? {
        queue.withLock { queue in
            guard queue.jobs.isEmpty, !queue.isCheckpointDue, !queue.isClosing, queue.failure == nil,
                queue.hold == nil
            else { return nil }
            return queue.committer.take()
        }
    }

    /// Puts the committer back, and wakes the writer's thread if there is something for it.
    private func release(_ committer: LogCommitter) {
        let unsigned = signer.unsigned
        let isSettled = unsigned == 0 && !signer.hasUnstored
        queue.update { queue in
            // Read here: the thread that signs may have set `lastHead` just before.
            let now = MonotonicClock.now
            let isUnsettledNow = queue.isSettled && !isSettled
            queue.committer = committer
            queue.isCheckpointDue = committer.isCheckpointDue
            queue.isReserveDue = committer.isReserveDue
            queue.isHeadDue =
                unsigned >= Self.headInterval.events
                || (unsigned > 0 && now - queue.lastHead >= Self.headInterval.nanoseconds)
            queue.isSettled = isSettled
            queue.isResting = false
            queue.lastCommit = now
            return isUnsettledNow || queue.isCheckpointDue || queue.isHeadDue || queue.isReserveDue
                || !queue.jobs.isEmpty || queue.isClosing
        }
    }

    /// Puts the committer back after work that changed nothing.
    private func putBack(_ committer: LogCommitter) {
        queue.update { queue in
            queue.committer = committer
            queue.isReserveDue = committer.isReserveDue
            queue.isReserved = committer.isReserved
            return !queue.jobs.isEmpty || queue.isClosing
        }
    }

    /// Tells the observers what the last commit changed.
    private func announce(_ committer: LogCommitter, following: Bool = false) {
        let observers = observers.withLock { $0 }
        guard var notice = committer.takeNotice(isWanted: !observers.isEmpty) else { return }
        notice.isFollowedUp = following
        for observer in observers { observer.body(notice) }
    }

    // MARK: The writer's thread

    private enum Duty {
        case sign
        case commit([Job], LogCommitter)
        case checkpoint(LogCommitter)
        case reserve(LogCommitter)
        case settle(LogCommitter)
        case rest(LogCommitter)
        case close(LogCommitter)
    }

    private func run() {
        while true {
            switch queue.wait(for: Self.next) {
            case .sign:
                if let head = signer.head() { witness?.noteUnderLoad(head) }
            case .commit(let jobs, let committer):
                commit(jobs, committer)
                release(committer)
            case .checkpoint(let committer):
                committer.checkpoint()
                release(committer)
            case .reserve(let committer):
                let piece = committer.extendReserve()
                putBack(committer)
                piece?.sync()
            case .settle(let committer):
                let head = settle(committer)
                release(committer)
                if let head { witness?.note(head) }
            case .rest(let committer):
                committer.releaseMemory()
                putBack(committer)
            case .close(let committer):
                if let head = settle(committer) { witness?.note(head) }
                committer.close()
                return
            }
        }
    }

    /// What the writer's thread is to do now, with the committer where that needs it. What the last commit left to do goes
    /// first: under load it would never be done.
    private static func next(_ queue: inout Queue) -> Waiting<Duty> {
        if queue.isHeadDue {
            queue.isHeadDue = false
            queue.lastHead = MonotonicClock.now
            return .done(.sign)
        }
        guard let committer = queue.committer else { return .forever }
        let now = MonotonicClock.now
        let duty: Duty
        if queue.isCheckpointDue {
            duty = .checkpoint(committer)
        } else if !queue.jobs.isEmpty {
            duty = .commit(takeGroup(&queue), committer)
        } else if queue.isClosing {
            duty = .close(committer)
        } else if queue.isReserveDue {
            duty = .reserve(committer)
        } else {
            guard let (pause, later) = nextWhenIdle(queue, committer) else { return .forever }
            guard now >= queue.lastCommit + pause else { return .until(queue.lastCommit + pause) }
            if case .rest = later { queue.isResting = true }
            duty = later
        }
        queue.committer = nil
        return .done(duty)
    }

    /// What is to be done when nothing has been committed for so long.
    private static func nextWhenIdle(_ queue: Queue, _ committer: LogCommitter) -> (pause: UInt64, Duty)? {
        if !queue.isReserved { return (reserveNanoseconds, .reserve(committer)) }
        if !queue.isSettled { return (idleNanoseconds, .settle(committer)) }
        return queue.isResting ? nil : (restNanoseconds, .rest(committer))
    }

    private static func takeGroup(_ queue: inout Queue) -> [Job] {
        var count = 0
        var events = 0
        while count < queue.jobs.count, count == 0 || events + queue.jobs[count].events <= group {
            events += queue.jobs[count].events
            count += 1
        }
        let jobs = Array(queue.jobs[..<count])
        queue.jobs.removeFirst(count)
        queue.events -= events
        return jobs
    }

    private func commit(_ jobs: [Job], _ committer: LogCommitter, following: Bool = false) {
        if jobs.contains(where: \.isFlush) { _ = signer.head() }
        switch committer.commit(jobs) {
        case .success(let answers):
            for answer in answers { answer() }
            announce(committer, following: following)
        case .failure(let failure):
            for job in jobs { job.fail(failure.error) }
            if failure.isFatal { fail(failure.error) }
        }
    }

    /// Signs what no head speaks of yet, and stores it. Returns the head of everything.
    private func settle(_ committer: LogCommitter) -> SignedHead? {
        let head = signer.head()
        if signer.hasUnstored { commit([], committer) }
        return head
    }

    /// After a failed read or write of the disk nothing more is acknowledged until the store is opened again: what the
    /// page cache says can no longer be trusted.
    private func fail(_ error: StoreError) {
        var waiting: [Job] = []
        queue.update { queue in
            queue.failure = error
            waiting = queue.jobs
            queue.jobs = []
            queue.events = 0
            return true
        }
        for job in waiting { job.fail(error) }
    }
}
