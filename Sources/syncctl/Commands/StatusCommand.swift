internal import CommandLineKit
internal import EventStore

enum StatusCommand: Subcommand {
    static let command = Command(
        "status", "This node on one screen.", group: "NODES",
        examples: [.init("syncctl status", "log, views and peers; exit code 2 when something is wrong")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let files = try context.storeFiles()
        guard let client = try context.daemon(files) else { return try offline(files, context) }
        let response = try client.request("GET", "/v1/status")
        guard response.status == 200 else { throw response.failure }
        let status = response.object
        let isDegraded = status.string("state") != "ok"
        if context.form == .json {
            try context.output.write(response.body)
            try context.end(1)
        } else {
            try show(status, isDegraded, context)
        }
        return isDegraded ? .degraded : .success
    }

    private static func show(_ status: JSONObject, _ isDegraded: Bool, _ context: Context) throws(CommandFailure) {
        func text(_ name: String) -> String { status.string(name) ?? "-" }
        try context.output.line(
            Sanitizer.line("\(text("software")) on \(text("name")) · \(isDegraded ? "DEGRADED" : "ok")"))
        try context.output.line("  node     \(text("node"))")
        try context.output.line("  cluster  \(Sanitizer.line(text("cluster")))")
        try context.output.line("  log      position \(text("position"))")
        let rebuilding = status.bool("rebuilding") == true ? " (being rebuilt)" : ""
        try context.output.line("  views    position \(text("views"))\(rebuilding)")
        if let port = status.integer("port"), port != 0 {
            try context.output.line("  peers    listening on port \(port)")
        }
        for problem in status.strings("problems") ?? [] {
            try context.output.line("  problem  " + Sanitizer.line(problem))
        }
        let peers = (status.elements("peers") ?? []).compactMap(\.object)
        if !peers.isEmpty {
            try context.output.line()
            try context.show(PeerTable.table(peers))
        }
        for pending in (status.elements("pending") ?? []).compactMap(\.object) {
            try context.output.line(
                Sanitizer.line(
                    "unknown node \(pending.string("node") ?? "") called from \(pending.string("address") ?? "")"))
        }
    }

    private static func offline(_ files: StoreFiles, _ context: Context) throws(CommandFailure) -> ExitCode {
        let log = try context.log()
        let (identity, origins, top) = try stored { () throws(StoreError) in
            (try StoreIdentity(log), try log.origins(), try log.top())
        }
        let applied = (try? ViewReader(files)).flatMap { try? $0.progress() } ?? 0
        if context.form == .json {
            var line = JSONLine(type: "status")
            line.add("node", identity.node.description)
            line.add("name", identity.name)
            line.add("cluster", identity.cluster)
            line.add("origin", identity.origin.description)
            line.addExact("position", top)
            line.addExact("views", applied)
            line.add("state", "stopped")
            line.addArray("origins") { array in
                for origin in origins {
                    array.addObject { object in
                        object.add("origin", origin.id.description)
                        object.add("node", origin.node.description)
                        object.addExact("size", origin.size)
                    }
                }
            }
            try context.output.line(line)
            try context.end(1)
            return .success
        }
        try context.output.line(Sanitizer.line("\(identity.name) · no daemon is running"))
        try context.output.line("  node     \(identity.node)")
        try context.output.line("  cluster  \(Sanitizer.line(identity.cluster))")
        try context.output.line("  log      position \(top)")
        try context.output.line("  views    position \(applied)")
        for origin in origins {
            let mark = origin.id == identity.origin ? "  (its own)" : ""
            try context.output.line(
                "  origin   \(origin.id)  \(origin.size) events of node \(origin.node.short)\(mark)")
        }
        return .success
    }
}

/// Peers as rows.
enum PeerTable {
    static func table(_ peers: [JSONObject]) -> TextTable {
        var table = TextTable([
            .left("PEER"), .left("STATE"), .right("LACKS"), .right("OWES"), .right("RTT"), .left("ADDRESS"),
            .left("NODE"), .left("ERROR"),
        ])
        for peer in peers {
            let state = peer.string("state") ?? "-"
            let style: TextStyle = state == "connected" ? .green : .yellow
            let name = peer.string("name") ?? ""
            let node = (peer.string("node") ?? "").prefix(12)
            let roundTrip = peer.integer("rtt_ms").map { "\($0) ms" } ?? "-"
            let cells: [TextTable.Cell] = [
                .init(name), .init(state, style: style),
                .init(peer.integer("lacks").map(String.init) ?? "-"),
                .init(peer.integer("owes").map(String.init) ?? "-"),
                .init(roundTrip), .init(peer.string("address") ?? "-"), .init(String(node)),
                .init(peer.string("error") ?? ""),
            ]
            table.add(cells)
        }
        return table
    }
}
