internal import EventStore
internal import SyncEngine

/// Appends of few events: what came in one turn of the loop goes to the writer together. A lone request is committed by the
/// loop's thread itself, because the time of a durable append is mostly that of the threads waking each other; of several
/// the worker reads the events while the loop serves the next.
///
/// ## Concurrency model
/// Belongs to the loop's thread. Answers from another thread come back as jobs of the loop, which makes the reply's text.
final class AppendDesk {
    /// Larger requests, which take long to parse, are not for the loop.
    private static let largestBody = 16 << 10

    private let service: Service
    private let loop: EventLoop
    private let worker: Worker<Void>
    private var gathered: [HTTPExchange] = []
    private var rule = LeadRule()

    init(_ service: Service, on loop: EventLoop, _ worker: Worker<Void>) {
        self.service = service
        self.loop = loop
        self.worker = worker
    }

    /// Takes a request if it is one of those; false if somebody else is to answer it.
    func take(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard request.method == "POST", request.path == "/v1/events", request.body.count <= Self.largestBody,
            request.queryItem("expect") == nil
        else { return false }
        gathered.append(exchange)
        if gathered.count == 1 { loop.schedule(after: .zero) { [self] in handOver() } }
        return true
    }

    private func handOver() {
        let count = gathered.count
        let turn = AppendTurn(gathered, on: loop)
        gathered = []
        let start = MonotonicClock.now
        if rule.leads(requests: count, now: start) {
            turn.append(to: service, leading: true)
            rule.led(from: start, to: MonotonicClock.now)
        } else {
            // Where the worker is gone the turn is, too, and its clients are told so.
            worker.submit { [service] _ in turn.append(to: service, leading: false) }
        }
    }
}
