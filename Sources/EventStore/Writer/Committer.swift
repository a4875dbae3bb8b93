/// Transactions on the one writing connection of `log.db`. Only who writes for ``LogWriter`` touches it. What is committed
/// is in the WAL, and durable when that is synced.
final class Committer {
    /// Why nothing of a transaction was stored.
    enum Failure: Error {
        /// The request, a lock or a full disk: others may succeed.
        case refused(StoreError)
        /// The disk, the page cache or what stands in the file can no longer be trusted.
        case storeIsDead(StoreError)

        var error: StoreError {
            switch self {
            case .refused(let error), .storeIsDead(let error): error
            }
        }
    }

    /// Whether what is left of the WAL should be copied back now.
    private(set) var isCheckpointDue = false
    let checkpointer: Checkpointer
    /// Whether the last commit wrote anything.
    private var hasWritten = false
    /// Where commits find room; `nil` where they are not synced.
    private var reserve: WALReserve?
    /// How long the WAL of small commits becomes, bytes.
    private let room: Int
    /// Begins to sync what a commit has written, while the rest of it is done.
    var handOver: WALFrameBuffer.Written?
    /// The head of its own origin that the log had when it was opened.
    private(set) var signed: TreeHead?
    private let connection: Connection
    private let appender: Appender
    private let signer: HeadSigner
    /// Where the log ended when it was opened, and ends since the last commit; `nil` only while it has no origin.
    private(set) var end: LogEnd?
    /// How the node's own origin stood then, and its seal.
    private var own: OriginState?
    private var history = UUIDBits(high: 0, low: 0)

    /// - Parameters:
    ///   - isOver: Whether the origin is about to be given up: no head of it is handed out.
    ///   - tell: Runs on any thread when there is news of the WAL's copying.
    init(
        files: StoreFiles, incarnation: UInt64 = 0, durability: Durability, signer: HeadSigner, isOver: Bool = false,
        wall: @escaping WallTime, tell: @escaping @Sendable (Checkpointer.News) -> Void = { _ in }
    ) throws(StoreError) {
        self.signer = signer
        do throws(DatabaseError) {
            connection = try Connection(path: files.log, mode: .write)
            try connection.execute(Schema.pragmas)
            try connection.execute(Schema.reach)
        } catch {
            throw StoreError(error)
        }
        try SealUpgrade.run(on: connection)
        do throws(DatabaseError) {
            try LogUpgrade.run(on: connection)
            let room = Connection.walBytes(pages: CheckpointPolicy.due.upperBound + CheckpointPolicy.rest)
            try connection.execute("PRAGMA journal_size_limit = \(room)")
            self.room = room
            reserve = durability == .full ? WALReserve(database: connection.path, most: room) : nil
            appender = try Appender(connection: connection, wall: wall)
        } catch {
            throw StoreError(error)
        }
        if let own = appender.state.own {
            let origin = appender.state.origins[own]
            let head = try OwnHead.check(origin, appender.merkle, signer.key.sealer)
            signer.restore(head)
            if !isOver { signer.committed(origin) }
            signed = head?.head
            self.own = origin
            history = signer.key.sealer.seal(origin.head(using: appender.sha))
            end = LogEnd(
                incarnation: incarnation, position: appender.state.position, origin: origin.id, size: origin.size,
                history: history, signer.key.endSealer, appender.sha)
        }
        checkpointer = Checkpointer(database: connection.path, tell: tell)
        connection.gatherWALWrites { [unowned self] offset, count in handOver?(offset, count) }
        connection.countWALPages { [unowned self] pages in
            hasWritten = true
            isCheckpointDue = checkpointer.committed(pages: pages)
            isWALFull = pages >= WALStanding.most
        }
    }

    /// Commits what the jobs ask for, all or nothing. Gives their answers, each to be given once, in order, when the disk has it.
    func commit(_ jobs: [LogWriter.Job]) -> Result<[@Sendable () -> Void], Failure> {
        transaction(withHeads: jobs.isEmpty || jobs.contains(where: \.isFlush)) { () throws(DatabaseError) in
            var answers: [@Sendable () -> Void] = []
            answers.reserveCapacity(jobs.count)
            for (index, job) in jobs.enumerated() {
                answers.append(try perform(job, sealing: index == jobs.count - 1 ? signer.key.sealer : nil))
            }
            return answers
        }
    }

    /// Commits one request.
    func append(_ request: AppendRequest) -> Result<[AppendOutcome], Failure> {
        transaction { () throws(DatabaseError) in try appender.append(request, sealing: signer.key.sealer) }
    }

    /// The last commit, once, with its jobs and their answers.
    ///
    /// - Parameter isFollowed: Whether an observer is told of commits.
    func takeWritten(
        _ jobs: [LogWriter.Job] = [], _ answers: [@Sendable () -> Void] = [], isFollowed: Bool
    ) -> GroupCommit {
        let (advanced, events) = appender.takeAdvanced()
        appender.isFollowed = isFollowed
        let state = appender.state
        let isHealed = appender.isHealed
        defer { (hasWritten, appender.isHealed) = (false, false) }
        return GroupCommit(
            jobs: jobs, answers: answers, events: jobs.saturatedSum(of: \.events), hasWritten: hasWritten,
            own: own, end: end,
            notice: isFollowed && (!advanced.isEmpty || isHealed)
                ? CommitNotice(top: state.position, origins: advanced, events: events, isHealed: isHealed) : nil)
    }

