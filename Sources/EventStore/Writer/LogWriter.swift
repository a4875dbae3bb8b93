/// The one writer of `log.db` (D2).
///
/// ## Concurrency model
/// One at a time *writes*: takes what has queued and commits it in one transaction. The writer is the thread that has taken the
/// committer, and with it the one writing connection, out of `queue`.
///
/// One at a time *syncs*: waits until the disk has what was committed, answers each request once, tells the observers
/// (``CommitPipeline``). Two threads take turns at both, so that the next commit is written while the last one is synced. A caller that
/// may block and finds nothing on its way does both itself, so that a lone append waits for the disk and not for two threads to wake each
/// other (a third of its latency). What is not anybody's answer, signing heads and copying the WAL back, is left to the threads.
/// Completions and observers run on the thread that syncs: they must be short.
final class LogWriter: Sendable {
    let queue: Monitor<WriteQueue>
    private struct Observer {
        let token: Int
        let body: @Sendable (CommitNotice) -> Void
        let written: Written?
        let afterwards: (@Sendable () -> Void)?
    }

    typealias Written = @Sendable (UInt64, _ sync: () -> Bool) -> Void

    private let observers = Lock([Observer]())
    private let signer: HeadSigner
    private let witness: WitnessKeeper?
    private let mark: MarkKeeper?
    let end: LogEndKeeper
    /// How the log stood when it was opened.
    let opened: (position: UInt64, signed: TreeHead?)
    /// Waits for the disk; `nil` where commits are not synced.
    private let waitForDisk: WaitForDisk?
    private let threads: Lock<[WorkerThread]>
    private let files: StoreFiles
    private let checkpointer: Checkpointer
    /// How long the disk took.
    private let syncs: Lock<DurationHistogram>
    /// Told once that the disk has failed.
    private let onFailure = Lock<(@Sendable (StoreError) -> Void)?>(nil)
    /// Told, on any thread, when an erasure event is durable. Must be short.
    let onErasure = Lock<(@Sendable () -> Void)?>(nil)

    /// Told whether it may stay awake for it: whether others have nothing better to do with the processor.
    typealias WaitForDisk = @Sendable (_ awake: Bool) throws(StoreError) -> Void

    /// Opens the log for writing and starts the writer's threads.
    ///
    /// - Parameters:
    ///   - mark: Told when the log was left in order.
    ///   - incarnation: Of the store.
    ///   - isOver: Whether the origin is about to be given up.
    ///   - waitForDisk: Instead of a sync, for tests.
    init(
        files: StoreFiles, durability: Durability, signer: HeadSigner, witness: WitnessKeeper?,
        mark: MarkKeeper? = nil, incarnation: UInt64 = 0,
        isOver: Bool = false, wall: @escaping WallTime, waitForDisk: WaitForDisk? = nil
    ) throws(StoreError) {
        self.signer = signer
        self.witness = witness
        self.mark = mark
        self.files = files
        threads = Lock([])
        let syncs = Lock(DurationHistogram())
        self.syncs = syncs
        // There is news as soon as there are commits: by then there are observers to tell.
        let news = Lock<(@Sendable (Checkpointer.News) -> Void)?>(nil)
        let committer = try Committer(
            files: files, incarnation: incarnation, durability: durability, signer: signer, isOver: isOver, wall: wall
        ) { told in
            news.withLock { $0 }?(told)
        }
        checkpointer = committer.checkpointer
        let log = committer.transactions
        end = LogEndKeeper(log.end, HeldFiles(files))
        opened = (log.state.position, log.signed)
        if let waitForDisk {
            self.waitForDisk = waitForDisk
        } else if durability == .full {
            let wal = try WALSync(database: files.log)
            self.waitForDisk = { awake throws(StoreError) in
                let taken = try wal.run(awake: awake)
                syncs.withLock { $0.note(taken) }
            }
            committer.handOver = { offset, count in wal.begin(at: offset, count: count) }
        } else {
            self.waitForDisk = nil
        }
        queue = Monitor(WriteQueue(committer: committer))
        news.withLock { $0 = { [weak self] told in self?.hear(told) } }
        threads.withLock {
            $0 = (0..<2).map { _ in WorkerThread(name: "log-writer") { [self] in run() } }
        }
    }

    // MARK: Any thread

    /// Commits jobs on the calling thread, provided that nothing is queued before them, and does then what the observers would do on
    /// threads of their own; else queues them.
    func lead(_ jobs: [Job]) {
        guard let committer = takeLead() else { return submit(jobs) }
        commit(jobs, committer, leading: true)
        for observer in observers.withLock({ $0 }) { observer.afterwards?() }
    }

