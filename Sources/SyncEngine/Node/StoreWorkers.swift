internal import EventStore

/// Does for the sessions what needs the store: reads events for peers and encodes them, decodes what peers sent, verifies
/// and stores it. But for what comes alone nothing of that runs on the event loop.
///
/// ## Concurrency model
/// Two threads, one that reads and one that verifies, and one that signs once a peer follows live; the writer's thread stores,
/// or the one that verifies where nothing else waits. What comes alone may be verified and stored by the loop's thread.
/// Completions run on any of them.
final class StoreWorkers: Sendable {
    let store: EventStore
    let readers: SerialWorker<Result<OutgoingReader, StoreError>>
    let verifiers: SerialWorker<IngestVerifier?>
    private let signing = Lock(LazyWorker("peer-sign"))
    private let looking = Lock(LazyWorker("peer-heal"))
    private let fetching = Lock(LazyWorker("peer-blobs"))
    let attachments: AttachmentDesk
    /// Frames of more events are stored by the writer's thread, while the next is verified.
    private static let few = 16
    /// Frames with longer bodies take long to verify, and are not for the loop.
    private static let short = 4 << 10

    init(
        store: EventStore, attachments options: AttachmentOptions = AttachmentOptions(),
        log: @escaping @Sendable (NodeRemark) -> Void = { _ in }
    ) {
        self.store = store
        attachments = AttachmentDesk(store, options, log)
        readers = SerialWorker(name: "peer-read") {
            do throws(StoreError) { return .success(try OutgoingReader(store)) } catch { return .failure(error) }
        }
        verifiers = SerialWorker(name: "peer-verify") { nil }
    }

    /// A signed head of what this node has appended.
    var ownHead: @Sendable () -> SignedHead? {
        { [store] in store.head() }
    }

    func stop() {
        readers.stop()
        verifiers.stop()
        signing.withLock { $0.end() }?.stop()
        looking.withLock { $0.end() }?.stop()
        fetching.withLock { $0.end() }?.stop()
    }

    /// Signs what is being committed, while that is synced.
    func signAhead() {
        _ = signing.withLock { $0.start() }?.submit { [store] _ in store.signAhead() }
    }

    /// Events without payloads that nothing has erased, the first ones; none where the log cannot be read. Reads all of the log.
    func missingPayloads(most: Int, completion: @escaping @Sendable ([Dot]) -> Void) {
        _ = looking.withLock { $0.start() }?.submit { [store] _ in
            let dots = try? LogReader(store.files).uncoveredErasures(limit: most)
            completion(dots ?? [])
        }
    }

    /// Reads and keeps bytes of attachments: on a thread of its own, for nothing waits for them.
    func fetch(_ job: @escaping @Sendable (AttachmentDesk) -> Void) {
        _ = fetching.withLock { $0.start() }?.submit { [attachments] _ in job(attachments) }
    }

    /// A thread that is not there before it is needed.
    private struct LazyWorker {
        private let name: String
        private var worker: SerialWorker<Void>?
        private var isOver = false

        init(_ name: String) { self.name = name }

        mutating func start() -> SerialWorker<Void>? {
            if worker == nil, !isOver { worker = SerialWorker(name: name) {} }
            return worker
        }

        mutating func end() -> SerialWorker<Void>? {
            isOver = true
            return worker.take()
        }
    }

    func read(
        _ request: ReadRequest, completion: @escaping @Sendable (Result<OutgoingFrame, SessionFailure>) -> Void
    ) {
        readers.submit { reader in
            do throws(StoreError) {
                completion(.success(try StoreWork.read(request, try reader.get())))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }

    func store(
        _ frame: Frame, completion: @escaping @Sendable (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        verifiers.submit { [store, verifiers] verifier in
            Self.store(frame, &verifier, store, isAlone: { !verifiers.hasMore }, completion)
        }
    }

    /// As ``store(_:completion:)``, on the calling thread and until it is durable, if no other frame is being stored. Returns
    /// false if one is, or if this one may hold much.
    func storeLeading(
        _ frame: Frame, completion: @escaping @Sendable (Result<StoredFrame, SessionFailure>) -> Void
    ) -> Bool {
        guard frame.body.count <= Self.short, frame.flags & Frame.compressed == 0 else { return false }
        return verifiers.lead { verifier in
            // To make a verifier takes the writer's thread and the file.
            guard let current = verifier, !current.lineage.isBroken else { return false }
            Self.store(frame, &verifier, store, isAlone: { true }, completion)
            return true
        } ?? false
    }

    private static func store(
        _ frame: Frame, _ verifier: inout IngestVerifier?, _ store: EventStore, isAlone: () -> Bool,
        _ completion: @escaping @Sendable (Result<StoredFrame, SessionFailure>) -> Void
    ) {
        do throws(SessionFailure) {
            // The writer refused a batch: the verifier ran ahead of what is stored.
            if let current = verifier, current.lineage.isBroken { verifier = nil }
            let batch = try StoreWork.verify(frame, try current(&verifier, store))
            let stored = StoreWork.stored(batch, newProofs: try keep(batch.proven + batch.contradictions, store))
            let answer: @Sendable (Result<Void, StoreError>) -> Void = { result in
                if case .failure(let error) = result {
                    completion(.failure(SessionFailure(IngestError.store(error))))
                } else {
                    completion(.success(stored))
                }
            }
            // What comes alone is stored by this thread: to wake the writer's would take longer.
            store.ingest(batch, leading: batch.count <= few && isAlone(), completion: answer)
        } catch {
            completion(.failure(error))
        }
    }

    /// Keeps proofs; returns the names of those that were not here before.
    private static func keep(
        _ proofs: [ForkEvidence], _ store: EventStore
    ) throws(SessionFailure) -> Set<String> {
        var new: Set<String> = []
        do throws(StoreError) {
            for evidence in proofs where try store.keep(evidence) { new.insert(evidence.name) }
        } catch {
            throw SessionFailure(IngestError.store(error))
        }
        return new
    }

    static func current(
        _ verifier: inout IngestVerifier?, _ store: EventStore
    ) throws(SessionFailure) -> IngestVerifier {
        if let verifier { return verifier }
        do throws(StoreError) {
            let made = try store.makeVerifierBlocking()
            verifier = made
            return made
        } catch {
            throw SessionFailure(IngestError.store(error))
        }
    }
}
