internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

// The start of the daemon, step by step: store, views, who may call, peers, API.
extension Daemon {
    /// What runs from one opening of the log to its end.
    struct Running {
        let service: Service
        let server: APIServer
        let witness: WitnessDesk
        let replaced: ReplacementDesk
        let keeper: AttachmentKeeper

        /// Ends all but the store, those that answer first.
        func stop() {
            server.stop()
            service.writeProbe.stop()
            witness.stop()
            replaced.stop()
            keeper.storeHasClosed()
            service.verification.stop()
            service.node.stop()
            service.worker.stop()
            service.audit.stop()
            service.views.stop()
        }
    }

    static func start(_ run: Run, _ wake: Monitor<DaemonWake>) throws(CommandFailure) -> Running {
        let log = run.log
        allowDescriptors()
        for remark in run.settings.remarks { log.warning(remark, "CONFIGURATION") }
        // Before the store is this process's: from then on others believe what the mark says.
        ViewsMark(StoreFiles(run.live.current.storage.dir))?.takeUp()
        let store = try run.manager.whileStarting("opening the log") { () throws(CommandFailure) in
            try open(run.settings, hasSocket: run.manager.api != nil, log)
        }
        if let failure = store.diskFailure {
            log.warning(
                "the disk had failed (\(failure.reason)): what the log and its WAL hold was written anew",
                "DISK_FAILED")
        }
        // A command may have had the store in between.
        let isUnproven = ViewsMark(store.files)?.verdict() == .unproven
        store.observeFailure { error in wake.wakeAll { $0.failure = error } }
        let (views, reader) = try run.manager.whileStarting("opening the views") { () throws(CommandFailure) in
            try follow(store, log)
        }
        do throws(CommandFailure) {
            try mapped { () throws(StoreError) in try store.confirmErasures() }
            let audit = ViewsAudit(
                store.files, views, isOwed: isUnproven, every: run.live.current.verify.views, log)
            return try serve(store, views, reader, audit, run, wake)
        } catch {
            // A start that is refused lets go of the views in order: else the next one had to prove them.
            views.stop()
            store.close()
            throw error
        }
    }

    /// Lets callers and peers in.
    private static func serve(
        _ store: EventStore, _ views: ProjectorThread, _ reader: EventReader, _ audit: ViewsAudit, _ run: Run,
        _ wake: Monitor<DaemonWake>
    ) throws(CommandFailure) -> Running {
        let (configuration, log) = (run.live.current, run.log)
        let roster = try PeerRoster(configuration: configuration, files: store.files)
        let invitations = try mapped { () throws(StoreError) in try Invitations(store.files) }
        let authenticator = try authenticate(store, views, configuration.api, log)
        let node = try replicate(store, roster, Service.desk(roster, invitations, log), configuration, log, wake)
        let keeper = try keepAttachments(store, views, node, configuration, log)
        let service = Service(
            store: store, views: views, reader: reader, audit: audit, node: node, authenticator: authenticator,
            accessLog: AccessLog(store), roster: roster,
            invitations: invitations,
            verification: LogVerification(store.files, every: configuration.verify.log, log),
            listen: configuration.peers.listen, worker: SerialWorker<Void>(name: "api-later") {},
            lag: LagGauge(store.files),
            disk: DiskGauge(store.files.folder), usage: HTTPUsage(), live: run.live, meters: Meters(),
            heart: Heartbeat(),
            writeProbe: WriteProbe(store.files.folder),
            began: Beginning(node.standings().mine, origin: store.identity.origin, top: views.top),
            sizes: SizeGauge(store.files), pages: PageFiles(folder: run.settings.pages))
        let server = try APIServer(service, configuration, run.manager, log, wake: wake)
        // Last, behind all that may fail: they hold the store until they are stopped.
        let witness = WitnessDesk(store, node, log)
        service.witness.withLock { $0 = witness }
        let replaced = ReplacementDesk(store, reader, log)
        service.replaced.withLock { $0 = replaced }
        return Running(service: service, server: server, witness: witness, replaced: replaced, keeper: keeper)
    }

    private static func mapped<Value>(_ body: () throws(StoreError) -> Value) throws(CommandFailure) -> Value {
        do throws(StoreError) { return try body() } catch { throw CommandFailure(error) }
    }

    /// Who callers are, with the keys of the providers that may say so.
    private static func authenticate(
        _ store: EventStore, _ views: ProjectorThread, _ api: DaemonConfiguration.API, _ log: Logger
    ) throws(CommandFailure) -> Authenticator {
        let issuers = TokenIssuers { isProblem, text in
            isProblem ? log.warning(text, "ISSUER_KEYS") : log.info(text, "ISSUER_KEYS")
        }
        issuers.take(try TokenIssuers.read(api.issuers))
        return try mapped { () throws(StoreError) in try Authenticator(store, views, api, issuers) }
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
                    owner: "syncd pid \(getpid())\(socket)", witness: witness,
                    surroundings: .found(around: StoreFiles(folder)))
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
        let views = try mapped { () throws(StoreError) in
            try ProjectorThread.following(
                store, distrusted: { why in log.warning("the views are built anew: \(why)", "VIEWS_REBUILT") },
                renewed: { log.info($0, "VIEWS_REBUILT") })
        }
        return (views, EventReader(Freshness(store.files, projector: views)))
    }

    /// What follows the views for bytes that events name.
    private static func keepAttachments(
        _ store: EventStore, _ views: ProjectorThread, _ node: SyncNode, _ configuration: DaemonConfiguration,
        _ log: Logger
    ) throws(CommandFailure) -> AttachmentKeeper {
        try mapped { () throws(StoreError) in
            try store.follower { () throws(StoreError) in
                AttachmentKeeper(
                    store, tails: views.tails, unnamedFor: configuration.attachments.keepUnnamed
                ) { [weak node] in
                    node?.attachmentsWanted()
                } onLost: { count in
                    log.warning(
                        "files of attachments that events name are gone: \(count); peers are asked for them",
                        "ATTACHMENTS_LOST")
                }
            }
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
