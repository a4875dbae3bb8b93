internal import EventStore
internal import SyncEngine

/// Appends that came together, answered in one job of the API's loop.
///
/// ## Concurrency model
/// One lock. Parsed on one thread, answered by whoever commits, replied to on the loop.
final class AppendTurn: Sendable {
    private struct Answer {
        let batch: AppendBatch
        let result: Result<[AppendOutcome], StoreError>
    }

    private struct State {
        var exchanges: [HTTPExchange]
        var answers: [Answer?]
        /// How many calls have no answer yet.
        var missing = 0
    }

    private let loop: EventLoop
    private let state: Lock<State>
    private let answered: @Sendable () -> Void

    /// - Parameter answered: Runs on the loop when all requests have been replied to.
    init(_ exchanges: [HTTPExchange], on loop: EventLoop, answered: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.answered = answered
        state = Lock(State(exchanges: exchanges, answers: exchanges.map { _ in nil }))
    }

    /// Appends what the requests want. If `leading`, the calling thread waits and commits.
    func append(to service: Service, leading: Bool) {
        let exchanges = state.withLock { $0.exchanges }
        var calls: [AppendCall] = []
        for (index, exchange) in exchanges.enumerated() {
            guard let batch = service.appendBatch(exchange) else { continue }
            calls.append(batch.call { self.take(Answer(batch: batch, result: $0), of: index) })
        }
        guard !calls.isEmpty else { return complete() }
        // Known before the first answer: the last one replies, even while the leader has more to do.
        state.withLock { $0.missing = calls.count }
        service.store.append(calls, leading: leading)
    }

    /// Nothing is appended, for this reason. Instead of ``append(to:leading:)``.
    func refuse(_ error: StoreError) {
        for exchange in state.withLock({ $0.exchanges }) { exchange.refuse(error) }
        complete()
    }

    private func take(_ answer: Answer, of index: Int) {
        let isComplete = state.withLock { state in
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0
        }
        if isComplete { complete() }
    }

    private func complete() {
        if loop.isOnLoop { reply() } else { loop.post { self.reply() } }
    }

    /// The exchanges end on the loop: elsewhere each would have to be sent there to do so.
    private func reply() {
        let (exchanges, answers) = state.withLock { state in
            defer { (state.exchanges, state.answers) = ([], []) }
            return (state.exchanges, state.answers)
        }
        for case (let exchange, let answer?) in zip(exchanges, answers) {
            answer.batch.answer(exchange, answer.result)
        }
        answered()
    }
}
