package import EventStore

/// What a node decides beyond one connection: whom it calls and when again, who is let in, which of two links stays, from whom
/// each origin is taken, when an origin is given up. A pure value, as ``SyncSession`` is: it has no clock, no I/O and no threads,
/// and its chance comes from a seed. Inputs are facts in the past tense; what is to be done comes out as effects, in order. The
/// daemon (``SyncNode``) and the simulator drive the same code.
///
/// Its parts are values of their own. ``Backoff`` and ``CallRate`` say when a peer is dialled and may dial, ``SourcePlan`` from whom an
/// origin is taken. ``SnapshotArbiter`` says whose snapshot is received, ``DurabilityWaiters`` who waits for what, ``NoticeBoard`` what
/// the operator should know. The mesh connects them.
package struct Mesh: Sendable {
    /// Who this node is. Its origin changes when it is given up.
    package internal(set) var local: SyncSession.Local
    /// Verifies what this node has signed.
    let key: VerifyingKey
    /// How far the log has each origin.
    package internal(set) var log = LocalVector()
    var random: SeededGenerator
    /// Who is let in.
    var entries: [NodeID: Entry] = [:]
    var pending: [NodeID: PendingPeer] = [:]
    /// Unknown callers that may say whether they are invited, the oldest first.
    var hearings: [(link: LinkID, caller: Caller)] = []
    var strangers = NoticeLimiter()
    var sources = SourcePlan()
    /// Whose snapshot is being received, while the others wait.
    var snapshotTurn = SnapshotArbiter()
    var missing = MissingPayloads()
    var waiters = DurabilityWaiters()
    var board = NoticeBoard()
    /// Origins this node has given up while it ran.
    var formerOrigins: Set<OriginID> = []
    /// Why it gave them up.
    var successions: [OriginTurn] = []
    /// The forks that are proven.
    var proofs: [OriginID: [ForkEvidence]] = [:]
    var isTicking = false
    var isAnnouncing = false
    var isCheckDue = false
    private(set) var isStopping = false

    /// - Parameter seed: Of everything that is left to chance.
    package init(_ local: SyncSession.Local, key: VerifyingKey, peers: [Peer], seed: UInt64) {
        self.local = local
        self.key = key
        random = SeededGenerator(seed: seed)
        for peer in peers { entries[peer.node] = Entry(peer: peer) }
    }

    /// The node begins over a log that stands at `log`.
    package mutating func opened(_ log: LocalVector, now: Moment, effects: inout [Effect]) {
        self.log = log
        sources = SourcePlan(log.vector)
        watchClocks(now, &effects)
        lookForMissing(now, &effects)
        dialAll(now, &effects)
    }

    /// The operator has changed who is let in.
    package mutating func setPeers(_ peers: [Peer], now: Moment, effects: inout [Effect]) {
        let named = Set(peers.map(\.node))
        for node in entries.keys.sorted() where !named.contains(node) {
            let links = links(of: node)
            entries[node] = nil
            sources.closed(node, now: now.monotonic)
            effects.append(.hangUp(node))
            for link in links { effects.append(.stop(link, SessionFailure(.unknownPeer, "removed by its operator"))) }
        }
        for peer in peers {
            pending[peer.node] = nil
            let isNew = entries[peer.node] == nil
            let before = entries[peer.node]?.peer
            if before?.isPaused == true, !peer.isPaused { entries[peer.node]?.unproven = 0 }
            entries[peer.node, default: Entry(peer: peer)].peer = peer
            if peer.isPaused {
                pause(peer.node, "paused by the operator of \(local.name)", &effects)
            } else if isNew || before?.address != peer.address || before?.isPaused == true || peer.token != nil {
                dial(peer.node, now, &effects)
            }
        }
        tellWants(now, &effects)
    }

    /// The log has more, all durable.
    package mutating func logAdvanced(_ notice: CommitNotice, now: Moment, effects: inout [Effect]) {
        _ = log.advance(notice)
        sources.advanced(notice.advanced.map { Dot(origin: $0.origin, seq: $0.seq) }, now: now.monotonic)
        tellWants(now, &effects)
        durableAdvanced(now: now, effects: &effects)
    }

    /// A time has come that was asked for.
    package mutating func timerFired(_ timer: Timer, now: Moment, effects: inout [Effect]) {
        guard !isStopping else { return }
        switch timer {
        case .dial(let node):
            guard let due = entries[node]?.dueAt, due <= now.monotonic else { return }
            // Also if it is not dialled now, because it is here: when it goes the next call is planned anew.
            entries[node]?.dueAt = nil
            dial(node, now, &effects)
        case .suspend(let node): pause(node, Self.suspension, &effects)
        case .probe(let node): if let old = entries[node]?.probe?.old { effects.append(.lookAtProbe(node, old)) }
        case .hearing(let link): hearingExpired(link, now, &effects)
        case .announcing: announceAll(now, &effects)
        case .sources:
            isTicking = false
            sources.tick(now: now.monotonic)
            tellWants(now, &effects)
        case .durability:
            isCheckDue = false
            effects.append(.lookAtDurability)
        case .waiter(let id):
            waiters.expire(id)
            effects.append(.lookAtDurability)
        case .clocks: watchClocks(now, &effects)
        case .payloads: effects.append(.lookForPayloads)
        }
    }

    /// The node takes leave.
    package mutating func stopped(effects: inout [Effect]) {
        isStopping = true
        for node in entries.keys.sorted() { effects.append(.hangUp(node)) }
        for link in links { effects.append(.stop(link, SessionFailure(.shutdown, "the node is stopping"))) }
    }

    // MARK: Looking

    /// All links with a session in the order of their nodes, second ones included.
    package var links: [LinkID] { entries.keys.sorted().flatMap { links(of: $0) } }

    /// The one link to each node there is one to, second ones left out.
    package var current: [(node: NodeID, link: LinkID)] {
        entries.keys.sorted().compactMap { node in entries[node]?.link.map { (node, $0.id) } }
    }

    func links(of node: NodeID) -> [LinkID] {
        [entries[node]?.link?.id, entries[node]?.candidate?.id].compactMap { $0 }
    }

    func name(of node: NodeID) -> String { entries[node]?.peer.name ?? node.short }
}
