internal import CommandLineKit
internal import EventStore
internal import SillokClient

/// The daemon's answer to `GET /v1/status`.
struct DaemonStatus {
    private let bytes: [UInt8]
    private let object: JSONObject
    /// What the daemon does not look at: its own file, read again.
    private let damage: Finding?

    init(_ answer: ClientRequest.Answer, _ damage: Finding?) throws(CommandFailure) {
        bytes = answer.body
        self.damage = damage
        do { object = try JSONObject(validating: answer.body) } catch {
            throw DaemonClient.misunderstood(error.description)
        }
    }

    private var isDegraded: Bool { damage != nil || object.string("state") != "ok" }

    private var findings: [Finding] {
        let notices = (object.elements("notices") ?? []).compactMap(\.object)
        return (damage.map { [$0] } ?? []) + notices.map { Finding(notice: $0) }
    }

    func show(_ session: Session) throws(CommandFailure) -> ExitCode {
        if session.isJSON {
            try session.output.write(bytes.last == 0x0a ? bytes : bytes + [0x0a])
            if let damage {
                var line = JSONLine(type: "finding")
                damage.write(to: &line)
                try session.output.line(line)
            }
            try session.end(count: damage == nil ? 1 : 2)
        } else {
            try text(session)
        }
        return findings.exitCode == .success && isDegraded ? .degraded : findings.exitCode
    }

    /// In a word, and what keeps it from answering in full.
    private func state(_ peers: [JSONObject]) -> String {
        if isDegraded { return "DEGRADED" }
        if peers.contains(where: { ["receiving", "proving"].contains($0.string("snapshot")) }) {
            return "receiving its first copy of the log"
        }
        return object.bool("rebuilding") ?? false ? "ok, views being rebuilt" : "ok"
    }

    private func text(_ session: Session) throws(CommandFailure) {
        func value(_ name: String) -> String { object.string(name) ?? "unknown" }
        func count(_ name: String) -> UInt64 { UInt64(clamping: object.integer(name) ?? 0) }
        let (top, views) = (count("position"), count("views"))
        let peers = object.elements("peers") ?? []
        var lines = ["\(value("software")) on \(value("name")) · \(state(peers.compactMap(\.object)))"]
        lines.append("  node     \(value("node"))")
        lines.append("  cluster  \(value("cluster"))")
        lines.append("  log      \(EventText.count(top, "event"))")
        let lag = views < top ? "\(EventText.count(top - views, "event")) behind" : "up to date"
        lines.append("  views    \(lag)" + (object.bool("rebuilding") ?? false ? ", being rebuilt" : ""))
        lines += StatusCommand.held(count("quarantined"))
        if let port = object.integer("port"), port > 0 { lines.append("  peers    call port \(port)") }
        for line in lines { try session.output.line(Sanitizer.line(line)) }
        if !peers.isEmpty {
            try session.output.line()
            try session.print(PeerTable.make(peers.compactMap(\.object), session))
        }
        for peer in peers.compactMap(\.object) {
            if let progress = PeerTable.snapshot(peer) { try session.output.line(Sanitizer.line(progress)) }
        }
        for pending in object.elements("pending")?.compactMap(\.object) ?? [] {
            try PeerTable.show(pending: pending, session)
        }
        for finding in findings.open { try finding.show(session) }
        for problem in object.strings("problems") ?? [] {
            try session.output.line(Sanitizer.line("Problem: \(problem)"))
        }
    }
}

/// Peers as the daemon describes them.
enum PeerTable {
    static func make(_ peers: [JSONObject], _ session: Session) -> TextTable {
        var table = TextTable([
            .left(session.heading(.peer)), .left(session.heading(.node)), .left(session.heading(.state)),
            .right(session.heading(.lacks)), .right(session.heading(.oldest)), .right(session.heading(.owes)),
            .left(session.heading(.address)), .left(session.heading(.error)),
        ])
        for peer in peers {
            let state = peer.string("state") ?? "not running"
            let isConnected = state == "connected"
            table.add([
                .init(peer.string("name") ?? ""), .init(String((peer.string("node") ?? "").prefix(12))),
                .init(Self.state(state, session), style: isConnected ? .green : .yellow),
                .init(number(peer["lacks"])),
                .init(peer.integer("lacks_oldest_ms").map { session.span(Int64($0)) } ?? "-"),
                .init(number(peer["owes"])), .init(peer.string("address") ?? "-"),
                .init(peer.string("error") ?? ""),
            ])
        }
        return table
    }

    /// What the daemon says of a connection, in the language of the answer.
    static func state(_ state: String, _ session: Session) -> String {
        switch state {
        case "connected": session.shown(.isConnected)
        case "connecting": session.shown(.isConnecting)
        case "paused": session.shown(.isPaused)
        case "disconnected": session.shown(.isDisconnected)
        case "not running": session.shown(.isNotRunning)
        default: state
        }
    }

    /// A node that knocked and was not let in.
    static func show(pending: JSONObject, _ session: Session) throws(CommandFailure) {
        let node = pending.string("node") ?? "unknown"
        try session.output.line(
            Sanitizer.line("Not let in: \(node) from \(pending.string("address") ?? "an unknown address")"))
        try session.output.line(Sanitizer.line("  Let it in: syncctl peers add NAME \(node)"))
    }

    /// A copy of the log that is under way, as one line.
    static func snapshot(_ peer: JSONObject) -> String? {
        guard let phase = peer.string("snapshot"), let done = peer.integer("snapshot_done"),
            let total = peer.integer("snapshot_total"), total > 0
        else { return nil }
        let name = peer.string("name") ?? ""
        let share = "\(done) of \(total) events (\(done * 100 / total) %)"
        return switch phase {
        case "sending": "Snapshot to \(name): \(share)"
        case "receiving": "Snapshot from \(name): \(share); appends wait until it is there"
        case "proving": "Snapshot from \(name): all \(total) events are here and being proved"
        default: "Snapshot from \(name): proved; the log is being opened"
        }
    }

    private static func number(_ value: JSONValue?) -> String {
        guard let value, !value.isNull else { return "-" }
        return EventText.text(of: value)
    }
}
