internal import EventStore

// How it stands with the peers.
extension SyncNode.Core {
    func status() -> NodeStatus {
        takeCommits()
        let now = PeerLink.now().monotonic
        return NodeStatus(
            peers: mesh.entries.values.sorted { $0.peer.name < $1.peer.name }.map { status(of: $0, mesh.log, now) },
            pending: mesh.pending.values.sorted { $0.lastSeen > $1.lastSeen }, notices: mesh.notices,
            listeningPort: listeningPort, missingPayloads: mesh.missing.dots.count)
    }

    /// How far this node and each of its peers have made what is here durable.
    func standings() -> (mine: VersionVector, peers: [PeerStanding]) {
        takeCommits()
        return mesh.standings(open)
    }

    private func status(of entry: Mesh.Entry, _ mine: LocalVector, _ now: UInt64) -> PeerStatus {
        let link = session(of: entry.peer.node)
        let session = link?.session
        var hello: Hello?
        var outgoing: SyncSession.Outgoing?
        var incoming: SyncSession.Incoming?
        if case .open(let found, let out, let into)? = session?.state {
            (hello, outgoing, incoming) = (found, out, into)
        }
        let phase: PeerStatus.Phase =
            if entry.peer.isPaused || entry.isSuspended {
                .paused
            } else if outgoing != nil {
                .connected
            } else if entry.link != nil || entry.isCalling {
                .connecting
            } else {
                .disconnected(retryIn: entry.dueAt.map { $0 > now ? $0 - now : 0 })
            }
        return PeerStatus(
            peer: entry.peer, phase: phase, lastError: outgoing == nil ? entry.lastError : nil,
            theirName: hello?.name,
            lacks: mine.vector.count(
                missingFrom: outgoing?.durable ?? entry.memory?.vector(of: mine) ?? VersionVector()),
            owes: outgoing == nil ? 0 : session?.memory?.count(missingFrom: mine) ?? 0, roundTrip: session?.roundTrip,
            clockOffset: session?.clockOffset, eventsSent: outgoing?.events ?? 0,
            eventsReceived: incoming?.events ?? 0, bytesSent: outgoing?.bytes ?? 0,
            bytesReceived: incoming?.bytes ?? 0, snapshot: session?.snapshot.status,
            silentFor: (session?.lastHeard ?? lastHeard[entry.peer.node]).map { now - min(now, $0) },
            held: (session?.forks.held ?? []).sorted(), account: session?.account,
            isHeldBack: link?.isHeldBack ?? false)
    }
}
