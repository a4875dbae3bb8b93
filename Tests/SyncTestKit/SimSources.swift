internal import EventStore
internal import SyncEngine

// Which peer each origin is taken from, in the simulated shell: what `NodeCore` does with a ``SourcePlan``.
extension SimNode {
    var monotonic: UInt64 { moment.monotonic }

    /// What a session has heard that concerns the others.
    func heard(_ news: SessionNews, from link: SimPeerLink) {
        guard let current = entries[link.peer]?.link, current === link else { return }
        let peer = sim.nodes[link.peer].id
        // Of the origin it appends to a node takes nothing from anybody.
        let announced = news.announced.filter { $0.origin != store.log.own }
        if news.hasOpened {
            sources.opened(peer, announced, own: link.session.remoteOrigin, now: monotonic)
        } else if news.hasRestated {
            sources.restated(peer, announced, now: monotonic)
        } else if !announced.isEmpty {
            sources.announced(peer, announced, now: monotonic)
        }
        if news.hasDelivered { sources.delivered(peer, now: monotonic) }
        for dot in news.needs { sources.needed(dot, by: peer) }
        if !news.dropped.isEmpty { sim.coverage.count(.dropped) }
        sources.dropped(news.dropped, from: peer)
        tellWants()
    }

    func left(_ link: SimPeerLink) {
        sources.closed(sim.nodes[link.peer].id, now: monotonic)
        tellWants()
    }

    func logAdvanced(to notice: CommitNotice) {
        sources.advanced(notice.advanced.map { Dot(origin: $0.origin, seq: $0.seq) }, now: monotonic)
        tellWants()
    }

    /// Says to the peers what the plan has changed, and lets it look at the time while it waits for something.
    func tellWants() {
        for change in sources.takeChanges() {
            sim.coverage.count(.sourceChanges)
            let peer = entries.keys.sorted().first { sim.nodes[$0].id == change.peer }
            if let peer { entries[peer]?.link?.want(take: change.take, leave: change.leave) }
        }
        guard sources.isWaiting, !isTicking else { return }
        isTicking = true
        schedule(after: SourcePlan.interval * 1_000) { [self] in
            isTicking = false
            sources.tick(now: monotonic)
            tellWants()
        }
    }
}

extension SimPeerLink {
    /// From now on these origins are taken from the peer, and no longer those.
    func want(take: [OriginID], leave: [OriginID]) {
        input { $0.want(take: take, leave: leave, now: $1, effects: &$2) }
    }
}
