internal import CommandLineKit
internal import EventStore
internal import SillokAPI
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
    private func state(_ peers: [JSONObject]) -> Wording {
        if isDegraded { return .isDegraded }
        if peers.contains(where: { ["receiving", "proving"].contains($0.string("snapshot")) }) {
            return .isReceiving
        }
        return object.bool("rebuilding") ?? false ? .isRebuilding : .isWell
    }

    private func text(_ session: Session) throws(CommandFailure) {
        func value(_ name: String) -> String { object.string(name) ?? session.shown(.isUnknown) }
        func count(_ name: String) -> UInt64 { UInt64(clamping: object.integer(name) ?? 0) }
        let (top, views) = (count("position"), count("views"))
        let peers = object.elements("peers") ?? []
        let name = session.shown(.softwareOn, value("software"), value("name"))
        var lines = ["\(name) · \(session.shown(state(peers.compactMap(\.object))))"]
        func add(_ label: Wording, _ text: String) { lines.append(StatusCommand.row(label, text, session)) }
        add(.rowNode, value("node"))
        add(.rowCluster, value("cluster"))
        add(.rowLog, session.counted(top, .event))
        let lag =
            views < top ? session.shown(.viewsLack, session.counted(top - views, .event)) : session.shown(.viewsWhole)
        let isRebuilt = object.bool("rebuilding") ?? false
        let isCompared = object.bool("views_unproven") ?? false
        add(
            .rowViews,
            isRebuilt
                ? session.shown(.viewsRebuilt, lag) : isCompared ? session.shown(.viewsCompared, lag) : lag)
        lines += StatusCommand.held(count("quarantined"), session)
        lines += StatusCommand.lastChecks(
            object.object("verification").flatMap { VerificationRecord($0) },
            object.object("backup").flatMap { BackupRecord($0) }, session)
        let attachments = object.object("attachments")
        let (missing, damaged) = (attachments?.integer("missing") ?? 0, attachments?.integer("damaged") ?? 0)
        if missing + damaged > 0 {
            add(.rowAttachments, session.shown(.attachmentsLacking, String(missing), String(damaged)))
        }
        if let port = object.integer("port"), port > 0 { add(.rowPeers, session.shown(.callPort, String(port))) }
        for line in lines { try session.output.line(Sanitizer.line(line)) }
        if !peers.isEmpty {
            try session.output.line()
            try session.print(PeerTable.make(peers.compactMap(\.object), session))
        }
        for peer in peers.compactMap(\.object) {
            if let progress = PeerTable.snapshot(peer, session) { try session.output.line(Sanitizer.line(progress)) }
        }
        for pending in object.elements("pending")?.compactMap(\.object) ?? [] {
            try PeerTable.show(pending: pending, session)
        }
        for finding in findings.open { try finding.show(session) }
        for problem in findings.untold(object.strings("problems") ?? []) {
            try session.output.line(Sanitizer.line(session.shown(.problem, problem)))
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
        let node = pending.string("node") ?? session.shown(.isUnknown)
        let address = pending.string("address") ?? session.shown(.addressUnknown)
        try session.output.line(Sanitizer.line(session.shown(.notLetIn, node, address)))
        try session.output.line(Sanitizer.line("  " + session.shown(.letIn, node)))
    }

    /// A copy of the log that is under way, as one line.
    static func snapshot(_ peer: JSONObject, _ session: Session) -> String? {
        guard let phase = peer.string("snapshot"), let done = peer.integer("snapshot_done"),
            let total = peer.integer("snapshot_total"), total > 0
        else { return nil }
        let name = peer.string("name") ?? ""
        let share = session.shown(.snapshotShare, String(done), String(total), String(done * 100 / total))
        return switch phase {
        case "sending": session.shown(.snapshotTo, name, share)
        case "receiving": session.shown(.snapshotFrom, name, share)
        case "proving": session.shown(.snapshotProving, name, String(total))
        default: session.shown(.snapshotOpening, name)
        }
    }

    private static func number(_ value: JSONValue?) -> String {
        guard let value, !value.isNull else { return "-" }
        return EventText.text(of: value)
    }
}
