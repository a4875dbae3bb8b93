internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// What metrics ask for who follows.
struct Following: Sendable {
    let feed: FeedHub
    let subscriptions: SubscriptionHub
    let reads: ReadPool
}

/// What the API answers (D19). Each endpoint has a file of its own.
struct Service: Sendable {
    let store: EventStore
    let views: ProjectorThread
    let reader: EventReader
    let audit: ViewsAudit
    let node: SyncNode
    let authenticator: Authenticator
    let accessLog: AccessLog
    /// With what TCP is encrypted now.
    let certificate = Lock<ServerTLS?>(nil)
    let roster: PeerRoster
    let invitations: Invitations
    let verification: LogVerification
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
    let sizes: SizeGauge
    let pages: PageFiles
    let minute = MinuteGauge()
    /// When users asked to erase what is theirs.
    let ownErasures = Lock(OwnErasures())
    /// Who follows the log and works on subscriptions, once the API is there.
    let following = Lock<Following?>(nil)
    /// Who cosigns for peers, once it does.
    let witness = Lock<WitnessDesk?>(nil)
    /// What events of other nodes have changed of the past, once it looks.
    let replaced = Lock<ReplacementDesk?>(nil)

    /// Events the views may be behind before appends have to wait.
    static let maximumLag: UInt64 = 400_000
    /// Most origins listed by name for each peer.
    static let listedOrigins = 100

    /// Answers a request. Runs on a worker's thread: it may wait.
    func answer(_ request: AdmittedRequest) {
        let exchange = request.exchange
        do throws(StoreError) { try answer(request, exchange) } catch { exchange.refuse(error) }
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

    private func answer(_ request: AdmittedRequest, _ exchange: HTTPExchange) throws(StoreError) {
        let name = request.values.first ?? ""
        switch request.operation {
        case .appendEvents: append(request)
        case .openDirect: try openDirect(request, name)
        case .putContact, .deleteContact, .putSearch, .deleteSearch: try keep(request, name)
        case .getStatus: try status(exchange)
        case .getReceipt: try receipt(exchange)
        case .waitForNodes: wait(exchange)
        case .listPeers: try listPeers(exchange)
        case .addPeer: try addPeer(exchange)
        case .removePeer: try removePeer(exchange, name)
        case .pausePeer: try setPaused(exchange, name, true)
        case .resumePeer: try setPaused(exchange, name, false)
        case .pingPeer: ping(exchange, name)
        case .settleFinding: try settle(request)
        case .createInvitation: try invite(exchange)
        case .joinPeer: join(exchange)
        case .verifyLog: verifyLog(exchange)
        case .retryQuarantine: retryQuarantine(exchange)
        case .listQuarantine: try listQuarantine(exchange)
        case .listForks: try listForks(exchange)
        case .listErasures: try listErasures(exchange)
        case .createErasure: try erase(request)
        case .eraseOwn: try eraseOwn(request, name)
        case .recordPackage: try recordPackage(request, name)
        case .getOpenAPI: exchange.send(OpenAPI.document(version: Software.version))
        case .getMe: tellCaller(request)
        case .openSession: openSession(request)
        case .closeSession: closeSession(request)
        case .listCredentials: try listCredentials(exchange)
        case .createCredential: try createCredential(request)
        case .revokeCredential: try revokeCredential(request)
        default: exchange.refuse(.notFound, "there is no \(request.request.path)")
        }
    }

    /// Whether the bytes of an attachment that an event names, and that were not found, may come from a peer: they are asked for then.
    func awaitsAttachment(_ digest: Digest) -> Bool {
        let attachments = (try? store.attachmentsIfAny()) ?? nil
        if let attachments { try? attachments.note(missing: digest) }
        guard let known = (try? attachments?.standing(of: digest)) ?? nil else {
            // The event has just come: who follows the views for attachments has not seen it yet.
            return true
        }
        guard known.state == .missing || known.state == .damaged else { return false }
        node.demand(AttachmentWant(digest: digest, bytes: known.bytes))
        return true
    }

    /// Why the node cannot take appends.
    struct Obstacle {
        /// For operators, and the daemon's log.
        let text: String
        /// For clients, and for who asks without a token.
        let told: String

        init(_ matter: String, _ error: StoreError) {
            (text, told) = ("\(matter): \(error)", "\(matter): \(error.told)")
        }

        init(_ text: String) { (self.text, told) = (text, text) }
    }

    /// Why the node cannot take appends; empty if it can.
    var obstacles: [Obstacle] {
        (store.obstacle.map { [Obstacle("store", $0)] } ?? []) + surroundingObstacles
    }

    /// Those of them that are not the store's.
    var surroundingObstacles: [Obstacle] {
        var found: [Obstacle] = []
        let minFree = live.minFree
        if let free = disk.free, free < minFree {
            found.append(Obstacle("disk: \(free >> 20) MiB free, \(minFree >> 20) MiB wanted"))
        }
        if let error = views.lastError { found.append(Obstacle("views", error)) }
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
        var found = obstacles.map(\.told) + awaited
        if found.isEmpty, let refusal = store.refusal { found.append("store: \(refusal.told)") }
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
