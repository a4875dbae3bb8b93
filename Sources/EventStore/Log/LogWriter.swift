/// An origin and how far the log has it.
package struct OriginProgress: Hashable, Sendable {
    package let origin: OriginID
    package let seq: UInt64
    /// The first eight bytes of the Merkle root at `seq`.
    package let rootPrefix: UInt64

    package init(origin: OriginID, seq: UInt64, rootPrefix: UInt64) {
        self.origin = origin
        self.seq = seq
        self.rootPrefix = rootPrefix
    }
}

/// What a commit changed. Everything in it is durable.
package struct CommitNotice: Sendable {
    /// The log's last position.
    package let top: UInt64
    /// The origins that advanced.
    package let advanced: [OriginProgress]
}

/// The one writer of `log.db` (D2).
///
/// ## Concurrency model
/// Its thread owns the only writing connection, the appender and the log's state. Other threads reach it through `queue`
/// alone, which is bounded. It takes what queued while the last commit was syncing, commits it in one transaction, answers
/// each request once, tells the observers, and only then copies the WAL back if that is due. Completions and observers run
/// on the writer's thread: they must be short.
final class LogWriter: Sendable {
    typealias AppendCompletion = @Sendable (Result<[AppendOutcome], StoreError>) -> Void
    typealias Completion = @Sendable (Result<Void, StoreError>) -> Void

    private enum Job: Sendable {
        case append(AppendRequest, AppendCompletion)
        case ingest(VerifiedBatch, Completion)
        case snapshot(@Sendable (Result<LogState, StoreError>) -> Void)
        /// Runs when everything queued before it is durable, its own heads included.
        case flush(Completion)

        var events: Int {
            switch self {
            case .append(let request, _): request.drafts.count
            case .ingest(let batch, _): batch.events.count
            case .snapshot, .flush: 0
            }
        }

        /// Whether the queue's capacity applies: what peers send is bounded by the credit they were given.
        var isBounded: Bool { if case .ingest = self { false } else { true } }
    }

    private struct Queue {
        var jobs: [Job] = []
        var events = 0
        var isClosing = false
        var failure: StoreError?
        /// Why nothing is stored for now.
        var hold: String?
    }

    /// Most events in one transaction, so that one client's flood does not become everybody's wait.
    private static let group = 8_192
    /// Most events that may wait.
    private static let capacity = 65_536
    /// Pages in the WAL that make a checkpoint due.
    private static let checkpointPages = 1_000
    /// How often a head is signed under load.
    private static let headInterval: (events: UInt64, milliseconds: UInt64) = (4_096, 20)
    /// How long the queue is empty before a head is signed and stored.
    private static let idleMilliseconds = 250

    private let queue = Monitor(Queue())
    private let observers = Lock([(token: Int, body: @Sendable (CommitNotice) -> Void)]())
    private let signer: HeadSigner
    private let thread: Lock<WorkerThread?>

    /// Starts the writer over an open connection. The connection and the state move to the writer's thread.
    init(files: StoreFiles, durability: Durability, signer: HeadSigner) throws(StoreError) {
        self.signer = signer
        thread = Lock(nil)
        let core = try Core(files: files, durability: durability, signer: signer)
        let handover = Handover(core)
        thread.withLock {
            $0 = WorkerThread(name: "log-writer") { [self] in handover.value.run(self) }
        }
    }

    /// Carries the writer's core to its thread.
    ///
    /// `@unchecked Sendable`: made on one thread, then used by the new thread only.
    private final class Handover: @unchecked Sendable {
        let value: Core
        init(_ value: Core) { self.value = value }
    }

    // MARK: Any thread

    func append(_ request: AppendRequest, completion: @escaping AppendCompletion) {
        submit(.append(request, completion))
    }

    func ingest(_ batch: VerifiedBatch, completion: @escaping Completion) { submit(.ingest(batch, completion)) }

    /// The log's state between two transactions.
    func snapshot(_ completion: @escaping @Sendable (Result<LogState, StoreError>) -> Void) {
        submit(.snapshot(completion))
    }

    /// From now on appends and received events are refused as busy, with `reason`; `nil` ends that.
    func hold(_ reason: String?) {
        queue.update { queue in
            queue.hold = reason
            return false
        }
    }

    func flush(_ completion: @escaping Completion) { submit(.flush(completion)) }

