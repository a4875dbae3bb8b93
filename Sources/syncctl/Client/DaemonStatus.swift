internal import CommandLineKit
internal import EventStore

/// The daemon's answer to `GET /v1/status`.
struct DaemonStatus {
    private let bytes: [UInt8]
    private let object: JSONObject

    init(_ answer: HTTPRequest.Answer) throws(CommandFailure) {
        bytes = answer.body
        do { object = try JSONObject(validating: answer.body) } catch {
            throw DaemonClient.misunderstood(error.description)
        }
    }

    private var isDegraded: Bool { object.string("state") != "ok" }

    func show(_ session: Session) throws(CommandFailure) -> ExitCode {
        if session.isJSON {
            try session.output.write(bytes.last == 0x0a ? bytes : bytes + [0x0a])
            try session.end(count: 1)
        } else {
            try text(session)
        }
        return isDegraded ? .degraded : .success
    }

    private func text(_ session: Session) throws(CommandFailure) {
        func value(_ name: String) -> String { object.string(name) ?? "unknown" }
        let top = object.string("position").flatMap { UInt64($0) } ?? 0
        let views = object.string("views").flatMap { UInt64($0) } ?? 0
        var lines = ["\(value("software")) on \(value("name"))" + (isDegraded ? " · DEGRADED" : " · ok")]
        lines.append("  node     \(value("node"))")
        lines.append("  cluster  \(value("cluster"))")
        lines.append("  log      \(top) events")
        let lag = views < top ? "\(top - views) events behind" : "up to date"
        lines.append("  views    \(lag)" + (object.bool("rebuilding") ?? false ? ", being rebuilt" : ""))
        lines += StatusCommand.held(object.string("quarantined").flatMap { UInt64($0) } ?? 0)
        if let port = object.integer("port"), port > 0 { lines.append("  peers    call port \(port)") }
        for line in lines { try session.output.line(Sanitizer.line(line)) }
        let peers = object.elements("peers") ?? []
        if !peers.isEmpty {
            try session.output.line()
            try session.print(PeerTable.make(peers.compactMap(\.object)))
        }
        for pending in object.elements("pending")?.compactMap(\.object) ?? [] {
            let node = pending.string("node") ?? "unknown"
            try session.output.line(
                Sanitizer.line("Not let in: \(node) from \(pending.string("address") ?? "an unknown address")"))
            try session.output.line(Sanitizer.line("  Let it in: syncctl peers add NAME \(node)"))
        }
        for problem in object.strings("problems") ?? [] {
            try session.output.line(Sanitizer.line("Problem: \(problem)"))
        }
    }
}

/// Peers as the daemon describes them.
enum PeerTable {
    static func make(_ peers: [JSONObject]) -> TextTable {
        var table = TextTable([
            .left("PEER"), .left("NODE"), .left("STATE"), .right("LACKS"), .right("OWES"), .left("ADDRESS"),
            .left("ERROR"),
        ])
        for peer in peers {
            let state = peer.string("state") ?? "not running"
            table.add([
                .init(peer.string("name") ?? ""), .init(String((peer.string("node") ?? "").prefix(12))),
                .init(state, style: state == "connected" ? .green : .yellow), .init(number(peer["lacks"])),
                .init(number(peer["owes"])), .init(peer.string("address") ?? "-"),
                .init(peer.string("error") ?? ""),
            ])
        }
        return table
    }

    private static func number(_ value: JSONValue?) -> String {
        guard let value, !value.isNull else { return "-" }
        return EventText.text(of: value)
    }
}
