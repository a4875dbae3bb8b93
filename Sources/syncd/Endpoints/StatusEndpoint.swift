internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SyncEngine

/// `GET /v1/status` and the peers.
extension Service {
    func status(_ exchange: HTTPExchange) throws(StoreError) {
        let identity = store.identity
        let status = node.status()
        let lags = try measuredLags()
        let problems =
            obstacles.map(\.text) + (store.witness?.problem.map { ["witness: \($0)"] } ?? [])
            + Self.lost(status.missingPayloads)
            // A full one of the log is an obstacle.
            + (store.wal.isFull ? longWALs.dropFirst() : longWALs[...]).map { "wal: \($0.text)" }
        let notices = try notices(status)
        let isDegraded =
            !problems.isEmpty || status.peers.contains { $0.phase != .connected && $0.phase != .paused }
            || notices.contains { $0.notice.severity != .information && $0.settlement == nil }
        var line = JSONLine(type: "status")
        line.add("node", identity.node.description)
        line.add("name", identity.name)
        line.add("cluster", identity.cluster)
        line.add("origin", identity.origin.description)
        line.add("software", Software.name)
        line.add("position", views.top)
        line.add("views", views.applied)
        line.add("indexed", views.indexed)
        line.add("rebuilding", views.isRebuilding)
        if let distrust = views.distrust { line.add("views_distrusted", distrust) }
        if audit.isOwed { line.add("views_unproven", true) }
        if let outcome = audit.outcome {
            line.addObject("views_proven") { line in
                line.add("time", Timestamp.text(outcome.time))
                line.add("position", outcome.position)
                line.add("rows", outcome.rows)
                line.add("differences", outcome.differences)
                if let difference = outcome.difference { line.add("difference", difference) }
            }
        }
        describeLastChecks(&line)
        line.add("quarantined", views.quarantined)
        let attachments = attachmentFigures()
        line.addObject("attachments") { line in
            for state in AttachmentState.allCases { line.add(state.text, attachments[state]?.blobs ?? 0) }
        }
        line.add("state", isDegraded ? "degraded" : "ok")
        line.add("problems", problems)
        line.add("port", status.listeningPort)
        let usage = usage.figures
        line.addObject("api") { line in
            line.add("connections", usage.connections)
            line.add("pending_bytes", usage.pendingBytes)
            line.add("pending_requests", usage.pendingRequests)
            line.add("refused", usage.refused)
            line.add("crowded_out", usage.crowdedOut)
        }
        Self.describe(status.peers, lags, &line)
        line.addArray("notices") { array in
            for (notice, settlement) in notices.prefix(Self.mostNotices) {
                array.addObject { line in
                    notice.write(to: &line)
                    settlement?.write(to: &line)
                }
            }
        }
        if notices.count > Self.mostNotices { line.add("notices_more", notices.count - Self.mostNotices) }
        Self.describe(status.pending, &line)
        exchange.send(line)
    }

    /// What is done so that nothing is lost without a word: the last verification of the log, and the last backup.
    private func describeLastChecks(_ line: inout JSONLine) {
        let (record, began) = (verification.record, verification.began)
        if record != nil || began != nil {
            line.addObject("verification") { line in
                record?.write(to: &line)
                if let began { line.add("under_way_since", Timestamp.text(began)) }
            }
        }
        if let backup = BackupRecord(store.files) { line.addObject("backup") { backup.write(to: &$0) } }
    }

    /// `POST /v1/verifications`.
    func verifyLog(_ exchange: HTTPExchange) {
        verification.ask()
        var line = JSONLine(type: "verifying")
        line.add("position", views.top)
        exchange.send(line, status: 202)
    }

    /// A hand took payloads away, or a damage, or an erasure of another's that this node has not heard of.
    private static func lost(_ payloads: Int) -> [String] {
        guard payloads > 0 else { return [] }
        return [
            "log: \(payloads) events have no payload, and no erasure here says so: 'syncctl verify' names them; a peer that has them brings them back"
        ]
    }

    /// How the attachments stand here; empty where there never was one.
    func attachmentFigures() -> [AttachmentState: AttachmentFigures] {
        ((try? store.attachmentsIfAny()?.figures()) ?? nil) ?? [:]
    }

    /// Findings that are told, at most: open ones of this node come before flagged clocks of others (INV-9).
    private static let mostNotices = 500

    func listPeers(_ exchange: HTTPExchange) throws(StoreError) {
        let lags = try measuredLags()
        let status = node.status()
        var line = JSONLine(type: "peers")
        Self.describe(status.peers, lags, &line)
        Self.describe(status.pending, &line)
        line.add("invitations", invitations.current(now: WallClock.now / 1_000).count)
        exchange.send(line)
    }

    private static func describe(_ peers: [PeerStatus], _ lags: [NodeID: PeerLag], _ line: inout JSONLine) {
        line.addArray("peers") { array in
            for peer in peers { array.addObject { describe(peer, lags[peer.peer.node], &$0) } }
        }
    }

    private static func describe(_ pending: [PendingPeer], _ line: inout JSONLine) {
        line.addArray("pending") { array in
            for caller in pending {
                array.addObject { line in
                    line.add("node", caller.node.description)
                    line.add("address", caller.address)
                    line.add("calls", caller.calls)
                    line.add("last", Timestamp.text(caller.lastSeen))
                }
            }
        }
    }

    /// `POST /v1/peers/<name>/pause` or `resume`.
    func setPaused(_ exchange: HTTPExchange, _ name: String, _ isPaused: Bool) throws(StoreError) {
        guard let peer = roster.peer(name) else { return refuse(exchange, noPeer: name) }
        _ = try roster.setPaused(name, isPaused)
        node.setPeers(roster.peers)
        if !isPaused { node.resume(peer.node) }
        var line = JSONLine(type: isPaused ? "paused" : "resumed")
        line.add("name", name)
        exchange.send(line)
    }

