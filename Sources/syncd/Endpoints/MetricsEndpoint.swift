internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

/// `GET /metrics`: the text format of Prometheus, or OpenMetrics where `Accept` asks for it. No user, no conversation and no text is a
/// label: who may look at figures need not be one who may read.
extension Service {
    func metrics(_ exchange: HTTPExchange) throws(StoreError) {
        let form = MetricsText.Form(accept: exchange.request.header("accept"))
        var text = MetricsText(form)
        let (mine, peers) = node.standings()
        let status = node.status()
        describeProgram(&text)
        try describeStore(mine, status, &text)
        describeLastChecks(&text)
        describeAPI(&text)
        describeAccess(&text)
        describeFollowing(&text)
        try describePeers(mine, peers, status, &text)
        text.end()
        exchange.reply(
            status: 200, contentType: form.contentType, headers: [HTTPField("Cache-Control", "no-store")],
            body: text.bytes)
    }

    private func describeProgram(_ text: inout MetricsText) {
        text.gauge(
            "syncd_build_info", "What runs: 1.",
            [([("version", Software.version), ("durability", store.durability == .full ? "full" : "normal")], 1)])
        let process = ProcessFigures()
        text.gauge("process_resident_memory_bytes", "Memory of the process.", process.resident)
        text.gauge("process_open_fds", "Open file descriptors.", process.descriptors)
        text.counter(
            "process_cpu_seconds", "Processor time of the process.", [([], process.processor)])
        text.gauge(
            "process_start_time_seconds", "When the daemon began, Unix time.", [([], Double(began.wall) / 1_000)])
    }

    private func describeStore(
        _ mine: VersionVector, _ status: NodeStatus, _ text: inout MetricsText
    ) throws(StoreError) {
        let top = views.top
        text.gauge(
            "syncd_store_writable", "1 while appends are taken; readyz names what is in the way.",
            unready.isEmpty ? 1 : 0)
        text.gauge(
            "syncd_store_failed", "1 when the disk has failed: nothing more is stored until a new start.",
            store.failure == nil ? 0 : 1)
        if let free = disk.free {
            text.gauge("syncd_store_free_bytes", "Free bytes of the store's file system.", free)
        }
        text.gauge("syncd_store_min_free_bytes", "Below so many appends are refused.", live.minFree)
        let files = ["log.db", "log.db-wal", "views.db", "views.db-wal"].compactMap { name in
            DiskGauge.size(of: store.files.folder + "/" + name).map { ([("file", name)], Double($0)) }
        }
        text.gauge("syncd_file_bytes", "Length of a file of the store.", files)
        text.gauge("syncd_log_position", "Last position of the log.", top)
        text.gauge("syncd_log_origins", "Origins with events in the log.", mine.entries.count)
        text.gauge(
            "syncd_events_last_minute", "Events stored in the last minute, of this node and its peers.",
            minute.grown(to: top))
        let sizes = sizes.sizes
        text.gauge(
            "syncd_view_rows", "Rows of a view.", sizes.rows.map { ([("view", $0.view)], Double($0.rows)) })
        if let users = sizes.users { text.gauge("syncd_users", "Users who have a name.", users) }
        text.gauge("syncd_views_position", "Last position the views have applied.", views.applied)
        text.gauge(
            "syncd_views_behind_events", "Events the views have not applied yet.",
            top > views.applied ? top - views.applied : 0)
        text.gauge(
            "syncd_search_behind_events", "Events the search does not find yet.",
            top > views.indexed ? top - views.indexed : 0)
        text.gauge(
            "syncd_quarantined_events", "Events that are stored and relayed but hidden from views.", views.quarantined
        )
        let figures = attachmentFigures()
        text.gauge(
            "syncd_attachments", "Attachments, by how they stand here.",
            AttachmentState.allCases.map { ([("state", $0.text)], Double(figures[$0]?.blobs ?? 0)) })
        text.gauge(
            "syncd_attachment_bytes", "Bytes of attachments, by how they stand here.",
            AttachmentState.allCases.map { ([("state", $0.text)], Double(figures[$0]?.bytes ?? 0)) })
        let wal = store.wal
        text.gauge("syncd_wal_bytes", "Length of log.db-wal since it began anew.", wal.bytes)
        text.gauge(
            "syncd_wal_held_seconds",
            "For how long a reader has kept it from being copied into log.db; 0 if none does.",
            [([], Double(wal.held?.milliseconds ?? 0) / 1_000)])
        text.gauge(
            "syncd_views_wal_held_seconds",
            "For how long a reader has kept a long views.db-wal from being copied into views.db; 0 if none does.",
            [([], Double(views.wal?.held?.milliseconds ?? 0) / 1_000)])
        let (own, received) = began.appended(mine, origin: store.identity.origin, top: top)
        text.counter(
            "syncd_events_appended", "Events stored since the start, by where they came from.",
            [([("source", "local")], Double(own)), ([("source", "peer")], Double(received))])
        text.histogram(
            "syncd_fsync_duration_seconds", "How long the disk took for a sync of the log.", [([], store.syncTimes)])
        var findings: [String: Int] = [:]
        for (notice, settlement) in try notices(status)
        where settlement == nil && notice.severity != .information {
            findings[notice.code.rawValue, default: 0] += 1
        }
        text.gauge(
            "syncd_finding", "Open findings that need an operator; syncctl doctor has them.",
            NodeNotice.Code.allCases.map { ([("code", $0.rawValue)], Double(findings[$0.rawValue] ?? 0)) })
    }

