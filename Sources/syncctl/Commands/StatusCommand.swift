internal import CommandLineKit
internal import EventStore
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
                Exit code 2 when something is degraded: a peer away, a disk nearly full, views that cannot be written.
                """),
        run: run)

    /// The line about quarantined events, if there are any. They are no fault of this node: nothing is degraded.
    static func held(_ quarantined: UInt64) -> [String] {
        guard quarantined > 0 else { return [] }
        let held = EventText.count(quarantined, "event")
        return ["  held     \(held) cannot be read by the views: syncctl quarantine list"]
    }

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let owner = StoreLock.owner(files)
        var problem: String?
        if owner?.hasPrefix("syncd ") ?? false {
            do throws(CommandFailure) {
                if let daemon = try DaemonClient.running(files) {
                    return try DaemonStatus(try daemon.ask(HTTPRequest(target: "/v1/status", timeout: 5_000))).show(
                        session)
                }
            } catch {
                problem = error.what
            }
        }
        return try OfflineStatus(files, owner: owner, problem: problem).show(session)
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
    let owner: String?
    let problem: String?
    let notices: [Finding]

    init(_ files: StoreFiles, owner: String?, problem: String?) throws(CommandFailure) {
        self.files = files
        self.owner = owner
        self.problem = problem
        let reader = try stored { try LogReader(files) }
        identity = try stored { try StoreIdentity(reader) }
        origins = try stored { try reader.origins() }
        top = try stored { try reader.top() }
        notices = try stored { try NodeNotice.standing(files) }.map { Finding($0) }
        let reading = try? ViewReader(files)
        views = try? reading?.progress()
        quarantined = try? reading?.quarantined()
    }

    func show(_ session: Session) throws(CommandFailure) -> ExitCode {
        if session.isJSON { try json(session) } else { try text(session) }
        return isDegraded ? .degraded : .success
    }

    private var isDegraded: Bool {
        problem != nil || notices.contains { $0.severity != .information }
    }

    private func json(_ session: Session) throws(CommandFailure) {
        var line = JSONLine(type: "status")
        line.add("node", identity.node.description)
        line.add("name", identity.name)
        line.add("cluster", identity.cluster)
        line.add("origin", identity.origin.description)
        line.addExact("position", top)
        line.add("views", views.map(String.init))
        line.add("quarantined", quarantined.map(String.init))
        line.add("running", owner != nil)
        line.add("state", isDegraded ? "degraded" : "ok")
        line.add("problems", problem.map { [$0] } ?? [])
        line.addArray("notices") { array in
            for finding in notices { array.addObject { finding.write(to: &$0) } }
        }
        line.addArray("origins") { array in
            for origin in origins {
                array.addObject { line in
                    line.add("origin", origin.id.description)
                    line.add("node", origin.node.description)
                    line.addExact("size", origin.size)
                }
            }
        }
        try session.output.line(line)
        try session.end(count: 1)
    }

    private func text(_ session: Session) throws(CommandFailure) {
        let daemon = owner.map { "in use by \($0)" } ?? "daemon not running"
        var lines = ["\(identity.name) · \(daemon)" + (isDegraded ? " · DEGRADED" : "")]
        lines.append("  node     \(identity.node)")
        lines.append("  cluster  \(identity.cluster)")
        lines.append("  log      \(EventText.count(top, "event")) in \(files.folder)")
        switch views {
        case top: lines.append("  views    up to date")
        case let position?:
            lines.append("  views    \(top - min(position, top)) events behind; the next query catches up")
        case nil: lines.append("  views    not built; the next query builds them")
        }
        lines += StatusCommand.held(quarantined ?? 0)
        for line in lines { try session.output.line(Sanitizer.line(line)) }
        try session.output.line()
        var table = TextTable([.left("ORIGIN"), .left("NODE"), .right("EVENTS"), .left("")])
        for origin in origins {
            table.add([
                .init(origin.id.description), .init(origin.node.short), .init(String(origin.size)),
                .init(origin.id == identity.origin ? "this node" : ""),
            ])
        }
        try session.print(table)
        for finding in notices { try finding.show(session) }
        if let problem { try session.output.line(Sanitizer.line("\nProblems\n  \(problem)")) }
    }
}
