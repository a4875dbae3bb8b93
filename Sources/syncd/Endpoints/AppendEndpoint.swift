internal import Access
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Appends of few events. A lone client's request is committed by the loop's thread itself, because the time of a durable
/// append is mostly that of the threads waking each other. What comes from several is read by the loop and goes to the writer
/// in groups, so that the next commit is got ready while the disk is busy with this one.
///
/// ## Concurrency model
/// Belongs to the loop's thread. Answers from another thread come back as jobs of the loop, which makes the reply's text.
final class AppendEndpoint {
    /// Larger requests, which take long to parse, are not for the loop.
    private static let largestBody = 16 << 10
    /// So many requests are handed on without waiting for the end of the turn.
    private static let group = 16

    private let service: Service
    private let loop: EventLoop
    private let parser = NativeLineParser()
    private var gathered: [AppendGroup.Request] = []
    private var rule = LeadRule()
    private var turnEnd: TurnEnd?

    init(_ service: Service, on loop: EventLoop) {
        self.service = service
        self.loop = loop
        turnEnd = TurnEnd(loop: loop) { [unowned self] in handOver() }
    }

    /// Takes a request if it is one of those; false if another thread is to answer it.
    func take(_ request: AdmittedRequest) -> Bool {
        let exchange = request.exchange
        // What others may append is looked up, on another thread.
        guard exchange.request.body.count <= Self.largestBody, request.caller.isAny(of: .app),
            exchange.request.queryItem("expect") == nil, exchange.request.queryItem("ack") == nil
        else { return false }
        let start = MonotonicClock.now
        let isLeading = rule.leads(exchange.client, now: start)
        guard let batch = service.appendBatch(request, parser) else { return true }
        guard !batch.hasAmendments else { return false }
        if isLeading, lead(exchange, batch) {
            rule.led(from: start, to: MonotonicClock.now)
            return true
        }
        if gathered.isEmpty { turnEnd?.request() }
        gathered.append(AppendGroup.Request(exchange: exchange, batch: batch))
        if gathered.count == Self.group { handOver() }
        return true
    }

    /// Commits a request on this thread; false if another thread is writing. What need not wait for the disk is done meanwhile.
    private func lead(_ exchange: HTTPExchange, _ batch: AppendBatch) -> Bool {
        var answer: AppendAnswer?
        do throws(StoreError) {
            return try service.store.appendAtOnce(batch.drafts, atomicity: batch.atomicity) { outcomes in
                answer = batch.answer(outcomes)
            } answer: {
                if let answer { exchange.send(answer) }
            }
        } catch {
            exchange.refuse(error)
            return true
        }
    }

    private func handOver() {
        guard !gathered.isEmpty else { return }
        rule.handedOver()
        let desk = loop.bind(self)
        let turn = AppendGroup(gathered, on: loop) { desk.value.rule.answered() }
        gathered.removeAll(keepingCapacity: true)
        turn.append(to: service.store)
    }
}

/// Appends that came together, answered in one job of the API's loop.
///
/// ## Concurrency model
/// One lock. Made on the loop, answered by the thread that commits, replied to on the loop.
final class AppendGroup: Sendable {
    struct Request: Sendable {
        let exchange: HTTPExchange
        let batch: AppendBatch
    }

    private struct State {
        var requests: [Request]
        var results: [Result<[AppendOutcome], StoreError>?]
        /// How many have no result yet.
        var missing: Int
    }

    private let loop: EventLoop
    private let state: Lock<State>
    private let answered: @Sendable () -> Void

    /// - Parameter answered: Runs on the loop when all requests have been replied to.
    init(_ requests: [Request], on loop: EventLoop, answered: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.answered = answered
        state = Lock(
            State(requests: requests, results: Array(repeating: nil, count: requests.count), missing: requests.count))
    }

    /// Appends what the requests want.
    func append(to store: EventStore) {
        let requests = state.withLock { $0.requests }
        let calls = requests.enumerated().map { index, request in
            request.batch.call { self.take($0, of: index) }
        }
        store.append(calls)
    }

    private func take(_ result: Result<[AppendOutcome], StoreError>, of index: Int) {
        let isComplete = state.withLock { state in
            state.results[index] = result
            state.missing -= 1
            return state.missing == 0
        }
        guard isComplete else { return }
        if loop.isOnLoop { reply() } else { loop.post { self.reply() } }
    }

    /// The exchanges end on the loop: elsewhere each would have to be sent there to do so.
    private func reply() {
        let (requests, results) = state.withLock { state in
            defer { (state.requests, state.results) = ([], []) }
            return (state.requests, state.results)
        }
        for case (let request, let result?) in zip(requests, results) {
            request.batch.answer(request.exchange, result)
        }
        answered()
    }
}