    /// Commits on the calling thread when nothing is queued before it, and else waits for the thread that does.
    func appendBlocking(_ request: AppendRequest) throws(StoreError) -> [AppendOutcome] {
        var outcomes: [AppendOutcome] = []
        if try appendAtOnce(request, awake: true, meanwhile: { outcomes = $0 }) { return outcomes }
        return try blocking { submit([.append(request, $0)]) }
    }

    /// Commits on the calling thread when nothing is queued before it; else does nothing, and gives false.
    ///
    /// - Parameters:
    ///   - awake: Whether to wait for the disk awake at first (``SyncPace``): not where a client on this machine waits for the answer, who
    ///     is woken sooner by a thread that has used little of its processor's time.
    ///   - meanwhile: Gets the outcomes while the disk works, and must not tell them.
    ///   - answer: Runs when they are durable, before the observers are told.
    func appendAtOnce(
        _ request: AppendRequest, awake: Bool, meanwhile: ([AppendOutcome]) -> Void, answer: () -> Void = {}
    ) throws(StoreError) -> Bool {
        guard let committer = takeLead() else { return false }
        switch committer.transactions.append(request) {
        case .success(let outcomes):
            let commits = try putBack(committer, with: committer.takeWritten(isFollowed: isFollowed))
            try sync(commits, awake: awake, meanwhile: { meanwhile(outcomes) }, answer: answer)
            return true
        case .failure(let failure):
            refused([], failure, committer)
            throw failure.error
        }
    }

    /// The log's state between two transactions.
    func snapshot(_ completion: @escaping @Sendable (Result<LogState, StoreError>) -> Void) {
        submit([.snapshot(completion)])
    }

    /// What the disk has refused, if anything: nothing is stored any more until the store is opened again.
    var failure: StoreError? { queue.withLock { $0.failure } }

    var obstacle: StoreError? { queue.withLock { $0.obstacle } ?? checkpointer.lackOfRoom }
    var refusal: StoreError? { queue.withLock { $0.obstacle ?? $0.hold.map { .busy($0) } } }

    /// Whether it has nothing to do, and when it was done with something last.
    var pulse: WriterPulse {
        queue.withLock { queue in
            WriterPulse(
                isIdle: queue.jobs.isEmpty && queue.committer != nil && queue.flight.isEmpty, last: queue.lastCommit)
        }
    }

    /// How long the syncs of the WAL took.
    var syncTimes: DurationHistogram { syncs.withLock { $0 } }

    /// How long the WAL is, and who keeps it so.
    var walStanding: WALStanding { checkpointer.standing }

    /// Looks whether the files that are open are still those of the store: what is written to others is never found again.
    func look() {
        if let loss = end.loss { fail(.lost(loss)) }
    }

    /// From now on `body` runs, once, on any thread, when the disk fails; at once if it has.
    func observeFailure(_ body: @escaping @Sendable (StoreError) -> Void) {
        onFailure.withLock { $0 = body }
        if let failure { onFailure.withLock { $0.take() }?(failure) }
    }

    /// From now on appends and received events are refused as busy, with `reason`; `nil` ends that.
    func hold(_ reason: String?) {
        queue.withLock { $0.hold = reason }
    }

    /// - Parameter values: Of table `meta`, changed in the same commit.
    func startOrigin(
        _ change: OriginChange, known: UInt64, _ end: OriginEnd, evidence: String? = nil,
        remembering values: [String: String] = [:], completion: @escaping OriginCompletion
    ) {
        submit([.remember(values) { _ in }, .startOrigin(change, known: known, end, evidence: evidence, completion)])
    }

    func observe(
        _ body: @escaping @Sendable (CommitNotice) -> Void, written: Written? = nil,
        afterwards: (@Sendable () -> Void)? = nil
    ) -> Int {
        observers.withLock { observers in
            let token = (observers.last?.token ?? 0) + 1
            observers.append(Observer(token: token, body: body, written: written, afterwards: afterwards))
            return token
        }
    }

    func removeObserver(_ token: Int) { observers.withLock { $0.removeAll { $0.token == token } } }

    /// Finishes what is queued, stores a head, and ends the threads.
    func close() {
        queue.wakeAll { $0.isClosing = true }
        for thread in threads.withLock({ $0 }) { thread.join() }
    }

    /// Queues jobs in one go, so that one commit can take them.
    func submit(_ jobs: [Job]) {
        var refused: [(job: Job, error: StoreError)] = []
        queue.wakeOne { queue in
            for job in jobs {
                if let error = queue.refusal(of: job) {
                    refused.append((job, error))
                } else {
                    queue.jobs.append(job)
                    queue.events += job.events
                }
            }
            return queue.isCommitDue
        }
        for (job, error) in refused { job.fail(error) }
    }