    /// When it was last looked whether all is as it was, and kept elsewhere.
    private func describeLastChecks(_ text: inout MetricsText) {
        if let proven = audit.outcome {
            text.gauge(
                "syncd_views_proven_timestamp_seconds", "When the views were last compared with the log, Unix time.",
                [([], Double(proven.time) / 1_000)])
        }
        if verification.period > 0 {
            text.gauge(
                "syncd_log_proven_timestamp_seconds",
                "When the daemon's last verification of the log ended that found nothing to contradict, Unix time; 0 before "
                    + "the first.",
                [([], Double(verification.record?.proven ?? 0) / 1_000)])
        }
        text.gauge(
            "syncd_backup_last_success_timestamp_seconds",
            "When the last backup was made, Unix time; 0 where none was.",
            [([], Double(BackupRecord(store.files)?.time ?? 0) / 1_000)])
    }

    private func describeAPI(_ text: inout MetricsText) {
        let figures = meters.figures
        text.histogram(
            "syncd_append_duration_seconds", "From a whole request to the answer that its events are stored.",
            [([], figures.appends)])
        text.counter(
            "syncd_append_bytes", "Bytes of append requests of which all was stored.", figures.appendedBytes)
        text.counter(
            "syncd_append_failures", "Append requests of which not all was stored, by the first code of the answer.",
            figures.failures.sorted { $0.key < $1.key }.map { ([("code", $0.key)], Double($0.value)) })
        text.counter(
            "syncd_http_requests", "Answers of the API.",
            figures.answers.map { answer, count in
                (
                    [("route", answer.route), ("method", answer.method), ("status", "\(answer.status)")],
                    Double(count)
                )
            }.sorted { $0.0.map(\.1).joined(separator: " ") < $1.0.map(\.1).joined(separator: " ") })
        text.histogram(
            "syncd_http_request_duration_seconds",
            "From a whole request to its answer; of a stream, to its beginning.",
            figures.times.sorted { $0.key < $1.key }.map { ([("route", $0.key)], $0.value) })
        let usage = usage.figures
        text.gauge("syncd_api_connections", "Open connections of the API.", usage.connections)
        text.gauge(
            "syncd_api_pending_bytes", "Bytes of requests that are coming or not answered yet.", usage.pendingBytes)
        text.counter(
            "syncd_api_refused_requests", "Requests refused because too much was under way.", usage.refused)
        text.counter(
            "syncd_api_crowded_out_connections", "Connections closed because a new caller needed the place.",
            usage.crowdedOut)
        if let reads = following.withLock({ $0?.reads.figures }) { describe(reads, &text) }
    }

    private func describe(_ reads: ReadPool.Figures, _ text: inout MetricsText) {
        text.gauge("syncd_reads_waiting", "Queries that wait for their turn.", reads.waiting)
        text.counter(
            "syncd_read_pages_cut", "Pages that ended before they were full, by what was enough.",
            PageCut.allCases.map { ([("why", $0.rawValue)], Double(reads.cut[$0] ?? 0)) })
        text.counter(
            "syncd_reads_ended", "Queries that were given up, by why.",
            [("client_left", reads.left), ("time", reads.overdue), ("queue", reads.late)].map {
                ([("why", $0.0)], Double($0.1))
            })
    }

