internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import Subscriptions
internal import SyncEngine

/// `/v1/subscriptions`: hands events to workers and keeps what is done (docs/operating/following.md).
///
/// ## Concurrency model
/// One thread has all subscriptions in its ``SubscriptionDesk``. The writer's threads, the loop and the clients only hand it jobs. Acks
/// are put away together, 5 ms after the first of them, and answered then.
final class SubscriptionHub: Sendable {
    private struct State {
        var durable: UInt64 = 0
        var lastID: UInt64 = 0
        /// Someone waits for events.
        var isWanted = false
        var (isQueued, isTicking, isPuttingAway) = (false, false, false)
        /// Nodes may have written about subscriptions.
        var hasNews = false
        /// When each node that was asked for was heard last, monotonic milliseconds.
        var heard: [NodeID: UInt64] = [:]
    }

    /// After so long a silence of its home another node takes a subscription over.
    private static let silence: UInt64 = 30_000
    /// Most values that wait for what the log says of them.
    private static let mostUnjudged = 1_024
    private static let (gathering, tick) = (Duration.milliseconds(5), Duration.milliseconds(100))

    private let worker: SerialWorker<SubscriptionDesk>
    private let state = Lock(State())
    private let loop: EventLoop
    private let own: NodeID
    private let node: SyncNode
    private let asked = FigureDesk(SubscriptionFigures())
    /// This, for the desk, until it stops.
    private let hub = Lock<SubscriptionHub?>(nil)

    init(
        _ store: EventStore, _ views: ProjectorThread, _ node: SyncNode, _ authenticator: Authenticator,
        on loop: EventLoop, tell: @escaping @Sendable (LogLine) -> Void
    ) throws(StoreError) {
        (self.loop, self.node, own) = (loop, node, store.identity.node)
        let hub = hub
        worker = SerialWorker(name: "api-subs") {
            SubscriptionDesk(store, views, authenticator, tell: tell) { id in hub.withLock { $0 }?.drained(id) }
        }
        hub.withLock { $0 = self }
        _ = store.observeCommits { [weak self] notice in
            let isOfNodes = notice.events.contains { $0.event.header.type.hasPrefix("subscription.") }
            self?.advance(to: notice.top, hasNews: isOfNodes || notice.events.isEmpty)
        }
        advance(to: try store.standingBlocking().top, hasNews: false)
        node.observeShared { [weak self] value in self?.heard(value) }
    }

    /// Answers, then or later. Does not wait.
    func answer(_ admitted: AdmittedRequest) {
        let exchange = admitted.exchange
        let request: SubscriptionRequest
        do throws(BadParameter) { request = try SubscriptionRequest(admitted) } catch {
            return exchange.refuse(.parameter, error.message, hint: error.hint)
        }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        if case .one(_, .pull) = request { exchange.watchClient { [weak self] in self?.gone(id) } }
        let isTaken = worker.submit { [weak self] desk in
            guard let self else { return }
            if SubscriptionDesk.now - desk.lastLook >= 1_000 { look(desk) }
            do throws(StoreError) { try answer(request, id, admitted, desk) } catch { exchange.refuse(error) }
            follow(desk)
        }
        if !isTaken { exchange.refuse(.closed) }
    }

    /// How things stand with the subscriptions of this node. Waits for the thread for a short time.
    var figures: SubscriptionFigures {
        asked.figures { take in
            worker.submit { [weak self] desk in
                if let self { take(desk.figures(at: own, durable: durable)) }
            }
        }
    }

    /// Credentials have changed: who has lost his is let go.
    func reconsider() { worker.submit { $0.reconsider() } }

    func stop() {
        node.observeShared(nil)
        worker.submit { $0.close() }
        worker.stop()
        hub.withLock { $0 = nil }
    }

    private var durable: UInt64 { state.withLock { $0.durable } }

    // MARK: Requests

