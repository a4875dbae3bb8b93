/// What waits for the writer of the log, who is at what, and what is to be done next. A value; ``LogWriter`` has it behind a
/// monitor.
struct WriteQueue {
    enum Duty {
        case sign
        case sync([GroupCommit])
        case commit([LogWriter.Job], Committer)
        case checkpoint(Committer)
        case shorten(Committer)
        case scrub(LogWriter.Scrub, Committer)
        case reserve(Committer)
        case settle(Committer)
        case rest(Committer)
        case close(Committer)
        case end
    }

    /// Most events in one transaction, so that one client's flood does not become every client's wait.
    private static let group = 8_192
    /// Most events that may wait.
    private static let capacity = 65_536
    /// How often a head is signed under load.
    private static let headInterval: (events: UInt64, nanoseconds: UInt64) = (4_096, 20_000_000)
    /// How long nothing is committed before room is made for what will be.
    private static let reserveNanoseconds: UInt64 = 1_000_000_000
    /// How long nothing is committed before a head is signed and stored.
    private static let idleNanoseconds: UInt64 = 250_000_000
    /// How long nothing is committed before memory is given back.
    private static let restNanoseconds: UInt64 = 5_000_000_000

    /// For how long a full disk is taken to be full, and a lock to be held.
    private static let memoryNanoseconds: UInt64 = 10_000_000_000

    var jobs: [LogWriter.Job] = []
    var events = 0
    /// `nil` while a thread writes.
    var committer: Committer?
    var flight = CommitPipeline()
    /// Whether a head should be signed.
    var isHeadDue = false
    /// Whether a stored head speaks of everything committed.
    var isSettled = true
    /// Whether memory was given back since the last commit.
    var isResting = true
    /// Also one that found no room. Nanoseconds of the monotonic clock; at first, of the opening.
    var lastCommit = MonotonicClock.now
    var lastHead: UInt64 = 0
    var isClosing = false
    /// Whether the threads end.
    var isClosed = false
    /// What the disk has refused: nothing is stored any more until the store is opened again.
    var failure: StoreError?
    /// Why nothing is stored for now.
    var hold: String?
    /// Why the WAL may not become longer; `nil` while it may.
    var walObstacle: String?
    /// The last commit that found the disk full, or the log locked by another program; `nil` if one was written since.
    var refused: (error: StoreError, at: UInt64)?
    /// Whether little is left of the WAL to be copied.
    var isNearlyCopied = false
    /// What is to be overwritten, one after the other.
    var scrubs: [LogWriter.Scrub] = []

    /// What keeps the log from storing anything until that is repaired.
    var obstacle: StoreError? { failure ?? walObstacle.map { StoreError.busy($0) } ?? refusedLately }

    /// What a commit has lately met. Whether it is still there only another commit can tell, and where no client sends one
    /// because of this, it is forgotten.
    private var refusedLately: StoreError? {
        refused.flatMap { MonotonicClock.now - $0.at < Self.memoryNanoseconds ? $0.error : nil }
    }

    /// A commit was refused, and nothing of it stored.
    mutating func note(refusal error: StoreError) {
        switch error {
        case .diskFull, .busy: refused = (error, MonotonicClock.now)
        default: break
        }
        // A head that found no room is tried again after a pause.
        lastCommit = MonotonicClock.now
    }

    /// Why `job` cannot be queued; `nil` if it can.
    func refusal(of job: LogWriter.Job) -> StoreError? {
        if let failure { return failure }
        if isClosing { return .closed }
        if let hold, job.events > 0 { return .busy(hold) }
        if let walObstacle, job.events > 0 { return .busy(walObstacle) }
        if job.isBounded, events > 0, events + job.events > Self.capacity {
            return .busy("\(events) events are waiting for the disk")
        }
        return nil
    }

    /// Whether what has queued should be written now. A flush promises a head of all before it, which must be durable then.
    var isCommitDue: Bool {
        guard let first = jobs.first, committer != nil else { return false }
        return first.isFlush ? flight.isEmpty : flight.hasRoom(for: events)
    }

    /// Whether a thread that has nothing to do finds something now.
    var isWorkDue: Bool {
        if isHeadDue || flight.isSyncDue || isCommitDue { return true }
        guard let committer else { return false }
        if let due = committer.shortenDue, due <= MonotonicClock.now { return true }
        return committer.isCheckpointDue || isNearlyCopied || !scrubs.isEmpty || committer.isReserveDue || isClosing
    }

    /// A commit was written. Gives what is to be synced, which is nothing while another thread does; fails where the disk has failed
    /// meanwhile, since what a later sync says is not to be trusted.
    mutating func add(_ commit: GroupCommit) -> Result<[GroupCommit], StoreError> {
        if let failure { return .failure(failure) }
        isResting = false
        if commit.hasWritten { refused = nil }
        flight.add(commit)
        return .success(flight.begin())
    }

