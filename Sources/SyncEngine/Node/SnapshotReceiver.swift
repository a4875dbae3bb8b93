internal import EventStore

/// Receives a snapshot for an empty store, one at a time.
///
/// ## Concurrency model
/// ``store(_:completion:)`` runs on the loop in the order of the frames and does not block; what blocks is done on the
/// intake's own thread; completions come on the builder's threads or on that one.
final class SnapshotReceiver: Sendable {
    typealias OpenCompletion = @Sendable (Result<UInt64, SessionFailure>) -> Void
    typealias StoreCompletion = @Sendable (Result<SnapshotStored, SessionFailure>) -> Void

    /// Pieces of the spool on their way through the builder.
    private static let ahead = 8

    private struct Reception {
        let builder: SnapshotBuilder
        let spool: SpoolBox
        var rules: SnapshotReception
    }

    private enum State {
        case idle
        case opening
        case receiving(Reception)
        case proving
        case complete
    }

    /// Carries the spool, which one thread uses at a time.
    ///
    /// `@unchecked Sendable`: filled by the intake's thread before the first frame, then appended to in the builder's turns.
    private final class SpoolBox: @unchecked Sendable {
        let spool: SnapshotSpool
        init(_ spool: SnapshotSpool) { self.spool = spool }
    }

    private let eventStore: EventStore
    private let minFree: UInt64
    private let threads: Int
    private let log: @Sendable (NodeRemark) -> Void
    private let worker: SerialWorker<Void>
    private let state = Lock(State.idle)

    init(store: EventStore, minFree: UInt64, threads: Int, log: @escaping @Sendable (NodeRemark) -> Void) {
        eventStore = store
        self.minFree = minFree
        self.threads = threads
        self.log = log
        worker = SerialWorker(name: "snapshot") {}
    }

    /// Calls off what is under way and ends the thread.
    func stop() {
        drop(keepSpool: true)
        worker.stop()
    }

    // MARK: Opening

