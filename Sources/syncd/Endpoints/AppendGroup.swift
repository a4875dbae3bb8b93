internal import EventStore
internal import SyncEngine

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