    private func answer(
        _ request: SubscriptionRequest, _ id: UInt64, _ admitted: AdmittedRequest, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        switch request {
        case .list:
            var body: [UInt8] = []
            let records = try desk.allRecords().all.values.filter { caller.mayKeep($0) }
            for record in records.sorted(by: { $0.name < $1.name }) {
                if record.home == own { try desk.start(record) }
                JSONLine(record, desk, durable: durable).write(to: &body)
            }
            var end = JSONLine(type: "end")
            end.add("count", records.count)
            end.write(to: &body)
            exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
        case .make(let name, let definition):
            guard caller.readsAll else { return exchange.refuseOwnScope() }
            try make(name, definition, admitted, desk)
        case .one(let name, let action):
            guard var record = try desk.record(name), caller.mayKeep(record) else {
                return exchange.refuse(
                    .notFound, "there is no subscription \(name)", hint: "PUT /v1/subscriptions/\(name) makes it")
            }
            if action.isWork, !caller.readsAll { return exchange.refuseOwnScope() }
            if case .tell = action, record.home != own {
                return exchange.send(JSONLine(record, desk, durable: durable))
            }
            if record.home != own {
                let silent = silence(of: record.home)
                guard action.isMove || action.isWork && silent >= Self.silence else {
                    return exchange.refuse(
                        .elsewhere, "\(name) is delivered by node \(record.home), silent for \(silent) ms",
                        hint: "ask that node; this one takes over when it has been silent for \(Self.silence) ms, "
                            + "or by POST …/\(name)/move")
                }
                _ = try desk.record(record.draft(movingTo: own), visible: true)
                guard let moved = try desk.allRecords().all[name], moved.home == own else {
                    throw .busy("\(name) is being moved")
                }
                record = moved
            }
            try desk.start(record)
            try act(action, record, id, admitted, desk)
        }
    }

    private func make(
        _ name: String, _ definition: SubscriptionDefinition, _ admitted: AdmittedRequest, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        if let record = try desk.allRecords().all[name] {
            guard caller.mayKeep(record) else {
                return exchange.refuse(
                    .exists, "there is a subscription \(name) of another owner", hint: "another name is free")
            }
            guard record.definition == definition else {
                return exchange.refuse(
                    .exists, "there is a subscription \(name) with other members",
                    hint: "GET shows them; DELETE ends it, another name is free")
            }
            return exchange.send(JSONLine(record, desk, durable: durable))
        }
        _ = try desk.record(SubscriptionRecord.draft(name, definition, for: caller.actor, at: own), visible: true)
        guard let record = try desk.allRecords().all[name] else { throw .busy("\(name) is not there yet") }
        if record.home == own { try desk.start(record) }
        exchange.send(JSONLine(record, desk, durable: durable), status: 201)
    }

    private func act(
        _ action: SubscriptionAction, _ record: SubscriptionRecord, _ id: UInt64, _ admitted: AdmittedRequest,
        _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let (exchange, caller) = (admitted.exchange, admitted.caller)
        let name = record.name
        let now = SubscriptionDesk.now
        switch action {
        case .tell, .move:
            // With what was parked just now.
            _ = try desk.allRecords()
            exchange.send(JSONLine(record, desk, durable: durable))
        case .delete:
            _ = try desk.record(record.deletion, visible: true)
            try desk.openValues().put([(record.id.description, nil)])
            desk.end(name, "the subscription was deleted")
            exchange.reply(status: 204, contentType: nil)
        case .pull(let most, let wait, let done):
            guard desk.hasPlace else { return exchange.refuse(.busy, "too many workers are waiting") }
            var pull = SubscriptionDesk.Pull(
                name: name, caller: caller, exchange: exchange, most: most, until: now + wait)
            if done.isEmpty {
                desk.pulls[id] = pull
            } else {
                guard exchange.takes(done, "ack", of: record) else { return }
                pull.acked = acknowledge(done, name, desk)
                desk.promises.append(.init(exchange: exchange, answer: .pull(id, pull)))
            }
            again(desk.serve(name, durable: durable), name)
        case .deliveries(let window, let isEventStream):
            guard desk.hasPlace else { return exchange.refuse(.busy, "too many workers are waiting") }
            let stream = exchange.startStream(
                status: 200, contentType: isEventStream ? "text/event-stream" : "application/x-ndjson",
                headers: [HTTPField("Cache-Control", "no-store")]
            ) { [weak self] in self?.gone(id) }
            desk.running[name]?.machine.joined(id)
            desk.streams[id] = SubscriptionDesk.Stream(
                name: name, caller: caller, stream: stream, window: window, isEventStream: isEventStream, wrote: now)
            again(desk.serve(name, durable: durable), name)
        case .parked:
            var body: [UInt8] = []
            let parked = try desk.allRecords().parked(record.id)
            for event in parked.values.sorted(by: { $0.at < $1.at }) { JSONLine(event).write(to: &body) }
            var end = JSONLine(type: "end")
            end.add("count", parked.count)
            end.write(to: &body)
            exchange.reply(status: 200, contentType: "application/x-ndjson", body: body)
        case .retry(let events): try retry(events, record, exchange, desk)
        case .ack, .release, .extend, .park: settle(action, record, exchange, desk)
        }
    }

