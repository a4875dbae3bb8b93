internal import EventStore

// What is durable where.
extension SyncNode.Core {
    /// How far this node and each of its peers have made what is here durable.
    func standings() -> (mine: VersionVector, peers: [PeerStanding]) {
        let progress = progress
        let peers = entries.values.sorted { $0.peer.name < $1.peer.name }.map { entry in
            var durable = entry.memory?.vector(of: progress)
            var isConnected = false
            if case .open(_, let outgoing, _)? = entry.link?.session.state {
                (durable, isConnected) = (outgoing.durable, true)
            }
            return PeerStanding(
                peer: entry.peer, isConnected: isConnected, durable: durable, account: entry.link?.session.account)
        }
        return (progress.vector, peers)
    }

    /// The nodes whose word counts: not those that may forget when the power fails, and not a peer that has claimed what it
    /// could not show.
    private func holders() -> [Holder] {
        let progress = progress
        let own = progress[local.origin]?.seq ?? 0
        var holders: [Holder] = []
        if !local.isVolatile {
            holders.append(Holder(node: local.node, name: local.name) { progress[$0]?.seq ?? 0 })
        }
        for entry in entries.values.sorted(by: { $0.peer.name < $1.peer.name }) {
            let memory = entry.link?.session.memory ?? entry.memory
            // More of this node's own origin than it has appended, and nothing shown for it: the rest may be as wrong.
            guard !entry.isVolatile, entry.unproven == 0, memory?[local.origin]?.seq ?? 0 <= own else { continue }
            if case .open(_, let outgoing, _)? = entry.link?.session.state {
                holders.append(
                    Holder(node: entry.peer.node, name: entry.peer.name) {
                        max(outgoing.durable[$0], memory?[$0]?.seq ?? 0)
                    })
            } else if let memory {
                holders.append(Holder(node: entry.peer.node, name: entry.peer.name) { memory[$0]?.seq ?? 0 })
            }
        }
        return holders
    }

    func wait(_ waiter: DurabilityWaiters.Waiter, _ timeout: Duration) -> Bool {
        guard !isStopping, let id = waiters.add(waiter) else { return false }
        // Takes what was committed, and is told of the next commits.
        look { $0.check($1) }
        _ = loop.schedule(after: timeout) { [weak self] in self?.look { $0.expire(id, $1) } }
        return true
    }

    /// Looks at those who wait, and again soon if it could not look at all: what else there is to do comes in between.
    private func look(_ body: (inout DurabilityWaiters, [Holder]) -> Bool) {
        let holders = self.holders()
        guard body(&waiters, holders), !isLookDue else { return }
        isLookDue = true
        _ = loop.schedule(after: .zero) { [weak self] in
            guard let self else { return }
            isLookDue = false
            look { $0.check($1) }
        }
    }

    /// Many statements in a row are one reason to look.
    func durableAdvanced() {
        guard !waiters.isEmpty, !isCheckDue else { return }
        isCheckDue = true
        _ = loop.schedule(after: .milliseconds(5)) { [weak self] in
            guard let self else { return }
            isCheckDue = false
            look { $0.check($1) }
        }
    }
}
