/// An event store that is open for writing. There is one for each folder, on one machine, at a time.
///
/// ``append(_:atomicity:)`` stores events, ``subscribe(after:id:)`` follows what is stored, and an ``EventReader`` reads it. Close the store
/// when you are done: ``close()`` signs what was appended. A process that ends without it loses nothing that was acknowledged.
///
/// ## Concurrency model
/// Any thread may call anything. Writes go to the writer's thread through a bounded queue; nothing here blocks but the
/// functions that say so.
public final class EventStore: Sendable {
    /// Most drafts in one call of ``append(_:atomicity:)``.
    public static let maximumBatch = Limits.batch

    /// Where the store lies.
    package let files: StoreFiles
    /// Whose it is. The origin changes when the node starts a new one.
    public var identity: StoreIdentity { present.withLock { $0 } }
    /// The node's key.
    package let key: SigningKey
    /// What acknowledged appends survive.
    package let durability: Durability
    private let lock: Lock<StoreLock?>
    private let present: Lock<StoreIdentity>
    /// That the disk had failed when the store was open last; `nil` if it had not. Everything was written anew since.
    package let diskFailure: DiskFailure?
    /// What the disk has refused, or that the store's files are lost, if anything: nothing is stored any more until the store is opened
    /// again.
    public var failure: StoreError? { writer.failure }
    /// What keeps it from storing anything until that is repaired, if anything does.
    package var obstacle: StoreError? { writer.obstacle }
    /// Why appends are refused, if they are.
    package var refusal: StoreError? { writer.refusal }
    /// The last position that the disk has. It is known before an append is answered; observers are told after that.
    package var durable: UInt64 { writer.end.position }
    /// Whether the writer gets on.
    package var pulse: WriterPulse { writer.pulse }
    /// How long the syncs of the log took since it was opened.
    package var syncTimes: DurationHistogram { writer.syncTimes }
    /// How long the WAL is, and who keeps it so.
    package var wal: WALStanding { writer.walStanding }
    /// Why the node started a new origin when this store was opened; `nil` if it did not.
    public let originChange: OriginChange?
    /// What was found of a log that had been cut when this store was opened; `nil` if it was not.
    package let cut: CutEvidence?
    /// That its witness could not be compared with when this store was opened; `nil` if it could, or if there is none to be.
    package let lostWitness: CutEvidence?
    /// Where a rollback journal lies now that stood beside the log when this store was opened; `nil` if none did.
    package let strayJournal: String?
    /// The node's memory outside of its data directory, if there is one.
    package let witness: WitnessKeeper?
    /// The machine's clock, Unix milliseconds.
    package let wall: WallTime
    private let forks: Lock<Set<OriginID>>
    private let salts = Lock(RandomSource())
    /// One erasure of a plan is recorded at a time: a plan is confirmed once.
    let erasing = Lock(())
    private let signer: HeadSigner
    let writer: LogWriter
    let followers = StoreFollowers()
    /// Whether a node replicates it: one at a time does.
    package let isReplicated = Lock(false)

    /// Makes an empty store in `folder`, which may exist already. The folder that it is to lie in must be there.
    ///
    /// - Parameters:
    ///   - folder: Where it is to lie.
    ///   - name: What people call the node: 1 to 64 bytes without blanks and slashes.
    ///   - cluster: Only nodes of the same cluster exchange events. As a name: 1 to 64 bytes without blanks and
    ///     slashes.
    /// - Throws: `E_PARAMETER` if a name is not of its form, or `folder` is empty. `E_STORE_EXISTS` if there is a store
    ///   already. `E_STORE_FILE` if `folder` is a file or too long, the folder above is not there, or its `node.key` is
    ///   no key. `E_UNSAFE`, `E_PERMISSION`, `E_READ_ONLY`, `E_DISK` or `E_IO` if the store's files cannot be made.
    ///   Blocks.
    public static func create(in folder: String, name: String, cluster: String = "default") throws(StoreError) {
        try StoreIdentity.create(in: StoreFiles(named: folder), name: name, cluster: cluster)
    }

