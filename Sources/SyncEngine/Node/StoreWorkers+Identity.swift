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

    /// Checks a proof, or keeps it until the origin's key is here.
    private static func prove(
        _ fork: Fork, _ verifier: inout IngestVerifier?, _ store: EventStore
    ) throws(SessionFailure) -> (ForkEvidence?, isNew: Bool) {
        let isKnown: Bool
        do { isKnown = try LogReader(store.files).key(of: fork.origin) != nil } catch {
            throw SessionFailure(IngestError.store(error))
        }
        if fork.branches.count == 2, !isKnown {
            try current(&verifier, store).claim(fork.dot, fork.branches[0], fork.branches[1])
            return (nil, false)
        }
        let proof: (ForkEvidence?, isNew: Bool)
        do { proof = try prove(fork, store) } catch { throw SessionFailure(IngestError.store(error)) }
        if proof.isNew { verifier = nil }
        return proof
    }

    private static func find(_ question: Inspection, _ store: EventStore) throws(StoreError) -> Finding {
        let log = try LogReader(store.files)
        switch question {
        case .roots(let dots):
            var entries: [VectorEntry] = []
            for dot in dots where try log.event(dot) != nil {
                let root = try log.root(of: dot.origin, size: dot.seq)
                entries.append(VectorEntry(origin: dot.origin, seq: dot.seq, root: root.prefix64))
            }
            return .roots(entries)
        case .branch(let dot): return .branch(try log.branch(at: dot, ownHead: store.head()))
        case .head(let dot): return .head(try log.head(of: dot, ownHead: store.head()))
        case .payloads(let dots, let bytes, let longest):
            return .payloads(try log.payloads(of: dots, bytes: bytes, longest: longest))
        case .prove, .heal, .evidence: return .evidence(try ForkEvidence.list(store.files))
        }
    }

    /// The evidence in what a peer sent, kept; `nil` if it proves nothing, or of an origin that is not here.
    private static func prove(_ fork: Fork, _ store: EventStore) throws(StoreError) -> (ForkEvidence?, isNew: Bool) {
        let log = try LogReader(store.files)
        guard let key = try log.key(of: fork.origin), let theirs = fork.branches.first else { return (nil, false) }
        var other = fork.branches.dropFirst().first
        if other == nil { other = try log.branch(at: fork.dot, ownHead: store.head()) }
        guard let other, let evidence = ForkEvidence(fork.dot, theirs, other, key: key) else { return (nil, false) }
        return (evidence, try store.keep(evidence))
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
