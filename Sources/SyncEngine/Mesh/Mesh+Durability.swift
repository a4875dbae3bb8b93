package import EventStore

// What is durable where.
extension Mesh {
    /// A client waits until the events of `vector` are durable on `nodes` nodes, this one counted; ``Effect/answer(waiter:_:)`` tells,
    /// then or when `timeout` milliseconds are over. Returns the waiter's number, or `nil` if too many wait already.
    package mutating func wait(
        for vector: VersionVector, nodes: Int, timeout: UInt64, now: Moment, effects: inout [Effect]
    ) -> UInt64? {
        let until = now.monotonic + timeout
        guard !isStopping, let id = waiters.add(DurabilityWaiters.Waiter(vector, nodes: nodes, until: until)) else {
            return nil
        }
        effects.append(.lookAtDurability)
        effects.append(.arm(.waiter(id), at: until))
        return id
    }

    /// A peer is known to hold more. Many statements in a row are one reason to look.
    package mutating func durableAdvanced(now: Moment, effects: inout [Effect]) {
        guard !waiters.isEmpty, !isCheckDue, !isStopping else { return }
        isCheckDue = true
        effects.append(.arm(.durability, at: now.monotonic + 5))
    }

    /// What the peers have said to hold; `sessions` are those of the links there are.
    package mutating func durabilitySeen(
        _ sessions: [NodeID: SyncSession], now: Moment, effects: inout [Effect]
    ) {
        let look = waiters.check(holders(sessions), now: now.monotonic)
        for (id, holders) in look.answers { effects.append(.answer(waiter: id, holders)) }
        // What else there is to do comes in between.
        guard look.hasMore, !isCheckDue, !isStopping else { return }
        isCheckDue = true
        effects.append(.arm(.durability, at: now.monotonic))
    }

    /// The nodes whose word counts: not those that may forget when the power fails, and not a peer that has claimed what it
    /// could not show.
    private func holders(_ sessions: [NodeID: SyncSession]) -> [Holder] {
        let own = log[local.origin]?.seq ?? 0
        var holders: [Holder] = []
        if !local.isVolatile {
            holders.append(Holder(node: local.node, name: local.name) { [log] in log[$0]?.seq ?? 0 })
        }
        for entry in entries.values.sorted(by: { $0.peer.name < $1.peer.name }) {
            let (node, session) = (entry.peer.node, sessions[entry.peer.node])
            let memory = session?.memory ?? entry.memory
            // More of this node's own origin than it has appended, and nothing shown for it: the rest may be as wrong.
            guard !entry.isVolatile, entry.unproven == 0, memory?[local.origin]?.seq ?? 0 <= own else { continue }
            let said: (OriginID) -> UInt64
            if case .open(_, let outgoing, _)? = session?.state {
                said = { max(outgoing.durable[$0], memory?[$0]?.seq ?? 0) }
            } else if let memory {
                said = { memory[$0]?.seq ?? 0 }
            } else {
                continue
            }
            holders.append(
                Holder(node: node, name: entry.peer.name) { [self] origin in
                    hasThisHistory(of: origin, memory) ? said(origin) : 0
                })
        }
        return holders
    }

    /// Whether what a peer says to have of an origin is what this log has: its statements carry roots. Of an origin that is proven to
    /// have two histories only an equal root says so.
    private func hasThisHistory(of origin: OriginID, _ memory: PeerMemory?) -> Bool {
        guard let mine = log[origin] else { return true }
        guard let stated = memory?[origin], stated.seq == mine.seq else {
            return !local.forked.contains(origin) && proofs[origin] == nil
        }
        return stated.root == mine.rootPrefix
    }

    /// How far this node and each of its peers have made what is here durable.
    package func standings(_ sessions: [NodeID: SyncSession]) -> (mine: VersionVector, peers: [PeerStanding]) {
        let peers = entries.values.sorted { $0.peer.name < $1.peer.name }.map { entry in
            let session = sessions[entry.peer.node]
            var durable = entry.memory?.vector(of: log)
            var isConnected = false
            if case .open(_, let outgoing, _)? = session?.state { (durable, isConnected) = (outgoing.durable, true) }
            let memory = session?.memory ?? entry.memory
            let same = durable.map { durable in
                VersionVector(durable.entries.filter { hasThisHistory(of: $0.origin, memory) })
            }
            return PeerStanding(
                peer: entry.peer, isConnected: isConnected, durable: same, account: session?.account)
        }
        return (log.vector, peers)
    }
}
