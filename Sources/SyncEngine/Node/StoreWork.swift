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
        let proofs = batch.proven.map { IdentityReport.proven($0, isNew: newProofs.contains($0.name)) }
        return StoredFrame(
            events: batch.count, progress: batch.progress, carried: batch.carried, reports: forks + proofs,
            hasErased: batch.hasErased)
    }
}
