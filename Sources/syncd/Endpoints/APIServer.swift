internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// The HTTP API on its Unix socket, on an event loop of its own; the loop also receives the signals.
///
/// ## Concurrency model
/// The loop's thread owns the HTTP server. Appends of few events go through its ``AppendEndpoint``, queries to the ``ReadPool``;
/// other requests are answered on one worker thread, because they may take long. What supervisors ask for does not wait behind those: `/livez` is answered
/// by the loop, `/readyz` and `/metrics`, which read disk and log, by a thread of their own; all three have places that no other
/// request gets. Signals reach the main thread through a monitor.
final class APIServer: Sendable {
    private let loop: EventLoop
    private let worker: SerialWorker<Void>
    private let prober: SerialWorker<Void>
    private let readers: ReadPool
    private let feed: FeedHub
    private let subscriptions: SubscriptionHub
    private let attachments: AttachmentEndpoint
    private let usage: HTTPUsage
    private let authenticator: Authenticator
    private let following: Lock<Following?>
    /// For connections that come from now on.
    private let certificate: Lock<ServerTLS?>
    /// What serves a socket that outlives the daemon.
    private let handedOver = Lock<LoopBound<HTTPServer>?>(nil)
    /// What supervisors ask for.
    private static let probes: Set<String> = ["/livez", "/readyz", "/metrics"]

    /// - Parameter wake: Where signals are put for the main thread.
    init(
        _ service: Service, _ configuration: DaemonConfiguration, _ manager: ServiceManager, _ log: Logger,
        wake: Monitor<DaemonWake>
    ) throws(CommandFailure) {
        let api = configuration.api
        (usage, authenticator, certificate) = (service.usage, service.authenticator, service.certificate)
        following = service.following
        worker = SerialWorker<Void>(name: "api-work") {}
        prober = SerialWorker<Void>(name: "api-probe") {}
        do throws(TransportError) {
            loop = try EventLoop()
            try loop.start(name: "api")
        } catch {
            throw CommandFailure(code: "E_API", error.description, exitCode: .internalError)
        }
        try certificate.withLock { tls throws(CommandFailure) in tls = try Self.tls(api) }
        let feed = FeedHub(service.store, service.views, service.authenticator, service.accessLog, on: loop)
        let subscriptions = SubscriptionHub(
            service.store, service.views, service.node, service.authenticator, on: loop
        ) { log.write($0) }
        let readers = ReadPool(
            service.store, CommitFeed(service.store, on: loop), stands: service.authenticator.stands
        ) {
            EventReader(Freshness(service.store.files, projector: service.views))
        }
        (self.feed, self.subscriptions, self.readers) = (feed, subscriptions, readers)
        attachments = AttachmentEndpoint(service, on: loop)
        service.following.withLock { $0 = Following(feed: feed, subscriptions: subscriptions, reads: readers) }
        service.authenticator.observe {
            feed.reconsider()
            subscriptions.reconsider()
        }
        /// Where metrics are served.
        let metrics = Lock<String?>(nil)
        let failure = loop.sync { [self] () -> CommandFailure? in
            do throws(CommandFailure) {
                try Self.orFail(Self.unusable(api)) { () throws(TransportError) in try takeSignals(wake) }
                let told = try Self.orFail(
                    Self.occupied("E_METRICS", "metrics", "metrics.listen", configuration.metrics.listen)
                ) { () throws(TransportError) in
                    try Self.serveProbes(service, configuration.metrics, manager, prober, on: loop)
                }
                metrics.withLock { $0 = told }
                try serve(service, api, manager.api, log)
                return nil
            } catch {
                return error
            }
        }
        if let failure = failure ?? nil { throw failure }
        if let place = metrics.withLock({ $0 }) { log.info("metrics at http://\(place)/metrics", "LISTENING") }
        if manager.api == nil, let path = api.socket.path, let group = api.socket.group {
            Self.give(path, to: group, log)
        }
    }

    // MARK: On the loop, at the start

    private func takeSignals(_ wake: Monitor<DaemonWake>) throws(TransportError) {
        try loop.onSignal([SIGHUP]) { _ in wake.wakeAll { $0.isReloadWanted = true } }
        try loop.onSignal([SIGINT, SIGTERM]) { signal in
            // The second one means now. Everything acknowledged is durable already.
            if wake.withLock({ $0.signal != nil }) { _exit(128 + signal) }
            wake.wakeAll { $0.signal = signal }
        }
    }

