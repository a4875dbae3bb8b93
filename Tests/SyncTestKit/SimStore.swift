internal import EventStore
internal import SyncEngine

/// The store of a simulated node: one writer with group commit, one thread that reads and one that verifies, as the
/// daemon has them, in virtual time.
package final class SimStore {
    private struct Job {
        let work: MemoryLog.Work
        var answer: (Result<MemoryLog.Answer, StoreError>) -> Void = { _ in }

        var isReceived: Bool { if case .ingest = work { true } else { false } }
    }

    /// What an observer reads in the log, which is also what a killed process leaves behind.
    private(set) var log: SimLog
    /// The store's log, while the process runs.
    private var live: MemoryLog?
    /// The file, while it does not.
    private var closed: SimFile
    /// What a power cut leaves behind where durability is `normal`.
    private var synced: SimFile
    package let isFullyDurable: Bool
    let key: SigningKey
    let sha = SHA256()
    /// Microseconds of one commit, one read, one verification.
    var commitTime: UInt64 = 2_000
    var readTime: UInt64 = 300
    var verifyTime: UInt64 = 300
    /// Until the node's loop hears of a commit: what it reads and sends meanwhile may be newer than what it was told.
    var noticeTime: UInt64 = 50
    var diskFault: DiskRefusal?
    private(set) var hasFailed = false

    private var queue: [Job] = []
    private var committing: [Job] = []
    private var readerFreeAt = UInt64(0)
    private var verifierFreeAt = UInt64(0)
    private var verifier: IngestVerifier?
    private var reader: OutgoingReader?
    private let recent = RecentCommits()
    /// Reads what was committed just now.
    private lazy var recentReader = OutgoingReader(recent) { [unowned self] in head() }
    unowned let node: SimNode

    var sim: Simulation { node.sim }

    init(node: SimNode, file: SimFile, isFullyDurable: Bool) {
        self.node = node
        log = file.log
        closed = file
        synced = file
        key = node.key
        self.isFullyDurable = isFullyDurable
    }

    /// A copy of the log as it is now.
    var file: SimFile { live.map { SimFile(image: $0.image, log: log) } ?? closed }

    /// What is durable.
    var onDisk: SimLog { isFullyDurable ? log : synced.log }

    /// The process begins: false where the log cannot be opened.
    func open() -> CommitNotice? {
        do throws(StoreError) {
            let opened = try MemoryLog(closed.image, key: key, wall: node.wall, seed: sim.random.next())
            reader = OutgoingReader(opened.reader) { [unowned self] in head() }
            live = opened
            readOn(opened)
            return opened.standing
        } catch {
            sim.note { "\(self.node.name): does not start: \(error)" }
            if !sim.damaged.contains(node.index) { sim.violate("start", "\(node.name) does not start: \(error)") }
            return nil
        }
    }

    /// The position of each origin's last event.
    var lastPositions: [OriginID: UInt64] { (try? live?.reader.lastPositions()) ?? [:] }

    /// How many events of `origin` are here, if it is the one this node appends to.
    func ownSize(of origin: OriginID) -> UInt64 { live?.ownSize(of: origin) ?? 0 }

    /// A signed head of everything appended.
    func head() -> SignedHead? { live?.head() }

    /// When nothing was written for a while, a head is signed and stored.
    private func settleLater() {
        let top = log.top
        node.schedule(after: 250_000) { [self] in
            guard log.top == top, head() != nil, live?.hasUnstoredHeads == true else { return }
            queue.append(Job(work: .flush))
            commitIfIdle()
        }
    }

    // MARK: What the shell asks

    func append(_ drafts: [EventDraft]) {
        guard !hasFailed else { return }
        // Refused as busy: the client tries again.
        if isHeld {
            sim.coverage.count(.appendsHeld)
            return node.schedule(after: sim.random.pick(500_000...5_000_000)) { [self] in
                node.store.append(drafts)
            }
        }
        queue.append(
            Job(work: .append(drafts)) { [self] result in
                guard case .success(.appended(let outcomes)) = result else { return }
                for (draft, outcome) in zip(drafts, outcomes) {
                    sim.checks.appended(node, draft, outcome.receipt?.dot)
                }
            })
        commitIfIdle()
    }

    /// Stores an event of the node's own, as `EventStore.recordBlocking` does; `nil` where it is refused.
    func record(_ draft: EventDraft, completion: @escaping (Dot?) -> Void) {
        guard !hasFailed, !isHeld else { return completion(nil) }
        queue.append(
            Job(work: .record([draft])) { result in
                guard case .success(.appended(let outcomes)) = result else { return completion(nil) }
                completion(outcomes.first?.receipt?.dot)
            })
        commitIfIdle()
    }

    // MARK: Snapshots

    /// Whether nothing is stored because a snapshot is to become the log.
    private(set) var isHeld = false

    /// As `EventStore.beginSnapshotHold`: what was queued before is stored, and the log must still be as good as empty.
    func beginHold(completion: @escaping (SnapshotError?) -> Void) {
        isHeld = !sim.has(.dropsOwnEvents)
        awaitQueue { [self] in
            if !hasFailed, log.progress(using: sha).allowsSnapshot(own: log.own) { return completion(nil) }
            isHeld = false
            completion(
                hasFailed ? .store(.io("input/output error")) : .notEmpty("this node's log is no longer empty"))
        }
    }

    func endHold() { isHeld = false }

    /// The disk takes what is written beside the log, or not.
    func writeAside() throws(SnapshotError) {
        guard let diskFault, sim.random.chance(0.7) else { return }
        sim.coverage.count(.snapshotDiskFaults)
        throw .store(error(of: diskFault))
    }

    private func error(of fault: DiskRefusal) -> StoreError {
        switch fault {
        case .full: .diskFull("no space")
        case .busy: .busy("locked")
        case .io: .io("input/output error")
        }
    }

    private func awaitQueue(_ body: @escaping () -> Void) {
        guard !hasFailed, !(queue.isEmpty && committing.isEmpty) else { return body() }
        node.schedule(after: 500) { [self] in awaitQueue(body) }
    }

    /// Answers ``SessionEffect/describeSnapshot(_:)``.
    func describeSnapshot(completion: @escaping (SnapshotOffer?) -> Void) {
        node.schedule(at: turn(isVerifier: false)) { [self] in
            completion(offer(as: node))
        }
    }

    /// What this store can offer, under the name of `node`.
    func offer(as node: SimNode) -> SnapshotOffer? {
        let plan = try? live?.reader.plan(ownHead: head())
        return plan.map { SnapshotOffer($0, of: node.id, incarnation: node.identity.incarnation, bytes: 4_096) }
    }

    /// Answers ``SessionEffect/readSnapshot(_:_:)``. The pieces are small, so that short logs have several.
    func readSnapshot(
        _ request: SnapshotRead, completion: @escaping (Result<SnapshotPart, SessionFailure>) -> Void
    ) {
        node.schedule(at: turn(isVerifier: false)) { [self] in
            completion(
                Result { () throws(StoreError) in try part(request) }.mapError {
                    SessionFailure(.storeError, $0.description)
                })
        }
    }

    private func part(_ request: SnapshotRead) throws(StoreError) -> SnapshotPart {
        guard let log = live?.reader else { throw .closed }
        guard request.after == request.offer.through else {
            let rows = try SnapshotReader(log).rows(
                after: request.after, through: request.offer.through, bytes: min(request.bytes, sim.snapshots.piece))
            let frame = Message.snapshotRows(rows).frame(compress: request.compress)
            return SnapshotPart(frame: frame, last: rows.last, isEnd: false)
        }
        let frames = SnapshotEnd.frames(
            try log.coverage(of: SnapshotPlan(request.offer), ownHead: head()), for: request)
        guard request.parts < frames.count else { throw .corrupt("no proof of the snapshot") }
        return SnapshotPart(
            frame: frames[request.parts], last: request.after, isEnd: request.parts == frames.count - 1)
    }

    /// Whether the log that waits may take the place of this one, which no process has open.
    func isFitting(_ waiting: SimFile) -> Bool {
        do throws(StoreError) {
            let (old, new) = (try MemoryLog.reader(of: file.image), try MemoryLog.reader(of: waiting.image))
            guard try StoreIdentity(old) == StoreIdentity(new) else { return false }
            return try new.fits(over: old)
        } catch {
            return false
        }
    }

    /// The node's loop is told of a commit.
    func committed(_ notice: CommitNotice) { recent.add(notice) }

    /// What can be read without the reading thread.
    func readAtOnce(_ request: ReadRequest) -> OutgoingFrame? {
        guard let frame = try? StoreWork.read(request, recentReader) else { return nil }
        sim.coverage.count(.readsAtOnce)
        return frame
    }

    func read(
        _ request: ReadRequest, completion: @escaping (Result<OutgoingFrame, SessionFailure>) -> Void
    ) {
        let start = max(sim.now, readerFreeAt)
        readerFreeAt = start + readTime
        node.schedule(at: readerFreeAt) { [self] in
            sim.coverage.count(.reads)
            guard let reader else { return }
            do throws(StoreError) {
                completion(.success(try StoreWork.read(request, reader)))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }

    func store(
        _ frame: Frame, completion: @escaping (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        if node.mayCrash(before: "verifying") { return }
        let start = max(sim.now, verifierFreeAt)
        verifierFreeAt = start + verifyTime
        node.schedule(at: verifierFreeAt) { [self] in
            withVerifier { self.verify(frame, $0, completion) }
        }
    }

    /// Uses the verifier, made if there is none. A new one waits for what is queued, as a snapshot from the writer does.
    func withVerifier(_ use: @escaping (IngestVerifier) -> Void) {
        if verifier?.lineage.isBroken == true { verifier = nil }
        if verifier == nil, !(committing.isEmpty && queue.isEmpty) {
            return node.schedule(after: 500) { [self] in withVerifier(use) }
        }
        do throws(StoreError) {
            if verifier == nil { verifier = try live?.makeVerifier(forked: Set(node.evidence.map(\.origin))) }
        } catch {
            return sim.violate("verifier", "\(node.name): \(error)")
        }
        if let verifier { use(verifier) }
    }

    private func verify(
        _ frame: Frame, _ current: IngestVerifier,
        _ completion: @escaping (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        do throws(SessionFailure) {
            let batch = try StoreWork.verify(frame, current)
            sim.coverage.verified(batch, in: frame)
            // Proofs are on disk before the events that only they excuse from naming what is here.
            let stored = StoreWork.stored(batch, newProofs: keep(batch.proven))
            if isHeld {
                batch.lineage.breakOff()
                throw SessionFailure(.store(.busy(SnapshotArbiter.reason)))
            }
            let isTold = sim.has(.ackBeforeDurable)
            if isTold { completion(.success(stored)) }
            let work = MemoryLog.Work.ingest(sim.has(.loseEvent) && batch.count > 3 ? batch.withoutLast : batch)
            queue.append(
                Job(work: work) { result in
                    guard !isTold else { return }
                    completion(result.map { _ in stored }.mapError { SessionFailure(.store($0)) })
                })
            if node.mayCrash(before: "committing") { return }
            commitIfIdle()
        } catch {
            sim.coverage.count(.refusedBatches)
            completion(.failure(error))
        }
    }

    /// What the verifier knows is not what it should know any more.
    func renewVerifier() { verifier = nil }

    /// When the reading or the verifying thread has done one thing more.
    func turn(isVerifier: Bool) -> UInt64 {
        if isVerifier {
            verifierFreeAt = max(sim.now, verifierFreeAt) + verifyTime
            return verifierFreeAt
        }
        readerFreeAt = max(sim.now, readerFreeAt) + readTime
        return readerFreeAt
    }

    // MARK: The writer

    private func commitIfIdle() {
        guard committing.isEmpty, !queue.isEmpty, !hasFailed else { return }
        committing = queue
        queue = []
        node.schedule(after: commitTime) { [self] in finishCommit() }
    }

    private func finishCommit() {
        let jobs = committing
        let before = log
        let fault = diskFault.flatMap { sim.random.chance(0.7) ? $0 : nil }
        let outcome = write(jobs, fault)
        committing = []
        switch outcome {
        case .failure(let refusal): refuse(jobs, refusal)
        case .success(let (answers, notice)):
            // A crash here: durable, and no one was told.
            if node.mayCrash(before: "answering") { return }
            for answer in answers { answer() }
            if let notice { node.committed(notice) }
            if log.top > before.top { settleLater() }
        }
        commitIfIdle()
    }

    /// One transaction of the store, and what is to be said when it is durable.
    private func write(
        _ jobs: [Job], _ fault: DiskRefusal? = nil
    ) -> Result<(answers: [() -> Void], CommitNotice?), MemoryLog.Refusal> {
        guard let live else { preconditionFailure("no process has the log open") }
        if sim.has(.forgetDependencies) { live.forgetDependencies() }
        let before = log
        if let fault {
            // At one of the events that are to be stored.
            let count = jobs.reduce(0) { $0 + $1.work.events }
            try? live.refuse(fault, at: log.top + UInt64(sim.random.pick(1...max(1, count))))
        }
        let outcome = live.commit(jobs.map(\.work), wall: node.wall)
        if let fault { try? live.refuse(fault, at: nil) }
        return outcome.map { answers, notice in
            if sim.has(.duplicates), jobs.contains(where: { $0.isReceived && $0.work.events > 5 }) {
                try? live.tamper(Self.duplicateLast)
            }
            readOn(live)
            sim.checks.committed(node, before: before, after: log)
            return (zip(jobs, answers).map { job, answer in { job.answer(.success(answer)) } }, notice)
        }
    }

    /// A planted defect.
    private static let duplicateLast = """
        DROP INDEX event_dot; DROP INDEX event_id;
        CREATE TEMP TABLE copy AS SELECT * FROM event ORDER BY position DESC LIMIT 1;
        UPDATE copy SET position = position + 1; INSERT INTO event SELECT * FROM copy;
        """

    /// The observer reads what was added.
    private func readOn(_ live: MemoryLog) {
        do throws(StoreError) {
            try log.read(live.reader, own: live.own ?? log.own, using: sha)
        } catch {
            sim.violate("read", "\(node.name): \(error)")
        }
    }

    /// A commit of its own: what is queued goes to the new origin.
    func startOrigin(_ change: OriginChange, known: UInt64) {
        guard let live else { return }
        let before = log
        guard case .success(let (_, notice)) = live.commit([.startOrigin(change, known: known)], wall: node.wall)
        else {
            return sim.violate("D12", "\(node.name) cannot start an origin")
        }
        readOn(live)
        renewVerifier()
        node.appends(to: log.own)
        sim.note { "\(self.node.name): new origin, \(change.rawValue)" }
        sim.checks.committed(node, before: before, after: log)
        if let notice { node.committed(notice) }
    }

    private func keep(_ proofs: [ForkEvidence]) -> Set<String> {
        Set(proofs.filter { keep($0) }.map(\.name))
    }

    /// Keeps a proof of a fork; false if it is kept already.
    func keep(_ evidence: ForkEvidence) -> Bool {
        guard !node.evidence.contains(where: { $0.name == evidence.name }) else { return false }
        node.evidence.append(evidence)
        return true
    }

    /// A reader of the log of its own.
    func logReader() throws(StoreError) -> LogReader {
        guard let live else { throw .closed }
        return live.reader
    }

    private func refuse(_ jobs: [Job], _ refusal: MemoryLog.Refusal) {
        sim.note { "\(self.node.name): commit fails: \(refusal.error)" }
        if diskFault != nil { sim.coverage.count(.diskFaults) }
        // After an I/O error nothing is acknowledged until the store is opened again.
        if case .storeIsDead = refusal { hasFailed = true }
        var refused = jobs
        if hasFailed {
            refused += queue
            queue = []
        }
        for job in refused {
            if case .ingest(let batch) = job.work { batch.lineage.breakOff() }
            job.answer(.failure(refusal.error))
        }
    }

    // MARK: Crashes

    /// What is left when the process dies now: what was being committed may have made it or not.
    func afterCrash(isPowerCut: Bool) -> SimFile {
        guard isFullyDurable || !isPowerCut else { return synced }
        if !committing.isEmpty, sim.random.chance(0.5) {
            sim.coverage.count(.crashesInsideCommit)
            _ = write(committing)
        }
        return file
    }

    /// The operating system writes out what it held back.
    func sync() {
        if !isFullyDurable { synced = file }
    }

    // MARK: Damage

    /// Changes what lies on the disk without the store's knowledge.
    func overwrite(_ position: UInt64, with body: EventBody) throws(StoreError) {
        let columns =
            switch body {
            case .present(_, let bytes), .unreadable(_, let bytes): "payload = CAST(x'\(hexText(bytes))' AS TEXT)"
            case .erased(let digest): "salt = NULL, payload = NULL, digest = x'\(hexText(digest.bytes))'"
            }
        let sql = "UPDATE event SET \(columns) WHERE position = \(position)"
        log.overwrite(position, with: body)
        if let live {
            try live.tamper(sql)
        } else {
            closed = SimFile(image: try MemoryLog.tamper(closed.image, sql), log: log)
        }
        sync()
    }

    /// Every head that is stored speaks of what is stored (INV-3): `nil`, or the first that does not.
    func misfit() throws(StoreError) -> SignedHead? {
        let reader: LogReader
        if let live { reader = live.reader } else { reader = try MemoryLog.reader(of: file.image) }
        for origin in log.originIDs {
            for signed in try SimFile.heads(of: origin, reader)
            where log.root(of: origin, size: signed.head.size, using: sha) != signed.head.root {
                return signed
            }
        }
        return nil
    }
}
