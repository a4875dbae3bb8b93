internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// What the API answers (D19). Each endpoint has a file of its own.
struct Service: Sendable {
    let store: EventStore
    let views: ProjectorThread
    let reader: EventReader
    let audit: ViewsAudit
    let node: SyncNode
    let roster: PeerRoster
    let invitations: Invitations
    /// Where peers may call.
    let listen: NetworkAddress?
    /// For what is answered later, from another thread that must not wait.
    let worker: SerialWorker<Void>
    let lag: LagGauge
    let disk: DiskGauge
    /// What the clients of the socket have under way.
    let usage: HTTPUsage
    /// What may change while it runs.
    let live: LiveConfiguration
    let meters: Meters
    let heart: Heartbeat
    let writeProbe: WriteProbe
    let began: Beginning

    /// Events the views may be behind before appends have to wait.
    static let maximumLag: UInt64 = 400_000
    /// Most origins listed by name for each peer.
    static let listedOrigins = 100

    /// Answers a request. Runs on a worker's thread: it may wait.
    func answer(_ exchange: HTTPExchange) {
        let request = exchange.request
        let path = request.segments
        guard path.first == "v1", path.count > 1 else {
            return exchange.refuse(.notFound, "there is no \(request.path)")
        }
        if refusesQuery(exchange) { return }
        do throws(StoreError) { try version1(exchange, Array(path.dropFirst())) } catch { exchange.refuse(error) }
    }

    /// Refuses a request with a parameter that its path does not have, or that is given twice.
    func refusesQuery(_ exchange: HTTPExchange) -> Bool {
        let request = exchange.request
        let known = Route.allCases.first { $0.path == request.path }?.parameters ?? []
        do throws(BadParameter) {
            try request.requireParameters(known)
            return false
        } catch {
            exchange.refuse(.parameter, error.message, hint: error.hint)
            return true
        }
    }

    /// `GET /livez`: the process answers. Does not wait.
    func live(_ exchange: HTTPExchange) {
        guard exchange.isReading else { return exchange.refuseMethod() }
        exchange.reply(status: 200, contentType: "text/plain", body: Array("ok\n".utf8))
    }

    /// `GET /readyz` and `GET /metrics`. Runs on the probes' thread.
    func probe(_ exchange: HTTPExchange) {
        guard exchange.isReading else { return exchange.refuseMethod() }
        if exchange.request.path == "/readyz" { return ready(exchange) }
        do throws(StoreError) { try metrics(exchange) } catch { exchange.refuse(error) }
    }

    private func version1(_ exchange: HTTPExchange, _ path: [String]) throws(StoreError) {
        // What is there for GET is there for HEAD, whose answer has no body.
        let method = exchange.isReading ? "GET" : exchange.request.method
        switch (method, Route(rawValue: path[0]), path.count) {
        case ("POST", .events, 1): append(exchange)
        case ("GET", .status, 1): try status(exchange)
        case ("POST", .wait, 1): wait(exchange)
        case ("GET", .peers, 1): try listPeers(exchange)
        case ("POST", .peers, 1): try addPeer(exchange)
        case ("DELETE", .peers, 2): try removePeer(exchange, path[1])
        case ("POST", .peers, 3): try change(exchange, path[1], path[2])
        case ("POST", .findings, 1): try settle(exchange)
        case ("POST", .invitations, 1): try invite(exchange)
        case ("POST", .join, 1): join(exchange)
        case ("POST", .quarantine, 2) where path[1] == "retry": retryQuarantine(exchange)
        case (_, .events, 1), (_, .changes, 1), (_, .status, 1), (_, .wait, 1), (_, .peers, 1...3),
            (_, .invitations, 1),
            (_, .findings, 1), (_, .join, 1), (_, .quarantine, 2):
            exchange.refuseMethod()
        case _ where ReadRoute(path) != nil: exchange.refuseMethod()
        default: exchange.refuse(.notFound, "there is no \(exchange.request.path)")
        }
    }

    /// Why the node cannot take appends; empty if it can.
    var obstacles: [String] {
        (store.obstacle.map { ["store: \($0.description)"] } ?? []) + surroundingObstacles
    }

    /// Those of them that are not the store's.
    var surroundingObstacles: [String] {
        var found: [String] = []
        let minFree = live.minFree
        if let free = disk.free, free < minFree {
            found.append("disk: \(free >> 20) MiB free, \(minFree >> 20) MiB wanted")
        }
        if let error = views.lastError { found.append("views: \(error)") }
        return found
    }

    /// Whether the log is a snapshot that is on its way: until it is here nothing can be appended.
    private var awaited: [String] {
        node.status().peers.compactMap { peer in
            guard let snapshot = peer.snapshot, snapshot.phase != .sending else { return nil }
            return "snapshot: \(snapshot.done) of \(snapshot.total) events are here"
        }
    }

    /// Why an append would be refused, or would not be answered; empty if it would be stored. May wait for the disk, for a short
    /// time.
    var unready: [String] {
        var found = obstacles + awaited
        if found.isEmpty, let refusal = store.refusal { found.append("store: \(refusal.description)") }
        if isTooFarBehind { found.append("behind: the views are over \(Self.maximumLag) events behind") }
        found += heart.silent()
        // Where nothing is stored anyhow there is nothing to be proven.
        if found.isEmpty, let problem = writeProbe.problem(since: store.pulse.last) { found.append(problem) }
        return found
    }

    private func ready(_ exchange: HTTPExchange) {
        let obstacles = unready
        let body = obstacles.isEmpty ? "[+]store ok\n" : obstacles.map { "[-]\($0)\n" }.joined()
        exchange.reply(status: obstacles.isEmpty ? 200 : 503, contentType: "text/plain", body: Array(body.utf8))
    }
}