    /// Gets ready for what `sender` offers, or says why not. The answer is the position up to which its rows are here.
    func open(_ offer: SnapshotOffer, of sender: SnapshotSender, completion: @escaping OpenCompletion) {
        worker.submit { [self] _ in
            // Here, behind what was queued: a reception that is being dropped is gone by now.
            let isFree = state.withLock { state in
                guard case .idle = state else { return false }
                state = .opening
                return true
            }
            guard isFree else {
                return completion(.failure(SessionFailure(SnapshotError.busy("another snapshot is being received"))))
            }
            do throws(SnapshotError) {
                try check(offer, sender)
                try eventStore.beginSnapshotHold(SnapshotArbiter.reason)
                do throws(SnapshotError) {
                    let (reception, last) = try begin(offer, sender)
                    let isWanted = state.withLock { state in
                        guard case .opening = state else { return false }
                        state = .receiving(reception)
                        return true
                    }
                    guard isWanted else {
                        reception.builder.cancel()
                        throw .busy("it was called off")
                    }
                    completion(.success(last))
                } catch {
                    eventStore.endSnapshotHold()
                    throw error
                }
            } catch {
                state.withLock { $0 = .idle }
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    private func check(_ offer: SnapshotOffer, _ sender: SnapshotSender) throws(SnapshotError) {
        try SnapshotReception.check(offer, of: sender, cluster: eventStore.identity.cluster)
        let free = SnapshotSpool.freeBytes(eventStore.files)
        // The log, and its pieces in the spool, which need not be compressed.
        let (both, isLarge) = offer.bytes.multipliedReportingOverflow(by: 2)
        let (needed, isOver) = both.addingReportingOverflow(minFree)
        guard !isLarge, !isOver, free > needed else {
            throw .noSpace("the snapshot needs \(needed >> 20) MiB of disk, \(free >> 20) MiB are free")
        }
    }

    /// Begins a log, and brings it to where it was when the last attempt ended.
    private func begin(
        _ offer: SnapshotOffer, _ sender: SnapshotSender
    ) throws(SnapshotError) -> (Reception, last: UInt64) {
        let spool: SnapshotSpool
        do { spool = try SnapshotSpool(eventStore.files, of: sender) } catch { throw .store(error) }
        let box = SpoolBox(spool)
        let builder = try makeBuilder()
        do throws(SnapshotError) {
            let last = try replay(spool, into: builder)
            let rules: SnapshotReception
            do throws(SnapshotError) { rules = try SnapshotReception(offer, resuming: last) } catch {
                SnapshotSpool.remove(eventStore.files)
                throw error
            }
            return (Reception(builder: builder, spool: box, rules: rules), last)
        } catch {
            builder.cancel()
            if case .stale = error { throw error }
            log("snapshot: what an earlier attempt left cannot be used (\(error)); from the beginning")
            do { try spool.restart() } catch { throw .store(error) }
            let rules = try SnapshotReception(offer, resuming: 0)
            return (Reception(builder: try makeBuilder(), spool: box, rules: rules), 0)
        }
    }

    private func makeBuilder() throws(SnapshotError) -> SnapshotBuilder {
        try SnapshotBuilder(eventStore.files, own: eventStore.identity.origin, threads: threads)
    }

    private func replay(_ spool: SnapshotSpool, into builder: SnapshotBuilder) throws(SnapshotError) -> UInt64 {
        struct Progress {
            var sent = 0
            var done = 0
            var last = UInt64(0)
            var failure: SnapshotError?
        }
        let progress = Monitor(Progress())
        func wait(until count: Int) throws(SnapshotError) {
            let failure = progress.wait { progress -> SnapshotError?? in
                if let failure = progress.failure { return .some(.some(failure)) }
                return progress.sent - progress.done <= count ? .some(nil) : nil
            }
            if let failure = failure ?? nil { throw failure }
        }
        while true {
            let piece: SnapshotSpool.Piece?
            do { piece = try spool.next() } catch { throw .store(error) }
            guard let piece else { break }
            progress.withLock { $0.sent += 1 }
            let frame = Frame(piece)
            builder.add({ () throws(SnapshotError) in try SnapshotReception.rows(in: frame) }) { result in
                progress.wakeAll { progress in
                    progress.done += 1
                    switch result {
                    case .success(let last): progress.last = last
                    case .failure(let error): progress.failure = progress.failure ?? error
                    }
                }
            }
            try wait(until: Self.ahead)
        }
        try wait(until: 0)
        return progress.withLock { $0.last }
    }

    // MARK: Receiving

    func store(_ frame: Frame, completion: @escaping StoreCompletion) {
        guard case .receiving(let reception) = state.withLock({ $0 }) else {
            return completion(.failure(SessionFailure(SnapshotError.busy("it was called off"))))
        }
        guard frame.type == MessageType.snapshotRows.rawValue else { return storeProof(frame, completion) }
        let (builder, rules) = (reception.builder, reception.rules)
        let source = { @Sendable () throws(SnapshotError) -> SnapshotRows in
            let rows = try SnapshotReception.rows(in: frame)
            try rules.placed(through: rows.last)
            return rows
        }
        builder.add(source) { result in
            switch result {
            case .failure(let error): completion(.failure(SessionFailure(error)))
            case .success(let last):
                do throws(StoreError) {
                    try reception.spool.spool.append(SnapshotSpool.Piece(frame))
                } catch {
                    // Of what is refused nothing may be put in place: the builder answers this piece, too.
                    return builder.fail(.store(error))
                }
                completion(.success(.rows(last: last)))
            }
        }
    }

    private func storeProof(_ frame: Frame, _ completion: @escaping StoreCompletion) {
        worker.submit { [self] _ in
            guard case .receiving(var reception) = state.withLock({ $0 }) else {
                return completion(.failure(SessionFailure(SnapshotError.busy("it was called off"))))
            }
            do throws(SnapshotError) {
                let coverage = try reception.rules.take(proof: frame)
                let changed = reception
                let isWanted = state.withLock { state in
                    guard case .receiving = state else { return false }
                    state = coverage == nil ? .receiving(changed) : .proving
                    return true
                }
                guard isWanted else { throw .busy("it was called off") }
                guard let coverage else { return completion(.success(.proof)) }
                do throws(SnapshotError) {
                    try reception.builder.finishBlocking(
                        coverage, expecting: SnapshotPlan(reception.rules.offer).progress)
                    try reception.builder.requireFit()
                } catch {
                    state.withLock { $0 = .receiving(changed) }
                    throw error
                }
                state.withLock { $0 = .complete }
                completion(.success(.complete))
            } catch {
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    /// Throws away what is being built; the store goes on without, at once, unless the whole is being proved: then only if
    /// that fails. What was received stays for another attempt if `keepSpool` says so.
    func drop(keepSpool: Bool) {
        let dropped = takeReception()
        if dropped != nil { eventStore.endSnapshotHold() }
        worker.submit { [self] _ in
            // It was just being opened, or was being proved in vain.
            let left = dropped == nil ? takeReception() : nil
            if left != nil { eventStore.endSnapshotHold() }
            guard let reception = dropped ?? left else { return }
            reception.builder.cancel()
            if !keepSpool { SnapshotSpool.remove(eventStore.files) }
        }
    }

    private func takeReception() -> Reception? {
        state.withLock { state in
            guard case .receiving(let reception) = state else { return nil }
            state = .idle
            return reception
        }
    }
}

extension SnapshotSpool.Piece {
    fileprivate init(_ frame: Frame) {
        self.init(tag: UInt16(frame.type) << 8 | UInt16(frame.flags), bytes: frame.body)
    }
}

extension Frame {
    fileprivate init(_ piece: SnapshotSpool.Piece) {
        self.init(
            type: UInt8(piece.tag >> 8), flags: UInt8(truncatingIfNeeded: piece.tag), body: piece.bytes)
    }
}