    /// Opens the store in `folder` for writing. Recovery after a crash happens here. Where the store may have lost its
    /// memory (it was copied, moved, rewound) the node starts a new origin before anything can be appended
    /// (``originChange``). Blocks, after a crash for as long as it takes to read what the WAL holds.
    ///
    /// - Parameters:
    ///   - folder: Where the store lies.
    ///   - durability: What an acknowledged append survives.
    ///   - owner: What other processes are told when they find the store in use.
    ///   - witness: Where the node's last head is kept outside of the data directory: a folder that is there, by its absolute path.
    /// - Throws: `E_NO_STORE`; `E_PARAMETER` if `folder` is empty; `E_NO_KEY` for a copy without `node.key`, which an ``EventReader`` can
    ///   read; `E_LOCKED` while it is open for writing already. `E_STORE_FILE`, also if `folder` is a file or too long. `E_CORRUPT`,
    ///   `E_FORMAT`, `E_UPGRADE`, `E_UNSAFE`, `E_PERMISSION`, `E_READ_ONLY`, `E_DISK`, `E_IO`.
    public convenience init(
        opening folder: String, durability: Durability = .full, owner: String = "a process",
        witness: WitnessPlace = .asBefore
    ) throws(StoreError) {
        try witness.requireFolder()
        try self.init(
            opening: folder, durability: durability, owner: owner, witness: witness,
            surroundings: .found(around: StoreFiles(folder)))
    }

    /// As the public one, in surroundings of a test's choice.
    package init(
        opening folder: String, durability: Durability = .full, owner: String = "a process",
        witness place: WitnessPlace = .asBefore, surroundings: HostFingerprint,
        wall: @escaping WallTime = { WallClock.now }
    ) throws(StoreError) {
        self.wall = wall
        self.durability = durability
        files = try StoreFiles(named: folder)
        guard files.exists else { throw files.absence }
        lock = Lock(try StoreLock(files, owner: owner))
        try HeldFiles.requireNoGoneWAL(files)
        files.closeToOthers()
        strayJournal = try StrayJournals.clear(files, at: wall())
        guard let pem = try SmallFile.read(files.key) else { throw .noKey(path: files.key) }
        guard let key = SigningKey(pem: pem) else { throw .noEd25519(files.key) }
        let mark = try Mark.read(files, key: key.publicKey)
        // Before SQLite opens it for writing: then it begins anew.
        let found = try FoundWAL(files, key, after: mark, boot: surroundings.boot)
        diskFailure = try Recovery.run(files)
        var surroundings = surroundings
        if let inode = try SnapshotInstall.run(files), surroundings.file != nil { surroundings.file = inode }
        let end = try LogEnd.Found(files)
        let reader = try LogReader(files)
        try reader.checkForWriting()
        let identity = try StoreIdentity(reader)
        guard identity.node == key.publicKey.nodeID else {
            throw .badFile(
                "\(files.key) is not the key of this store's node \(identity.node.short)",
                wayOut:
                    "put the node.key of node \(identity.node.short) there: a backup has it (operating/backup.md, 'Backup')"
            )
        }
        let before = try MarkedSettings.witness(reader, identity, mark, wanted: place.setting)
        self.key = key
        present = Lock(identity)
        try ForkEvidence.keepHeard(files, reader)
        forks = Lock(Set(try ForkEvidence.list(files).filter(\.namesEvent).map(\.origin)))
        var memory = try RollbackDetection(
            reader, identity, key, place, surroundings,
            .init(
                mark: mark, end: end, wal: found.verdict, told: HeldHead.ofPeers(files, of: identity.origin),
                witness: before.isEmpty ? nil : before))
        witness = memory.witness
        originChange = memory.change
        cut = memory.evidence(named: found.kept, at: wall())
        try cut?.write(files)
        lostWitness = try memory.settleWitness(files, at: wall())
        try memory.beginWitness(reader, key.publicKey)
        signer = HeadSigner(key: key)
        let keeper = MarkKeeper(
            files: files, key: key, incarnation: identity.incarnation, boot: surroundings.boot,
            durability: durability,
            settings: Mark.settings(name: identity.name, cluster: identity.cluster, witness: memory.folder ?? ""))
        writer = try LogWriter(
            files: files, durability: durability, signer: signer, witness: memory.witness, mark: keeper,
            incarnation: identity.incarnation, isOver: memory.change != nil, wall: wall)
        // Before the log says so: the other way round a start that is cut off here could not be told from another's hand.
        if var mark, mark.incarnation == identity.incarnation, mark.settings != keeper.settings {
            mark.settings = keeper.settings
            try mark.write(files, key: key)
        }
        if let change = memory.change {
            try startOriginBlocking(
                change, known: memory.known, memory.end, evidence: cut?.name, remembering: memory.values)
        } else if !memory.values.isEmpty {
            try blocking { writer.submit([.remember(memory.values, $0)]) }
        }
        FoundWAL.forget(files)
        try writer.end.keep(files)
        try followErasures()
        // Before any client can append: the next start must know that this run has begun.
        let signed = memory.change == nil ? writer.opened.signed : nil
        guard let head = signed ?? signer.head()?.head else { return }
        try keeper.write(.running, position: try reader.top(), head: head)
    }