    /// `POST /v1/peers/<name>/ping`.
    func ping(_ exchange: HTTPExchange, _ name: String) {
        guard let peer = roster.peer(name) else { return refuse(exchange, noPeer: name) }
        node.ping(peer.node) { result in
            guard let result else {
                return exchange.refuse(.noPong, "\(name) gave no sign of life within 5 s")
            }
            var line = JSONLine(type: "pong")
            line.add("name", name)
            line.add("rtt_us", Int64(result.roundTrip / .microseconds(1)))
            if let offset = result.clockOffset { line.add("clock_offset_ms", offset) }
            exchange.send(line)
        }
    }

    private func refuse(_ exchange: HTTPExchange, noPeer name: String) {
        exchange.refuse(.noPeer, "there is no peer called \(name)")
    }

    private func measuredLags() throws(StoreError) -> [NodeID: PeerLag] {
        let (mine, peers) = node.standings()
        return try lag.lags(mine, peers)
    }

    func addPeer(_ exchange: HTTPExchange) throws(StoreError) {
        guard let object = exchange.object(of: [("name", .text), ("node", .text), ("address", .text)]) else { return }
        guard let name = object.string("name"), !name.isEmpty, name.utf8.count <= 64 else {
            return exchange.refuse(.parameter, "name: 1 to 64 bytes")
        }
        guard let peer = object.string("node").flatMap({ NodeID(text: $0) }) else {
            return exchange.refuse(.parameter, "node: the 64 hexadecimal digits of a node id")
        }
        let address = object.string("address")
        if let address, HostPort(address) == nil {
            return exchange.refuse(.parameter, "address: host:port, not '\(address)'")
        }
        guard peer != store.identity.node else {
            return exchange.refuse(.parameter, "node: this is the node itself")
        }
        guard try roster.add(Peer(name: name, node: peer, address: address)) else { return exchange.refuseName(name) }
        node.setPeers(roster.peers)
        var line = JSONLine(type: "added")
        line.add("name", name)
        line.add("node", peer.description)
        exchange.send(line, status: 201)
    }

    func removePeer(_ exchange: HTTPExchange, _ name: String) throws(StoreError) {
        guard !roster.isConfigured(name) else {
            return exchange.refuse(.configured, "\(name) is named by the configuration; remove it there")
        }
        guard try roster.remove(name) else { return exchange.refuse(.noPeer, "there is no peer called \(name)") }
        node.setPeers(roster.peers)
        var line = JSONLine(type: "removed")
        line.add("name", name)
        exchange.send(line)
    }

    /// What the peer lacks, as far as it has acknowledged it.
    private static func describe(_ lag: PeerLag, _ line: inout JSONLine) {
        let now = WallClock.now
        line.add("lacks", lag.events)
        line.add("lacks_bytes", lag.bytes)
        if let oldest = lag.oldest { line.add("lacks_oldest_ms", max(0, now - oldest)) }
        line.add("lacks_origins", lag.origins.count)
        line.addArray("lag") { array in
            for origin in lag.origins.prefix(listedOrigins) {
                array.addObject { line in
                    line.add("origin", origin.origin.description)
                    line.add("events", origin.events)
                    line.add("bytes", origin.bytes)
                    line.add("oldest_ms", max(0, now - origin.oldest))
                }
            }
        }
    }

    private static func describe(_ status: PeerStatus, _ lag: PeerLag?, _ line: inout JSONLine) {
        line.add("name", status.peer.name)
        line.add("node", status.peer.node.description)
        line.add("address", status.peer.address)
        switch status.phase {
        case .connected: line.add("state", "connected")
        case .connecting: line.add("state", "connecting")
        case .paused: line.add("state", "paused")
        case .disconnected(let retryIn):
            line.add("state", "disconnected")
            if let retryIn { line.add("retry_in_ms", retryIn) }
        }
        if let lag { describe(lag, &line) } else { line.add("lacks", status.lacks) }
        line.add("owes", status.owes)
        if let roundTrip = status.roundTrip { line.add("rtt_ms", roundTrip) }
        if let offset = status.clockOffset { line.add("clock_offset_ms", offset) }
        line.add("events_sent", status.eventsSent)
        line.add("events_received", status.eventsReceived)
        line.add("bytes_sent", status.bytesSent)
        line.add("bytes_received", status.bytesReceived)
        if let silent = status.silentFor { line.add("silent_ms", silent) }
        line.add("error", status.lastError)
        if let snapshot = status.snapshot {
            line.add("snapshot", snapshot.phase.rawValue)
            line.add("snapshot_done", snapshot.done)
            line.add("snapshot_total", snapshot.total)
        }
        if let account = status.account {
            line.addObject("account") { line in
                line.add("bytes", account.bytes)
                line.add("jobs", account.jobs)
                line.add("origins", account.origins)
                line.add("held_back", status.isHeldBack)
            }
        }
        if !status.held.isEmpty { line.add("held", status.held.map(\.description)) }
    }
}

extension Settlement {
    /// Adds it to the line of what it settles.
    func write(to line: inout JSONLine) {
        line.addObject("settled") { line in
            line.add("at", Timestamp.text(at))
            line.add("node", node.description)
            line.add("note", note)
        }
    }
}

extension NodeNotice {
    /// Adds its members to a line.
    func write(to line: inout JSONLine) {
        line.add("code", code.rawValue)
        line.add("severity", severity.rawValue)
        line.add("subject", subject)
        line.add("text", text)
        line.add("action", action)
        line.add("at", Timestamp.text(at))
        line.add("of", of)
    }
}