    private func retry(
        _ events: [EventID], _ record: SubscriptionRecord, _ exchange: HTTPExchange, _ desk: SubscriptionDesk
    ) throws(StoreError) {
        let parked = try desk.allRecords().parked(record.id)
        let chosen = parked.values.filter { events.contains($0.event) }
        let missing = events.first { event in !chosen.contains { $0.event == event } }
        guard missing == nil, !chosen.isEmpty else {
            return exchange.refuse(.notFound, "event \(missing?.description ?? "") is not parked")
        }
        let proof = try desk.record(record.draft(retrying: chosen.map(\.dot).sorted()), visible: true).dot
        desk.isParkingNew = true
        let log = try desk.currentLog()
        // At once: the log may be far from being looked at so far.
        if let stored = try log.event(proof) {
            try desk.running[record.name]?.machine.heed(
                stored, of: record, in: log, now: SubscriptionDesk.now)
        }
        desk.promises.append(.init(exchange: exchange, answer: .body(Array("{\"retried\":\(chosen.count)}\n".utf8))))
        again(desk.serve(record.name, durable: durable), record.name)
    }

    /// What a worker says of its deliveries.
    private func settle(
        _ action: SubscriptionAction, _ record: SubscriptionRecord, _ exchange: HTTPExchange, _ desk: SubscriptionDesk
    ) {
        let tokens: [DeliveryToken]
        switch action {
        case .ack(let all), .release(let all, _, _), .extend(let all), .park(let all, _): tokens = all
        default: return
        }
        guard exchange.takes(tokens, "deliveries", of: record) else { return }
        if case .ack = action {
            let body = Array("{\(acknowledge(tokens, record.name, desk))}\n".utf8)
            desk.promises.append(.init(exchange: exchange, answer: .body(body)))
            return again(desk.serve(record.name, durable: durable), record.name)
        }
        for token in tokens { desk.running[record.name]?.machine.heard(token.dot, desk.number(token)) }
        // All or none: the current ones are known before the first is settled.
        let stale = tokens.first { token in
            desk.running[record.name]?.machine.isCurrent(token.dot, desk.number(token)) != true
        }
        if let stale {
            return exchange.refuse(
                .deliveryStale, "deliveries: '\(stale.text)' is not out any more",
                hint: "its time was over, or it is done; ack counts at any time")
        }
        let now = SubscriptionDesk.now
        for token in tokens {
            let number = desk.number(token)
            switch action {
            case .release(_, let delay, let error):
                desk.running[record.name]?.machine.release(
                    token.dot, number: number, delay: delay, error: error, now: now)
            case .extend: desk.running[record.name]?.machine.extend(token.dot, number: number, now: now)
            case .park(_, let reason):
                desk.running[record.name]?.machine.park(token.dot, number: number, reason: reason)
            default: break
            }
        }
        desk.promises.append(.init(exchange: exchange, answer: .body(Array("{\"count\":\(tokens.count)}\n".utf8))))
        again(desk.serve(record.name, durable: durable), record.name)
    }

    /// What came of it, as members of the answer: to be sent when it is put away.
    private func acknowledge(_ tokens: [DeliveryToken], _ name: String, _ desk: SubscriptionDesk) -> String {
        var late: [String] = []
        var done = 0
        for token in tokens {
            let number = desk.number(token)
            switch desk.running[name]?.machine.ack(token.dot, number: number, now: SubscriptionDesk.now) {
            case .done: done += 1
            case .late:
                done += 1
                late.append(token.text)
            case .refused, nil: break
            }
        }
        let list = late.map { "\"\($0)\"" }.joined(separator: ",")
        return "\"done\":\(done),\"late\":[\(list)]"
    }

    /// For how long nothing was heard of a node, milliseconds: since it was asked for first, where there is no link.
    private func silence(of home: NodeID) -> UInt64 {
        let now = SubscriptionDesk.now
        let silent = node.status().peers.first { $0.peer.node == home }?.silentFor
        return state.withLock { state in
            if let silent { state.heard[home] = now - min(now, silent) }
            let last = state.heard[home] ?? now
            state.heard[home] = last
            return now - last
        }
    }

    // MARK: Jobs