    /// Serves the API where the configuration says, and at the socket that was handed over.
    private func serve(
        _ service: Service, _ api: DaemonConfiguration.API, _ given: ServiceManager.Given?, _ log: Logger
    ) throws(CommandFailure) {
        if given == nil, api.socket.path == nil, api.listen == nil { return }
        let desk = AppendEndpoint(service, on: loop)
        let (worker, prober, readers, feed) = (worker, prober, readers, feed)
        let (subscriptions, attachments, pages) = (subscriptions, attachments, service.pages)
        let server = HTTPServer(
            loop: loop, limits: Self.limits(api), usage: service.usage, refusal: ErrorAnswer.refusal,
            observer: { [meters = service.meters] request, answered in meters.note(request, answered) },
            report: UntoldErrors { log.warning("a request failed: \($0)", "REQUEST_FAILED") }.take
        ) { exchange in
            if Self.takeProbe(exchange, service, prober) || pages.answer(exchange) { return }
            guard let request = AdmittedRequest(exchange, service.authenticator) else { return }
            switch request.operation {
            case .followChanges: feed.answer(request)
            case .tellLive: feed.tell(request)
            case .listFollowers: feed.list(exchange)
            case .listUsers where !service.mayList(request): break
            case .listSubscriptions, .putSubscription, .getSubscription, .deleteSubscription,
                .streamDeliveries, .pullDeliveries, .ackDeliveries, .releaseDeliveries, .extendDeliveries,
                .parkDeliveries, .listParked, .retryParked, .moveSubscription, .changeSubscription,
                .seekSubscription:
                subscriptions.answer(request)
            case .listEvents, .getEvent, .getWhy, .listConversations, .getConversation, .listRows,
                .getProfile,
                .listHistory, .listSurveys, .getSurvey, .listAccess, .listReaders,
                .search, .listUsers, .getProof, .listProofs, .listParticipants, .listRooms, .listContacts,
                .listSearches, .listAttachments:
                let term = AnswerTerm()
                exchange.watchEnd { isGone in isGone ? term.cancel() : term.hasten() }
                readers.submit(term, request) {
                    ReadEndpoint.answer(request, readers, $0, service.accessLog)
                }
            case .putAttachment: attachments.put(request)
            case .getAttachment:
                readers.submit(AnswerTerm(), request) { attachments.get(request, $0) }
            case .appendEvents where desk.take(request): break
            default: if !worker.submit({ _ in service.answer(request) }) { exchange.refuse(.closed) }
            }
        }
        try Self.orFail(Self.unusable(api)) { () throws(TransportError) in
            if let given {
                try server.listen(given: ServiceManager.copy(of: given))
                handedOver.withLock { $0 = loop.bind(server) }
            } else if let path = api.socket.path {
                try server.listen(unixSocket: path, mode: UInt32(api.socket.mode))
            }
        }
        guard let listen = api.listen else { return }
        let tls = certificate.withLock { $0 }.map { [certificate] first in { certificate.withLock { $0 } ?? first } }
        let port = try Self.orFail(Self.occupied("E_LISTEN", "the API", "api.listen", listen)) {
            () throws(TransportError) in try server.listen(host: listen.host, port: listen.port, tls: tls)
        }
        log.info(
            "API at \(tls == nil ? "http" : "https")://\(NetworkAddress(host: listen.host, port: port))", "LISTENING")
    }