    /// Copies back what is left of the WAL.
    func checkpoint() {
        isCheckpointDue = false
        isWALFull = false
        guard checkpointer.finish(on: connection), reserve != nil else { return }
        reserve = WALReserve(database: connection.path, most: room)
    }

    /// Whether the WAL has become so long that nothing should be added to it.
    private(set) var isWALFull = false

    /// The log's last position.
    var position: UInt64 { appender.state.position }

    /// Ends what goes on beside the commits, and copies the whole WAL into the database. False where a reader does not let it.
    /// Throws where the disk does not: the WAL then stays, for it is all that is certain.
    ///
    /// - Parameter keepingWAL: Whether nothing more is to be copied out of the WAL.
    func close(keepingWAL: Bool) throws(StoreError) -> Bool {
        checkpointer.stop(keepingWAL: keepingWAL)
        guard !keepingWAL else {
            connection.keepWAL()
            return false
        }
        do throws(DatabaseError) {
            return try connection.checkpoint(truncate: true, patience: Self.patience).wal == 0
        } catch {
            guard error.afterCopying == .store else { return false }
            connection.keepWAL()
            throw StoreError(error)
        }
    }

    /// How long the end waits for readers, milliseconds.
    private static let patience: Int32 = 200

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
        withHeads: Bool = false, _ body: () throws(DatabaseError) -> Answer
    ) -> Result<Answer, Failure> {
        do throws(DatabaseError) {
            try connection.statement("BEGIN IMMEDIATE").run()
            let answer = try body()
            try appender.seal(with: signer.key.sealer)
            for head in signer.takeUnstored(all: withHeads) { try appender.storeHead(head) }
            try connection.statement("COMMIT").run()
            noteEnd()
            return .success(answer)
        } catch {
            return .failure(abandon(error))
        }
    }

    /// - Parameter sealer: Where the commit ends with it.
    private func perform(
        _ job: LogWriter.Job, sealing sealer: Sealer?
    ) throws(DatabaseError) -> @Sendable () -> Void {
        switch job {
        case .append(let request, let completion):
            let outcomes = try appender.append(request, sealing: sealer)
            return { completion(.success(outcomes)) }
        case .ingest(let batch, let completion):
            try appender.ingest(batch)
            return { completion(.success(())) }
        case .snapshot(let completion):
            let state = appender.state
            return { completion(.success(state)) }
        case .flush(let completion):
            return { completion(.success(())) }
        case .startOrigin(let change, let known, let end, let evidence, let completion):
            let origin = try startOrigin(change, known, end, evidence)
            return { completion(.success(origin)) }
        case .remember(let values, let completion):
            for (key, value) in values.sorted(by: { $0.key < $1.key }) { try appender.setMeta(key, .text(value)) }
            return { completion(.success(())) }
        case .heal(let payloads, let completion):
            let healed = try appender.heal(payloads)
            return { completion(.success(healed)) }
        }
    }

    private func startOrigin(
        _ change: OriginChange, _ known: UInt64, _ end: OriginEnd, _ evidence: String?
    ) throws(DatabaseError) -> OriginID {
        // What was signed of the old origin may have been handed out.
        for head in signer.takeUnstored(all: true) { try appender.storeHead(head) }
        let select = try connection.statement("SELECT value FROM meta WHERE key = 'name'")
        let name = try select.step() ? select.text(0) : ""
        select.reset()
        return try appender.startOrigin(
            change, known: known, end: end, evidence: evidence, key: signer.key, name: name)
    }

    private func noteEnd() {
        let state = appender.state
        own = state.own.map { state.origins[$0] }
        guard let end, let own else { return }
        if let sealed = appender.sealed, sealed.size == own.size { history = sealed.seal }
        self.end = LogEnd(
            incarnation: end.incarnation, position: state.position, origin: own.id, size: own.size, history: history,
            signer.key.endSealer, appender.sha)
    }

    private func abandon(_ error: DatabaseError) -> Failure {
        connection.rollback()
        guard error.afterCommit == .statement else { return .storeIsDead(StoreError(error)) }
        do throws(DatabaseError) { try appender.reload() } catch { return .storeIsDead(StoreError(error)) }
        // Nothing is signed of what another hand has written: what is in the file must be what was committed here last.
        let state = appender.state
        let found = state.own.map { state.origins[$0] }
        guard let end, end.position == state.position, found?.id == own?.id, found?.range == own?.range else {
            return .storeIsDead(
                .corrupt(
                    "another program has written log.db while this node had it open; nothing more is stored or signed. "
                        + "`syncctl verify` names what was changed"))
        }
        if case .busy = StoreError(error), let holder = WALReaders.writer(of: connection.path) {
            return .refused(.busy("\(holder) holds the lock of those who write log.db"))
        }
        return .refused(StoreError(error))
    }
}