    private func gone(_ id: UInt64) {
        worker.submit { [weak self] desk in
            desk.leave(id)
            self?.follow(desk)
        }
    }

    private func drained(_ id: UInt64) {
        worker.submit { [weak self] desk in
            guard let self else { return }
            desk.drained(id, durable: durable)
            follow(desk)
        }
    }

    /// There may be more in the log for it: behind the jobs that wait.
    private func again(_ hasMore: Bool, _ name: String) {
        guard hasMore else { return }
        worker.submit { [weak self] desk in
            guard let self else { return }
            again(desk.serve(name, durable: durable), name)
            follow(desk)
        }
    }

    private func advance(to top: UInt64, hasNews: Bool) {
        let isDue = state.withLock { state in
            state.durable = max(state.durable, top)
            if hasNews { state.hasNews = true }
            guard state.isWanted, !state.isQueued else { return false }
            state.isQueued = true
            return true
        }
        guard isDue else { return }
        worker.submit { [weak self] desk in
            guard let self else { return }
            let durable = state.withLock { state in
                state.isQueued = false
                return state.durable
            }
            for name in desk.wanted { again(desk.serve(name, durable: durable), name) }
            follow(desk)
        }
    }

    /// After each job: whether commits and time matter, and whether something is to be put away.
    private func follow(_ desk: SubscriptionDesk) {
        for name in desk.begun { again(desk.serve(name, durable: durable), name) }
        desk.begun = []
        let isWaiting = desk.isWaiting
        let (mustLook, mustTick, mustGather) = state.withLock { state in
            let isNew = isWaiting && !state.isWanted
            state.isWanted = isWaiting
            let mustTick = !state.isTicking && desk.isActive
            if mustTick { state.isTicking = true }
            let mustGather = !state.isPuttingAway && !desk.promises.isEmpty
            if mustGather { state.isPuttingAway = true }
            return (isNew, mustTick, mustGather)
        }
        // What was committed before commits were of interest.
        if mustLook { for name in desk.wanted { again(desk.serve(name, durable: durable), name) } }
        let loop = loop
        if mustTick { loop.post { [weak self] in _ = loop.schedule(after: Self.tick) { self?.tick() } } }
        if mustGather {
            loop.post { [weak self] in _ = loop.schedule(after: Self.gathering) { self?.putAway() } }
        }
    }

    /// At most once a second: whether another node has moved a subscription, or told what is done of it.
    private func look(_ desk: SubscriptionDesk) {
        desk.lastLook = SubscriptionDesk.now
        let hasNews = state.withLock { state in
            defer { state.hasNews = false }
            return state.hasNews
        }
        guard hasNews, !desk.running.isEmpty || !desk.unjudged.isEmpty, let records = try? desk.allRecords() else {
            return
        }
        for (name, one) in desk.running {
            if let placed = records.placed(one.record.id) { desk.learn(name, placed) }
        }
        judge(desk, records)
    }

    /// A peer has told something of a subscription.
    private func heard(_ value: SharedState) {
        worker.submit { [weak self] desk in
            guard let self else { return }
            desk.unjudged = desk.unjudged.suffix(Self.mostUnjudged - 1) + [value]
            if let records = desk.records { judge(desk, records) }
            // What the log says of it may have come meanwhile.
            if !desk.unjudged.isEmpty { state.withLock { $0.hasNews = true } }
            follow(desk)
        }
    }

    private func judge(_ desk: SubscriptionDesk, _ records: SubscriptionRecords) {
        let values = desk.unjudged
        desk.unjudged = []
        for value in values where (try? desk.take(value, records)) == false { desk.unjudged.append(value) }
        if !desk.accepted.isEmpty { node.share(desk.accepted) }
        desk.accepted = []
    }

    private func putAway() {
        worker.submit { [weak self] desk in
            self?.state.withLock { $0.isPuttingAway = false }
            desk.putAway()
            self?.follow(desk)
        }
    }

    private func tick() {
        worker.submit { [weak self] desk in
            guard let self else { return }
            desk.tick(durable: durable)
            if SubscriptionDesk.now / 1_000 != desk.lastSync / 1_000 {
                desk.reconsider()
                look(desk)
                desk.tellTroubles()
                desk.putAway()
                desk.sync()
                let news = desk.news(WallClock.now)
                if !news.isEmpty { node.share(news) }
                desk.lastSync = SubscriptionDesk.now
            }
            state.withLock { $0.isTicking = false }
            follow(desk)
        }
    }
}
