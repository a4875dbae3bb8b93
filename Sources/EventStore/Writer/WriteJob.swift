extension LogWriter {
    typealias AppendResult = Result<[AppendOutcome], StoreError>
    typealias AppendCompletion = @Sendable (AppendResult) -> Void
    typealias Completion = @Sendable (Result<Void, StoreError>) -> Void
    typealias OriginCompletion = @Sendable (Result<OriginID, StoreError>) -> Void

    /// Pages of which nothing is to be left but their rows, and where it is told whether that is so.
    struct Scrub: Sendable {
        let pages: [Int64]
        let completion: @Sendable (Result<Bool, StoreError>) -> Void
    }

    /// What the writer is asked to do, and where the answer goes.
    enum Job: Sendable {
        case append(AppendRequest, AppendCompletion)
        case ingest(VerifiedBatch, Completion)
        case snapshot(@Sendable (Result<LogState, StoreError>) -> Void)
        /// Runs when everything queued before it is durable, its own heads included.
        case flush(Completion)
        /// Gives up the node's origin, of which `known` events are known to exist somewhere, for a new one.
        case startOrigin(OriginChange, known: UInt64, OriginEnd, evidence: String?, OriginCompletion)
        /// Changes values of table `meta`.
        case remember([String: String], Completion)
        /// Gives events back payloads that they have lost.
        case heal([CarriedPayload], @Sendable (Result<[Dot], StoreError>) -> Void)
        /// Looks through the log for erasures once more, and has them applied.
        case reviseErasures(Completion)
        /// Takes payloads away that this node's erasures cover; how far that is.
        case erase(ErasureSlice, @Sendable (Result<ErasureIndex.Progress, StoreError>) -> Void)

        var events: Int {
            switch self {
            case .append(let request, _): request.drafts.count
            case .ingest(let batch, _): batch.events.count
            case .snapshot, .flush, .startOrigin, .remember, .heal, .reviseErasures, .erase: 0
            }
        }

        /// Whether the queue's capacity applies: what peers send is bounded by the credit they were given.
        var isBounded: Bool { if case .ingest = self { false } else { true } }

        var isFlush: Bool { if case .flush = self { true } else { false } }

        func fail(_ error: StoreError) {
            switch self {
            case .append(_, let completion): completion(.failure(error))
            case .ingest(_, let completion), .flush(let completion), .remember(_, let completion),
                .reviseErasures(let completion):
                completion(.failure(error))
            case .startOrigin(_, _, _, _, let completion): completion(.failure(error))
            case .snapshot(let completion): completion(.failure(error))
            case .heal(_, let completion): completion(.failure(error))
            case .erase(_, let completion): completion(.failure(error))
            }
        }
    }
}