    // MARK: Who writes, and who syncs

    /// Takes the lead if nothing at all stands before a request of the calling thread.
    private func takeLead() -> Committer? {
        queue.withLock { queue in
            guard queue.jobs.isEmpty, queue.flight.isEmpty, queue.committer?.isCheckpointDue == false,
                !queue.isClosing, queue.failure == nil, queue.hold == nil, queue.walObstacle == nil
            else { return nil }
            return queue.committer.take()
        }
    }

    /// Writes what the jobs ask for, and syncs it unless another thread does. Who leads does not go on with what others have
    /// written meanwhile.
    private func commit(_ jobs: [Job], _ committer: Committer, leading: Bool = false) {
        if jobs.contains(where: \.isFlush) { _ = signer.head() }
        switch committer.transactions.commit(jobs) {
        case .success(let answers):
            var commit = committer.takeWritten(jobs, answers, isFollowed: isFollowed)
            commit.notice?.isFollowedUp = leading
            var commits: [GroupCommit] = []
            do throws(StoreError) { commits = try putBack(committer, with: commit) } catch {
                for job in jobs { job.fail(error) }
            }
            while !commits.isEmpty { commits = (try? sync(commits, awake: leading, goOn: !leading)) ?? [] }
        case .failure(let failure): refused(jobs, failure, committer)
        }
    }

    private var isFollowed: Bool { observers.withLock { !$0.isEmpty } }

    /// Lets others write. Gives the commits that the caller is to sync, which are none while another thread does.
    private func putBack(
        _ committer: Committer, with commit: GroupCommit
    ) throws(StoreError) -> [GroupCommit] {
        var commits = Result<[GroupCommit], StoreError>.success([])
        let obstacle = committer.isWALFull ? walStanding.text : nil
        queue.wakeOne { queue in
            queue.committer = committer
            queue.walObstacle = obstacle
            commits = queue.add(commit)
            return queue.isWorkDue
        }
        return try commits.get()
    }

    /// Puts the committer back after work that needs no sync.
    func putBack(_ committer: Committer) {
        let isWALFull = committer.isWALFull
        queue.wakeOne { queue in
            queue.committer = committer
            if !isWALFull { queue.walObstacle = nil }
            return queue.isWorkDue
        }
    }

    /// Waits for the disk, and tells all concerned. Gives what is to be synced next; nothing if the caller does not
    /// `goOn`. If that fails the jobs are told.
    ///
    /// - Parameters:
    ///   - awake: Whether it may stay awake for the disk.
    ///   - meanwhile: Done while the disk works.
    ///   - answer: The caller's own.
    @discardableResult
    private func sync(
        _ commits: [GroupCommit], awake: Bool = false, goOn: Bool = false, meanwhile: () -> Void = {},
        answer: () -> Void = {}
    ) throws(StoreError) -> [GroupCommit] {
        let observers = observers.withLock { $0 }
        if let waitForDisk, commits.contains(where: \.hasWritten) {
            let sync = OneSync { () throws(StoreError) in try waitForDisk(awake) }
            if commits.count == 1, let commit = commits.first, let notice = commit.notice, !notice.events.isEmpty {
                prepare(commit, notice, observers, sync)
            }
            meanwhile()
            do throws(StoreError) {
                try sync.run()
                try noteEnd(commits)
            } catch { throw failed(commits, error) }
        } else {
            meanwhile()
            do throws(StoreError) { try noteEnd(commits) } catch { throw failed(commits, error) }
        }
        answer()
        for commit in commits {
            if let own = commit.own { signer.committed(own) }
            // First: who is answered may wait until nothing is left to be erased.
            if commit.hasErasures { onErasure.withLock { $0 }?() }
            for answer in commit.answers { answer() }
            guard let notice = commit.notice else { continue }
            for observer in observers { observer.body(notice) }
        }
        let unsigned = signer.unsigned
        let isSettled = unsigned == 0 && !signer.hasUnstored
        var next: [GroupCommit] = []
        queue.wakeOne { queue in
            // Read here: the thread that signs may have set `lastHead` just before.
            let now = MonotonicClock.now
            let isUnsettledNow = queue.isSettled && !isSettled
            queue.noteUnsigned(unsigned, now: now)
            queue.isSettled = isSettled
            queue.lastCommit = now
            queue.flight.end()
            if goOn { next = queue.flight.begin() }
            return isUnsettledNow || queue.isWorkDue
        }
        return next
    }

    /// The disk has not taken these commits, or not the store's.
    private func failed(_ commits: [GroupCommit], _ error: StoreError) -> StoreError {
        fail(error, telling: commits.flatMap(\.jobs))
        return error
    }

