internal import EventStore

/// What a peer says of this node's own origin and has to show.
struct OwnClaim: Hashable, Sendable {
    /// How many events of it the peer says it has.
    let size: UInt64
    /// When it must have shown a head.
    var deadline: AnswerDeadline
}

// More of this node's own origin than the node has: either the node has lost its memory, or the peer lies. A number is not
// believed. A head of so many events that this node's own key has signed is.
extension SyncSession {
    /// The peer states more of this node's own origin than is here.
    mutating func claimed(_ entry: VectorEntry, have: UInt64, now: Moment, _ effects: inout [SessionEffect]) {
        guard claim == nil, let hello else { return }
        claim = OwnClaim(size: entry.seq, deadline: AnswerDeadline(asked: now.monotonic))
        // A peer that cannot be asked may show a head with its Events.
        guard speaks(.heads, hello) else { return }
        send(.headAsk(HeadAsk(origin: entry.origin, size: have + 1)), now: now, &effects)
    }

    mutating func headTold(_ told: HeadTold, now: Moment, _ effects: inout [SessionEffect]) {
        // The node may have given up the origin meanwhile.
        guard let claim, told.origin == local.origin else { return }
        self.claim = nil
        effects.append(.report(.claimed(told.origin, size: claim.size, told.head)))
    }

    /// When ``claimTimerFired(now:_:)`` is due.
    var claimDue: UInt64 { claim?.deadline.due ?? .max }

    mutating func claimTimerFired(now: Moment, _ effects: inout [SessionEffect]) {
        guard let claim, self.claim?.deadline.isOver(at: now.monotonic, heard: lastReceived) == true else { return }
        self.claim = nil
        effects.append(.report(.claimed(local.origin, size: claim.size, nil)))
    }

    // MARK: Answering

    mutating func headAsked(_ ask: HeadAsk, now: Moment, _ effects: inout [SessionEffect]) {
        guard !forks.isAnswering else {
            return fail(SessionFailure(.rateLimited, "two questions about histories at once"), now: now, &effects)
        }
        inspect(.head(Dot(origin: ask.origin, seq: ask.size)), for: .head(ask.origin), &effects)
    }
}
