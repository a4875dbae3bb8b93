internal import CommandLineKit
internal import EventStore
internal import SyncEngine

/// `GET /metrics`: the Prometheus text format, version 0.0.4.
extension Service {
    func metrics(_ exchange: HTTPExchange) throws(StoreError) {
        var text = MetricsText()
        text.gauge("syncd_log_position", "Last position of the log.", [([], Double(views.top))])
        text.gauge("syncd_views_position", "Last position the views have applied.", [([], Double(views.applied))])
        text.gauge(
            "syncd_quarantined_events", "Events that are stored and relayed but hidden from views.",
            [([], Double(views.quarantined))])
        text.gauge(
            "syncd_store_failed", "1 when the disk has failed: nothing more is stored until a new start.",
            [([], store.failure == nil ? 0 : 1)])
        let wal = store.wal
        text.gauge("syncd_wal_bytes", "Length of log.db-wal since it began anew.", [([], Double(wal.bytes))])
        text.gauge(
            "syncd_wal_held_seconds",
            "For how long a reader has kept it from being copied into log.db; 0 if none does.",
            [([], Double((wal.held?.milliseconds ?? 0) / 1_000))])
        let usage = usage.figures
        text.gauge("syncd_api_connections", "Open connections of the API.", [([], Double(usage.connections))])
        text.gauge(
            "syncd_api_pending_bytes", "Bytes of requests that are coming or not answered yet.",
            [([], Double(usage.pendingBytes))])
        text.gauge(
            "syncd_api_refused_requests", "Requests refused because too much was under way, since the start.",
            [([], Double(usage.refused))])
        text.gauge(
            "syncd_api_crowded_out", "Connections closed because a new caller needed the place, since the start.",
            [([], Double(usage.crowdedOut))])
        let (mine, peers) = node.standings()
        let lags = try lag.lags(mine, peers)
        func series(_ value: (PeerStanding, PeerLag) -> Double) -> [MetricsText.Sample] {
            peers.compactMap { peer in
                lags[peer.peer.node].map { ([("peer", peer.peer.name)], value(peer, $0)) }
            }
        }
        let now = WallClock.now
        text.gauge("syncd_peer_connected", "Whether events flow.", series { peer, _ in peer.isConnected ? 1 : 0 })
        text.gauge(
            "syncd_peer_behind_events", "Events of this node not acknowledged as durable by the peer.",
            series { _, lag in Double(lag.events) })
        text.gauge(
            "syncd_peer_behind_bytes", "Payload bytes of those events.", series { _, lag in Double(lag.bytes) })
        text.gauge(
            "syncd_peer_behind_seconds", "Age of the oldest of those events; 0 when there is none.",
            series { _, lag in lag.oldest.map { Double(max(0, now - $0)) / 1_000 } ?? 0 })
        func accounts(_ value: (LinkAccount) -> Int) -> [MetricsText.Sample] {
            peers.compactMap { peer in peer.account.map { ([("peer", peer.peer.name)], Double(value($0))) } }
        }
        text.gauge(
            "syncd_peer_account_bytes", "Bytes kept for the peer or under way for it.", accounts { $0.bytes })
        text.gauge(
            "syncd_peer_account_jobs", "What the store's threads have still to do for the peer.", accounts { $0.jobs }
        )
        text.gauge("syncd_peer_account_origins", "Origins the peer has stated.", accounts { $0.origins })
        var origins: [MetricsText.Sample] = []
        for peer in peers {
            for origin in lags[peer.peer.node]?.origins.prefix(Self.listedOrigins) ?? [] {
                origins.append(
                    ([("peer", peer.peer.name), ("origin", origin.origin.description)], Double(origin.events)))
            }
        }
        text.gauge(
            "syncd_peer_behind_origin_events", "The same by origin, for the \(Self.listedOrigins) largest.", origins)
        exchange.reply(status: 200, contentType: "text/plain; version=0.0.4", body: text.bytes)
    }
}

/// Writes the Prometheus text format.
struct MetricsText {
    typealias Sample = (labels: [(name: String, value: String)], value: Double)

    private(set) var bytes: [UInt8] = []

    /// One metric with its samples; without samples it is left out.
    mutating func gauge(_ name: String, _ help: String, _ samples: [Sample]) {
        guard !samples.isEmpty else { return }
        bytes += "# HELP \(name) \(help)\n# TYPE \(name) gauge\n".utf8
        for sample in samples {
            let labels = sample.labels.map { #"\#($0.name)="\#(Self.escape($0.value))""# }
            let braces = labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
            let isInteger = sample.value.rounded() == sample.value && sample.value.magnitude < 9e15
            bytes += "\(name)\(braces) \(isInteger ? "\(Int64(sample.value))" : "\(sample.value)")\n".utf8
        }
    }

    private static func escape(_ value: String) -> String {
        var out = ""
        for character in value.unicodeScalars {
            switch character {
            case "\\": out += #"\\"#
            case "\"": out += #"\""#
            case "\n": out += #"\n"#
            default: out.unicodeScalars.append(character)
            }
        }
        return out
    }
}
