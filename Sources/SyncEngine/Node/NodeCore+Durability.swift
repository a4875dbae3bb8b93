internal import EventStore

// What is durable where.
extension SyncNode.Core {
    /// How far this node and each of its peers have made what is here durable.
    func standings() -> (mine: VersionVector, peers: [PeerStanding]) {
        let peers = entries.values.sorted { $0.peer.name < $1.peer.name }.map { entry in
            var durable = entry.memory?.vector
            var isConnected = false
            if case .open(_, let outgoing, _)? = entry.link?.session.state {
                (durable, isConnected) = (outgoing.durable, true)
            }
            return PeerStanding(peer: entry.peer, isConnected: isConnected, durable: durable)
        }
        return (progress.vector, peers)
    }

    private func holders() -> [(name: String, durable: VersionVector)] {
        let (mine, peers) = standings()
        return [(local.name, mine)]
            + peers.compactMap { peer in peer.durable.map { (peer.peer.name, $0) } }
    }

    func wait(_ waiter: DurabilityWaiters.Waiter, _ timeout: Duration) -> Bool {
        guard !isStopping, let id = waiters.add(waiter) else { return false }
        // Takes what was committed, and is told of the next commits.
        waiters.check(holders())
        _ = loop.schedule(after: timeout) { [weak self] in
            guard let self else { return }
            waiters.expire(id, holders())
        }
        return true
    }

    /// Many statements in a row are one reason to look.
    func durableAdvanced() {
        guard !waiters.isEmpty, !isCheckDue else { return }
        isCheckDue = true
        _ = loop.schedule(after: .milliseconds(5)) { [weak self] in
            guard let self else { return }
            isCheckDue = false
            waiters.check(holders())
        }
    }
}
