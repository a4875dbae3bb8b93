/// Transactions on the one writing connection of `log.db`. Only who writes for ``LogWriter`` touches it. What is committed
/// is in the WAL, and durable when that is synced.
final class LogCommitter {
    /// Why nothing of a transaction was stored.
    struct Failure: Error {
        let error: StoreError
        /// Whether the disk or the page cache can no longer be trusted.
        let isFatal: Bool
    }

    /// Whether what is left of the WAL should be copied back now.
    private(set) var isCheckpointDue = false
    private let checkpointer: Checkpointer
    /// Whether the last commit wrote anything.
    private var hasWritten = false
    /// Where commits find room; `nil` where they are not synced.
    private var reserve: WALReserve?
    /// Begins to sync what a commit has written, while the rest of it is done.
    var handOver: WALWriting.Written?
    private let connection: Connection
    private let appender: LogAppender
    private let signer: HeadSigner

    init(
        files: StoreFiles, durability: Durability, signer: HeadSigner, wall: @escaping WallTime
    ) throws(StoreError) {
        self.signer = signer
        do throws(SQLiteError) {
            connection = try Connection(path: files.log, mode: .write)
            try connection.execute(Schema.pragmas)
            try connection.execute(Schema.reach)
            try LogUpgrade.run(on: connection)
            let room = Connection.walBytes(pages: CopyBack.due.upperBound + CopyBack.rest)
            reserve = durability == .full ? WALReserve(database: connection.path, most: room) : nil
            appender = try LogAppender(connection: connection, wall: wall)
        } catch {
            throw StoreError(error)
        }
        if let own = appender.state.own {
            let origin = appender.state.origins[own]
            signer.restore(try OwnHead.check(origin.id, ref: origin.ref, origin.range, appender.merkle))
            signer.committed(origin)
        }
        checkpointer = Checkpointer(database: connection.path)
        connection.gatherWALWrites { [unowned self] offset, count in handOver?(offset, count) }
        connection.countWALPages { [unowned self] pages in
            hasWritten = true
            isCheckpointDue = checkpointer.committed(pages: pages)
        }
    }

    /// Commits what the jobs ask for, all or nothing. Gives their answers, to be called once, in order, when the disk has it.
    func commit(_ jobs: [LogWriter.Job]) -> Result<[@Sendable () -> Void], Failure> {
        transaction(withHeads: jobs.isEmpty || jobs.contains(where: \.isFlush)) { () throws(SQLiteError) in
            var answers: [@Sendable () -> Void] = []
            answers.reserveCapacity(jobs.count)
            for job in jobs { answers.append(try perform(job)) }
            return answers
        }
    }

    /// Commits one request.
    func append(_ request: AppendRequest) -> Result<[AppendOutcome], Failure> {
        transaction { () throws(SQLiteError) in try appender.append(request) }
    }

    /// The last commit, once, with its jobs and their answers.
    ///
    /// - Parameter isFollowed: Whether somebody is told of commits.
    func takeWritten(
        _ jobs: [LogWriter.Job] = [], _ answers: [@Sendable () -> Void] = [], isFollowed: Bool
    ) -> WrittenCommit {
        let (advanced, events) = appender.takeAdvanced()
        appender.isFollowed = isFollowed
        let state = appender.state
        defer { hasWritten = false }
        return WrittenCommit(
            jobs: jobs, answers: answers, events: jobs.saturatedSum(of: \.events), hasWritten: hasWritten,
            own: state.own.map { state.origins[$0] },
            notice: isFollowed && !advanced.isEmpty
                ? CommitNotice(top: state.position, origins: advanced, events: events) : nil)
    }

    /// Copies back what is left of the WAL.
    func checkpoint() {
        isCheckpointDue = false
        checkpointer.finish(on: connection)
    }

    /// Ends what goes on beside the commits.
    func close() { checkpointer.stop() }

    /// Whether the WAL will grow soon: its commits would take twice as long.
    var isReserveDue: Bool { reserve?.isShort(Connection.walBytes(pages: connection.walPages)) ?? false }
    /// Whether there is room for all of a WAL of small commits.
    var isReserved: Bool { reserve?.isComplete ?? true }

    /// Makes room in the WAL; what is given is to be synced when others may commit again.
    func extendReserve() -> WALReserve.Piece? { reserve?.extend() }

    /// Gives back what the page cache holds.
    func releaseMemory() {
        checkpointer.rest()
        connection.releaseMemory()
        returnFreeMemory()
    }

    /// - Parameter withHeads: Whether no head of ours that is signed may be left to be stored.
    private func transaction<Answer>(
        withHeads: Bool = false, _ body: () throws(SQLiteError) -> Answer
    ) -> Result<Answer, Failure> {
        do throws(SQLiteError) {
            try connection.statement("BEGIN IMMEDIATE").run()
            let answer = try body()
            for head in signer.takeUnstored(all: withHeads) { try appender.storeHead(head) }
            try connection.statement("COMMIT").run()
            return .success(answer)
        } catch {
            return .failure(abandon(error))
        }
    }

    private func perform(_ job: LogWriter.Job) throws(SQLiteError) -> @Sendable () -> Void {
        switch job {
        case .append(let request, let completion):
            let outcomes = try appender.append(request)
            return { completion(.success(outcomes)) }
        case .ingest(let batch, let completion):
            try appender.ingest(batch)
            return { completion(.success(())) }
        case .snapshot(let completion):
            let state = appender.state
            return { completion(.success(state)) }
        case .flush(let completion):
            return { completion(.success(())) }
        case .startOrigin(let change, let known, let completion):
            let origin = try startOrigin(change, known)
            return { completion(.success(origin)) }
        case .remember(let values, let completion):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) { try appender.setMeta(key, .text(value)) }
            return { completion(.success(())) }
        }
    }

    /// The last head of the old origin covers all of it, so that every event of it can still leave the node.
    private func startOrigin(_ change: OriginChange, _ known: UInt64) throws(SQLiteError) -> OriginID {
        if let old = appender.state.own.map({ appender.state.origins[$0] }), old.size > 0 {
            let head = TreeHead(
                origin: old.id, size: old.size, root: old.range.root(using: appender.sha), hlc: old.hlc)
            try appender.storeHead(SignedHead(signing: head, with: signer.key))
        }
        let select = try connection.statement("SELECT value FROM meta WHERE key = 'name'")
        let name = try select.step() ? select.text(0) : ""
        select.reset()
        return try appender.startOrigin(change, known: known, key: signer.key.publicKey, name: name)
    }

    private func abandon(_ error: SQLiteError) -> Failure {
        connection.rollback()
        let failure = StoreError(error)
        var isFatal = if case .io = failure { error.code != 1 && !error.isConstraint } else { false }
        do throws(SQLiteError) { try appender.reload() } catch { isFatal = true }
        return Failure(error: failure, isFatal: isFatal)
    }
}
