internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// The running daemon: store, views, peers and API, from start to orderly end.
enum Daemon {
    /// What lives through all openings of the log.
    struct Run {
        let settings: Settings
        /// Reads the configuration again.
        let reread: () throws(CommandFailure) -> Settings
        let live: LiveConfiguration
        let manager: ServiceManager
        let log: Logger
    }

    static func run(
        _ settings: Settings, reread: @escaping () throws(CommandFailure) -> Settings
    ) throws(CommandFailure) -> ExitCode {
        let log = Logger(settings.configuration.log)
        let manager = ServiceManager(environment: Terminal.processEnvironment())
        for socket in manager.useless {
            log.warning(
                "the socket '\(socket.name)' that systemd has handed over is of no use here, and is closed", "SOCKET")
            close(socket.descriptor)
        }
        let run = Run(
            settings: settings, reread: reread, live: LiveConfiguration(settings.configuration), manager: manager,
            log: log)
        while true {
            switch try serve(run) {
            case .snapshot: log.info("opening the log again: a snapshot takes its place", "SNAPSHOT_TAKEN")
            case .reload: break
            case .signal:
                log.info("stopped", "STOPPED")
                return .success
            case .failure: return .ioError
            }
        }
    }

    /// How long the API goes on after the disk has failed, milliseconds: each client that asks is told so.
    private static let farewell = 2_000

    /// Serves until the daemon is asked to end, a snapshot waits to become the log, or the disk fails.
    private static func serve(_ run: Run) throws(CommandFailure) -> DaemonWake.Reason {
        let wake = Monitor(DaemonWake())
        let running = try start(run, wake)
        tellOfStart(running.service, run)
        forgetStart()
        run.manager.tell(.ready)
        run.log.info("ready", "READY")
        let reason = watch(running.service, running.server, run, wake)
        tell(of: reason, run, wake)
        running.stop()
        return end(running.service.store, reason, run.log)
    }

    /// What the log says of a start: first what was found in the store, then whose node it is, and where it listens.
    private static func tellOfStart(_ service: Service, _ run: Run) {
        let (store, log) = (service.store, run.log)
        if let cut = store.cut { log.error("LOG_CUT: \(cut.text); named evidence/\(cut.name)", "LOG_CUT") }
        if let lost = store.lostWitness {
            log.error(
                "WITNESS_LOST: the log could not be compared with its witness: \(lost.text); kept as evidence/\(lost.name)",
                "WITNESS_LOST")
        }
        let identity = store.identity
        if let change = store.originChange {
            log.warning("this node appends to the new origin \(identity.origin): \(change.summary)", "NEW_ORIGIN")
        }
        if let place = store.strayJournal {
            log.warning(
                "a rollback journal stood beside log.db, which no node makes; it was not read, and is \(place) now",
                "STRAY_JOURNAL")
        }
        log.info("node \(identity.name) \(identity.node) of cluster \(identity.cluster)", "NODE")
        let port = service.node.status().listeningPort
        if port != 0, let listen = service.listen {
            log.info("peers may call \(listen.host):\(port)", "LISTENING")
        }
        if run.manager.api != nil {
            log.info("API at the socket that systemd has handed over", "LISTENING")
        } else if let path = run.live.current.api.socket.path {
            log.info("API at unix:\(path)", "LISTENING")
        }
    }

    /// Says why the daemon ends. Where the disk has failed or the store is lost, the API goes on for a while.
    private static func tell(of reason: DaemonWake.Reason, _ run: Run, _ wake: Monitor<DaemonWake>) {
        let (manager, log) = (run.manager, run.log)
        switch reason {
        case .snapshot, .reload: break
        case .signal(let signal):
            log.info("signal \(signal): stopping; once more stops at once", "STOPPING")
            manager.tell(.stopping)
        case .failure(.corrupt(let what)):
            log.error(
                "nothing more is stored: \(what); ending with code 74. See \"Damage\" in operating/trouble.md",
                "STORE_FAILED")
            bid("the log is damaged", manager, wake)
        case .failure(.lost(let what)):
            tell(ofLost: what, log)
            bid(what, manager, wake)
        case .failure(let error):
            log.error(
                "the disk has failed, nothing more is stored: \(error.description); ending with code 74, a new start recovers",
                "STORE_FAILED")
            bid("the disk has failed", manager, wake)
        }
    }

