internal import EventStore

// What is durable here and there: statements instead of acknowledgements, for they speak of all origins, whoever sent them.
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

    /// Answers a Restate. A peer has a reason for one when it remembers wrongly; who asks again and again is not served.
    mutating func tellAll(now: Moment, _ effects: inout [SessionEffect]) {
        restatements += 1
        guard restatements <= 3 else {
            return fail(SessionFailure(.rateLimited, "Restate, again and again"), now: now, &effects)
        }
        tell(progress.whole(), now: now, &effects)
    }

    /// Sends a statement that leads to how the log stands now.
    mutating func tell(_ parts: [Standing], now: Moment, _ effects: inout [SessionEffect]) {
        told = Told(origins: progress.entries.count, through: progress.top, at: now.monotonic)
        for part in parts { send(.standing(part), now: now, &effects) }
    }

    /// The peer has made more durable.
    mutating func statementReceived(_ statement: Standing, now: Moment, _ effects: inout [SessionEffect]) {
        let beginsAnew = statement.isWhole && awaitsFirstPart
        guard let changed = takeIn(statement, now: now, &effects) else { return }
        examine(changed, isOpening: false, now: now, &effects)
        if beginsAnew { forgetEarlierStatements() }
        durableRevision += 1
        let dots = changed.map { Dot(origin: $0.origin, seq: $0.seq) }
        if choosesOrigins {
            news.hasRestated = beginsAnew
            news.announced += dots
        }
        updateOpen { _, outgoing, _ in
            for dot in dots {
                outgoing.durable.advance(to: dot)
                outgoing.known.advance(to: dot)
                outgoing.sound.advance(to: dot)
            }
        }
    }

    /// Of origins that are neither in the log nor in what the peer states now nothing is kept: a peer that states something
    /// else again and again must not fill memory (INV-9).
    private mutating func forgetEarlierStatements() {
        let (progress, memory) = (progress, memory)
        func isOfUse(_ dot: Dot) -> Bool { progress[dot.origin] != nil || memory?[dot.origin] != nil }
        updateOpen { _, outgoing, _ in
            outgoing.known = VersionVector(outgoing.known.entries.filter(isOfUse))
            outgoing.sound = VersionVector(outgoing.sound.entries.filter(isOfUse))
            outgoing.durable = VersionVector(outgoing.durable.entries.filter(isOfUse))
        }
    }

    /// An acknowledgement in the manner of the first release.
    mutating func acknowledged(_ entries: [VectorEntry], now: Moment, _ effects: inout [SessionEffect]) {
        let stated = entries.map { entry in
            let number = memory?.number(of: entry.origin)
            return StandingEntry(number.map { .number($0) } ?? .new(entry.origin), seq: entry.seq, root: entry.root)
        }
        statementReceived(
            Standing(entries: stated, isWhole: false, since: 0, through: 0), now: now, &effects)
    }
}
