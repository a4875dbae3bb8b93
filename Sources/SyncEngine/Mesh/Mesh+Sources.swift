package import EventStore

// What the sessions hear that concerns the others, and what each is told to take.
extension Mesh {
    private func back(_ node: NodeID, _ since: UInt64, _ now: Moment) -> NodeRemark {
        let (name, gone) = (name(of: node), now.monotonic - min(since, now.monotonic))
        return NodeRemark(
            "PEER_BACK", "peer \(name) is back, after \((gone + 500) / 1_000) s", peer: name, duration: gone)
    }

    /// Most origins told to the plan in one turn of the loop: a peer may state 400,000, and others wait for the same thread.
    private static let announcedAtOnce = 4_096

    /// A session has news; `own` is the origin its peer writes.
    package mutating func heard(
        _ news: SessionNews, from link: LinkID, of node: NodeID, own: OriginID?, now: Moment,
        effects: inout [Effect]
    ) {
        // No copy of the entry: what it has to announce is long, and is changed where it is.
        guard entries[node]?.link?.id == link else { return }
        if news.hasOpened {
            if let since = entries[node]?.missedSince { effects.append(.say(back(node, since, now))) }
            entries[node]?.missedSince = nil
            entries[node]?.unannounced = []
            sources.opened(node, [], own: own, now: now.monotonic)
            if !missing.dots.isEmpty { effects.append(.lacksPayloads(link, missing.dots)) }
        } else if news.hasRestated {
            entries[node]?.unannounced = []
            let some = news.announced.prefix(Self.announcedAtOnce).filter { $0.origin != local.origin }
            sources.restated(node, some, now: now.monotonic)
        }
        if news.hasErased { lookForMissing(now, &effects) }
        if !news.healed.isEmpty { healed(news.healed, by: node, now, &effects) }
        entries[node]?.unannounced.append(contentsOf: news.announced)
        announce(node, now, &effects)
        if news.hasDelivered { sources.delivered(node, now: now.monotonic) }
        for dot in news.needs { sources.needed(dot, by: node) }
        sources.dropped(news.dropped, from: node)
        tellWants(now, &effects)
    }

    /// Tells the plan what a peer has said to have, a part now and the rest in later turns. Of this node's own origin nothing
    /// is taken from any peer while it appends to it.
    private mutating func announce(_ node: NodeID, _ now: Moment, _ effects: inout [Effect]) {
        guard let all = entries[node]?.unannounced, !all.isEmpty else { return }
        let some = all.prefix(Self.announcedAtOnce)
        entries[node]?.unannounced = all.dropFirst(some.count)
        sources.announced(node, some.filter { $0.origin != local.origin }, now: now.monotonic)
        guard some.count < all.count, !isStopping else {
            entries[node]?.unannounced = []
            return
        }
        guard !isAnnouncing else { return }
        isAnnouncing = true
        effects.append(.arm(.announcing, at: now.monotonic + 1))
    }

    mutating func announceAll(_ now: Moment, _ effects: inout [Effect]) {
        isAnnouncing = false
        for node in entries.keys.sorted() { announce(node, now, &effects) }
        tellWants(now, &effects)
    }

    /// Says to the peers what the plan has changed, and lets it look at the time while it waits for something.
    mutating func tellWants(_ now: Moment, _ effects: inout [Effect]) {
        for change in sources.takeChanges() {
            guard let link = entries[change.peer]?.link?.id else { continue }
            effects.append(.want(link, take: change.take, leave: change.leave))
        }
        guard sources.isWaiting, !isTicking, !isStopping else { return }
        isTicking = true
        effects.append(.arm(.sources, at: now.monotonic + SourcePlan.interval))
    }
}
