internal import EventStore

/// Does for the sessions what needs the store: reads events for peers and encodes them, decodes what peers sent, verifies
/// and stores it. Nothing of that runs on the event loop.
///
/// ## Concurrency model
/// Two threads, one that reads and one that verifies; the writer's thread stores. Completions are called on any of
/// them.
final class StoreWorkers: Sendable {
    private let store: EventStore
    private let readers: Worker<Result<OutgoingReader, StoreError>>
    private let verifiers: Worker<IngestVerifier?>
    /// Set when the writer refused a batch: the verifier ran ahead of what is stored and must be made anew.
    private let isOutOfStep = Lock(false)

    init(store: EventStore) {
        self.store = store
        readers = Worker(name: "peer-read") {
            do throws(StoreError) { return .success(try OutgoingReader(store)) } catch { return .failure(error) }
        }
        verifiers = Worker(name: "peer-verify") { nil }
    }

    /// A signed head of what this node has appended.
    var ownHead: @Sendable () -> SignedHead? {
        { [store] in store.head() }
    }

    func stop() {
        readers.stop()
        verifiers.stop()
    }

    func read(
        _ request: ReadRequest, completion: @escaping @Sendable (Result<OutgoingFrame, SessionFailure>) -> Void
    ) {
        readers.submit { reader in
            do throws(StoreError) {
                completion(.success(try Self.read(request, try reader.get())))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }

    private static func read(
        _ request: ReadRequest, _ reader: OutgoingReader
    ) throws(StoreError) -> OutgoingFrame {
        let start: UInt64
        switch request.start {
        case .after(let position): start = position
        case .firstMissing: start = try reader.start(for: request.known)
        }
        let batch = try reader.batch(
            after: start, lacking: request.known, limits: OutgoingLimits(bytes: request.bytes))
        let message = Message.events(EventBatch(events: batch.events, coverage: batch.coverage))
        return OutgoingFrame(
            frame: batch.events.isEmpty ? nil : message.frame(compress: request.compress),
            events: batch.events.count, advanced: batch.advanced, through: batch.through, isAtTop: batch.isAtTop)
    }

    func store(
        _ frame: Frame, completion: @escaping @Sendable (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        verifiers.submit { [store, isOutOfStep] verifier in
            do throws(SessionFailure) {
                if isOutOfStep.withLock({ $0 }) { verifier = nil }
                let batch = try Self.verify(frame, &verifier, store)
                isOutOfStep.withLock { $0 = false }
                let stored = StoredFrame(events: batch.count, progress: batch.progress)
                store.ingest(batch) { result in
                    if case .failure(let error) = result {
                        isOutOfStep.withLock { $0 = true }
                        completion(.failure(SessionFailure(IngestError.store(error))))
                    } else {
                        completion(.success(stored))
                    }
                }
            } catch {
                completion(.failure(error))
            }
        }
    }

    private static func verify(
        _ frame: Frame, _ verifier: inout IngestVerifier?, _ store: EventStore
    ) throws(SessionFailure) -> VerifiedBatch {
        let message: Message
        do { message = try Message(frame: frame) } catch { throw SessionFailure(error) }
        guard case .events(let batch) = message else { throw SessionFailure(.badFrame, "not an Events frame") }
        do throws(IngestError) {
            let current: IngestVerifier
            if let verifier {
                current = verifier
            } else {
                do { current = try store.makeVerifierBlocking() } catch { throw .store(error) }
                verifier = current
            }
            return try current.verify(batch.events, batch.coverage)
        } catch {
            throw SessionFailure(error)
        }
    }
}
