internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

enum InviteCommand {
    static let entry = Subcommand(
        Command(
            "peers invite", "Prints a line with which one other node may join", group: "Nodes",
            options: [
                .value("name", "NAME", "What to call the node here (default: what it calls itself)."),
                .value("valid", "SPAN", "How long the line may be used (default: 1h; at most 7d)."),
                .value(
                    "address", "HOST:PORT", "Where this node can be called (default: where it listens).",
                    repeatable: true),
            ],
            examples: [
                .init("syncctl peers invite", "on the one node"),
                .init("syncctl peers join sillok://…", "on the other one: the rest is done"),
            ],
            discussion: """
                The line names this node's id, so that the other one cannot be led astray, and a secret that lets one node in, \
                once. Give it to nobody else. Keys never travel.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let seconds = try validity(session)
        let addresses = session.arguments.values("address")
        for address in addresses { try PeersCommand.check(address: address) }
        let name = session.arguments.value("name")
        if let name { try PeersCommand.check(name: name) }
        let (line, until): (String, String)
        switch try NodeOrFiles(session) {
        case .daemon(let daemon): (line, until) = try ask(daemon, seconds, addresses, name)
        case .files(let files): (line, until) = try write(files, seconds, addresses, name, session)
        }
        if session.isJSON {
            var out = JSONLine(type: "invitation")
            out.add("line", line)
            out.add("until", until)
            try session.output.line(out)
            try session.end(count: 1)
        } else {
            try session.output.line(Sanitizer.line(line))
            // It is spoken of as the line above.
            try session.output.flush()
            session.remark(.inviteUntil, until)
        }
        return .success
    }

    private static func validity(_ session: Session) throws(CommandFailure) -> Int64 {
        guard let text = session.arguments.value("valid") else { return 3_600 }
        guard let milliseconds = try? TimeSpan.milliseconds(text), (1_000...(7 * 86_400_000)).contains(milliseconds)
        else { throw usageFailure("--valid '\(text)': from 1s to 7d, like 30m or 2h") }
        return milliseconds / 1_000
    }

    private static func ask(
        _ daemon: DaemonClient, _ seconds: Int64, _ addresses: [String], _ name: String?
    ) throws(CommandFailure) -> (String, String) {
        var request = JSONLine()
        request.add("valid_s", seconds)
        request.add("addresses", addresses)
        if let name { request.add("name", name) }
        let object = try daemon.post(Route.invitations.path, request, timeout: 10_000)
        guard let line = object.string("line"), let until = object.string("until") else {
            throw DaemonClient.misunderstood("no invitation")
        }
        return (line, until)
    }

    /// Without a daemon: the invitation waits in the store until one starts.
    private static func write(
        _ files: StoreFiles, _ seconds: Int64, _ addresses: [String], _ name: String?, _ session: Session
    ) throws(CommandFailure) -> (String, String) {
        guard !addresses.isEmpty else {
            throw usageFailure(
                "no daemon runs here, so nobody knows where this node can be called",
                hint: "--address HOST:PORT, or start syncd first")
        }
        guard addresses.count <= Invitation.maximumAddresses else {
            throw usageFailure("at most \(Invitation.maximumAddresses) addresses")
        }
        let now = session.now / 1_000
        return try stored {
            let lock = try StoreLock(files, owner: "syncctl peers")
            defer { withExtendedLifetime(lock) {} }
            let identity = try StoreIdentity(LogReader(files))
            let open = try Invitations(files).create(name: name, until: now + seconds, now: now)
            let invitation = Invitation(
                node: identity.node, addresses: addresses, cluster: identity.cluster, name: identity.name,
                token: open.token, until: open.until)
            return (invitation.text, Timestamp.text(open.until * 1_000))
        }
    }
}
