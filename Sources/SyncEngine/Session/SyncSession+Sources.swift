package import EventStore

// Which origins go over this connection: the receiver chooses (``SourcePlan``), the sender obeys.
extension SyncSession {
    /// What concerns other sessions, since the last call.
    package mutating func takeNews() -> SessionNews {
        defer { news = SessionNews() }
        return news
    }

    /// Says once more what the peer has, as if it had just opened: no observer has listened before.
    package mutating func tellAnew() {
        guard choosesOrigins, let memory else { return }
        news = SessionNews()
        news.hasOpened = true
        news.announced = memory.entries.map { Dot(origin: $0.origin, seq: $0.seq) }
    }

    /// Whether the peer is told which origins are taken from it.
    package var choosesOrigins: Bool {
        if case .open(let hello, _, _) = state { speaks(.sources, hello) } else { false }
    }

    /// The origin the peer writes to, as it says.
    package var remoteOrigin: OriginID? { if case .open(let hello, _, _) = state { hello.origin } else { nil } }

    /// From now on this node takes these origins from the peer, and no longer those.
    package mutating func want(
        take: [OriginID], leave: [OriginID], now: Moment, effects: inout [SessionEffect]
    ) {
        guard choosesOrigins, let memory else { return }
        let want = Want(
            take: take.compactMap { memory.number(of: $0) }, leave: leave.compactMap { memory.number(of: $0) })
        if !want.take.isEmpty || !want.leave.isEmpty { send(.want(want), now: now, &effects) }
    }

    mutating func wanted(_ want: Want, now: Moment, _ effects: inout [SessionEffect]) {
        let entries = progress.entries
        // Numbers of origins that the peer cannot know of mean nothing.
        func origins(_ ranges: [ClosedRange<UInt32>]) -> [OriginID] {
            ranges.flatMap { range in
                entries.dropFirst(Int(range.lowerBound) - 1).prefix(range.count).map(\.progress.origin)
            }
        }
        let (taken, left) = (origins(want.take), origins(want.leave))
        updateOpen { _, outgoing, _ in
            outgoing.wanted?.formUnion(taken)
            outgoing.wanted?.subtract(left)
            guard !taken.isEmpty else { return }
            // Also what was sent before: it may have been dropped, because it came before what it depends on.
            let before = outgoing.known
            outgoing.known.reset(taken, to: outgoing.durable)
            outgoing.sound.reset(taken, to: outgoing.durable)
            outgoing.start = .firstMissing
            outgoing.hasRestarted = outgoing.reading != nil
            if outgoing.hasRestarted {
                outgoing.resent.formUnion(taken.filter { before[$0] > outgoing.durable[$0] })
            }
            outgoing.hasMore = true
        }
        pump(now: now, &effects)
    }
}