    deinit { close() }

    /// Finishes what is queued, signs and stores a head, and lets go of the files. Subscriptions end when they have given what was
    /// stored. Blocks until that is done; a second call does nothing.
    public func close() {
        writer.close()
        followers.end()
        lock.withLock { $0 = nil }
    }

    /// What follows this store, one of its kind; `make` makes it if there is none yet.
    package func follower<Follower: StoreFollower>(
        _ make: () throws(StoreError) -> Follower
    ) throws(StoreError) -> Follower { try followers.one(make) }

    // MARK: Appending

    /// Appends events in one commit. Returns when they are durable, with one outcome for each draft, in order.
    ///
    /// The same id with the same content gives the stored outcome: repeat the call after any error.
    ///
    /// - Parameters:
    ///   - drafts: At most ``maximumBatch``, stored in this order, next to each other.
    ///   - atomicity: Whether one rejected draft rejects them all.
    /// - Throws: `E_BUSY` and `E_DISK`, after which the same call may succeed later; `E_BATCH_SIZE`; `E_CLOSED`; `E_IO` once the disk
    ///   has failed, and at most a second after the store's files were taken away or replaced. A draft that cannot be stored is no error
    ///   but an ``AppendOutcome/rejected(_:)``.
    public func append(
        _ drafts: [EventDraft], atomicity: Atomicity = .whole
    ) async throws(StoreError) -> [AppendOutcome] {
        let result = await withCheckedContinuation { continuation in
            append([AppendCall(drafts: drafts, atomicity: atomicity) { continuation.resume(returning: $0) }])
        }
        return try result.get()
    }

    /// Several appends in one go, which one commit takes if it can; each has an answer of its own, on another thread. A caller that
    /// keeps what is returned until then frees the events, which otherwise takes a fourteenth of the writer's time.
    @discardableResult
    package func append(_ calls: [AppendCall]) -> [DraftValidation] {
        let sha = SHA256()
        var (jobs, handedIn): ([LogWriter.Job], [DraftValidation]) = ([], [])
        for call in calls {
            let drafts: DraftValidation
            do throws(StoreError) { drafts = try validate(call.drafts, call.atomicity, sha) } catch {
                call.completion(.failure(error))
                continue
            }
            guard let request = drafts.request(call.condition, call.newOnly) else {
                call.completion(.success(drafts.outcomes([])))
                continue
            }
            jobs.append(.append(request) { result in call.completion(result.map(drafts.outcomes)) })
            handedIn.append(drafts)
        }
        if !jobs.isEmpty { writer.submit(jobs) }
        return handedIn
    }

    /// Checks drafts and hashes them, wherever they come in. The node's own may be any number.
    private func validate(
        _ drafts: [EventDraft], _ atomicity: Atomicity, isOfNode: Bool = false, _ sha: SHA256 = SHA256()
    ) throws(StoreError) -> DraftValidation {
        guard isOfNode || drafts.count <= Self.maximumBatch else { throw .batchTooLarge(count: drafts.count) }
        return DraftValidation(drafts, atomicity, isOfNode: isOfNode, salts, sha)
    }