    /// Says where the log ends now that the disk has these commits.
    private func noteEnd(_ commits: [GroupCommit]) throws(StoreError) {
        if let last = commits.last(where: \.hasWritten)?.end { try end.note(last) }
    }

    /// Does, while the disk writes a commit of few events, what else would be done after it: lets its head be signed, and where
    /// this thread is to follow it up, does that. The disk has begun, as whom that wakes may take this thread's processor.
    private func prepare(
        _ commit: GroupCommit, _ notice: CommitNotice, _ observers: [Observer], _ sync: OneSync
    ) {
        commit.own.flatMap { signer.expect($0) }?()
        let followers = notice.isFollowedUp ? observers.compactMap(\.written) : []
        for follow in followers { follow(notice.top) { (try? sync.run()) != nil } }
    }

    /// Nothing of the jobs was stored.
    private func refused(_ jobs: [Job], _ failure: LogTransactions.Failure, _ committer: Committer) {
        switch failure {
        case .storeIsDead(let error):
            if case .io = error { fail(error, telling: jobs) } else { fail(error, isOfDisk: false, telling: jobs) }
        case .refused(let error):
            queue.withLock { $0.note(refusal: error) }
            for job in jobs { job.fail(error) }
        }
        putBack(committer)
    }

    // MARK: The writer's threads

    private func run() {
        while true {
            switch queue.wait(for: { $0.next() }) {
            case .sign:
                if let head = signer.head() { witness?.noteUnderLoad(head) }
            case .sync(let commits): _ = try? sync(commits)
            case .commit(let jobs, let committer): commit(jobs, committer)
            case .checkpoint(let committer):
                committer.checkpoint()
                putBack(committer)
            case .shorten(let committer):
                committer.shorten()
                putBack(committer)
            case .scrub(let scrub, let committer): self.scrub(scrub, committer)
            case .reserve(let committer):
                let piece = committer.extendReserve()
                putBack(committer)
                if let piece, !piece.sync() { fail(.failedSync(files.log + "-wal")) }
            case .settle(let committer): settle(committer)
            case .rest(let committer):
                committer.releaseMemory()
                putBack(committer)
            case .close(let committer):
                look()
                leave(committer)
                // With it goes the connection.
                queue.wakeAll { $0.committer = nil }
                return
            case .end: return
            }
        }
    }

    /// Ends in order: a head is stored, nothing is left in the WAL, and the mark says where the log ends. What cannot be done leaves
    /// the mark as it was, and the WAL's file: the next start looks closer.
    private func leave(_ committer: Committer) {
        if failure == nil { settle(committer) }
        // On a full disk what the WAL had is room for the head.
        if failure == nil, signer.hasUnstored, (try? committer.scrub([])) == true { settle(committer) }
        do throws(StoreError) {
            guard try committer.close(keepingWAL: failure != nil), let head = signer.stored else { return }
            let top = committer.transactions.state.position
            if (try? mark?.write(.stopped, position: top, head: head.head)) != nil { committer.letGoOfWAL() }
        } catch { fail(error) }
    }

    /// Signs what no head speaks of yet, and stores it.
    private func settle(_ committer: Committer) {
        let head = signer.head()
        if signer.hasUnstored { commit([], committer) } else { putBack(committer) }
        if let head { witness?.note(head) }
    }

    /// After a failed read or write of the disk nothing more is acknowledged until the store is opened again: what the
    /// page cache says can no longer be trusted.
    ///
    /// - Parameters:
    ///   - isOfDisk: Whether the store is to remember it until it is opened again. That its files are lost it never does: what stands there
    ///     now may be another's.
    ///   - jobs: Others that hear of it when ``failure`` says so.
    func fail(_ error: StoreError, isOfDisk: Bool = true, telling jobs: [Job] = []) {
        var (waiting, scrubs): ([Job], [Scrub]) = ([], [])
        var isNew = false
        queue.wakeAll { queue in
            isNew = queue.failure == nil
            if isNew { queue.failure = error }
            waiting = jobs + queue.flight.abandon().flatMap(\.jobs) + queue.jobs
            scrubs = queue.scrubs
            queue.jobs = []
            queue.scrubs = []
            queue.events = 0
        }
        for job in waiting { job.fail(error) }
        for scrub in scrubs { scrub.completion(.failure(error)) }
        guard isNew else { return }
        onFailure.withLock { $0.take() }?(error)
        if case .lost = error { return }
        guard isOfDisk else { return }
        DiskFailure(reason: error.description, at: WallClock.now).keep(files)
    }

    private func hear(_ news: Checkpointer.News) {
        switch news {
        case .failed(let error): fail(StoreError(error))
        case .nearlyCopied: queue.wakeAll { $0.isNearlyCopied = true }
        }
    }
}