    func observe(_ body: @escaping @Sendable (CommitNotice) -> Void) -> Int {
        observers.withLock { observers in
            let token = (observers.last?.token ?? 0) + 1
            observers.append((token, body))
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

    private func submit(_ job: Job) {
        var refusal: StoreError?
        queue.update { queue in
            if let failure = queue.failure {
                refusal = failure
            } else if queue.isClosing {
                refusal = .closed
            } else if let hold = queue.hold, job.events > 0 {
                refusal = .busy(hold)
            } else if job.isBounded, queue.events > 0, queue.events + job.events > Self.capacity {
                refusal = .busy("\(queue.events) events are waiting for the disk")
            } else {
                queue.jobs.append(job)
                queue.events += job.events
                return true
            }
            return false
        }
        if let refusal { Self.complete(job, with: refusal) }
    }

    private static func complete(_ job: Job, with error: StoreError) {
        switch job {
        case .append(_, let completion): completion(.failure(error))
        case .ingest(_, let completion), .flush(let completion): completion(.failure(error))
        case .snapshot(let completion): completion(.failure(error))
        }
    }

    // MARK: The writer's thread

    private enum Work {
        case group([Job])
        case close
    }

    private func next(waiting milliseconds: Int?) -> Work? {
        queue.wait(milliseconds: milliseconds) { queue in
            guard !queue.jobs.isEmpty else { return queue.isClosing ? .close : nil }
            var count = 0
            var events = 0
            while count < queue.jobs.count, count == 0 || events + queue.jobs[count].events <= Self.group {
                events += queue.jobs[count].events
                count += 1
            }
            let group = Array(queue.jobs[..<count])
            queue.jobs.removeFirst(count)
            queue.events -= events
            return .group(group)
        }
    }

    private func notify(_ notice: CommitNotice) {
        for observer in observers.withLock({ $0 }) { observer.body(notice) }
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
        for job in waiting { Self.complete(job, with: error) }
    }

    /// What only the writer's thread touches.
    private final class Core {
        private let connection: Connection
        private let appender: LogAppender
        private let signer: HeadSigner
        private var lastHead = MonotonicClock.now

        init(files: StoreFiles, durability: Durability, signer: HeadSigner) throws(StoreError) {
            self.signer = signer
            do throws(SQLiteError) {
                connection = try Connection(path: files.log, mode: .write)
                try connection.execute(Schema.pragmas(durability))
                connection.countWALPages()
                appender = try LogAppender(connection: connection)
            } catch {
                throw StoreError(error)
            }
            try mapped { () throws(SQLiteError) in
                guard let own = appender.state.own else { return }
                let origin = appender.state.origins[own]
                signer.restore(
                    try appender.merkle.head(of: origin.id, ref: origin.ref, atLeast: 1, largest: true))
                signer.committed(origin)
            }
        }

        func run(_ writer: LogWriter) {
            while true {
                let isSettled = signer.unsigned == 0 && !signer.hasUnstored
                switch writer.next(waiting: isSettled ? nil : LogWriter.idleMilliseconds) {
                case .group(let jobs): commit(jobs, writer)
                case .close:
                    settle(writer)
                    return
                case nil: settle(writer)
                }
            }
        }

        /// Signs what no head speaks of yet, and stores it.
        private func settle(_ writer: LogWriter) {
            _ = signer.head()
            if signer.hasUnstored { commit([], writer) }
        }

        private func commit(_ jobs: [Job], _ writer: LogWriter) {
            var answers: [() -> Void] = []
            answers.reserveCapacity(jobs.count)
            if jobs.contains(where: { if case .flush = $0 { true } else { false } }) { _ = signer.head() }
            do throws(SQLiteError) {
                try connection.execute("BEGIN IMMEDIATE")
                for job in jobs { answers.append(try perform(job)) }
                for head in signer.takeUnstored() { try appender.storeHead(head) }
                try connection.execute("COMMIT")
            } catch {
                abandon(jobs, error, writer)
                return
            }
            let advanced = appender.takeAdvanced()
            if let own = appender.state.own { signer.committed(appender.state.origins[own]) }
            for answer in answers { answer() }
            if !advanced.isEmpty {
                writer.notify(
                    CommitNotice(top: appender.state.position, advanced: advanced.map { $0.progress(appender.sha) }))
            }
            signIfDue()
            checkpointIfDue()
        }

        private func perform(_ job: Job) throws(SQLiteError) -> () -> Void {
            switch job {
            case .append(let request, let completion):
                let outcomes = try appender.append(request)
                return { completion(.success(outcomes)) }
            case .ingest(let batch, let completion):
                try appender.ingest(batch)
                return { completion(.success(())) }
            case .snapshot(let completion):
                let appender = appender
                return { completion(.success(appender.state)) }
            case .flush(let completion):
                return { completion(.success(())) }
            }
        }

        private func abandon(_ jobs: [Job], _ error: SQLiteError, _ writer: LogWriter) {
            connection.rollback()
            let failure = StoreError(error)
            var fatal: StoreError? = if case .io = failure { failure } else { nil }
            if error.code == 1 || error.isConstraint { fatal = nil }
            do { try appender.reload() } catch { fatal = fatal ?? StoreError(error) }
            for job in jobs { LogWriter.complete(job, with: failure) }
            if let fatal { writer.fail(fatal) }
        }

        private func signIfDue() {
            let unsigned = signer.unsigned
            let now = MonotonicClock.now
            guard
                unsigned >= LogWriter.headInterval.events
                    || (unsigned > 0 && now - lastHead >= LogWriter.headInterval.milliseconds * 1_000_000)
            else { return }
            lastHead = now
            _ = signer.head()
        }

        private func checkpointIfDue() {
            guard connection.walPages >= LogWriter.checkpointPages else { return }
            // Busy or failed: the WAL stays valid and the next commit tries again.
            _ = try? connection.checkpoint()
        }
    }
}

extension OriginState {
    func progress(_ sha: SHA256) -> OriginProgress {
        OriginProgress(origin: id, seq: size, rootPrefix: range.root(using: sha).prefix64)
    }
}
