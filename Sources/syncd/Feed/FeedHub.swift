internal import Access
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET /v1/changes`: follows the log, as pages, lines or server-sent events.
///
/// ## Concurrency model
/// One thread has all followers in its ``FeedDesk`` and reads the log for them. The writer's threads, the loop and the clients only hand
/// it jobs; commits that come while it works are taken together.
final class FeedHub: Sendable {
    private struct State {
        /// The last commit that was told.
        var told: UInt64 = 0
        var lastID: UInt64 = 0
        /// Someone follows: commits are of interest.
        var isWanted = false
        /// The thread is going to look at ``durable``.
        var isQueued = false
        /// When commits were told that the thread has not looked at.
        var commits: [(top: UInt64, at: UInt64)] = []
    }

    private static let tick: Duration = .seconds(1)

    private let worker: SerialWorker<FeedDesk>
    private let state = Lock(State())
    private let budget = Lock(LiveBudget())
    private let loop: EventLoop
    private let store: EventStore

    private let asked = FigureDesk(FollowerFigures())

    /// This, for the desk, until it stops.
    private let hub = Lock<FeedHub?>(nil)

    init(
        _ store: EventStore, _ views: ProjectorThread, _ authenticator: Authenticator, _ log: AccessLog,
        on loop: EventLoop
    ) {
        (self.loop, self.store) = (loop, store)
        let hub = hub
        worker = SerialWorker(name: "api-feed") {
            FeedDesk(
                store, views, authenticator, log, later: { id in hub.withLock { $0 }?.drained(id) },
                gone: { id in hub.withLock { $0 }?.gone(id) })
        }
        hub.withLock { $0 = self }
        _ = store.observeCommits { [weak self] notice in self?.advance(to: notice.top) }
    }

    /// Answers, then or later. Does not wait.
    func answer(_ admitted: AdmittedRequest) {
        let exchange = admitted.exchange
        let request: FeedRequest
        do throws(BadParameter) {
            request = try FeedRequest(exchange.request, admitted.caller)
        } catch {
            return exchange.refuse(.parameter, error.message, hint: error.hint)
        }
        guard !admitted.caller.isRecorded || request.reason != nil else {
            return exchange.refuse(
                .reason, "an auditor says why: the header Sillok-Reason, 1 to 1,024 bytes of UTF-8",
                hint: "Sillok-Reason: complaint 4711")
        }
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        guard exchange.hasPlace(onGone: { [weak self] in self?.gone(id) }) else { return }
        let isTaken = worker.submit { [weak self] desk in
            guard let self else { return }
            // Before it is read how far the log is: no commit goes unnoticed in between.
            want()
            desk.open(id, exchange, request, durable: durable)
            goOn(desk)
        }
        if !isTaken { exchange.refuse(.closed) }
    }

    /// Tells followers of a conversation what matters only now. 202: no one need have heard it.
    func tell(_ admitted: AdmittedRequest) {
        let exchange = admitted.exchange
        guard let object = exchange.object() else { return }
        do throws(BadParameter) {
            let item = try LiveItem(object, conversation: admitted.values[0])
            let isApp = admitted.caller.roles.contains(.app)
            guard isApp || item.author.map(admitted.caller.isSelf) ?? false else {
                return exchange.refuse(.author, "author: the one that the token is for")
            }
            let now = MonotonicClock.now / 1_000_000
            if let (code, reason) = budget.withLock({ $0.refuses(item, of: exchange.client, now: now) }) {
                return exchange.refuse(code, reason, hint: "fewer and larger items; the whole reply when it is done")
            }
            worker.submit { desk in
                guard desk.mayTell(admitted.caller, item) else {
                    return exchange.refuse(.author, "the token's holder is not in the conversation")
                }
                desk.tell(item)
                exchange.reply(status: 202, contentType: nil)
            }
        } catch {
            exchange.refuse(.parameter, error.message, hint: error.hint)
        }
    }

    /// Who follows now. Waits for the thread for a short time.
    var figures: FollowerFigures {
        asked.figures { take in worker.submit { take($0.figures) } }
    }

    /// `GET /v1/followers`: users who have a stream here.
    func list(_ exchange: HTTPExchange) {
        let isTaken = worker.submit { desk in
            var body: [UInt8] = []
            let users = desk.users.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            for (user, streams) in users {
                var line = JSONLine(type: "follower")
                line.add("user", String(decoding: user, as: UTF8.self))
                line.add("streams", streams)
                line.write(to: &body)
            }
            var end = JSONLine(type: "end")
            end.add("count", users.count)
            end.write(to: &body)
            exchange.send(lines: body)
        }
        if !isTaken { exchange.refuse(.closed) }
    }

    /// Credentials have changed: who has lost his is let go.
    func reconsider() { worker.submit { $0.reconsider() } }

    /// Ends all streams, with a word.
    func stop() {
        worker.submit { $0.close() }
        worker.stop()
        hub.withLock { $0 = nil }
    }

    private var durable: UInt64 { store.durable }

    private func gone(_ id: UInt64) { worker.submit { $0.leave(id) } }

    private func drained(_ id: UInt64) {
        worker.submit { [weak self] desk in
            desk.drained(id)
            self?.goOn(desk)
        }
    }

    /// Those who are behind have their turns, each behind the jobs that wait.
    private func goOn(_ desk: FeedDesk) { if desk.mustGoOn() { next() } }

    private func next() {
        worker.submit { [weak self] desk in
            if let self, desk.next(durable: durable) { next() }
        }
    }

    private func advance(to top: UInt64) {
        let isDue = state.withLock { state in
            if state.isWanted, top > state.told, state.commits.count < CommitTimes.most {
                state.commits.append((top, MonotonicClock.now))
            }
            state.told = max(state.told, top)
            guard state.isWanted, !state.isQueued else { return false }
            state.isQueued = true
            return true
        }
        guard isDue else { return }
        worker.submit { [weak self] desk in
            guard let self else { return }
            let commits = state.withLock { state in
                state.isQueued = false
                defer { state.commits = [] }
                return state.commits
            }
            desk.commits.add(commits)
            desk.advanced(durable: durable)
            goOn(desk)
        }
    }

    /// From now on commits are of interest, and time counts.
    private func want() {
        let isNew = state.withLock { state in
            defer { state.isWanted = true }
            return !state.isWanted
        }
        if isNew { arm() }
    }

    private func arm() {
        let loop = loop
        loop.post { [weak self] in
            _ = loop.schedule(after: Self.tick) { self?.tick() }
        }
    }

    private func tick() {
        worker.submit { [weak self] desk in
            guard let self else { return }
            desk.tick(durable: durable)
            goOn(desk)
            let isEmpty = desk.isEmpty
            state.withLock { $0.isWanted = !isEmpty }
            if !isEmpty { arm() }
        }
    }
}