    private func appendBlocking(_ drafts: DraftValidation) throws(StoreError) -> [AppendOutcome] {
        guard let request = drafts.request() else { return drafts.outcomes([]) }
        return drafts.outcomes(try writer.appendBlocking(request))
    }

    /// Appends events of types that are reserved for the node itself. Blocks.
    package func recordBlocking(_ drafts: [EventDraft]) throws(StoreError) -> [AppendOutcome] {
        try appendBlocking(validate(drafts, .whole, isOfNode: true))
    }

    /// As ``append(_:atomicity:)``; blocks the calling thread, and writes on it when no other thread is writing: the way to the
    /// lowest latency. Never for Swift's cooperative pool.
    ///
    /// - Throws: As ``append(_:atomicity:)``.
    public func appendBlocking(
        _ drafts: [EventDraft], atomicity: Atomicity = .whole
    ) throws(StoreError) -> [AppendOutcome] {
        try appendBlocking(validate(drafts, atomicity))
    }

    /// As ``appendBlocking(_:atomicity:)``, for a thread that serves others, too: commits on it when no other thread is writing, and
    /// gives false, with nothing done, if one is.
    ///
    /// - Parameters:
    ///   - meanwhile: Gets the outcomes, one for each draft, while the disk works: to get ready what `answer` then tells.
    ///   - answer: Runs when they are durable, and before any other is told.
    package func appendAtOnce(
        _ drafts: [EventDraft], atomicity: Atomicity, meanwhile: ([AppendOutcome]) -> Void, answer: () -> Void
    ) throws(StoreError) -> Bool {
        let drafts = try validate(drafts, atomicity)
        guard let request = drafts.request() else {
            meanwhile(drafts.outcomes([]))
            answer()
            return true
        }
        return try writer.appendAtOnce(
            request, awake: false, meanwhile: { meanwhile(drafts.outcomes($0)) }, answer: answer)
    }

    /// Makes everything queued so far durable, and a signed head that covers it. Blocks.
    package func flushBlocking() throws(StoreError) {
        try blocking { (completion: @escaping @Sendable (Result<Void, StoreError>) -> Void) in
            writer.submit([.flush(completion)])
        }
    }

    // MARK: Received events

    /// A verifier that knows what is stored now. Blocks for the writer.
    package func makeVerifierBlocking() throws(StoreError) -> IngestVerifier {
        let signer = signer
        let state = try snapshotBlocking()
        guard let own = state.own.map({ state.origins[$0].id }) else { throw .corrupt("the store has no origin") }
        let reaches = try LogReader(files).reaches()
        return IngestVerifier(state: state, own: own, forked: forkedOrigins, reaches: reaches) {
            signer.size(of: own)
        }
    }

    /// Stores verified events; `completion` runs once, on the writer's thread, when they are durable. If `leading`, the
    /// calling thread stores them, provided that nothing is queued before them: for a batch that comes alone. It then also
    /// does what observers leave to it.
    package func ingest(
        _ batch: VerifiedBatch, leading: Bool = false,
        completion: @escaping @Sendable (Result<Void, StoreError>) -> Void
    ) {
        let job = LogWriter.Job.ingest(batch) { result in
            if case .failure = result { batch.lineage.breakOff() }
            completion(result)
        }
        if leading { writer.lead([job]) } else { writer.submit([job]) }
    }

    // MARK: Memory and forks

    /// Gives up the origin this node appends to, of which `known` events exist somewhere, and starts a new one (D12).
    /// Appends that are queued before it still go to the old one. Blocks.
    @discardableResult
    package func startOriginBlocking(_ change: OriginChange, known: UInt64 = 0) throws(StoreError) -> OriginID {
        try startOriginBlocking(change, known: known, change.end)
    }

    /// - Parameters:
    ///   - evidence: What was found when the log had been cut, by name.
    ///   - values: Of table `meta`, changed in the same commit.
    @discardableResult
    private func startOriginBlocking(
        _ change: OriginChange, known: UInt64, _ end: OriginEnd, evidence: String? = nil,
        remembering values: [String: String] = [:]
    ) throws(StoreError) -> OriginID {
        try blocking { (completion: @escaping @Sendable (Result<OriginID, StoreError>) -> Void) in
            let present = present
            writer.startOrigin(change, known: known, end, evidence: evidence, remembering: values) { result in
                if case .success(let origin) = result { present.withLock { $0.origin = origin } }
                completion(result)
            }
        }
    }

