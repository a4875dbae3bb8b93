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
    /// What supervisors ask for.
    private static let probes: Set<String> = ["/livez", "/readyz", "/metrics"]

    /// - Parameter wake: Where signals are put for the main thread.
    init(
        _ service: Service, _ api: DaemonConfiguration.API, _ log: Logger, wake: Monitor<DaemonWake>
    ) throws(CommandFailure) {
        let worker = SerialWorker<Void>(name: "api-work") {}
        self.worker = worker
        let prober = SerialWorker<Void>(name: "api-probe") {}
        self.prober = prober
        do throws(TransportError) {
            loop = try EventLoop()
            try loop.start(name: "api")
        } catch {
            throw CommandFailure(code: "E_API", error.description, exitCode: .internalError)
        }
        let loop = loop
        let readers: ReadPool
        let feed: FeedHub
        let subscriptions: SubscriptionHub
        do throws(StoreError) {
            feed = try FeedHub(service.store, on: loop)
            subscriptions = try SubscriptionHub(service.store, service.views, service.node, on: loop)
            readers = ReadPool(try CommitFeed(service.store, on: loop)) {
                EventReader(Freshness(service.store.files, projector: service.views))
            }
        } catch {
            throw CommandFailure(error)
        }
        self.readers = readers
        self.feed = feed
        self.subscriptions = subscriptions
        let failure = loop.sync { () -> String? in
            do throws(TransportError) {
                try loop.onSignal([SIGINT, SIGTERM]) { signal in
                    // The second one means now. Everything acknowledged is durable already.
                    if wake.withLock({ $0.signal != nil }) { _exit(128 + signal) }
                    wake.wakeAll { $0.signal = signal }
                }
                guard let path = api.socket.path else { return nil }
                var limits = HTTPLimits()
                limits.maximumBodyBytes = Int(clamping: api.maxBody)
                limits.maximumPendingBytes = max(limits.maximumPendingBytes, 2 * limits.maximumBodyBytes)
                limits.reservedConnections = 64
                // Of a stream: a batch on top of what may wait, and the longest event there can be.
                limits.maximumBacklog = 4 << 20
                limits.reservedPaths = Self.probes
                let desk = AppendEndpoint(service, on: loop)
                let server = HTTPServer(
                    loop: loop, limits: limits, usage: service.usage, refusal: ErrorAnswer.refusal
                ) {
                    exchange in
                    if exchange.request.path == "/livez" { return service.live(exchange) }
                    if Self.probes.contains(exchange.request.path) {
                        if !prober.submit({ _ in service.probe(exchange) }) { exchange.refuse(.closed) }
                        return
                    }
                    if desk.take(exchange) { return }
                    if exchange.isReading, exchange.request.path == Route.changes.path {
                        return feed.answer(exchange)
                    }
                    if SubscriptionHub.takes(exchange.request.segments) { return subscriptions.answer(exchange) }
                    if exchange.isReading, let route = ReadRoute(version1: exchange.request.segments) {
                        if !readers.submit({ ReadEndpoint.answer(exchange, route, readers, $0) }) {
                            exchange.refuse(.busy, "too many queries are waiting")
                        }
                        return
                    }
                    if !worker.submit({ _ in service.answer(exchange) }) { exchange.refuse(.closed) }
                }
                try server.listen(unixSocket: path, mode: UInt32(api.socket.mode))
                return nil
            } catch {
                return error.description
            }
        }
        if let failure = failure ?? nil {
            throw Self.unusable(api, failure)
        }
        if let path = api.socket.path, let group = api.socket.group { Self.give(path, to: group, log) }
    }

    /// Refuses a socket whose folder is not there, before a store is made for a daemon that cannot serve it. A folder in the
    /// store comes with it.
    static func requirePlace(_ api: DaemonConfiguration.API, store: String) throws(CommandFailure) {
        guard let path = api.socket.path, let slash = path.lastIndex(of: "/") else { return }
        let folder = slash == path.startIndex ? "/" : String(path[..<slash])
        guard folder != store, access(folder, W_OK | X_OK) != 0 else { return }
        throw unusable(api, "\(folder): \(String(cString: strerror(errno)))")
    }

    private static func unusable(_ api: DaemonConfiguration.API, _ reason: String) -> CommandFailure {
        CommandFailure(
            code: "E_SOCKET", "cannot serve \(api.socket.path ?? ""): \(reason)",
            hint: "api.socket.path (--socket) in a folder that is there and writable; "
                + "systemd makes /run/syncd with RuntimeDirectory=syncd",
            exitCode: .cannotCreate)
    }

    /// Hands the socket to the group that may use it. Where there is no such group, or we may not, it stays ours alone.
    private static func give(_ path: String, to group: String, _ log: Logger) {
        guard let entry = getgrnam(group) else {
            log.warning("there is no group \(group): only the daemon's own user may use \(path)")
            fchmodat(AT_FDCWD, path, 0o600, AT_SYMLINK_NOFOLLOW)
            return
        }
        if lchown(path, uid_t.max, entry.pointee.gr_gid) != 0 {
            log.warning("cannot give \(path) to group \(group): \(String(cString: strerror(errno)))")
        }
    }

    func stop() {
        feed.stop()
        subscriptions.stop()
        worker.stop()
        prober.stop()
        readers.stop()
        loop.stop()
    }
}
