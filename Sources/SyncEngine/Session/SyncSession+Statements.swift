internal import EventStore

// What is durable here and there: statements instead of acknowledgements, for they speak of all origins, whichever peer sent them.
extension SyncSession {
    /// When the next statement is due. One that has not arrived holds the next one back (its Ping has no answer yet), so
    /// that they do not pile up on a slow link.
    var statementDue: UInt64? {
        guard case .open(let hello, _, _) = state, speaks(.standings, hello), !told.changed.isEmpty, pingSent == nil
        else { return nil }
        return told.at + timing.statement
    }

    mutating func tellIfDue(now: Moment, _ effects: inout [SessionEffect]) {
        guard let due = statementDue, now.monotonic >= due else { return }
        let parts = progress.difference(told.changed.sorted(), known: told.origins, since: told.through)
        tell(parts, now: now, &effects)
        ping(now: now, &effects)
    }

    /// Answers a Resync. A peer has a reason for one when it remembers wrongly; one that asks again and again is not served.
    mutating func tellAll(now: Moment, _ effects: inout [SessionEffect]) {
        restatements += 1
        guard restatements <= 3 else {
            return fail(SessionFailure(.rateLimited, "Resync, again and again"), now: now, &effects)
        }
        tell(progress.whole(), now: now, &effects)
    }

    /// Sends a statement that leads to how the log stands now.
    mutating func tell(_ parts: [StateDelta], now: Moment, _ effects: inout [SessionEffect]) {
        told = SentState(origins: progress.entries.count, through: progress.top, at: now.monotonic)
        for part in parts { send(.stateDelta(part), now: now, &effects) }
    }

    /// The peer has made more durable.
    mutating func statementReceived(_ statement: StateDelta, now: Moment, _ effects: inout [SessionEffect]) {
        let beginsAnew = statement.isWhole && awaitsFirstPart
        guard let changed = takeIn(statement, now: now, &effects) else { return }
        examine(changed, isOpening: false, now: now, &effects)
        durableRevision += 1
        let dots = changed.map { Dot(origin: $0.origin, seq: $0.seq) }
        if choosesOrigins {
            news.hasRestated = beginsAnew
            news.announced += dots
        }
        let ours = dots.filter { progress[$0.origin] != nil }
        updateOpen { _, outgoing, _ in outgoing.holds(ours) }
    }

    /// What the peer has said to have of the origins with these numbers of this log.
    func stated(_ numbers: some Sequence<Int>) -> [Dot] {
        guard let memory else { return [] }
        return numbers.compactMap { number in
            let origin = progress.entries[number - 1].progress.origin
            return memory[origin].map { Dot(origin: origin, seq: $0.seq) }
        }
    }

    /// An acknowledgement in the manner of the first release.
    mutating func acknowledged(_ entries: [VectorEntry], now: Moment, _ effects: inout [SessionEffect]) {
        let stated = entries.map { entry in
            let number = memory?.number(of: entry.origin)
            return StateEntry(number.map { .number($0) } ?? .new(entry.origin), seq: entry.seq, root: entry.root)
        }
        statementReceived(
            StateDelta(entries: stated, isWhole: false, since: 0, through: 0), now: now, &effects)
    }
}
