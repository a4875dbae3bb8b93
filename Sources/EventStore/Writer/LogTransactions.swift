/// What is done to the log in one transaction: what the jobs ask for, seals and heads, whole or not at all. Knows neither the WAL nor
/// the disk nor threads. Belongs to the one that writes.
package final class LogTransactions {
    /// Why nothing of a transaction was stored.
    package enum Failure: Error {
        /// The request, a lock or a full disk: others may succeed.
        case refused(StoreError)
        /// The disk, the page cache or what stands in the file can no longer be trusted.
        case storeIsDead(StoreError)

        package var error: StoreError {
            switch self {
            case .refused(let error), .storeIsDead(let error): error
            }
        }
    }

    /// The head of its own origin that the log had when it was opened.
    let signed: TreeHead?
    /// Where the log ended when it was opened, and ends since the last commit; `nil` only while it has no origin.
    private(set) var end: LogEnd?
    /// How the node's own origin stood then, and its seal.
    private var own: OriginState?
    private var history = UUIDBits(high: 0, low: 0)
    private let connection: Connection
    private let appender: Appender
    private var arrivals: Arrivals
    private var tiles = TileFiller()
    private let signer: HeadSigner

    /// Takes over a log. One of an earlier release is upgraded; one whose own last events are not what this node wrote is refused.
    ///
    /// - Parameter isOver: Whether the origin is about to be given up: no head of it is handed out.
    init(
        on connection: Connection, incarnation: UInt64 = 0, signer: HeadSigner, isOver: Bool = false,
        wall: @escaping WallTime, random: consuming RandomSource = RandomSource()
    ) throws(StoreError) {
        self.connection = connection
        self.signer = signer
        try mapped { () throws(DatabaseError) in try connection.execute(Schema.added) }
        try FormatUpgrade.run(on: connection)
        do throws(DatabaseError) {
            // What could not be read may be an erasure, or what one covers.
            let isReread = try LogUpgrade.run(on: connection) > 0
            try ErasureIndex.make(on: connection, signer.key.erasureSealer, anew: isReread)
            appender = try Appender(connection: connection, wall: wall, random: random)
            arrivals = try Arrivals(connection)
        } catch {
            throw StoreError(error)
        }
        guard let own = appender.state.own else {
            signed = nil
            return
        }
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

    /// How the log stands, between two transactions.
    var state: LogState { appender.state }

    /// Commits what the jobs ask for, all or nothing. Gives their answers, each to be given once, in order, when the disk has it.
    func commit(_ jobs: [LogWriter.Job]) -> Result<[@Sendable () -> Void], Failure> {
        transaction(withHeads: jobs.isEmpty || jobs.contains(where: \.isFlush)) { () throws(DatabaseError) in
            var answers: [@Sendable () -> Void] = []
            answers.reserveCapacity(jobs.count)
            for (index, job) in jobs.enumerated() {
                answers.append(try perform(job, sealing: index == jobs.count - 1 ? signer.key.sealer : nil))
            }
            // A pause: no caller waits.
            if jobs.isEmpty { try tiles.fill(appender.state.origins, with: appender.merkle) }
            return answers
        }
    }

    /// Commits one request.
    func append(_ request: AppendRequest) -> Result<[AppendOutcome], Failure> {
        transaction { () throws(DatabaseError) in try appender.append(request, sealing: signer.key.sealer) }
    }

    /// What the last commit has changed, once: how the own origin stands, and what observers are told.
    ///
    /// - Parameter isFollowed: Whether an observer is told of commits.
    func takeCommitted(isFollowed: Bool) -> (own: OriginState?, notice: CommitNotice?) {
        let (advanced, events) = appender.takeAdvanced()
        appender.isFollowed = isFollowed
        let isHealed = appender.isHealed
        appender.isHealed = false
        let replacements = appender.takeReplacements()
        guard isFollowed, !advanced.isEmpty || isHealed else { return (own, nil) }
        let top = appender.state.position
        var notice = CommitNotice(top: top, origins: advanced, events: events, isHealed: isHealed)
        notice.replacements = replacements
        return (own, notice)
    }

    /// Whether an erasure event has come since this was asked last.
    func takeErasures() -> Bool {
        defer { appender.hasNewErasures = false }
        return appender.hasNewErasures
    }

    /// The next own event depends on nothing: a defect that the simulator plants.
    func forgetDependencies() { appender.dependOnEverything(but: Set(appender.state.origins.indices)) }

    /// - Parameter withHeads: Whether no head of ours that is signed may be left to be stored.
    private func transaction<Answer>(
        withHeads: Bool = false, _ body: () throws(DatabaseError) -> Answer
    ) -> Result<Answer, Failure> {
        do throws(DatabaseError) {
            try connection.statement("BEGIN IMMEDIATE").run()
            let before = appender.state.position
            let answer = try body()
            if appender.state.position > before {
                try arrivals.note(before + 1, at: appender.wall(), on: connection)
            }
            try appender.indexErasures(signer.key.erasureSealer)
            try appender.seal(with: signer.key.sealer)
            for head in signer.takeUnstored(all: withHeads) { try appender.storeHead(head) }
            try connection.statement("COMMIT").run()
            signer.endStoring(isCommitted: true)
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
            for (key, value) in values.sorted(by: { $0.key < $1.key }) {
                try Schema.setMeta(key, .text(value), on: connection)
                if ErasureIndex.settings.contains(key) { appender.isErasureIndexChanged = true }
            }
            return { completion(.success(())) }
        case .heal(let payloads, let completion):
            let healed = try appender.heal(payloads)
            return { completion(.success(healed)) }
        case .reviseErasures(let completion):
            try appender.reviseErasures(signer.key.erasureSealer)
            return { completion(.success(())) }
        case .erase(let slice, let completion):
            let progress = try appender.erase(slice)
            return { completion(.success(progress)) }
        }
    }

    private func startOrigin(
        _ change: OriginChange, _ known: UInt64, _ end: OriginEnd, _ evidence: String?
    ) throws(DatabaseError) -> OriginID {
        // What was signed of the old origin may have been handed out.
        for head in signer.takeUnstored(all: true) { try appender.storeHead(head) }
        let name = try connection.first("SELECT value FROM meta WHERE key = 'name'") { $0.text(0) } ?? ""
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
        signer.endStoring(isCommitted: false)
        guard error.afterCommit == .statement else { return .storeIsDead(StoreError(error)) }
        do throws(DatabaseError) {
            try appender.reload()
            arrivals = try Arrivals(connection)
        } catch { return .storeIsDead(StoreError(error)) }
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
