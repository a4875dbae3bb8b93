package import EventStore

/// What a session asks of a store, apart from threads: the daemon's shell and the simulator's do the same work.
package enum StoreWork {
    /// Answers ``SessionEffect/read(_:_:)``.
    package static func read(
        _ request: ReadRequest, _ reader: OutgoingReader
    ) throws(StoreError) -> OutgoingFrame {
        let start: UInt64
        switch request.start {
        case .after(let position): start = position
        case .firstMissing: start = try reader.start(for: request.known, wanted: request.wanted)
        }
        let batch = try reader.batch(
            after: start, lacking: request.known, sound: request.sound, kind: request.kind,
            limits: OutgoingLimits(bytes: request.bytes, through: request.through))
        let message = Message.events(EventBatch(events: batch.events, coverage: batch.coverage))
        return OutgoingFrame(
            frame: batch.events.isEmpty ? nil : message.frame(compress: request.compress),
            events: batch.events.count, advanced: batch.advanced, through: batch.through, isAtTop: batch.isAtTop,
            isSound: batch.isSound)
    }

    /// The first half of ``SessionEffect/store(_:_:)``: what of the frame is to be stored.
    package static func verify(
        _ frame: Frame, _ verifier: IngestVerifier
    ) throws(SessionFailure) -> VerifiedBatch {
        let message: Message
        do { message = try Message(frame: frame) } catch { throw SessionFailure(error) }
        guard case .events(let batch) = message else { throw SessionFailure(.badFrame, "not an Events frame") }
        do throws(IngestError) {
            return try verifier.verify(batch.events, batch.coverage)
        } catch {
            throw SessionFailure(error, origins: batch.coverage.map(\.head.head.origin))
        }
    }

    /// What the session is told of a batch, once it is stored.
    package static func stored(_ batch: VerifiedBatch, newProofs: Set<String>) -> StoredFrame {
        let forks = batch.contradicted.map { IdentityReport.forked($0.origin, size: $0.seq) }
        let contradictions = batch.contradictions.filter { newProofs.contains($0.name) }
        let proofs = (batch.proven + contradictions).map {
            IdentityReport.proven($0, isNew: newProofs.contains($0.name))
        }
        return StoredFrame(
            events: batch.count, progress: batch.progress, carried: batch.carried, reports: forks + proofs,
            hasErased: batch.hasErased)
    }

    /// Answers ``SessionEffect/inspect(_:_:)``, but for proofs to check and payloads to store; of attachments it has none.
    ///
    /// - Parameters:
    ///   - ownHead: A head of all that this node has appended.
    ///   - evidence: The proofs of forks that the node keeps.
    package static func find(
        _ question: Inspection, _ log: LogReader, ownHead: () -> SignedHead?,
        evidence: () throws(StoreError) -> [ForkEvidence]
    ) throws(StoreError) -> Finding {
        switch question {
        case .roots(let dots):
            var entries: [VectorEntry] = []
            for dot in dots where try log.event(dot) != nil {
                let root = try log.root(of: dot.origin, size: dot.seq)
                entries.append(VectorEntry(origin: dot.origin, seq: dot.seq, root: root.prefix64))
            }
            return .roots(entries)
        case .branch(let dot): return .branch(try log.branch(at: dot, ownHead: ownHead()))
        case .head(let dot): return .head(try log.head(of: dot, ownHead: ownHead()))
        case .payloads(let dots, let bytes, let longest):
            return .payloads(try log.payloads(of: dots, bytes: bytes, longest: longest))
        case .attachment(let ask, _): return .attachment(AttachmentTold(lacking: ask))
        case .nextAttachment: return .nextAttachment(nil)
        case .prove, .heal, .evidence: return .evidence(try evidence().filter(\.namesEvent))
        }
    }

    /// Whether a proof waits until the origin that it speaks of is here.
    package static func mustWait(_ fork: Fork, _ log: LogReader) throws(StoreError) -> Bool {
        guard fork.branches.count == 2 else { return false }
        return try log.key(of: fork.origin) == nil
    }

    /// The evidence in a proof that ``mustWait(_:_:)``, kept, if the batch that brings the origin is verified and not stored yet: none may
    /// follow that would look at a claim. Else a claim remains.
    package static func claim(
        _ fork: Fork, _ verifier: IngestVerifier, keep: (ForkEvidence) throws(StoreError) -> Bool
    ) throws(StoreError) -> (ForkEvidence?, isNew: Bool) {
        guard let evidence = verifier.evidence(fork.dot, fork.branches[0], fork.branches[1]) else {
            verifier.claim(fork.dot, fork.branches[0], fork.branches[1])
            return (nil, false)
        }
        return (evidence, try keep(evidence))
    }

    /// The evidence in what a peer sent, kept; `nil` if it proves nothing, or of an origin that is not here.
    package static func prove(
        _ fork: Fork, _ log: LogReader, ownHead: () -> SignedHead?,
        keep: (ForkEvidence) throws(StoreError) -> Bool
    ) throws(StoreError) -> (ForkEvidence?, isNew: Bool) {
        guard let key = try log.key(of: fork.origin), let theirs = fork.branches.first else { return (nil, false) }
        var other = fork.branches.dropFirst().first
        if other == nil { other = try log.branch(at: fork.dot, ownHead: ownHead()) }
        guard let other, let evidence = ForkEvidence(fork.dot, theirs, other, key: key) else { return (nil, false) }
        return (evidence, try keep(evidence))
    }
}
