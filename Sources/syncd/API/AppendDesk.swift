internal import EventStore
internal import SyncEngine

/// Appends of few events. A lone client's request is committed by the loop's thread itself, because the time of a durable
/// append is mostly that of the threads waking each other. What came from several in one turn of the loop goes to the
/// writer together; the worker reads the events while the loop serves the next.
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
        if rule.isTurnNew { loop.schedule(after: .zero) { [self] in turnEnded() } }
        let start = MonotonicClock.now
        if rule.leads(now: start) {
            AppendTurn([exchange], on: loop) {}.append(to: service, leading: true)
            rule.led(from: start, to: MonotonicClock.now)
        } else {
            gathered.append(exchange)
        }
        return true
    }

    private func turnEnded() {
        rule.turnEnded(handingOver: !gathered.isEmpty)
        guard !gathered.isEmpty else { return }
        let desk = loop.bind(self)
        let turn = AppendTurn(gathered, on: loop) { desk.value.rule.answered() }
        gathered = []
        if !worker.submit({ [service] _ in turn.append(to: service, leading: false) }) { turn.refuse(.closed) }
    }
}
