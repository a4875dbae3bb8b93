internal import EventStore
internal import SyncEngine

/// Appends of few events, answered without leaving the API's loop: what came in one turn of the loop goes to the writer
/// together, and a lone request is committed by the loop's thread itself, because the time of a durable append is
/// mostly that of the threads waking each other.
///
/// ## Concurrency model
/// Belongs to the loop's thread. What the writer's thread answers comes back as a job of the loop, which makes the reply's
/// text; the exchange itself never leaves the loop.
final class AppendDesk {
    /// Larger requests, which take long to parse, are not for the loop.
    private static let largestBody = 16 << 10

    private let service: Service
    private let loop: EventLoop
    private var gathered: [AppendCall] = []
    private var open: [UInt64: (exchange: HTTPExchange, batch: AppendBatch)] = [:]
    private var lastTicket: UInt64 = 0
    private var rule = LeadRule()

    init(_ service: Service, on loop: EventLoop) {
        self.service = service
        self.loop = loop
    }

    /// Takes a request if it is one of those; false if somebody else is to answer it.
    func take(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard request.method == "POST", request.path == "/v1/events", request.body.count <= Self.largestBody,
            request.queryItem("expect") == nil
        else { return false }
        guard let batch = service.appendBatch(exchange) else { return true }
        lastTicket += 1
        open[lastTicket] = (exchange, batch)
        gathered.append(call(batch, ticket: lastTicket))
        if gathered.count == 1 { loop.schedule(after: .zero) { [self] in handOver() } }
        return true
    }

    private func call(_ batch: AppendBatch, ticket: UInt64) -> AppendCall {
        let desk = loop.bind(self)
        return batch.call { result in
            if desk.loop.isOnLoop {
                desk.value.answer(ticket, result)
            } else {
                desk.post { $0.answer(ticket, result) }
            }
        }
    }

    private func answer(_ ticket: UInt64, _ result: Result<[AppendOutcome], StoreError>) {
        guard let (exchange, batch) = open.removeValue(forKey: ticket) else { return }
        batch.answer(exchange, result)
    }

    private func handOver() {
        let calls = gathered
        gathered = []
        let start = MonotonicClock.now
        let isLeading = rule.leads(requests: calls.count, now: start)
        service.store.append(calls, leading: isLeading)
        if isLeading { rule.led(from: start, to: MonotonicClock.now) }
    }
}
