internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// The running daemon: store, views, peers and API, from start to orderly end.
enum Daemon {
    /// What lives through all openings of the log.
    private struct Run {
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
            case .diskFailure, .loss: return .ioError
            }
        }
    }

    /// How long the API goes on after the disk has failed, milliseconds: each client that asks is told so.
    private static let farewell = 2_000

    /// Serves until the daemon is asked to end, a snapshot waits to become the log, or the disk fails.
    private static func serve(_ run: Run) throws(CommandFailure) -> DaemonWake.Reason {
        let (settings, live, manager, log) = (run.settings, run.live, run.manager, run.log)
        let configuration = live.current
        allowDescriptors()
        for remark in settings.remarks { log.warning(remark, "CONFIGURATION") }
        let wake = Monitor(DaemonWake())
        // Before the store is this process's: from then on others believe what the mark says.
        ViewsMark(StoreFiles(configuration.storage.dir))?.takeUp()
        let store = try manager.whileStarting("opening the log") { () throws(CommandFailure) in
            try open(settings, hasSocket: manager.api != nil, log)
        }
        if let failure = store.diskFailure {
            log.warning(
                "the disk had failed (\(failure.reason)): what the log and its WAL hold was written anew",
                "DISK_FAILED")
        }
        // A command may have had the store in between.
        let isUnproven = ViewsMark(store.files)?.verdict() == .unproven
        store.observeFailure { error in wake.wakeAll { $0.failure = error } }
        let (views, reader) = try manager.whileStarting("opening the views") { () throws(CommandFailure) in
            try follow(store, log)
        }
        // A start that is refused lets go of the views in order: else the next one had to prove them.
        var isRefused = true
        defer {
            if isRefused {
                views.stop()
                store.close()
            }
        }
        do throws(StoreError) { try store.confirmErasures() } catch { throw CommandFailure(error) }
        let audit = ViewsAudit(
            store.files, views, isOwed: isUnproven, every: configuration.verify.views, log)
        let roster = try PeerRoster(configuration: configuration, files: store.files)
        let invitations: Invitations
        do { invitations = try Invitations(store.files) } catch { throw CommandFailure(error) }
        let issuers = TokenIssuers { isProblem, text in
            isProblem ? log.warning(text, "ISSUER_KEYS") : log.info(text, "ISSUER_KEYS")
        }
        issuers.take(try TokenIssuers.read(configuration.api.issuers))
        let authenticator: Authenticator
        do { authenticator = try Authenticator(store, views, configuration.api, issuers) } catch {
            throw CommandFailure(error)
        }
        let node = try replicate(store, roster, Service.desk(roster, invitations, log), configuration, log, wake)
        let keeper = try keepAttachments(store, views, node, configuration)
        let worker = SerialWorker<Void>(name: "api-later") {}
        let service = Service(
            store: store, views: views, reader: reader, audit: audit, node: node, authenticator: authenticator,
            accessLog: AccessLog(store), roster: roster,
            invitations: invitations,
            listen: configuration.peers.listen, worker: worker, lag: LagGauge(store.files),
            disk: DiskGauge(store.files.folder), usage: HTTPUsage(), live: live, meters: Meters(), heart: Heartbeat(),
            writeProbe: WriteProbe(store.files.folder),
            began: Beginning(node.standings().mine, origin: store.identity.origin, top: views.top),
            sizes: SizeGauge(store.files), pages: PageFiles(folder: settings.pages))
        let server = try APIServer(service, configuration, manager, log, wake: wake)
        isRefused = false
        // Last of all that may fail: it holds the store until it is stopped.
        let witness = WitnessDesk(store, node, log)
        service.witness.withLock { $0 = witness }
        let replaced = ReplacementDesk(store, reader, log)
        service.replaced.withLock { $0 = replaced }

        let identity = store.identity
        if let cut = store.cut { log.error("LOG_CUT: \(cut.text); named evidence/\(cut.name)", "LOG_CUT") }
        if let lost = store.lostWitness {
            log.error(
                "WITNESS_LOST: the log could not be compared with its witness: \(lost.text); kept as evidence/\(lost.name)",
                "WITNESS_LOST")
        }
        if let change = store.originChange {
            log.warning("this node appends to the new origin \(identity.origin): \(change.summary)", "NEW_ORIGIN")
        }
        if let place = store.strayJournal {
            log.warning(
                "a rollback journal stood beside log.db, which no node makes; it was not read, and is \(place) now",
                "STRAY_JOURNAL")
        }
        log.info("node \(identity.name) \(identity.node) of cluster \(identity.cluster)", "NODE")
        let port = node.status().listeningPort
        if port != 0, let listen = configuration.peers.listen {
            log.info("peers may call \(listen.host):\(port)", "LISTENING")
        }
        if manager.api != nil {
            log.info("API at the socket that systemd has handed over", "LISTENING")
        } else if let path = configuration.api.socket.path {
            log.info("API at unix:\(path)", "LISTENING")
        }
        forgetStart()
        manager.tell(.ready)
        log.info("ready", "READY")

        let reason = watch(service, server, run, wake)
        switch reason {
        case .snapshot, .reload: break
        case .signal(let signal):
            log.info("signal \(signal): stopping; once more stops at once", "STOPPING")
            manager.tell(.stopping)
        case .diskFailure(.corrupt(let what)):
            log.error(
                "nothing more is stored: \(what); ending with code 74. See \"Damage\" in operating/trouble.md",
                "STORE_FAILED")
            bid("the log is damaged", manager, wake)
        case .diskFailure(let error):
            log.error(
                "the disk has failed, nothing more is stored: \(error.description); ending with code 74, a new start recovers",
                "STORE_FAILED")
            bid("the disk has failed", manager, wake)
        case .loss(let what):
            tell(what, log)
            bid(what, manager, wake)
        }
        server.stop()
        service.writeProbe.stop()
        witness.stop()
        replaced.stop()
        keeper.storeHasClosed()
        node.stop()
        worker.stop()
        audit.stop()
        views.stop()
        return end(store, reason, log)
    }

    /// Closes the store. What is lost, or fails, at the very end counts, too.
    private static func end(_ store: EventStore, _ reason: DaemonWake.Reason, _ log: Logger) -> DaemonWake.Reason {
        let loss = store.findLoss()
        store.close()
        switch reason {
        case .diskFailure, .loss: return reason
        case .signal, .snapshot, .reload: break
        }
        if let loss {
            tell(loss, log)
            return .loss(loss)
        }
        guard let error = store.failure else { return reason }
        log.error("the disk has failed while stopping: \(error.description)", "STORE_FAILED")
        return .diskFailure(error)
    }

    private static func tell(_ loss: String, _ log: Logger) {
        log.error(
            "\(loss): nothing more is stored, and what was acknowledged since the WAL was last copied may be lost; ending with code 74. Stop syncd before a "
                + "store is restored, moved or removed", "STORE_LOST")
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
            if let loss = store.findLoss() { return .loss(loss) }
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

    /// Takes as many file descriptors as the system grants: callers must never leave none for the store.
    private static func allowDescriptors() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 65_536))
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }

    private static func open(
        _ settings: Settings, hasSocket: Bool, _ log: Logger
    ) throws(CommandFailure) -> EventStore {
        let configuration = settings.configuration
        let folder = configuration.storage.dir
        let mismatch: CommandFailure?
        try ConfigurationCheck.requirePlace(folder)
        if !hasSocket, !StoreFiles(folder).exists { try APIServer.requirePlace(configuration.api, store: folder) }
        do throws(StoreError) {
            // Before anything is made, the witness's folder as well.
            if access(folder, F_OK) == 0 { try StoreLock.requirePrivate(folder) }
            if !StoreFiles(folder).exists {
                try EventStore.create(in: folder, name: settings.nodeName, cluster: configuration.node.cluster)
                log.info("made a store in \(folder)", "STORE_MADE")
            }
            mismatch = try settings.mismatch(with: LogReader(StoreFiles(folder)))
        } catch {
            throw CommandFailure(error)
        }
        if let mismatch { throw mismatch }
        let witness = witness(configuration.storage, log)
        let start = MonotonicClock.now
        while true {
            do throws(StoreError) {
                let socket = configuration.api.socket.path.map { " socket \($0)" } ?? ""
                return try EventStore(
                    opening: folder, durability: configuration.storage.durability == .full ? .full : .normal,
                    owner: "syncd pid \(getpid())\(socket)", witness: witness)
            } catch {
                // A command that was asked before the start brings the views up to date, and ends by itself. Another daemon does not.
                guard case .locked(_, let owner) = error, !owner.hasPrefix("syncd "),
                    MonotonicClock.now - start < patience
                else { throw CommandFailure(error) }
                sleepMilliseconds(20)
            }
        }
    }

    /// How long a start waits for a command that has the store, in nanoseconds.
    private static let patience: UInt64 = 15_000_000_000

    /// Makes the folder of the witness, if it is to lie beside the store. Where that cannot be done the witness says so, and
    /// stops nothing.
    private static func witness(_ storage: DaemonConfiguration.Storage, _ log: Logger) -> WitnessPlace {
        guard let folder = storage.witnessFolder else { return .none }
        // A folder that the power takes back would be a lost witness.
        defer { try? SmallFile.syncFolder(of: folder) }
        if storage.witness == .beside, mkdir(folder, 0o700) != 0, errno != EEXIST {
            log.warning(
                "cannot make the folder of the witness \(folder): \(String(cString: strerror(errno)))", "WITNESS")
        } else if access(folder, F_OK) != 0 {
            log.warning("the folder of the witness \(folder) is not there: no witness is kept until it is", "WITNESS")
        } else if let weakness = StoreFiles(storage.dir).weakness(ofWitness: folder) {
            log.warning("the folder of the witness \(folder) \(weakness)", "WITNESS")
        }
        return .folder(folder)
    }

    /// What keeps the views up to date, and reads them.
    private static func follow(
        _ store: EventStore, _ log: Logger
    ) throws(CommandFailure) -> (ProjectorThread, EventReader) {
        do throws(StoreError) {
            let views = try ProjectorThread.following(
                store, distrusted: { why in log.warning("the views are built anew: \(why)", "VIEWS_REBUILT") },
                renewed: { log.info($0, "VIEWS_REBUILT") })
            return (views, EventReader(Freshness(store.files, projector: views)))
        } catch {
            throw CommandFailure(error)
        }
    }

    /// What follows the views for bytes that events name.
    private static func keepAttachments(
        _ store: EventStore, _ views: ProjectorThread, _ node: SyncNode, _ configuration: DaemonConfiguration
    ) throws(CommandFailure) -> AttachmentKeeper {
        do throws(StoreError) {
            return try store.follower { () throws(StoreError) in
                AttachmentKeeper(
                    store, tails: views.tails, unnamedFor: configuration.attachments.keepUnnamed
                ) { [weak node] in node?.attachmentsWanted() }
            }
        } catch {
            throw CommandFailure(error)
        }
    }

    private static func replicate(
        _ store: EventStore, _ roster: PeerRoster, _ desk: JoinDesk, _ configuration: DaemonConfiguration,
        _ log: Logger, _ wake: Monitor<DaemonWake>
    ) throws(CommandFailure) -> SyncNode {
        let listen = configuration.peers.listen.flatMap { HostPort($0.description) }
        do throws(NodeError) {
            return try SyncNode(
                store: store, listen: listen, peers: roster.peers, software: Software.name,
                desk: desk,
                snapshots: SnapshotOptions(
                    after: configuration.peers.snapshotAfter, offers: configuration.peers.offerSnapshots,
                    minFree: configuration.storage.minFree),
                attachments: AttachmentOptions(
                    isEager: configuration.attachments.fetch == .eager, limit: configuration.attachments.maxBytes),
                onSnapshot: { wake.wakeAll { $0.isSnapshotReady = true } },
                log: { remark in
                    var line = LogLine(level: .info, code: remark.code, text: remark.text)
                    if let peer = remark.peer { line.fields.append(LogLine.Field("peer", peer)) }
                    if let taken = remark.duration { line.fields.append(.duration(milliseconds: taken)) }
                    log.write(line)
                })
        } catch {
            throw CommandFailure(
                code: "E_PEERS", error.description,
                hint: "another address for peers.listen (--peer-listen); 'ss -ltnp' shows who listens where",
                exitCode: .unreachable)
        }
    }
}
