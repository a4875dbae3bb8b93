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
    static let silence: UInt64 = 30_000
    /// A home that has nothing of what was done hears its peers first: each for so long once it is connected, all for so long at most.
    private static let (telling, hearing): (UInt64, UInt64) = (1_000, 10_000)
    /// Most values that wait for what the log says of them.
    private static let mostUnjudged = 1_024
    private static let (gathering, tick) = (Duration.milliseconds(5), Duration.milliseconds(100))

    let worker: SerialWorker<SubscriptionDesk>
    private let state = Lock(State())
    private let loop: EventLoop
    private let store: EventStore
    let own: NodeID
    let node: SyncNode
    private let asked = FigureDesk(SubscriptionFigures())
    /// This, for the desk, until it stops.
    private let hub = Lock<SubscriptionHub?>(nil)

    init(
        _ store: EventStore, _ views: ProjectorThread, _ node: SyncNode, _ authenticator: Authenticator,
        on loop: EventLoop, tell: @escaping @Sendable (LogLine) -> Void
    ) {
        (self.loop, self.node, self.store, own) = (loop, node, store, store.identity.node)
        let hub = hub
        worker = SerialWorker(name: "api-subs") {
            SubscriptionDesk(store, views, authenticator, tell: tell) { id in hub.withLock { $0 }?.drained(id) }
        }
        hub.withLock { $0 = self }
        _ = store.observeCommits { [weak self] notice in
            let isOfNodes = notice.events.contains { $0.event.header.type.hasPrefix("subscription.") }
            self?.advance(hasNews: isOfNodes || notice.events.isEmpty)
        }
        node.observeShared(about: .subscriptions) { [weak self] value in self?.heard(value) }
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
        if case .one(_, .pull) = request {
            // Else what it would be handed would be out for nothing.
            guard exchange.hasPlace(onGone: { [weak self] in self?.gone(id) }) else { return }
        }
        let isTaken = worker.submit { [weak self] desk in
            guard let self else { return }
            if SubscriptionDesk.now - desk.lastLook >= 1_000 { look(desk) }
            hear(desk)
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
        node.observeShared(about: .subscriptions, nil)
        worker.submit { $0.close() }
        worker.stop()
        hub.withLock { $0 = nil }
    }

    var durable: UInt64 { store.durable }

    /// For how long nothing was heard of a node, milliseconds: since it was asked for first, where there was no link since the start.
    func silence(of home: NodeID) -> UInt64 {
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

    func gone(_ id: UInt64) {
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
    func again(_ hasMore: Bool, _ name: String) {
        guard hasMore else { return }
        worker.submit { [weak self] desk in
            guard let self else { return }
            again(desk.serve(name, durable: durable), name)
            follow(desk)
        }
    }

    private func advance(hasNews: Bool) {
        let isDue = state.withLock { state in
            if hasNews { state.hasNews = true }
            // A home that has nothing to do must hear all the same that it is none any more, and tell what is done.
            guard state.isWanted || hasNews, !state.isQueued else { return false }
            state.isQueued = true
            return true
        }
        guard isDue else { return }
        worker.submit { [weak self] desk in
            guard let self else { return }
            state.withLock { $0.isQueued = false }
            let durable = durable
            for name in desk.wanted { again(desk.serve(name, durable: durable), name) }
            follow(desk)
        }
    }

    /// After each job: whether commits and time matter, and whether something is to be put away.
    func follow(_ desk: SubscriptionDesk) {
        if !desk.accepted.isEmpty { node.share(desk.accepted) }
        desk.accepted = []
        for name in desk.begun { again(desk.serve(name, durable: durable), name) }
        desk.begun = []
        let isWaiting = desk.isWaiting
        let (mustLook, mustTick, mustGather) = state.withLock { state in
            let isNew = isWaiting && !state.isWanted
            state.isWanted = isWaiting
            let mustTick = !state.isTicking && (desk.isActive || state.hasNews && !desk.running.isEmpty)
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
        guard hasNews, !desk.running.isEmpty || !desk.unjudged.isEmpty else { return }
        do throws(StoreError) {
            let records = try desk.allRecords()
            for (name, one) in desk.running {
                if let placed = records.placed(one.record) { desk.learn(name, placed) }
            }
            try desk.judge()
        } catch {
            state.withLock { $0.hasNews = true }
        }
    }

    /// Whether peers may still tell what is done: until all of them had time for it, and for some seconds after the start at most.
    private func hear(_ desk: SubscriptionDesk) {
        guard desk.isHearing else { return }
        let now = SubscriptionDesk.now
        let peers = node.status().peers.filter { $0.phase != .paused }
        if !peers.allSatisfy({ $0.phase == .connected }) { desk.met = now }
        let isTold = desk.unjudged.isEmpty && now >= desk.met + Self.telling
        guard peers.isEmpty || isTold || now >= desk.began + Self.hearing else { return }
        desk.isHearing = false
        for name in desk.wanted { again(desk.serve(name, durable: durable), name) }
    }

    /// A peer has told something of a subscription.
    private func heard(_ value: SharedState) {
        worker.submit { [weak self] desk in
            guard let self else { return }
            desk.unjudged = desk.unjudged.suffix(Self.mostUnjudged - 1) + [value]
            try? desk.judge()
            // What the log says of it may have come meanwhile.
            if !desk.unjudged.isEmpty { state.withLock { $0.hasNews = true } }
            follow(desk)
        }
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
            hear(desk)
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
