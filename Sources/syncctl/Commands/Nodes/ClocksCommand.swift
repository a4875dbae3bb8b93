internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ClocksCommand {
    static let entry = Subcommand(
        Command(
            "clocks", "How the clocks of the nodes stand to this one", group: "Nodes",
            examples: [.init("syncctl clocks", "the peers' offsets, and origins whose stamps were wrong")],
            discussion: """
                OFFSET is the peer's clock minus this node's, half the round trip taken off, from the last sign of life. A \
                flagged origin had stamps more than 60 s ahead when they came: its events are kept, and moved no other \
                clock. Exit code 2 when a clock is off by more than 60 s now.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        var peers: [JSONObject] = []
        if let daemon = try DaemonClient.running(files) {
            peers = (try daemon.get(Route.peers.path).elements("peers") ?? []).compactMap(\.object)
            if peers.isEmpty { session.remark(.noPeers) }
        } else {
            session.remark(.noClocks)
        }
        let flagged = try stored { try LogReader(files).flaggedOrigins() }
        let now = session.now
        if session.isJSON {
            try json(peers, flagged, now, session)
        } else {
            if !peers.isEmpty { try session.print(Self.table(peers, session)) }
            for origin in flagged { try session.output.line(Sanitizer.line(text(origin, now, session))) }
        }
        try session.end(count: peers.count + flagged.count)
        let isOff = peers.contains { HybridClock.isOff($0.integer("clock_offset_ms") ?? 0) }
        return isOff || flagged.contains { $0.isAhead(of: now) } ? .degraded : .success
    }

    private static func json(
        _ peers: [JSONObject], _ flagged: [FlaggedOrigin], _ now: Int64, _ session: Session
    ) throws(CommandFailure) {
        for peer in peers {
            var line = JSONLine(type: "clock")
            line.add("name", peer.string("name") ?? "")
            line.add("node", peer.string("node") ?? "")
            if let offset = peer.integer("clock_offset_ms") { line.add("clock_offset_ms", offset) }
            if let roundTrip = peer.integer("rtt_ms") { line.add("rtt_ms", roundTrip) }
            try session.output.line(line)
        }
        for origin in flagged {
            var line = JSONLine(type: "flagged")
            line.add("origin", origin.origin.description)
            line.add("node", origin.node.description)
            line.add("ahead_ms", origin.skew.ahead)
            line.add("seen", Timestamp.text(origin.skew.at))
            line.add("is_ahead", origin.isAhead(of: now))
            try session.output.line(line)
        }
    }

    private static func table(_ peers: [JSONObject], _ session: Session) -> TextTable {
        var table = TextTable([
            .left(session.heading(.peer)), .left(session.heading(.node)), .right(session.heading(.offset)),
            .right(session.heading(.roundTrip)), .left(session.heading(.state)),
        ])
        for peer in peers {
            let offset = peer.integer("clock_offset_ms")
            let isOff = HybridClock.isOff(offset ?? 0)
            table.add([
                .init(peer.string("name") ?? ""), .init(String((peer.string("node") ?? "").prefix(12))),
                .init(offset.map { "\($0 >= 0 ? "+" : "")\($0) ms" } ?? "-", style: isOff ? .yellow : .green),
                .init(peer.integer("rtt_ms").map { "\($0) ms" } ?? "-"),
                .init(PeerTable.state(peer.string("state") ?? "", session)),
            ])
        }
        return table
    }

    private static func text(_ origin: FlaggedOrigin, _ now: Int64, _ session: Session) -> String {
        session.shown(
            .flaggedOrigin, "\(origin.origin)", origin.node.short, String(origin.skew.ahead / 1_000),
            session.clock(origin.skew.at), session.shown(origin.isAhead(of: now) ? .stillAhead : .rightAgain))
    }
}
