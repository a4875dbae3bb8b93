package import EventStore

/// From whom a node takes the events of each origin: from one peer at a time, while the others only say how far they are. These are the
/// eager and lazy links of Leitão, Pereira, Rodrigues, "Epidemic Broadcast Trees", 2007, for each origin by itself.
///
/// What is missing when a connection opens goes to the first peer that has it, all of it, so that it comes in causal order.
/// An origin that is level goes to the node that writes it, if that is connected. A source that delivers nothing while
/// another peer has more is replaced. A pure value; what is to be said to whom is collected in ``takeChanges()``.
package struct SourcePlan: Sendable {
    /// What one peer is to be told.
    package struct Change: Hashable, Sendable {
        package let peer: NodeID
        package var take: [OriginID] = []
        package var leave: [OriginID] = []
    }

    private struct PeerState: Sendable {
        var has: [OriginID: UInt64] = [:]
        /// The origin it writes.
        var own: OriginID?
        /// When events came from it, or it opened.
        var lastDelivery: UInt64
        /// It was replaced because it delivered nothing; until then it gets nothing back.
        var distrustedUntil: UInt64 = 0
        /// How many origins it is the source of.
        var load = 0
    }

    private struct OriginState: Sendable {
        var have: UInt64 = 0
        var source: NodeID?
        /// Since when another peer has had more, and nothing has come.
        var behindSince: UInt64?
    }

    /// Milliseconds in which a source that delivers nothing at all must deliver something.
    package static let patience: UInt64 = 2_500
    /// Milliseconds in which a source that is busy with other origins must come to this one.
    package static let longPatience: UInt64 = 120_000
    /// Milliseconds in which a source that was replaced is not preferred again.
    package static let distrust: UInt64 = 60_000
    /// How often ``tick(now:)`` is wanted while something is missing, milliseconds.
    package static let interval: UInt64 = 250

    private var peers: [NodeID: PeerState] = [:]
    private var origins: [OriginID: OriginState] = [:]
    private var behind: Set<OriginID> = []
    /// The same in the order in which ``tick(now:)`` looks at them, with some that are behind no more; each once.
    private var watched: [OriginID] = []
    private var isWatched: Set<OriginID> = []
    private var changes: [NodeID: Change] = [:]

    /// A node whose log stands at `vector`, without peers.
    package init(_ vector: VersionVector = VersionVector()) {
        for dot in vector.entries { origins[dot.origin] = OriginState(have: dot.seq) }
    }

    /// Whether ``tick(now:)`` has something to watch.
    package var isWaiting: Bool { !behind.isEmpty }

    /// How many origins it keeps something of: those of the log, and those that peers have.
    package var count: Int { origins.count }

    /// From whom `origin` is taken.
    package func source(of origin: OriginID) -> NodeID? { origins[origin]?.source }

    /// What is to be said since the last call, by peer.
    package mutating func takeChanges() -> [Change] {
        defer { changes = [:] }
        return changes.keys.sorted().compactMap { changes[$0] }.filter { !$0.take.isEmpty || !$0.leave.isEmpty }
    }

    // MARK: What happens

    /// A connection has opened; the peer has said what it has, and which origin it writes.
    package mutating func opened(_ peer: NodeID, _ entries: [Dot], own: OriginID?, now: UInt64) {
        closed(peer, now: now)
        peers[peer] = PeerState(own: own, lastDelivery: now)
        announced(peer, entries, isOpening: true, now: now)
    }

    /// A peer has more.
    package mutating func announced(_ peer: NodeID, _ entries: [Dot], now: UInt64) {
        announced(peer, entries, isOpening: false, now: now)
    }

    private mutating func announced(_ peer: NodeID, _ entries: [Dot], isOpening: Bool, now: UInt64) {
        guard peers[peer] != nil else { return }
        for dot in entries {
            peers[peer]?.has[dot.origin] = dot.seq
            var origin = origins[dot.origin] ?? OriginState()
            if dot.seq > origin.have, origin.behindSince == nil {
                origin.behindSince = now
                watch(dot.origin)
            }
            origins[dot.origin] = origin
            // Of what is missing when a connection opens a source that has no more than this node gives nothing.
            let isIdle = origin.source.map { (peers[$0]?.has[dot.origin] ?? 0) <= origin.have } ?? true
            if origin.source == nil || isOpening && isIdle && dot.seq > origin.have {
                setSource(of: dot.origin, to: peer)
            } else {
                settle(dot.origin, now)
            }
        }
    }

    /// A peer states everything anew, beginning with these: what it has said before counts no more. So a peer that states
    /// something else again and again does not fill memory (INV-9).
    package mutating func restated(_ peer: NodeID, _ entries: [Dot], now: UInt64) {
        guard let before = peers[peer]?.has else { return }
        peers[peer]?.has = [:]
        let named = Set(entries.map(\.origin))
        for origin in before.keys.sorted() where !named.contains(origin) { withdrawn(origin, by: peer) }
        announced(peer, entries, now: now)
    }

    /// Events came from a peer.
    package mutating func delivered(_ peer: NodeID, now: UInt64) { peers[peer]?.lastDelivery = now }

    /// This node's log has more.
    package mutating func advanced(_ dots: [Dot], now: UInt64) {
        for dot in dots {
            origins[dot.origin, default: OriginState()].have = dot.seq
            let isBehind = peers.values.contains { $0.has[dot.origin] ?? 0 > dot.seq }
            origins[dot.origin]?.behindSince = isBehind ? now : nil
            if isBehind { watch(dot.origin) } else { behind.remove(dot.origin) }
            settle(dot.origin, now)
        }
    }

    /// Events of a peer wait for this one, which does not come: it is taken from the same peer, in its order.
    package mutating func needed(_ dot: Dot, by peer: NodeID) {
        guard peers[peer]?.has[dot.origin] ?? 0 >= dot.seq, origins[dot.origin]?.have ?? 0 < dot.seq else { return }
        setSource(of: dot.origin, to: peer)
    }

    /// Events of these origins that came from a peer were dropped: they are asked for again.
    package mutating func dropped(_ dropped: [OriginID], from peer: NodeID) {
        guard peers[peer] != nil else { return }
        let taken = changes[peer, default: Change(peer: peer)].take
        let again = Set(dropped).subtracting(taken).filter { origins[$0]?.source == peer }
        changes[peer, default: Change(peer: peer)].take += again.sorted()
    }

    /// A connection is gone.
    package mutating func closed(_ peer: NodeID, now: UInt64) {
        guard let gone = peers.removeValue(forKey: peer) else { return }
        changes[peer] = nil
        for origin in gone.has.keys.sorted() { withdrawn(origin, by: peer) }
    }

    /// A peer has an origin no more: another one becomes its source. Of an origin that no peer has nothing is kept.
    private mutating func withdrawn(_ origin: OriginID, by peer: NodeID) {
        guard let state = origins[origin] else { return }
        if state.source == peer {
            origins[origin]?.source = nil
            peers[peer]?.load -= 1
            if let next = best(for: origin) { setSource(of: origin, to: next) }
        }
        guard !peers.values.contains(where: { $0.has[origin] ?? 0 > state.have }) else { return }
        behind.remove(origin)
        origins[origin]?.behindSince = nil
        if state.have == 0, !peers.values.contains(where: { $0.has[origin] != nil }) { origins[origin] = nil }
    }

    private mutating func watch(_ origin: OriginID) {
        behind.insert(origin)
        if isWatched.insert(origin).inserted { watched.append(origin) }
    }

    /// Most origins looked at in one tick: a peer may state as many as it likes, and others wait for the same thread.
    private static let watchedAtOnce = 2_000

    /// Time has passed: sources that do not deliver are replaced.
    package mutating func tick(now: UInt64) {
        let some = watched.prefix(Self.watchedAtOnce)
        watched.removeFirst(some.count)
        for origin in some {
            guard behind.contains(origin) else {
                isWatched.remove(origin)
                continue
            }
            watched.append(origin)
            guard let state = origins[origin], let since = state.behindSince, now >= since + Self.patience else {
                continue
            }
            if let source = state.source, let peer = peers[source] {
                let isSilent = now >= peer.lastDelivery + Self.patience
                guard isSilent || now >= since + Self.longPatience else { continue }
            }
            guard let next = successor(for: origin) else { continue }
            if let source = state.source { peers[source]?.distrustedUntil = now + Self.distrust }
            setSource(of: origin, to: next)
            origins[origin]?.behindSince = now
        }
    }

    // MARK: Choosing

    /// An origin that is level goes to its writer.
    private mutating func settle(_ origin: OriginID, _ now: UInt64) {
        guard let known = origins[origin], known.behindSince == nil, let source = known.source,
            peers[source]?.own != origin,
            let writer = peers.keys.sorted().first(where: { peers[$0]?.own == origin }),
            let state = peers[writer], state.has[origin] != nil, now >= state.distrustedUntil
        else { return }
        setSource(of: origin, to: writer)
    }

    private mutating func setSource(of origin: OriginID, to peer: NodeID) {
        let old = origins[origin]?.source
        guard old != peer else { return }
        if let old, peers[old] != nil {
            peers[old]?.load -= 1
            changes[old, default: Change(peer: old)].take.removeAll { $0 == origin }
            changes[old, default: Change(peer: old)].leave.append(origin)
        }
        origins[origin]?.source = peer
        peers[peer]?.load += 1
        changes[peer, default: Change(peer: peer)].leave.removeAll { $0 == origin }
        changes[peer, default: Change(peer: peer)].take.append(origin)
    }

    /// Of those that have the origin: one that has more, its writer, the one with the least to do, in this order.
    private func best(for origin: OriginID) -> NodeID? {
        let have = origins[origin]?.have ?? 0
        func rank(_ node: NodeID, _ peer: PeerState) -> (Int, Int, Int, NodeID) {
            (peer.has[origin] ?? 0 > have ? 0 : 1, peer.own == origin ? 0 : 1, peer.load, node)
        }
        return peers.filter { $0.value.has[origin] != nil }.min { rank($0.key, $0.value) < rank($1.key, $1.value) }?
            .key
    }

    /// Of those that have more, the next one after the present source.
    private func successor(for origin: OriginID) -> NodeID? {
        guard let state = origins[origin] else { return nil }
        let others = peers.keys.filter { $0 != state.source && peers[$0]?.has[origin] ?? 0 > state.have }.sorted()
        guard let source = state.source else { return others.first }
        return others.first { $0 > source } ?? others.first
    }
}
