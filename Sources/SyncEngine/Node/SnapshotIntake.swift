internal import EventStore

/// Receives a snapshot for an empty store, one at a time.
///
/// ## Concurrency model
/// ``store(_:completion:)`` is called by the loop in the order of the frames and does not block; what blocks is done on the
/// intake's own thread; completions come on the builder's threads or on that one.
final class SnapshotIntake: Sendable {
    typealias OpenCompletion = @Sendable (Result<UInt64, SessionFailure>) -> Void
    typealias StoreCompletion = @Sendable (Result<SnapshotStored, SessionFailure>) -> Void

    /// Pieces of the spool on their way through the builder.
    private static let ahead = 8

    private struct Reception {
        let builder: SnapshotBuilder
        let spool: SpoolBox
        let offer: SnapshotOffer
        var coverage: [Coverage] = []
    }

    private enum State {
        case idle
        case opening
        case receiving(Reception)
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
    private let log: @Sendable (String) -> Void
    private let worker: Worker<Void>
    private let state = Lock(State.idle)

    init(store: EventStore, minFree: UInt64, threads: Int, log: @escaping @Sendable (String) -> Void) {
        eventStore = store
        self.minFree = minFree
        self.threads = threads
        self.log = log
        worker = Worker(name: "snapshot") {}
    }

    /// Calls off what is under way and ends the thread.
    func stop() {
        drop(keepSpool: true)
        worker.stop()
    }

    // MARK: Opening

    /// Gets ready for what `sender` offers, or says why not. The answer is the position up to which its rows are here.
    func open(_ offer: SnapshotOffer, of sender: SnapshotSender, completion: @escaping OpenCompletion) {
        let isFree = state.withLock { state in
            guard case .idle = state else { return false }
            state = .opening
            return true
        }
        guard isFree else {
            return completion(.failure(SessionFailure(SnapshotError.busy("another snapshot is being received"))))
        }
        worker.submit { [self] _ in
            do throws(SnapshotError) {
                try check(offer, sender)
                try eventStore.beginSnapshotHold("this node is receiving its first copy of the log")
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
        guard sender.cluster == eventStore.identity.cluster else {
            throw .foreign("it is of cluster '\(sender.cluster)'")
        }
        let plan = SnapshotPlan(offer)
        guard offer.id == plan.id(node: sender.node, incarnation: sender.incarnation), offer.events == plan.events,
            offer.events == offer.through
        else { throw .foreign("its name is not that of what node \(sender.node.short) offers") }
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
        var builder = try makeBuilder()
        var last = UInt64(0)
        do throws(SnapshotError) {
            last = try replay(spool, into: builder)
            if last > offer.through {
                SnapshotSpool.remove(eventStore.files)
                throw .stale("it ends at \(offer.through), the sender's rows up to \(last) are here already")
            }
        } catch {
            builder.cancel()
            if case .stale = error { throw error }
            log("snapshot: what an earlier attempt left cannot be used (\(error)); from the beginning")
            do { try spool.restart() } catch { throw .store(error) }
            builder = try makeBuilder()
            last = 0
        }
        return (Reception(builder: builder, spool: box, offer: offer), last)
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
            let piece: [UInt8]?
            do { piece = try spool.next() } catch { throw .store(error) }
            guard let piece, piece.count > 2 else { break }
            progress.withLock { $0.sent += 1 }
            builder.add(Self.source(Frame(type: piece[0], flags: piece[1], body: Array(piece[2...])), nil)) {
                result in
                progress.update { progress in
                    progress.done += 1
                    switch result {
                    case .success(let last): progress.last = last
                    case .failure(let error): progress.failure = progress.failure ?? error
                    }
                    return true
                }
            }
            try wait(until: Self.ahead)
        }
        try wait(until: 0)
        return progress.withLock { $0.last }
    }

    // MARK: Receiving

    /// The rows in a frame.
    private static func source(_ frame: Frame, _ limits: WireLimits?) -> SnapshotBuilder.Source {
        { () throws(SnapshotError) in
            do throws(WireError) {
                guard case .snapshotRows(let rows) = try Message(frame: frame, limits: limits ?? WireLimits()) else {
                    throw .malformed(message: "SnapshotRows", reason: "it is another message")
                }
                return rows
            } catch {
                throw .malformed(error.description)
            }
        }
    }

    func store(_ frame: Frame, completion: @escaping StoreCompletion) {
        guard case .receiving(let reception) = state.withLock({ $0 }) else {
            return completion(.failure(SessionFailure(SnapshotError.busy("it was called off"))))
        }
        guard frame.type == MessageType.snapshotRows.rawValue else { return storeProof(frame, completion) }
        reception.builder.add(Self.source(frame, nil)) { result in
            do throws(SnapshotError) {
                let last = try result.get()
                guard last <= reception.offer.through else { throw .foreign("it has more rows than were offered") }
                do throws(StoreError) {
                    try reception.spool.spool.append([frame.type, frame.flags] + frame.body)
                } catch {
                    throw SnapshotError.store(error)
                }
                completion(.success(.rows(last: last)))
            } catch {
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    private func storeProof(_ frame: Frame, _ completion: @escaping StoreCompletion) {
        worker.submit { [self] _ in
            guard case .receiving(var reception) = state.withLock({ $0 }) else {
                return completion(.failure(SessionFailure(SnapshotError.busy("it was called off"))))
            }
            do throws(SnapshotError) {
                let end: SnapshotEnd
                do throws(WireError) {
                    guard case .snapshotEnd(let found) = try Message(frame: frame) else {
                        throw .malformed(message: "SnapshotEnd", reason: "it is another message")
                    }
                    end = found
                } catch {
                    throw .malformed(error.description)
                }
                reception.coverage += end.coverage
                guard reception.coverage.count <= reception.offer.entries.count else {
                    throw .malformed("more proofs than origins")
                }
                let changed = reception
                state.withLock { if case .receiving = $0 { $0 = .receiving(changed) } }
                if end.hasMore { return completion(.success(.proof)) }
                try reception.builder.finishBlocking(
                    reception.coverage, expecting: SnapshotPlan(reception.offer).progress)
                state.withLock { $0 = .complete }
                completion(.success(.complete))
            } catch {
                completion(.failure(SessionFailure(error)))
            }
        }
    }

    /// The snapshot was refused: the store goes on without, from now on.
    func refuse(keepSpool: Bool) {
        eventStore.endSnapshotHold()
        drop(keepSpool: keepSpool)
    }

    /// Throws away what is being built; the store goes on without, unless it turns out to be complete. What was received
    /// stays for another attempt if `keepSpool` says so.
    func drop(keepSpool: Bool) {
        worker.submit { [self] _ in
            let dropped = state.withLock { state -> Reception? in
                guard case .receiving(let reception) = state else { return nil }
                state = .idle
                return reception
            }
            guard let dropped else { return }
            dropped.builder.cancel()
            if !keepSpool { SnapshotSpool.remove(eventStore.files) }
            eventStore.endSnapshotHold()
        }
    }
}

extension SessionFailure {
    /// A refusal that names its reason.
    init(_ error: SnapshotError) {
        let text = "\(error.code): \(error)"
        let code: SessionErrorCode =
            switch error {
            case .event(let event): SessionFailure(event).code
            case .malformed: .badFrame
            case .stale, .foreign: .snapshot
            case .notEmpty, .busy: .busy
            case .noSpace, .store(.diskFull): .storeFull
            case .store: .storeError
            }
        self.init(code, text)
    }
}
