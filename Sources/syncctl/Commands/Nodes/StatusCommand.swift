internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient
internal import SyncEngine

enum StatusCommand {
    static let entry = Subcommand(
        Command(
            "status", "This node on one screen", group: "Nodes",
            examples: [
                .init("syncctl status", "the daemon's state, or the store's when none runs"),
                .init("syncctl status --json", "the same for a program"),
            ],
            discussion: """
                Exit code 2 when something is degraded: a peer away, a disk nearly full, views that cannot be written; and when \
                it cannot be told whether a daemon runs, because the store belongs to another user. Exit code 3 when the record \
                is damaged or has two versions, as of 'syncctl doctor'.
                """),
        run: run)

    /// The line about quarantined events, if there are any. They are no fault of this node: nothing is degraded.
    static func held(_ quarantined: UInt64, _ session: Session) -> [String] {
        guard quarantined > 0 else { return [] }
        return [row(.rowHeld, session.shown(.eventsHeld, session.counted(quarantined, .event)), session)]
    }

    /// The lines about the daemon's last verification of the log, if there was one, and about the last backup.
    static func lastChecks(
        _ verification: VerificationRecord?, _ backup: BackupRecord?, _ session: Session
    ) -> [String] {
        var lines: [String] = []
        if let record = verification {
            let wording: Wording =
                switch record.answer {
                case .proven: .verifiedTo
                case .notCovered: .verifiedPartly
                case .contradicted: .verifiedNot
                }
            let text = session.shown(
                wording, String(record.position), session.clock(record.ended),
                session.counted(record.findings, .finding))
            lines.append(row(.rowVerified, text, session))
        }
        let text =
            backup.map { backup in
                session.shown(
                    backup.repository == nil ? .backupTaken : .backupTo, String(backup.position),
                    session.clock(backup.time), backup.repository ?? "")
            } ?? session.shown(.backupNone)
        return lines + [row(.rowBackup, text, session)]
    }

    /// A line of the screen: what it tells of, and that.
    static func row(_ label: Wording, _ text: String, _ session: Session) -> String {
        "  " + DisplayWidth.pad(session.shown(label), to: session.outputLanguage == .korean ? 10 : 9) + text
    }

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        if let named = try DaemonClient.named(by: session) {
            let answer = try named.ask(ClientRequest(target: Route.status.path, timeout: 5_000))
            return try DaemonStatus(answer, nil).show(session)
        }
        let files = try StoreLocation.find(for: session).files
        let holder = StoreHolder(files)
        var problem: String?
        if case .owner(let owner) = holder, owner.hasPrefix("syncd ") {
            do throws(CommandFailure) {
                if let daemon = try DaemonClient.running(files) {
                    return try DaemonStatus(
                        try daemon.ask(ClientRequest(target: Route.status.path, timeout: 5_000)),
                        Finding.ownHead(files)
                    ).show(session)
                }
            } catch {
                problem = error.what
            }
        }
        if holder == .unknown {
            problem = "whether a daemon runs cannot be told: \(files.lock) may only be read by its owner"
        }
        return try OfflineStatus(files, holder: holder, problem: problem, session).show(session)
    }
}

/// What a store says of itself.
private struct OfflineStatus {
    let files: StoreFiles
    let identity: StoreIdentity
    let origins: [StoredOrigin]
    let top: UInt64
    let views: UInt64?
    let quarantined: UInt64?
    let holder: StoreHolder
    let problem: String?
    let notices: [Finding]

    init(
        _ files: StoreFiles, holder: StoreHolder, problem: String?, _ session: Session
    ) throws(CommandFailure) {
        self.files = files
        self.holder = holder
        self.problem = problem
        let reader = try stored { try LogReader(files) }
        identity = try stored { try StoreIdentity(reader) }
        origins = try stored { try reader.origins() }
        top = try stored { try reader.top() }
        notices = (Finding.ownHead(files).map { [$0] } ?? []) + (try Finding.standing(files, session))
        let reading = try? ViewReader(files)
        views = try? reading?.progress()
        quarantined = try? reading?.quarantined()
    }

    func show(_ session: Session) throws(CommandFailure) -> ExitCode {
        if session.isJSON { try json(session) } else { try text(session) }
        return notices.exitCode == .success && problem != nil ? .degraded : notices.exitCode
    }

    private var isDegraded: Bool { problem != nil || notices.exitCode != .success }

    private func json(_ session: Session) throws(CommandFailure) {
        var line = JSONLine(type: "status")
        line.add("node", identity.node.description)
        line.add("name", identity.name)
        line.add("cluster", identity.cluster)
        line.add("origin", identity.origin.description)
        line.add("position", top)
        // Of views that are not there this is unknown; then the members are missing.
        if let views { line.add("views", views) }
        if let quarantined { line.add("quarantined", quarantined) }
        switch holder {
        case .nobody: line.add("running", false)
        case .owner: line.add("running", true)
        case .unknown: line.add("running", String?.none)
        }
        line.add("state", isDegraded ? "degraded" : "ok")
        line.add("problems", problem.map { [$0] } ?? [])
        if let record = VerificationRecord(files) { line.addObject("verification") { record.write(to: &$0) } }
        if let backup = BackupRecord(files) { line.addObject("backup") { backup.write(to: &$0) } }
        line.addArray("notices") { array in
            for finding in notices { array.addObject { finding.write(to: &$0) } }
        }
        line.addArray("origins") { array in
            for origin in origins {
                array.addObject { line in
                    line.add("origin", origin.id.description)
                    line.add("node", origin.node.description)
                    line.add("size", origin.size)
                }
            }
        }
        try session.output.line(line)
        try session.end(count: 1)
    }

    private func text(_ session: Session) throws(CommandFailure) {
        let daemon =
            switch holder {
            case .nobody: session.shown(.noDaemon)
            case .owner(let owner): session.shown(.inUseBy, owner)
            case .unknown: session.shown(.daemonUnknown)
            }
        var lines = ["\(identity.name) · \(daemon)" + (isDegraded ? " · " + session.shown(.isDegraded) : "")]
        func add(_ label: Wording, _ text: String) { lines.append(StatusCommand.row(label, text, session)) }
        add(.rowNode, identity.node.description)
        add(.rowCluster, identity.cluster)
        add(.rowLog, session.shown(.logIn, session.counted(top, .event), files.folder))
        switch views {
        case top: add(.rowViews, session.shown(.viewsWhole))
        case let position?: add(.rowViews, session.shown(.viewsCatchUp, String(top - min(position, top))))
        case nil: add(.rowViews, session.shown(.viewsNone))
        }
        lines += StatusCommand.held(quarantined ?? 0, session)
        lines += StatusCommand.lastChecks(VerificationRecord(files), BackupRecord(files), session)
        for line in lines { try session.output.line(Sanitizer.line(line)) }
        try session.output.line()
        var table = TextTable([
            .left(session.heading(.origin)), .left(session.heading(.node)), .right(session.heading(.events)),
            .left(""),
        ])
        for origin in origins {
            table.add([
                .init(origin.id.description), .init(origin.node.short), .init(String(origin.size)),
                .init(origin.id == identity.origin ? session.shown(.thisNode) : ""),
            ])
        }
        try session.print(table)
        for finding in notices where finding.settled == nil { try finding.show(session) }
        if let problem { try session.output.line(Sanitizer.line("\n\(session.shown(.problems))\n  \(problem)")) }
    }
}