    private static func limits(_ api: DaemonConfiguration.API) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.maximumBodyBytes = Int(clamping: api.maxBody)
        limits.maximumPendingBytes = max(Int(clamping: api.maxPending), 2 * limits.maximumBodyBytes)
        limits.maximumConnections = Int(clamping: api.maxConnections)
        limits.idleTimeout = .milliseconds(api.idleTimeout)
        limits.reservedConnections = 64
        limits.operatorConnections = 16
        // Who follows keeps a place for ever: a quarter of them is left for those who ask.
        limits.maximumWaiting = min(FeedDesk.most, limits.maximumConnections / 4 * 3)
        // Of a stream: a batch on top of what may wait, and the longest event there can be.
        limits.maximumBacklog = 4 << 20
        limits.reservedPaths = probes
        // The table of routes knows which are for what.
        limits.allowedMethods = nil
        limits.streamed = AttachmentEndpoint.isStreamed
        return limits
    }

    /// What `body` gives, or the failure that `tell` makes of a sentence.
    private static func orFail<Value>(
        _ tell: (String) -> CommandFailure, _ body: () throws(TransportError) -> Value
    ) throws(CommandFailure) -> Value {
        do throws(TransportError) { return try body() } catch { throw tell(error.description) }
    }

    private static func occupied(
        _ code: String, _ what: String, _ key: String, _ address: NetworkAddress?
    ) -> (String) -> CommandFailure {
        { reason in
            CommandFailure(
                code: code, "cannot serve \(what) at \(address?.description ?? ""): \(reason)",
                hint: "another address for \(key); 'ss -ltnp' shows who listens where", exitCode: .unreachable)
        }
    }

    /// Reads the certificate and its key again. Connections that are open keep theirs.
    func renewCertificate(_ api: DaemonConfiguration.API) throws(CommandFailure) {
        try certificate.withLock { tls throws(CommandFailure) in tls = try Self.tls(api) }
    }

    /// The certificate and its key as they are read at the start; `nil` where there is none.
    static func tls(_ api: DaemonConfiguration.API) throws(CommandFailure) -> ServerTLS? {
        guard let certificate = api.tls.certificate, let key = api.tls.key else { return nil }
        do throws(TLSSetupError) { return try ServerTLS(certificate: certificate, key: key) } catch {
            throw CommandFailure(
                code: "E_CONFIG", "api.tls: \(error)",
                hint: "PEM files that the daemon's user can read, of one key pair", exitCode: .configuration)
        }
    }

    /// Answers what supervisors ask for; false if it is something else.
    private static func takeProbe(
        _ exchange: HTTPExchange, _ service: Service, _ prober: SerialWorker<Void>
    ) -> Bool {
        guard probes.contains(exchange.request.path) else { return false }
        if exchange.request.path == "/livez" {
            service.live(exchange)
        } else if !prober.submit({ _ in service.probe(exchange) }) {
            exchange.refuse(.closed)
        }
        return true
    }

    /// Serves the probes over TCP, with places of their own: neither side can crowd out the other. Returns where, or `nil` where it is
    /// not wanted. On the loop.
    private static func serveProbes(
        _ service: Service, _ metrics: DaemonConfiguration.Metrics, _ manager: ServiceManager,
        _ prober: SerialWorker<Void>, on loop: EventLoop
    ) throws(TransportError) -> String? {
        guard manager.metrics != nil || metrics.listen != nil else { return nil }
        var limits = HTTPLimits()
        limits.maximumBodyBytes = 0
        limits.maximumHeaderBytes = 8 << 10
        limits.maximumPendingBytes = 1 << 20
        limits.maximumPendingRequests = 64
        limits.maximumConnections = 64
        limits.allowedMethods = ["GET", "HEAD"]
        let server = HTTPServer(
            loop: loop, limits: limits, refusal: ErrorAnswer.refusal,
            observer: { [meters = service.meters] request, answered in meters.note(request, answered) }
        ) { exchange in
            if takeProbe(exchange, service, prober) { return }
            exchange.refuse(.notFound, "there is no \(exchange.request.path) here; the API is on its socket")
        }
        if let given = manager.metrics {
            return "port \(try server.listen(given: ServiceManager.copy(of: given)))"
        }
        guard let listen = metrics.listen else { return nil }
        let port = try server.listen(host: listen.host, port: listen.port)
        return NetworkAddress(host: listen.host, port: port).description
    }

    /// Asks the loop to run `job`.
    func post(_ job: @escaping @Sendable () -> Void) { loop.post(job) }

    /// Refuses a socket whose folder is not there, before a store is made for a daemon that cannot serve it. A folder in the
    /// store comes with it.
    static func requirePlace(_ api: DaemonConfiguration.API, store: String) throws(CommandFailure) {
        guard let path = api.socket.path, let slash = path.lastIndex(of: "/") else { return }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard folder != store, access(folder, W_OK | X_OK) != 0 else { return }
        throw unusable(api)("\(folder): \(String(cString: strerror(errno)))")
    }

    private static func unusable(_ api: DaemonConfiguration.API) -> (String) -> CommandFailure {
        { reason in
            CommandFailure(
                code: "E_SOCKET", "cannot serve \(api.socket.path ?? ""): \(reason)",
                hint: "api.socket.path (--socket) in a folder that is there and writable; "
                    + "systemd makes /run/syncd with RuntimeDirectory=syncd",
                exitCode: .cannotCreate)
        }
    }

    /// Hands the socket to the group that may use it. Where there is no such group, or we may not, it stays ours alone.
    private static func give(_ path: String, to group: String, _ log: Logger) {
        guard let entry = getgrnam(group) else {
            log.warning("there is no group \(group): only the daemon's own user may use \(path)", "SOCKET")
            fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW)
            return
        }
        if lchown(path, uid_t.max, entry.pointee.gr_gid) != 0 {
            log.warning("cannot give \(path) to group \(group): \(String(cString: strerror(errno)))", "SOCKET")
        }
    }

    /// Where systemd holds the socket, leaves new callers to the next daemon and answers those that are here: for a second at most.
    /// A connection that was just accepted gets a moment to send its request.
    private func leaveCallers() {
        guard let server = handedOver.withLock({ $0 }) else { return }
        _ = server.sync { $0.stopListening() }
        sleepMilliseconds(100)
        for _ in 0..<90 where usage.figures.pendingRequests > 0 { sleepMilliseconds(10) }
    }

    func stop() {
        // What waits or follows is told first: it would be waited for.
        authenticator.stop()
        following.withLock { $0 = nil }
        feed.stop()
        subscriptions.stop()
        leaveCallers()
        worker.stop()
        prober.stop()
        attachments.stop()
        readers.stop()
        loop.stop()
    }
}