    /// Closes the store. What is lost, or fails, at the very end counts, too.
    private static func end(_ store: EventStore, _ reason: DaemonWake.Reason, _ log: Logger) -> DaemonWake.Reason {
        store.close()
        if case .failure = reason { return reason }
        guard let error = store.failure else { return reason }
        if case .lost(let what) = error {
            tell(ofLost: what, log)
        } else {
            log.error("the disk has failed while stopping: \(error.description)", "STORE_FAILED")
        }
        return .failure(error)
    }

    private static func tell(ofLost what: String, _ log: Logger) {
        log.error(
            "\(StoreError.lost(what)); ending with code 74. Stop syncd before a store is restored, moved or removed",
            "STORE_LOST")
    }

    /// Says that the daemon is about to end, and goes on answering for a while.
    private static func bid(_ why: String, _ manager: ServiceManager, _ wake: Monitor<DaemonWake>) {
        manager.tell(.status(why))
        endInAnyCase()
        _ = wake.wait(milliseconds: farewell) { $0.signal }
    }

    /// Waits for the end, and tells the log of each change of state until then, and systemd that the daemon gets on.
    private static func watch(
        _ service: Service, _ server: APIServer, _ run: Run, _ wake: Monitor<DaemonWake>
    ) -> DaemonWake.Reason {
        let (store, log) = (service.store, run.log)
        var health = HealthLog()
        var signs = SignsOfLife(every: run.manager.watchdog, now: MonotonicClock.now)
        while true {
            if let reason = wake.wait(milliseconds: signs.pause, for: { $0.reason }) {
                guard case .reload = reason else { return reason }
                wake.withLock { $0.isReloadWanted = false }
                reload(service, server, run)
                continue
            }
            store.look()
            if let loss = service.views.findLoss() {
                log.warning("\(loss): the views are built anew", "VIEWS_REBUILT")
            }
            service.authenticator.lookAtKeys()
            let now = MonotonicClock.now
            service.minute.note(service.views.top, now: now)
            service.heart.look(store.pulse, now: now, ask: server.post)
            if signs.isDue(proven: service.heart.lastProven, now: now) { run.manager.tell(.alive) }
            for line in health.look(service.health, now: now) { log.write(line) }
        }
    }

    /// Reads the configuration again and takes all that has changed, or nothing.
    private static func reload(_ service: Service, _ server: APIServer, _ run: Run) {
        run.manager.tell(.reloading)
        defer { run.manager.tell(.ready) }
        do throws(CommandFailure) {
            let reload = try Reload(from: run.live.current, to: try run.reread())
            let issuers = try TokenIssuers.read(reload.configuration.api.issuers)
            try server.renewCertificate(reload.configuration.api)
            run.live.take(reload.configuration)
            service.authenticator.take(reload.configuration.api.socket, issuers)
            run.log.take(reload.configuration.log)
            if reload.changes.contains(where: { $0.path == "peers.nodes" }) {
                service.roster.take(reload.configuration)
                service.node.setPeers(service.roster.peers)
            }
            for change in reload.changes { run.log.info("reloaded: \(change)", "RELOADED") }
            if let ends = service.certificate.withLock({ $0?.ends }) {
                run.log.info(
                    "reloaded: the certificate of api.tls was read again; it ends at \(Timestamp.text(ends * 1_000))",
                    "RELOADED")
            }
            if reload.changes.isEmpty {
                run.log.info("reloaded: nothing has changed in the configuration", "RELOADED")
            }
        } catch {
            run.log.error("reload refused, nothing has changed: \(error.what)   [\(error.code)]", "RELOAD_REFUSED")
        }
    }

    /// A thread that waits for a dying disk may wait for ever.
    private static func endInAnyCase() {
        _ = WorkerThread(name: "end") {
            sleepMilliseconds(10_000)
            _exit(ExitCode.ioError.rawValue)
        }
    }
}
