internal import EventStore

// The links that carry sessions, and what each is told to take.
extension SyncNode.Core {
    /// Starts a session. Where there is a link to that node already, it is settled when both have said hello which
    /// of them stays: ``arbitrate(_:)``.
    ///
    /// - Parameter first: The peer's first frame, if it came already.
    func attach(_ link: TLSLink, _ node: NodeID, isOutgoing: Bool, first: Frame? = nil) {
        if let text = refusal(of: node) {
            refuse(link, .duplicateNodeID, text)
            return isOutgoing ? retry(node, because: text) : ()
        }
        let session = SyncSession(
            local: local, remote: node, progress: progress, memory: entries[node]?.memory,
            features: [.standings, .sources], policy: snapshotPolicy(for: node))
        let peerLink = PeerLink(
            link: link, node: node, isOutgoing: isOutgoing, session: session, loop: loop, workers: workers,
            snapshots: snapshots, live: live, share: share)
        peerLink.onEnd = { [weak self] link, end in self?.ended(link, end) }
        peerLink.onOffer = { [weak self] link in self?.takesSnapshot(from: link) ?? false }
        peerLink.onSnapshot = { [weak self] link, news in self?.snapshotNews(link, news) }
        peerLink.onNews = { [weak self] link, news in self?.heard(news, from: link) }
        peerLink.onHello = { [weak self] link, hello in self?.greeted(link, hello) }
        peerLink.onReport = { [weak self] link, report in self?.learnt(report, from: link) }
        peerLink.onDurable = { [weak self] in self?.durableAdvanced() }
        if entries[node]?.link == nil {
            entries[node]?.link = peerLink
        } else {
            entries[node]?.candidate?.stop(SessionFailure(.duplicateLink, "replaced by another connection"))
            entries[node]?.candidate = peerLink
        }
        peerLink.start(first)
    }

    private func ended(_ link: PeerLink, _ end: SessionEnd) {
        if isStopping { leaving -= 1 }
        if entries[link.node]?.candidate === link { entries[link.node]?.candidate = nil }
        endedBy(link, end)
        perform(snapshotTurn.ended(ObjectIdentifier(link)))
        guard entries[link.node]?.link === link else { return }
        leave(link)
        let held = PeerLink.now().monotonic - link.openedAt
        if held >= Backoff.healthyMilliseconds { entries[link.node]?.backoff.reset() }
        let name = entries[link.node]?.peer.name ?? link.node.short
        let line = entries[link.node]?.notices.text("peer \(name): \(end)", now: PeerLink.now().monotonic)
        if let line { log(line) }
        retry(link.node, because: end.description)
    }

    func keepMemory(of link: PeerLink) {
        if let memory = link.session.memory { entries[link.node]?.memory = memory }
    }

    /// The link is no more the one to its node; a second one that waited takes its place.
    func leave(_ link: PeerLink) {
        keepMemory(of: link)
        let candidate = entries[link.node]?.candidate
        entries[link.node]?.link = candidate
        entries[link.node]?.candidate = nil
        let now = PeerLink.now().monotonic
        sources.closed(link.node, now: now)
        if let candidate, candidate.session.choosesOrigins, let memory = candidate.session.memory {
            sources.opened(link.node, memory.vector.entries, own: candidate.session.remoteOrigin, now: now)
        }
        tellWants()
    }

    private func heard(_ news: SessionNews, from link: PeerLink) {
        guard entries[link.node]?.link === link else { return }
        let now = PeerLink.now().monotonic
        if news.hasOpened {
            sources.opened(link.node, news.announced, own: link.session.remoteOrigin, now: now)
        } else if news.hasRestated {
            sources.restated(link.node, news.announced, now: now)
        } else if !news.announced.isEmpty {
            sources.announced(link.node, news.announced, now: now)
        }
        if news.hasDelivered { sources.delivered(link.node, now: now) }
        for dot in news.needs { sources.needed(dot, by: link.node) }
        sources.dropped(news.dropped, from: link.node)
        tellWants()
    }

    /// Says to the peers what the plan has changed, and lets it look at the time while it waits for something.
    func tellWants() {
        for change in sources.takeChanges() {
            entries[change.peer]?.link?.want(take: change.take, leave: change.leave)
        }
        guard sources.isWaiting, !isTicking, !isStopping else { return }
        isTicking = true
        _ = loop.schedule(after: .milliseconds(SourcePlan.interval)) { [weak self] in
            guard let self else { return }
            isTicking = false
            sources.tick(now: PeerLink.now().monotonic)
            tellWants()
        }
    }
}
