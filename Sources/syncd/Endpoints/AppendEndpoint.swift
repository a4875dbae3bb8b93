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
    func take(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        guard request.method == "POST", request.path == Route.events.path, request.body.count <= Self.largestBody,
            request.queryItem("expect") == nil
        else { return false }
        if service.refusesQuery(exchange) { return true }
        let start = MonotonicClock.now
        let isLeading = rule.leads(exchange.client, now: start)
        guard let batch = service.appendBatch(exchange, parser) else { return true }
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
