internal import EventStore
internal import SyncEngine

// Lost memory and forks in the simulated shell: what answers ``Inspection``.

extension SimStore {
    /// In the order of the daemon's threads: proofs where events are verified, the rest where they are read.
    func inspect(_ question: Inspection, completion: @escaping (Result<Finding, SessionFailure>) -> Void) {
        let isProof = if case .prove = question { true } else { false }
        node.schedule(at: turn(isVerifier: isProof)) { [self] in
            do throws(StoreError) {
                if case .prove(let fork) = question { return try prove(fork, completion) }
                completion(.success(try find(question)))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }

    private func find(_ question: Inspection) throws(StoreError) -> Finding {
        switch question {
        // Simulated logs lose no payloads, and no node asks for them.
        case .payloads: .payloads([])
        case .heal: .healed([])
        // Nor have they attachments.
        case .attachment(let ask, _): .attachment(AttachmentTold(lacking: ask))
        case .nextAttachment: .nextAttachment(nil)
        default: try StoreWork.find(question, try logReader(), ownHead: head) { node.evidence }
        }
    }

    private func prove(
        _ fork: Fork, _ completion: @escaping (Result<Finding, SessionFailure>) -> Void
    ) throws(StoreError) {
        let log = try logReader()
        guard try !StoreWork.mustWait(fork, log) else {
            return withVerifier { [self] verifier in
                do throws(StoreError) {
                    told(try StoreWork.claim(fork, verifier) { keep($0) }, completion)
                } catch {
                    completion(.failure(SessionFailure(.storeError, error.description)))
                }
            }
        }
        told(try StoreWork.prove(fork, log, ownHead: head) { keep($0) }, completion)
    }

    private func told(
        _ proof: (ForkEvidence?, isNew: Bool), _ completion: @escaping (Result<Finding, SessionFailure>) -> Void
    ) {
        if proof.isNew { renewVerifier() }
        completion(.success(.proof(proof.0, isNew: proof.isNew)))
    }
}
