internal import EventStore

// What sessions ask about histories, and what the node does about its own.
extension StoreWorkers {
    /// Answers ``SessionEffect/inspect(_:_:)``. Proofs are checked where events are verified, in the same order, so that
    /// events which came after a proof are looked at with it.
    func inspect(
        _ question: Inspection, completion: @escaping @Sendable (Result<Finding, SessionFailure>) -> Void
    ) {
        let store = store
        if case .heal(let payloads) = question {
            return store.heal(payloads) { result in
                completion(
                    result.map(Finding.healed).mapError { SessionFailure(IngestError.store($0)) })
            }
        }
        if case .attachment(let ask, let most) = question {
            return fetch { completion(.success(.attachment($0.piece(ask, most: most)))) }
        }
        if case .nextAttachment(let node, let told) = question {
            return fetch { completion(.success(.nextAttachment($0.next(node, told)))) }
        }
        guard case .prove(let fork) = question else {
            readers.submit { _ in
                do throws(StoreError) {
                    completion(.success(try Self.find(question, store)))
                } catch {
                    completion(.failure(SessionFailure(.storeError, error.description)))
                }
            }
            return
        }
        verifiers.submit { verifier in
            do throws(SessionFailure) {
                let (evidence, isNew) = try Self.prove(fork, &verifier, store)
                completion(.success(.proof(evidence, isNew: isNew)))
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// Checks a proof, or claims what it says until the origin's key is here.
    private static func prove(
        _ fork: Fork, _ verifier: inout IngestVerifier?, _ store: EventStore
    ) throws(SessionFailure) -> (ForkEvidence?, isNew: Bool) {
        let known = try current(&verifier, store)
        let proof: (ForkEvidence?, isNew: Bool)
        do {
            let log = try LogReader(store.files)
            if try StoreWork.mustWait(fork, log) {
                proof = try StoreWork.claim(fork, known, keep: store.keep)
            } else {
                proof = try StoreWork.prove(fork, log, ownHead: store.head, keep: store.keep)
            }
        } catch {
            throw SessionFailure(IngestError.store(error))
        }
        if proof.isNew { verifier = nil }
        return proof
    }

    private static func find(_ question: Inspection, _ store: EventStore) throws(StoreError) -> Finding {
        try StoreWork.find(question, try LogReader(store.files), ownHead: store.head) { () throws(StoreError) in
            try ForkEvidence.list(store.files)
        }
    }

    /// Gives up `origin`, if the node still appends to it, for a new one. Events of it that arrive later find it given up.
    func startOrigin(
        insteadOf origin: OriginID, _ change: OriginChange, known: UInt64,
        completion: @escaping @Sendable (Result<OriginID, StoreError>) -> Void
    ) {
        let store = store
        verifiers.submit { verifier in
            guard store.identity.origin == origin else { return }
            verifier = nil
            do throws(StoreError) {
                completion(.success(try store.startOriginBlocking(change, known: known)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
