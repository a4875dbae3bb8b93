internal import EventStore
internal import SyncEngine

/// Appends of few events. A lone client's request is committed by the loop's thread itself, because the time of a durable
/// append is mostly that of the threads waking each other. What comes from several in one turn of the loop goes to the worker
/// in groups, which reads the events and hands them to the writer while the loop serves the next: so the disk has
/// something to do soon, and while it is busy the next commit is got ready.
///
/// ## Concurrency model
/// Belongs to the loop's thread. Answers from another thread come back as jobs of the loop, which makes the reply's text.
final class AppendDesk {
    /// Larger requests, which take long to parse, are not for the loop.
    private static let largestBody = 16 << 10
    /// So many requests are handed on without waiting for the end of the turn.
    private static let group = 16

    private let service: Service
    private let loop: EventLoop
    private let worker: Worker<Void>
    private var gathered: [HTTPExchange] = []
    private var rule = LeadRule()
    private var turnEnd: TurnEnd?

    init(_ service: Service, on loop: EventLoop, _ worker: Worker<Void>) {
        self.service = service
        self.loop = loop
        self.worker = worker
        turnEnd = TurnEnd(loop: loop) { [unowned self] in turnEnded() }
    }

    /// Takes a request if it is one of those; false if somebody else is to answer it.
    func take(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard request.method == "POST", request.path == "/v1/events", request.body.count <= Self.largestBody,
            request.queryItem("expect") == nil
        else { return false }
        if rule.isTurnNew { turnEnd?.request() }
        let start = MonotonicClock.now
        if rule.leads(now: start) {
            AppendTurn([exchange], on: loop) {}.append(to: service, leading: true)
            rule.led(from: start, to: MonotonicClock.now)
        } else {
            gathered.append(exchange)
            if gathered.count == Self.group { handOver() }
        }
        return true
    }

    private func turnEnded() {
        rule.turnEnded()
        if !gathered.isEmpty { handOver() }
    }

    private func handOver() {
        rule.handedOver()
        let desk = loop.bind(self)
        let turn = AppendTurn(gathered, on: loop) { desk.value.rule.answered() }
        gathered = []
        if !worker.submit({ [service] _ in turn.append(to: service, leading: false) }) { turn.refuse(.closed) }
    }
}