    /// How many events of `origin` are durable here, if it is the one this node appends to; else 0. No peer has heard of more, unless
    /// this node has lost its memory.
    package func ownSize(of origin: OriginID) -> UInt64 { signer.size(of: origin) }

    /// The last stamp this node has given. More than ``HybridClock/bound`` beyond its clock, the clock is or was wrong.
    package var lastStamp: HybridTime? { signer.lastStamp }

    /// Origins that are proven to have two histories, by an event of each: what depends on the other one is let in.
    package var forkedOrigins: Set<OriginID> { forks.withLock { $0 } }

    /// Keeps a proof of a fork, durably; false if it is kept already or ``Evidence/capacity`` is reached. The proof must
    /// have been checked.
    package func keep(_ evidence: ForkEvidence) throws(StoreError) -> Bool {
        let isNew = try evidence.write(files)
        if evidence.namesEvent { forks.withLock { _ = $0.insert(evidence.origin) } }
        return isNew
    }

    // MARK: What others follow

    /// Looks whether the log's files, or the lock, are still those that are open; else the store has failed. It looks by itself once a
    /// second while events come, and at the end.
    package func look() { writer.look() }

    /// Calls `body` once, on any thread, when the store fails (``failure``); at once if it has.
    package func observeFailure(_ body: @escaping @Sendable (StoreError) -> Void) { writer.observeFailure(body) }

    /// How far the log has each origin, ascending by origin. Blocks for the writer.
    package func progressBlocking() throws(StoreError) -> [OriginProgress] {
        let sha = SHA256()
        return try snapshotBlocking().origins.filter { $0.size > 0 }.map { $0.progress(sha) }
            .sorted { $0.origin < $1.origin }
    }

    /// Where the log stands, as a notice of everything: all origins in the order in which the log met them. Blocks for the
    /// writer.
    package func standingBlocking() throws(StoreError) -> CommitNotice {
        let state = try snapshotBlocking()
        return CommitNotice(top: state.position, origins: state.origins.filter { $0.size > 0 })
    }

    /// Calls `body` on the writer's thread after each commit. It must be short.
    ///
    /// - Parameter written: Runs with the log's last position when a commit of few events is written, the disk has begun with it, and the
    ///   thread would call `afterwards`. What is done while the disk writes must not be seen before `sync`, which waits for it, has said
    ///   that it is durable. That need not run.
    /// - Parameter afterwards: Runs on the thread that has committed, when all is answered and others may commit again, if
    ///   that thread is idle (``CommitNotice/isFollowedUp``): what `body` would have woken a thread for.
    package func observeCommits(
        _ body: @escaping @Sendable (CommitNotice) -> Void,
        written: (@Sendable (UInt64, _ sync: () -> Bool) -> Void)? = nil,
        afterwards: (@Sendable () -> Void)? = nil
    ) -> Int { writer.observe(body, written: written, afterwards: afterwards) }

    package func removeObserver(_ token: Int) { writer.removeObserver(token) }

    /// Calls `body` on the writer's thread when a head is likely to be asked for as soon as the commit at hand is durable;
    /// ``signAhead()`` on another thread then signs it meanwhile. `nil` ends that.
    package func observeExpectedHeads(_ body: (@Sendable () -> Void)?) { signer.observeExpected(body) }

    package func signAhead() { signer.signAhead() }

    /// A signed head of everything this node has appended durably.
    package func head() -> SignedHead? { signer.head() }

    private func snapshotBlocking() throws(StoreError) -> LogState {
        try blocking { writer.snapshot($0) }
    }
}

/// Waits for a completion on the calling thread.
package func blocking<Value: Sendable>(
    _ start: (@escaping @Sendable (Result<Value, StoreError>) -> Void) -> Void
) throws(StoreError) -> Value {
    let answer = Monitor<Result<Value, StoreError>?>(nil)
    start { result in answer.wakeAll { $0 = result } }
    guard let result = answer.wait(for: { $0 }) else { throw .closed }
    return try result.get()
}
