internal import EventStore

/// Reads snapshots for empty peers, a few pieces ahead of what was asked for.
///
/// ## Concurrency model
/// Three threads read; each request is answered on one of them. Nothing is kept between pieces but what was read ahead:
/// at most ``SnapshotFeed/ahead`` pieces of 512 KiB for each session.
final class SnapshotServer: Sendable {
    typealias Context = Result<SnapshotReader, StoreError>

    private let store: EventStore
    private let readers: [SerialWorker<Context>]
    private let turn = Lock(0)

    init(store: EventStore, threads: Int = 3) {
        self.store = store
        let files = store.files
        readers = (0..<threads).map { index in
            SerialWorker(name: "snapshot-read-\(index)") {
                do throws(StoreError) { return .success(try SnapshotReader(files)) } catch { return .failure(error) }
            }
        }
    }

    func stop() { for reader in readers { reader.stop() } }

    /// Runs `body` on one of the threads.
    func submit(_ body: @escaping SerialWorker<Context>.Job) {
        let index = turn.withLock { turn in
            turn = (turn + 1) % readers.count
            return turn
        }
        readers[index].submit(body)
    }

    /// Lets the readers give back what they keep from piece to piece.
    func rest() {
        for reader in readers { reader.submit { context in try? context.get().rest() } }
    }

    /// What can be offered now; `nil` if the log cannot be read.
    func describe(_ completion: @escaping @Sendable (SnapshotOffer?) -> Void) {
        let store = store
        submit { context in
            do throws(StoreError) {
                let reader = try context.get()
                let plan = try reader.log.plan(ownHead: store.head())
                completion(
                    SnapshotOffer(
                        plan, of: store.identity.node, incarnation: store.identity.incarnation,
                        bytes: try reader.fileSize()))
            } catch {
                completion(nil)
            }
        }
    }
}

/// The snapshot that one session sends.
///
/// ## Concurrency model
/// Any thread may ask; everything is behind one lock.
final class SnapshotFeed: Sendable {
    typealias Completion = @Sendable (Result<SnapshotPart, SessionFailure>) -> Void

    /// Most pieces read before they are asked for.
    static let ahead = 6

    private enum Slot {
        case reading(Completion?)
        case ready(Result<SnapshotPart, SessionFailure>)
    }

    private struct State {
        /// By the position before the first row.
        var slots: [UInt64: Slot] = [:]
        /// Where nothing was read or is being read from here on.
        var next: UInt64 = 0
        /// Bytes of a row, roughly; 0 before the first piece.
        var rowBytes = 0
        var proof: [Frame]?
    }

    private let server: SnapshotServer
    private let ownHead: @Sendable () -> SignedHead?
    private let state = Lock(State())

    init(_ server: SnapshotServer, ownHead: @escaping @Sendable () -> SignedHead?) {
        self.server = server
        self.ownHead = ownHead
    }

    deinit { server.rest() }

    /// Reads the first pieces while the peer gets ready for what it is offered.
    func prepare(_ offer: SnapshotOffer) {
        readAhead(SnapshotRead(offer: offer, after: 0, parts: 0, bytes: Self.size, compress: true))
    }

    func read(_ request: SnapshotRead, completion: @escaping Completion) {
        if request.after == request.offer.through { return readProof(request, completion) }
        let ready = state.withLock { state -> Result<SnapshotPart, SessionFailure>? in
            // Read ahead of where an earlier request went on: not wanted any more.
            for from in state.slots.keys where from < request.after { state.slots[from] = nil }
            switch state.slots[request.after] {
            case .ready(let part):
                state.slots[request.after] = nil
                return part
            case .reading:
                state.slots[request.after] = .reading(completion)
                return nil
            case nil:
                let end = Self.end(of: request.after, request, state)
                state.slots[request.after] = .reading(completion)
                state.next = max(state.next, end)
                start(request, from: request.after, through: end)
                return nil
            }
        }
        if let ready { completion(ready) }
        readAhead(request)
    }

    /// Guesses where the pieces after the next one will begin, so that several are read at once.
    private func readAhead(_ request: SnapshotRead) {
        state.withLock { state in
            while state.slots.count < Self.ahead, state.next < request.offer.through {
                let from = state.next
                state.next = Self.end(of: from, request, state)
                state.slots[from] = .reading(nil)
                start(request, from: from, through: state.next)
            }
        }
    }

    /// Where the piece after `from` should end: where the next one begins, or where it will be full by what is known of the
    /// rows. If it is full before, the rest becomes a piece of its own.
    private static func end(of from: UInt64, _ request: SnapshotRead, _ state: State) -> UInt64 {
        if let next = state.slots.keys.filter({ $0 > from }).min() { return next }
        let rows = state.rowBytes > 0 ? min(request.bytes, size) / state.rowBytes * 15 / 16 : 256
        return min(from + UInt64(max(1, min(SnapshotRows.limit, rows))), request.offer.through)
    }

    /// Bytes of a piece at most: it fits a frame as it is.
    private static let size = 512 << 10

    private func start(_ request: SnapshotRead, from: UInt64, through: UInt64) {
        server.submit { [self] context in
            do throws(StoreError) {
                let rows = try context.get().rows(after: from, through: through, bytes: min(request.bytes, Self.size))
                let frame = Message.snapshotRows(rows).frame(compress: request.compress)
                finish(from, .success(SnapshotPart(frame: frame, last: rows.last, isEnd: false)), rows)
            } catch {
                finish(from, .failure(SessionFailure(.storeError, error.description)), nil)
            }
        }
    }

    private func finish(_ from: UInt64, _ result: Result<SnapshotPart, SessionFailure>, _ rows: SnapshotRows?) {
        let completion = state.withLock { state -> Completion? in
            if let rows { state.rowBytes = max(1, rows.size / rows.count) }
            if case .reading(let completion?) = state.slots[from] {
                state.slots[from] = nil
                return completion
            }
            state.slots[from] = .ready(result)
            return nil
        }
        completion?(result)
    }

    private func readProof(_ request: SnapshotRead, _ completion: @escaping Completion) {
        server.submit { [self] context in
            do throws(StoreError) {
                var frames = state.withLock { $0.proof }
                if frames == nil {
                    let plan = SnapshotPlan(request.offer)
                    frames = SnapshotEnd.frames(
                        try context.get().log.coverage(of: plan, ownHead: ownHead()), for: request)
                    state.withLock { $0.proof = frames }
                }
                let all = frames ?? []
                guard request.parts < all.count else { throw .corrupt("no proof of the snapshot") }
                completion(
                    .success(
                        SnapshotPart(
                            frame: all[request.parts], last: request.after, isEnd: request.parts == all.count - 1)))
            } catch {
                completion(.failure(SessionFailure(.storeError, error.description)))
            }
        }
    }
}
