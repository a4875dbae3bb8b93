// What nodes tell each other beside events.
extension SyncSession {
    /// Most values that a peer may tell in one span of time, milliseconds: each costs the receiver a signature to check (INV-9).
    private static let mostShared = (count: 4_096, span: UInt64(10_000))

    /// Whether the peer takes in what is told now.
    package var takesShared: Bool {
        if case .open(let hello, _, _) = state { speaks(.sharedState, hello) } else { false }
    }

    /// Tells the peer.
    package mutating func share(_ shared: SharedState, now: Moment, effects: inout [SessionEffect]) {
        if takesShared { send(.sharedState(shared), now: now, &effects) }
    }

    mutating func sharedReceived(_ shared: SharedState, now: Moment, _ effects: inout [SessionEffect]) {
        if now.monotonic >= self.shared.since + Self.mostShared.span { self.shared = (now.monotonic, 0) }
        self.shared.count += 1
        guard self.shared.count <= Self.mostShared.count else {
            return fail(SessionFailure(.rateLimited, "more shared state than any node has"), now: now, &effects)
        }
        effects.append(.shared(shared))
    }
}
