internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// Interrupting and resuming the exchange with a peer.
enum PeerSwitchCommand {
    static let pause = Subcommand(
        Command(
            "peers pause", "Interrupts the exchange with a node", group: "Nodes",
            arguments: [.init("name", "What it is called.", names: "peers")],
            examples: [.init("syncctl peers pause busan-1", "until syncctl peers resume busan-1, restarts included")]),
        run: { (session) throws(CommandFailure) in try run(session, isPaused: true) })

    static let resume = Subcommand(
        Command(
            "peers resume", "Goes on with a node", group: "Nodes",
            arguments: [.init("name", "What it is called.", names: "peers")],
            examples: [.init("syncctl peers resume busan-1", "what was missed is sent at once")]),
        run: { (session) throws(CommandFailure) in try run(session, isPaused: false) })

    private static func run(_ session: Session, isPaused: Bool) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        switch try NodeOrFiles(session) {
        case .daemon(let daemon):
            let target = Route.peers.path(name, isPaused ? "pause" : "resume")
            try daemon.post(target, timeout: 10_000)
        case .files(let files):
            try PeersCommand.edit(files, named: name) { peers, index in peers[index].isPaused = isPaused }
        }
        return isPaused
            ? try PeersCommand.confirm("paused", .peerPaused, name, session)
            : try PeersCommand.confirm("resumed", .peerResumed, name, session)
    }
}

/// A sign of life from a peer, over the session.
enum PeerPingCommand {
    static let entry = Subcommand(
        Command(
            "peers ping", "Asks a node for signs of life", group: "Nodes",
            arguments: [.init("name", "What it is called.", names: "peers")],
            options: [.value("count", short: "c", "N", "How many times (default: 3).")],
            examples: [.init("syncctl peers ping busan-1", "times there and back, and how its clock stands")]),
        run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("name") ?? ""
        let count = try usage { try session.arguments.integer("count", in: 1...1_000) } ?? 3
        let daemon = try DaemonClient.required(by: session, to: "reach \(name)")
        for number in 0..<count {
            if number > 0 { sleep(milliseconds: 200) }
            try show(try daemon.post(Route.peers.path(name, "ping"), timeout: 10_000), name, session)
        }
        try session.end(count: count)
        return .success
    }

    private static func show(_ pong: JSONObject, _ name: String, _ session: Session) throws(CommandFailure) {
        guard let micros = pong.integer("rtt_us") else { throw DaemonClient.misunderstood("no round trip") }
        let offset = pong.integer("clock_offset_ms")
        let millis = "\(micros / 1_000).\(String(1_000 + micros % 1_000).dropFirst())"
        let clock = offset.map { session.shown(.pongClock, "\($0 >= 0 ? "+" : "")\($0)") } ?? ""
        try session.line(Sanitizer.line(session.shown(.pong, name, millis, clock)), "pong") { line in
            line.add("name", name)
            line.add("rtt_us", micros)
            if let offset { line.add("clock_offset_ms", offset) }
        }
    }
}