    private func describeAccess(_ text: inout MetricsText) {
        text.counter(
            "syncd_auth_failures", "Requests whose caller was not known, by what was shown and why.",
            authenticator.failures.sorted { $0.key < $1.key }.map { failure, count in
                ([("method", failure.method.rawValue), ("reason", failure.reason)], Double(count))
            })
        text.counter("syncd_access_reads", "Reads that were recorded before they were answered.", accessLog.count)
        text.gauge(
            "syncd_jwks_read_timestamp_seconds", "When the keys of an identity provider were read, Unix time.",
            authenticator.keysRead.map { ([("issuer", $0.issuer)], Double($0.at) / 1_000) })
        if let ends = certificate.withLock({ $0?.ends }) {
            text.gauge(
                "syncd_certificate_not_after_timestamp_seconds", "When the certificate of the API ends, Unix time.",
                ends)
        }
    }

    private func describePeers(
        _ mine: VersionVector, _ peers: [PeerStanding], _ status: NodeStatus, _ text: inout MetricsText
    ) throws(StoreError) {
        let lags = try lag.lags(mine, peers)
        func series(_ value: (PeerStanding, PeerLag) -> Double) -> [MetricsText.Sample] {
            peers.compactMap { peer in
                lags[peer.peer.node].map { ([("peer", peer.peer.name)], value(peer, $0)) }
            }
        }
        let now = WallClock.now
        text.gauge("syncd_peer_connected", "Whether events flow.", series { peer, _ in peer.isConnected ? 1 : 0 })
        text.gauge(
            "syncd_peer_paused", "Whether an operator, or the node itself, has interrupted the exchange.",
            status.peers.map { ([("peer", $0.peer.name)], $0.phase == .paused ? 1 : 0) })
        text.gauge(
            "syncd_peer_lacks_events", "Events of this node not acknowledged as durable by the peer.",
            series { _, lag in Double(lag.events) })
        text.gauge("syncd_peer_lacks_bytes", "Payload bytes of those events.", series { _, lag in Double(lag.bytes) })
        text.gauge(
            "syncd_peer_lacks_oldest_seconds", "Age of the oldest of those events; 0 when there is none.",
            series { _, lag in lag.oldest.map { Double(max(0, now - $0)) / 1_000 } ?? 0 })
        var origins: [MetricsText.Sample] = []
        for peer in peers {
            for origin in lags[peer.peer.node]?.origins.prefix(Self.listedOrigins) ?? [] {
                origins.append(
                    ([("peer", peer.peer.name), ("origin", origin.origin.description)], Double(origin.events)))
            }
        }
        text.gauge(
            "syncd_peer_lacks_origin_events", "The same by origin, for the \(Self.listedOrigins) largest.", origins)
        text.gauge(
            "syncd_peer_owes_events", "Events the peer has and this node lacks, as far as it has said.",
            status.peers.map { ([("peer", $0.peer.name)], Double($0.owes)) })
        text.gauge(
            "syncd_clock_offset_seconds", "The peer's clock minus this one's.",
            status.peers.compactMap { peer in
                peer.clockOffset.map { ([("peer", peer.peer.name)], Double($0) / 1_000) }
            })
        func accounts(_ value: (LinkAccount) -> Int) -> [MetricsText.Sample] {
            peers.compactMap { peer in peer.account.map { ([("peer", peer.peer.name)], Double(value($0))) } }
        }
        text.gauge(
            "syncd_peer_account_bytes", "Bytes kept for the peer or under way for it.", accounts { $0.bytes })
        text.gauge(
            "syncd_peer_account_jobs", "What the store's threads have still to do for the peer.", accounts { $0.jobs }
        )
        text.gauge("syncd_peer_account_origins", "Origins the peer has stated.", accounts { $0.origins })
    }
}

/// How things stood when the daemon began to serve: what counters count from.
///
/// ## Concurrency model
/// One lock around the origins that were this node's own since.
final class Beginning: Sendable {
    /// Unix milliseconds.
    let wall: Int64
    private let top: UInt64
    private let vector: VersionVector
    private let own: Lock<Set<OriginID>>

    init(_ vector: VersionVector, origin: OriginID, top: UInt64, wall: Int64 = WallClock.now) {
        (self.vector, self.top, self.wall) = (vector, top, wall)
        own = Lock([origin])
    }

    /// Events that came since: those of the node itself, and those of its peers.
    func appended(_ now: VersionVector, origin: OriginID, top: UInt64) -> (own: UInt64, received: UInt64) {
        let origins = own.withLock { origins in
            origins.insert(origin)
            return origins
        }
        var count: UInt64 = 0
        for origin in origins {
            let (before, after) = (vector[origin], now[origin])
            if after > before { count += after - before }
        }
        let all = top > self.top ? top - self.top : 0
        return (min(count, all), all - min(count, all))
    }
}
