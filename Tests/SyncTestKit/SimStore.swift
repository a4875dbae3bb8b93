internal import EventStore
internal import SyncEngine

/// The store of a simulated node: one writer with group commit, one thread that reads and one that verifies, as the
/// daemon has them, in virtual time.
package final class SimStore {
    enum Job {
        case append(SimAppend)
        case ingest(VerifiedBatch, link: Int, (Result<Void, SessionFailure>) -> Void)
    }

    /// Why the disk refuses a commit.
    package enum DiskFault: String, Sendable { case full, busy, io }

    /// What readers see and what a killed process leaves behind.
    package internal(set) var log: SimLog
    /// What a power cut leaves behind. Behind `log` only where durability is `normal`.
    package internal(set) var onDisk: SimLog
    package let isFullyDurable: Bool
    let key: SigningKey
    let sha = SHA256()
    /// Microseconds of one commit, one read, one verification.
    var commitTime: UInt64 = 2_000
    var readTime: UInt64 = 300
    var verifyTime: UInt64 = 300
    /// Until the node's loop hears of a commit: what it reads and sends meanwhile may be newer than what it was told.
    var noticeTime: UInt64 = 50
    var diskFault: DiskFault?
    private(set) var hasFailed = false

    private var queue: [Job] = []
    private var committing: [Job] = []
    private var readerFreeAt = UInt64(0)
    private var verifierFreeAt = UInt64(0)
    private var verifier: IngestVerifier?
    private var latestHead: SignedHead?
    private var unstoredHeads: [SignedHead] = []
    private lazy var reader = OutgoingReader(Window(store: self)) { [unowned self] in head() }
    private let recent = RecentCommits()
    /// Reads what was committed just now.
    private lazy var live = OutgoingReader(recent) { [unowned self] in head() }
    unowned let node: SimNode

    var sim: Simulation { node.sim }

    init(node: SimNode, log: SimLog, key: SigningKey, isFullyDurable: Bool) {
        self.node = node
        self.log = log
        self.key = key
        self.isFullyDurable = isFullyDurable
        onDisk = log
        latestHead = log.origins[log.own]?.heads.last
    }

    /// A signed head of everything appended.
    func head() -> SignedHead? {
        if let latestHead, latestHead.head.origin == log.own, latestHead.head.size == log.size(of: log.own) {
            return latestHead
        }
        guard let signed = sign(log) else { return nil }
        latestHead = signed
        unstoredHeads.append(signed)
        return signed
    }

    /// A signed head of what `log`, this store's now or earlier, has of the own origin.
    func sign(_ log: SimLog) -> SignedHead? {
        guard let origin = log.origins[log.own], origin.size > 0 else { return nil }
        let head = TreeHead(
            origin: log.own, size: origin.size, root: origin.range.root(using: sha), hlc: origin.hlc)
        return SignedHead(signing: head, with: key)
    }

    /// When nothing was written for a while, a head is signed and stored.
    private func settleLater() {
        let top = log.top
        node.schedule(after: 250_000) { [self] in
            guard log.top == top, head() != nil, !unstoredHeads.isEmpty else { return }
            queue.append(.append(SimAppend(items: [])))
            commitIfIdle()
        }
    }

    // MARK: What the shell asks

    func append(_ append: SimAppend) {
        guard !hasFailed else { return }
        // Refused as busy: the client tries again.
        if isHeld {
            sim.coverage.count(.appendsHeld)
            return node.schedule(after: sim.random.pick(500_000...5_000_000)) { [self] in
                node.store.append(append)
            }
        }
        queue.append(.append(append))
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

    private func error(of fault: DiskFault) -> StoreError {
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
        let plan = try? Window(store: self).plan(ownHead: head())
        return plan.map { SnapshotOffer($0, of: node.id, incarnation: node.identity.incarnation, bytes: 4_096) }
    }

    /// Answers ``SessionEffect/readSnapshot(_:_:)``. The pieces are small, so that short logs have several.
    func readSnapshot(
        _ request: SnapshotRead, completion: @escaping (Result<SnapshotPart, SessionFailure>) -> Void
    ) {
        node.schedule(at: turn(isVerifier: false)) { [self] in
            guard request.after < request.offer.through else { return readProof(request, completion) }
            guard request.offer.through <= log.top else {
                return completion(.failure(SessionFailure(.storeError, "no event after \(log.top)")))
            }
            let rows = SimRows.piece(
                of: log, after: request.after, through: request.offer.through,
                bytes: min(request.bytes, sim.snapshots.piece))
            let frame = Message.snapshotRows(rows).frame(compress: request.compress)
            completion(.success(SnapshotPart(frame: frame, last: rows.last, isEnd: false)))
        }
    }

    private func readProof(
        _ request: SnapshotRead, _ completion: (Result<SnapshotPart, SessionFailure>) -> Void
    ) {
        do throws(StoreError) {
            let coverage = try Window(store: self).coverage(of: SnapshotPlan(request.offer), ownHead: head())
            let frames = SnapshotEnd.frames(coverage, for: request)
            guard request.parts < frames.count else { throw .corrupt("no proof of the snapshot") }
            let isEnd = request.parts == frames.count - 1
            completion(.success(SnapshotPart(frame: frames[request.parts], last: request.after, isEnd: isEnd)))
        } catch {
            completion(.failure(SessionFailure(.storeError, error.description)))
        }
    }

    /// Whether the log that waits may take this one's place.
    func isFitting(_ waiting: SimLog) -> Bool {
        guard waiting.own == log.own else { return false }
        return (try? Window(store: self, log: waiting).fits(over: Window(store: self))) ?? false
    }

    /// The node's loop is told of a commit.
    func committed(_ notice: CommitNotice) { recent.add(notice) }

    /// What can be read without the reading thread.
    func readAtOnce(_ request: ReadRequest) -> OutgoingFrame? {
        guard !sim.has(.wrongOrder), let frame = try? StoreWork.read(request, live) else { return nil }
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
            do throws(StoreError) {
                completion(.success(try StoreWork.read(request, reader)))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }

    func store(
        _ frame: Frame, link: Int, completion: @escaping (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        if node.mayCrash(before: "verifying") { return }
        let start = max(sim.now, verifierFreeAt)
        verifierFreeAt = start + verifyTime
        node.schedule(at: verifierFreeAt) { [self] in
            withVerifier { self.verify(frame, $0, link, completion) }
        }
    }

    /// Uses the verifier, made if there is none. A new one waits for what is queued, as a snapshot from the writer does.
    func withVerifier(_ use: @escaping (IngestVerifier) -> Void) {
        if verifier?.lineage.isBroken == true { verifier = nil }
        if verifier == nil, !(committing.isEmpty && queue.isEmpty) {
            return node.schedule(after: 500) { [self] in withVerifier(use) }
        }
        let current = verifier ?? makeVerifier()
        verifier = current
        use(current)
    }

    private func verify(
        _ frame: Frame, _ current: IngestVerifier, _ link: Int,
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
            if sim.has(.ackBeforeDurable) {
                completion(.success(stored))
                queue.append(.ingest(batch, link: link) { _ in })
            } else {
                queue.append(.ingest(batch, link: link) { completion($0.map { stored }) })
            }
            if node.mayCrash(before: "committing") { return }
            commitIfIdle()
        } catch {
            sim.coverage.count(.refusedBatches)
            completion(.failure(error))
        }
    }

    private func makeVerifier() -> IngestVerifier {
        let known = log.originIDs.compactMap { id in log.origins[id].map { (id: id, key: $0.key, range: $0.range) } }
        let own = log.own
        let forked = Set(node.evidence.map(\.origin))
        let reaches = log.originIDs.compactMap { log.origins[$0]?.reach }
        return IngestVerifier(known: known, own: own, forked: forked, reaches: reaches) { [unowned self] in
            log.size(of: own)
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
        if let fault = diskFault, sim.random.chance(0.7) {
            committing = []
            fail(jobs, fault)
        } else {
            let before = log
            var changed = log
            var answers: [() -> Void] = []
            var failure: SessionFailure?
            for job in jobs {
                switch job {
                case .append(let append): answers.append(perform(append, &changed))
                case .ingest(let batch, _, let completion):
                    if let gap = perform(batch, &changed) {
                        failure = gap
                    } else {
                        answers.append { completion(.success(())) }
                    }
                }
            }
            committing = []
            if let failure { return refuse(jobs, failure) }
            for head in unstoredHeads { changed.store(head) }
            unstoredHeads = []
            log = changed
            if isFullyDurable { onDisk = log }
            sim.checks.committed(node, before: before, after: log)
            // A crash here: durable, and no one was told.
            if node.mayCrash(before: "answering") { return }
            for answer in answers { answer() }
            notify(before)
            if log.top > before.top { settleLater() }
        }
        commitIfIdle()
    }

    private func perform(_ append: SimAppend, _ log: inout SimLog) -> () -> Void {
        var dots: [Dot?] = []
        for item in append.items {
            dots.append(
                log.append(
                    item.draft, id: item.id, salt: item.salt, wall: node.wall, using: sha,
                    isForgetful: sim.has(.forgetDependencies)))
        }
        return { [self] in
            for (item, dot) in zip(append.items, dots) { sim.checks.appended(node, item, dot) }
        }
    }

    /// Why the batch cannot be stored: what the writer itself finds.
    private func perform(_ batch: VerifiedBatch, _ log: inout SimLog) -> SessionFailure? {
        if batch.lineage.isBroken { return SessionFailure(.storeError, "an earlier batch was not stored") }
        let events = batch.accepted
        for (index, item) in events.enumerated() {
            if sim.has(.loseEvent), index == events.count - 1, events.count > 3 { continue }
            guard log.ingest(item.event, leaf: item.leaf, key: item.key, wall: node.wall, using: sha) else {
                return SessionFailure(.storeError, "gap before \(item.event.header.dot)")
            }
            if sim.has(.duplicates), index == 5 { log.duplicate(item.event, leaf: item.leaf, using: sha) }
        }
        for head in batch.signedHeads { log.store(head) }
        for reach in batch.endings { log.store(reach) }
        for entry in batch.progress where entry.seq > log.size(of: entry.origin) && !sim.has(.loseEvent) {
            return SessionFailure(.storeError, "\(entry.origin) is not at \(entry.seq)")
        }
        return nil
    }

    private func keep(_ proofs: [ForkEvidence]) -> Set<String> {
        var new: Set<String> = []
        for evidence in proofs where !node.evidence.contains(where: { $0.name == evidence.name }) {
            node.evidence.append(evidence)
            new.insert(evidence.name)
        }
        return new
    }

    func notify(_ before: SimLog) {
        var advanced: [OriginProgress] = []
        for id in log.metOrigins where log.size(of: id) > before.size(of: id) {
            if let entry = log.progress(of: id, using: sha) { advanced.append(entry) }
        }
        guard !advanced.isEmpty else { return }
        let events = Array(log.events.dropFirst(Int(before.top)))
        node.committed(CommitNotice(top: log.top, advanced: advanced, events: events.count > 32 ? [] : events))
    }

    private func refuse(_ jobs: [Job], _ failure: SessionFailure) {
        for case .ingest(let batch, _, let completion) in jobs {
            batch.lineage.breakOff()
            completion(.failure(failure))
        }
        commitIfIdle()
    }

    private func fail(_ jobs: [Job], _ fault: DiskFault) {
        sim.coverage.count(.diskFaults)
        sim.note { "\(self.node.name): commit fails, disk \(fault.rawValue)" }
        let error = error(of: fault)
        // After an I/O error nothing is acknowledged until the store is opened again.
        if fault == .io { hasFailed = true }
        let waiting = fault == .io ? queue : []
        if fault == .io { queue = [] }
        refuse(jobs + waiting, SessionFailure(.store(error)))
    }

    // MARK: Crashes

    /// What is left when the process dies now: what was being committed may have made it or not.
    func afterCrash(isPowerCut: Bool) -> SimLog {
        var left = isPowerCut ? onDisk : log
        if !committing.isEmpty, isFullyDurable || !isPowerCut, sim.random.chance(0.5) {
            sim.coverage.count(.crashesInsideCommit)
            var changed = left
            var isWhole = true
            for job in committing {
                switch job {
                case .append(let append): _ = perform(append, &changed)
                case .ingest(let batch, _, _): isWhole = perform(batch, &changed) == nil && isWhole
                }
            }
            if isWhole {
                sim.checks.committed(node, before: left, after: changed)
                left = changed
            }
        }
        return left
    }

    /// The operating system writes out what it held back.
    func sync() { onDisk = log }

    /// The log as the reading thread sees it.
    private struct Window: SnapshotLog {
        unowned let store: SimStore
        /// Another log than the store's.
        var other: SimLog?
        private var log: SimLog { other ?? store.log }

        init(store: SimStore, log: SimLog? = nil) {
            self.store = store
            other = log
        }

        func sizes() throws(StoreError) -> [OriginID: UInt64] { log.origins.mapValues(\.size) }

        func last(of origin: OriginID, through position: UInt64) throws(StoreError) -> UInt64? {
            let count = log.origins[origin]?.positions.prefix { $0 <= position }.count ?? 0
            return count > 0 ? UInt64(count) : nil
        }

        func root(of origin: OriginID, size: UInt64) throws(StoreError) -> Digest {
            guard let root = log.root(of: origin, size: size, using: store.sha) else {
                throw .corrupt("origin \(origin) has no \(size) events")
            }
            return root
        }

        func event(at position: UInt64) throws(StoreError) -> StoredEvent? {
            position > 0 && position <= log.top ? log.events[Int(position) - 1] : nil
        }

        func top() throws(StoreError) -> UInt64 { log.top }
        func vector() throws(StoreError) -> VersionVector { log.vector }
        func event(_ dot: Dot) throws(StoreError) -> StoredEvent? { log.event(dot) }

        func scan(
            after position: UInt64, limit: Int, _ body: (StoredEvent) -> Bool
        ) throws(StoreError) -> UInt64 {
            var last = position
            var chosen = Array(log.events.dropFirst(Int(position)).prefix(limit))
            if store.sim.has(.wrongOrder) { chosen.sort { $0.event.header.dot < $1.event.header.dot } }
            for stored in chosen {
                last = stored.position
                if !body(stored) { break }
            }
            return last
        }

        func head(of origin: OriginID, atLeast size: UInt64, largest: Bool) throws(StoreError) -> SignedHead? {
            let heads = log.origins[origin]?.heads ?? []
            return largest
                ? heads.last { $0.head.size >= size } : heads.first { $0.head.size >= size }
        }

        func consistency(
            of origin: OriginID, from old: UInt64, to new: UInt64, using sha: SHA256
        ) throws(StoreError) -> [Digest] {
            guard old < new else { return [] }
            return MerkleProof.consistency(from: old, to: new, using: sha) { (level, index) throws(Never) in
                node(origin, level, index, sha)
            }
        }

        func reach(of origin: OriginID) throws(StoreError) -> PendingCoverage? { log.origins[origin]?.reach }

        func coverage(ofFirst old: UInt64, by reach: PendingCoverage, using sha: SHA256) throws(StoreError)
            -> Coverage?
        {
            reach.covering(old, using: sha) { (level, index) throws(Never) in
                node(reach.origin, level, index, sha)
            }
        }

        private func node(_ origin: OriginID, _ level: Int, _ index: UInt64, _ sha: SHA256) -> Digest {
            var range = MerkleRange()
            let first = Int(index) << level
            let leaves = log.origins[origin]?.leaves ?? []
            for leaf in leaves[first..<first + 1 << level] { range.append(leaf, using: sha) }
            return range.root(using: sha)
        }
    }
}

/// Events a client hands in.
package struct SimAppend {
    package struct Item {
        let draft: EventDraft
        let id: EventID
        let salt: UUIDBits
    }

    let items: [Item]
}
