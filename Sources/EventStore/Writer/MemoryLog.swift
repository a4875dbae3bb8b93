/// A log in memory, with its writer and its reader on the calling thread: the transactions, rows, trees and heads of a store without
/// its files, WAL and threads. The simulator keeps the logs of its nodes so, and copies their bytes as one copies a file.
package final class MemoryLog {
    /// What one transaction may be asked for, together with others.
    package enum Work: Sendable {
        /// Each draft stands for itself.
        case append([EventDraft])
        /// Events of types that are reserved for the node itself.
        case record([EventDraft])
        case ingest(VerifiedBatch)
        case startOrigin(OriginChange, known: UInt64)
        /// The heads that are signed are stored.
        case flush

        /// How many events it may store.
        package var events: Int {
            switch self {
            case .append(let drafts), .record(let drafts): drafts.count
            case .ingest(let batch): batch.count
            case .startOrigin, .flush: 0
            }
        }
    }

    /// What came of it.
    package enum Answer: Sendable {
        case appended([AppendOutcome])
        case stored
        case started(OriginID)
    }

    package typealias Refusal = LogTransactions.Failure

    private let connection: Connection
    private let transactions: LogTransactions
    private let signer: HeadSigner
    private let clock: Lock<Int64>
    private let salts: Lock<RandomSource>
    /// Reads what was committed.
    package let reader: LogReader

    /// The bytes of a log without any rows.
    private static let empty = Result { () throws(DatabaseError) in
        let connection = try Connection(image: [])
        try Schema.create(on: connection)
        return connection.image
    }

    /// The bytes of a new log: an origin of this node and its first event.
    ///
    /// - Parameter seed: What ids and salts follow from.
    package static func make(
        key: SigningKey, name: String, cluster: String, wall: Int64, seed: UInt64
    ) throws(StoreError) -> [UInt8] {
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(image: try empty.get())
            try StoreIdentity.writeIdentity(
                key: key, name: name, cluster: cluster, on: connection, wall: { wall },
                random: RandomSource(seed: seed))
            return connection.image
        }
    }

    /// A reader of a log that no node has open.
    package static func reader(of image: [UInt8]) throws(StoreError) -> LogReader {
        LogReader(try mapped { () throws(DatabaseError) in try Connection(image: image) })
    }

    /// Opens the log whose bytes these are, as a store does after its files were found to be its own.
    package init(_ image: [UInt8], key: SigningKey, wall: Int64, seed: UInt64) throws(StoreError) {
        let clock = Lock(wall)
        self.clock = clock
        salts = Lock(RandomSource(seed: ~seed))
        signer = HeadSigner(key: key)
        connection = try mapped { () throws(DatabaseError) in try Connection(image: image) }
        reader = LogReader(connection)
        try Schema.check(connection)
        transactions = try LogTransactions(
            on: connection, signer: signer, wall: { clock.withLock { $0 } }, random: RandomSource(seed: seed))
        // From now on commits tell of their events.
        _ = transactions.takeCommitted(isFollowed: true)
    }

    /// The bytes of the file.
    package var image: [UInt8] { connection.image }
    package var own: OriginID? { transactions.state.own.map { transactions.state.origins[$0].id } }
    /// A signed head of everything appended.
    package func head() -> SignedHead? { signer.head() }
    /// Whether heads are signed that are not stored.
    package var hasUnstoredHeads: Bool { signer.hasUnstored }
    /// How many events of `origin` are committed, if it is the one this node appends to; else 0.
    package func ownSize(of origin: OriginID) -> UInt64 { signer.size(of: origin) }

    /// Where the log stands, as a notice of everything.
    package var standing: CommitNotice {
        CommitNotice(top: transactions.state.position, origins: transactions.state.origins.filter { $0.size > 0 })
    }

    /// A verifier that knows what is stored now.
    package func makeVerifier(forked: Set<OriginID>) throws(StoreError) -> IngestVerifier {
        let state = transactions.state
        guard let own = state.own.map({ state.origins[$0].id }) else { throw .corrupt("the store has no origin") }
        return IngestVerifier(state: state, own: own, forked: forked, reaches: try reader.reaches()) { [signer] in
            signer.size(of: own)
        }
    }

    // MARK: Writing

    /// Commits all of it or nothing, at this time of the node's clock. What is committed is durable when the caller says so.
    package func commit(
        _ work: [Work], wall: Int64
    ) -> Result<(answers: [Answer], notice: CommitNotice?), Refusal> {
        clock.withLock { $0 = wall }
        let slots = Lock([Answer?](repeating: nil, count: work.count))
        let jobs = work.enumerated().map { index, work in
            job(work) { answer in slots.withLock { $0[index] = answer } }
        }
        switch transactions.commit(jobs) {
        case .success(let answers):
            for answer in answers { answer() }
            let (own, notice) = transactions.takeCommitted(isFollowed: true)
            if let own { signer.committed(own) }
            return .success((slots.withLock { $0 }.compactMap { $0 }, notice))
        case .failure(let failure):
            for case .ingest(let batch) in work { batch.lineage.breakOff() }
            return .failure(failure)
        }
    }

    private func job(_ work: Work, _ answer: @escaping @Sendable (Answer) -> Void) -> LogWriter.Job {
        switch work {
        case .append(let drafts): return append(DraftValidation(drafts, .each, salts), answer)
        case .record(let drafts): return append(DraftValidation(drafts, .each, isOfNode: true, salts), answer)
        case .ingest(let batch): return .ingest(batch) { _ in answer(.stored) }
        case .flush: return .flush { _ in answer(.stored) }
        case .startOrigin(let change, let known):
            return .startOrigin(change, known: known, change.end, evidence: nil) { result in
                if case .success(let origin) = result { answer(.started(origin)) }
            }
        }
    }

    private func append(_ validation: DraftValidation, _ answer: @escaping @Sendable (Answer) -> Void)
        -> LogWriter.Job
    {
        let request = validation.request(nil) ?? AppendRequest(atomicity: .each)
        return .append(request) { result in
            if case .success(let outcomes) = result { answer(.appended(validation.outcomes(outcomes))) }
        }
    }

    // MARK: What goes wrong

    /// From now on the disk refuses an event that is put at this position; `nil` ends that.
    package func refuse(_ refusal: DiskRefusal, at position: UInt64?) throws(StoreError) {
        try mapped { () throws(DatabaseError) in try connection.refuse(refusal, at: position) }
    }

    /// The next own event does not say what had been applied: a planted defect.
    package func forgetDependencies() { transactions.forgetDependencies() }

    /// Changes what stands in the file, without the writer's knowledge.
    package func tamper(_ sql: String) throws(StoreError) {
        try mapped { () throws(DatabaseError) in try connection.execute(sql) }
    }

    /// The bytes of a log in which that was done.
    package static func tamper(_ image: [UInt8], _ sql: String) throws(StoreError) -> [UInt8] {
        try mapped { () throws(DatabaseError) in
            let connection = try Connection(image: image)
            try connection.execute(sql)
            return connection.image
        }
    }
}

extension VerifiedBatch {
    /// Events that were proved otherwise, or are taken without proof: each with its leaf.
    package init(unproved events: [(event: Event, leaf: Digest)], heads: [SignedHead], reaches: [PendingCoverage]) {
        self.init()
        self.events = events.map { event, leaf in
            VerifiedEvent(event: event, leaf: leaf, start: event.header.dot.seq == 1 ? OriginStart(event) : nil)
        }
        self.heads = heads
        self.reaches = reaches
    }

    /// Without its last event, as if that had been stored: a defect that the simulator plants.
    package var withoutLast: VerifiedBatch {
        var batch = self
        batch.events.removeLast()
        batch.progress = []
        return batch
    }
}