    /// So many events are committed and no head speaks of them.
    mutating func noteUnsigned(_ unsigned: UInt64, now: UInt64) {
        isHeadDue =
            unsigned >= Self.headInterval.events
            || (unsigned > 0 && now - lastHead >= Self.headInterval.nanoseconds)
    }

    /// What a thread is to do now, with the committer where that needs it. What the last commit left to do goes first: under
    /// load it would never be done.
    mutating func next() -> Waiting<Duty> {
        if isClosed { return .done(.end) }
        if failure != nil { return nextWhenDead() }
        if isHeadDue {
            isHeadDue = false
            lastHead = MonotonicClock.now
            return .done(.sign)
        }
        if flight.isSyncDue { return .done(.sync(flight.begin())) }
        guard let committer else { return .forever }
        let now = MonotonicClock.now
        let duty: Duty
        let shortenDue = committer.shortenDue
        if committer.isCheckpointDue || isNearlyCopied {
            isNearlyCopied = false
            duty = .checkpoint(committer)
        } else if let shortenDue, shortenDue <= now {
            duty = .shorten(committer)
        } else if isCommitDue {
            duty = .commit(takeGroup(), committer)
        } else if !scrubs.isEmpty, flight.isEmpty {
            duty = .scrub(scrubs.removeFirst(), committer)
        } else if committer.isReserveDue, !isClosing {
            duty = .reserve(committer)
        } else if !jobs.isEmpty || !flight.isEmpty {
            return .forever
        } else if isClosing {
            isClosed = true
            duty = .close(committer)
        } else if let shortenDue {
            return .until(shortenDue)
        } else {
            guard let (pause, later) = nextWhenIdle(committer) else { return .forever }
            guard now >= lastCommit + pause else { return .until(lastCommit + pause) }
            if case .rest = later { isResting = true }
            duty = later
        }
        self.committer = nil
        return .done(duty)
    }

    /// What is to be done when the disk has failed: nothing but to end.
    private mutating func nextWhenDead() -> Waiting<Duty> {
        guard isClosing, let committer = committer.take() else { return .forever }
        isClosed = true
        return .done(.close(committer))
    }

    /// What is to be done when nothing has been committed for so long.
    private func nextWhenIdle(_ committer: Committer) -> (pause: UInt64, Duty)? {
        if !committer.isReserved { return (Self.reserveNanoseconds, .reserve(committer)) }
        if !isSettled { return (Self.idleNanoseconds, .settle(committer)) }
        return isResting ? nil : (Self.restNanoseconds, .rest(committer))
    }

    /// Takes what one commit is to have. A flush begins one.
    private mutating func takeGroup() -> [LogWriter.Job] {
        var count = 0
        var events = 0
        for job in jobs {
            guard count == 0 || events + job.events <= Self.group && !job.isFlush else { break }
            events += job.events
            count += 1
        }
        let taken = Array(jobs[..<count])
        jobs.removeFirst(count)
        self.events -= events
        return taken
    }
}

/// A commit that stands in the WAL, with what is to be said when the disk has it.
struct GroupCommit: Sendable {
    /// Whom to tell if that fails.
    let jobs: [LogWriter.Job]
    let answers: [@Sendable () -> Void]
    let events: Int
    /// Whether it wrote anything.
    let hasWritten: Bool
    /// How the node's own origin stands with it.
    let own: OriginState?
    /// Where the log ends with it.
    var end: LogEnd?
    /// Whether an erasure event is among its events.
    var hasErasures = false
    var notice: CommitNotice?
}

/// Commits on their way to the disk: one sync at a time, and the next commit is written beside it.
///
/// More would be smaller: what comes while one is synced and one waits makes the next larger.
struct CommitPipeline {
    /// How many events are being synced; `nil` while no thread syncs.
    private(set) var syncing: Int?
    private var waiting: [GroupCommit] = []

    /// Whether everything that was written is durable, and answered.
    var isEmpty: Bool { syncing == nil && waiting.isEmpty }
    /// Whether a thread should sync.
    var isSyncDue: Bool { syncing == nil && !waiting.isEmpty }

    /// Whether a commit of so many events should be written now. One of a few events would go ahead of the many that the sync
    /// under way is about to answer, and whose next ones are about to come.
    func hasRoom(for events: Int) -> Bool {
        guard waiting.isEmpty else { return false }
        return syncing.map { events * 2 >= $0 } ?? true
    }

    mutating func add(_ commit: GroupCommit) { waiting.append(commit) }

    /// Begins to sync what waits, and gives it; nothing if a thread syncs already, or if nothing waits.
    mutating func begin() -> [GroupCommit] {
        guard isSyncDue else { return [] }
        syncing = waiting.saturatedSum(of: \.events)
        defer { waiting = [] }
        return waiting
    }

    /// What was synced has been answered.
    mutating func end() { syncing = nil }

    /// Nothing more will be synced. Gives what waited.
    mutating func abandon() -> [GroupCommit] {
        defer { self = CommitPipeline() }
        return waiting
    }
}
