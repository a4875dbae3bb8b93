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
            features: [.standings, .sources, .heads, .payloads], policy: snapshotPolicy(for: node))
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
        // From now on each commit matters; also those since the session was made.
        takeCommits()
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
        if let line {
            log(line)
            entries[link.node]?.isMissed = true
        }
        retry(link.node, because: end.description)
    }

    func keepMemory(of link: PeerLink) {
        guard let memory = link.session.memory else { return }
        // To take in and to forget what a peer states costs time: it may do so less often the more that is.
        let unknown = UInt64(max(0, memory.entries.count - known.entries.count))
        entries[link.node]?.calls.charge(unknown / UInt64(PeerMemory.mostUnknown))
        entries[link.node]?.memory = memory.kept(of: known)
    }

    /// The link is no more the one to its node; a second one that waited takes its place.
    func leave(_ link: PeerLink) {
        keepMemory(of: link)
        let candidate = entries[link.node]?.candidate
        entries[link.node]?.link = candidate
        entries[link.node]?.candidate = nil
        // What comes from whom is of no interest any more.
        if isStopping { return }
        let now = PeerLink.now().monotonic
        sources.closed(link.node, now: now)
        entries[link.node]?.unannounced = []
        if let candidate, candidate.session.choosesOrigins, let memory = candidate.session.memory {
            sources.opened(link.node, [], own: candidate.session.remoteOrigin, now: now)
            entries[link.node]?.unannounced = memory.entries.map { Dot(origin: $0.origin, seq: $0.seq) }[...]
            announce(link.node)
        }
        tellWants()
    }

    private func heard(_ news: SessionNews, from link: PeerLink) {
        guard entries[link.node]?.link === link else { return }
        let now = PeerLink.now().monotonic
        if news.hasOpened, let entry = entries[link.node], entry.isMissed {
            entries[link.node]?.isMissed = false
            log("peer \(entry.peer.name) is back")
        }
        if news.hasOpened {
            entries[link.node]?.unannounced = []
            sources.opened(link.node, [], own: link.session.remoteOrigin, now: now)
        } else if news.hasRestated {
            entries[link.node]?.unannounced = []
            let some = news.announced.prefix(Self.announcedAtOnce).filter { $0.origin != local.origin }
            sources.restated(link.node, some, now: now)
        }
        if news.hasOpened { askForMissing(link) }
        if news.hasErased { lookForMissing() }
        if !news.healed.isEmpty { healed(news.healed, by: link) }
        entries[link.node]?.unannounced.append(contentsOf: news.announced)
        announce(link.node)
        if news.hasDelivered { sources.delivered(link.node, now: now) }
        for dot in news.needs { sources.needed(dot, by: link.node) }
        sources.dropped(news.dropped, from: link.node)
        tellWants()
    }

    /// Most origins told to the plan in one turn of the loop: a peer may state 400,000, and others wait for the same thread.
    private static let announcedAtOnce = 4_096

    /// Tells the plan what a peer has said to have, a part now and the rest in later turns. Of this node's own origin nothing
    /// is taken from anybody while it appends to it.
    private func announce(_ node: NodeID) {
        guard let all = entries[node]?.unannounced, !all.isEmpty else { return }
        let some = all.prefix(Self.announcedAtOnce)
        entries[node]?.unannounced = all.dropFirst(some.count)
        sources.announced(node, some.filter { $0.origin != local.origin }, now: PeerLink.now().monotonic)
        guard some.count < all.count, !isStopping else {
            entries[node]?.unannounced = []
            return
        }
        guard !isAnnouncing else { return }
        isAnnouncing = true
        _ = loop.schedule(after: .milliseconds(1)) { [weak self] in
            guard let self else { return }
            isAnnouncing = false
            for node in entries.keys.sorted() { announce(node) }
            tellWants()
        }
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
