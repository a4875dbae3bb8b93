internal import EventStore

// Events, both ways, within the credit each side gives.
extension SyncSession {
    // MARK: To the peer

    /// Reads on if the log may have more, nothing is being read and the peer has room. What is new and can go before a backlog is first:
    /// an eighth of the window is kept free for it. Then it goes on through the log.
    mutating func pump(now: Moment, _ effects: inout [SessionEffect]) {
        pumpEvents(now: now, &effects)
        answerForAttachment(&effects)
    }

    private mutating func pumpEvents(now: Moment, _ effects: inout [SessionEffect]) {
        guard !snapshot.holdsEvents, forks.isSettled, case .open(let hello, var outgoing, let incoming) = state,
            outgoing.reading == nil, outgoing.credit > 0, outgoing.flight.hasRoom, outgoing.wanted?.isEmpty != true
        else { return }
        let isAhead = outgoing.isBehind && outgoing.tail != nil
        guard isAhead || outgoing.hasMore && outgoing.credit > Int64(clamping: hello.limits.window / 8) else {
            return
        }
        let id = RequestID(number: takeNumber())
        outgoing.reading = id
        outgoing.isReadingAhead = isAhead
        if !isAhead { outgoing.hasMore = false }
        let bytes = min(outgoing.credit, Int64(outgoing.flight.frame), Int64(hello.limits.maxBody / 2))
        let request = ReadRequest(
            start: isAhead ? .after(outgoing.tail ?? 0) : outgoing.start, known: forks.masked(outgoing.known),
            sound: outgoing.sound, wanted: outgoing.wanted, isAhead: isAhead, bytes: Int(clamping: bytes),
            compress: hello.compressors.contains(Hello.zstd), through: progress.top == 0 ? .max : progress.top)
        outgoing.tail = nil
        state = .open(hello, outgoing, incoming)
        effects.append(.read(id, request))
    }

    /// Answers ``SessionEffect/read(_:_:)``.
    package mutating func eventsRead(
        _ id: RequestID, _ result: Result<OutgoingFrame, SessionFailure>, now: Moment,
        effects: inout [SessionEffect]
    ) {
        guard case .open(let hello, var outgoing, let incoming) = state, outgoing.reading == id else { return }
        let batch: OutgoingFrame
        switch result {
        case .failure(let failure):
            fail(failure, now: now, &effects)
            return
        case .success(let read): batch = read
        }
        // The vectors have one owner at a time, so that they are changed where they are.
        state = .comparing(hello)
        outgoing.reading = nil
        if outgoing.isReadingAhead {
            // What came to the log while this was read has set the tail again, further on.
            if !batch.isAtTop { outgoing.tail = batch.through }
        } else {
            // A Want that came meanwhile has set the start anew.
            if !outgoing.hasRestarted { outgoing.start = .after(batch.through) }
            outgoing.hasRestarted = false
            // The log may have advanced while it was being read: `hasMore` was set again in that case.
            if !batch.isAtTop { outgoing.hasMore = true }
            outgoing.isBehind = !batch.isAtTop
            if batch.isAtTop { outgoing.tail = nil }
        }
        let resent = outgoing.resent
        outgoing.resent = []
        for dot in batch.advanced where !resent.contains(dot.origin) {
            outgoing.known.advance(to: dot)
            if batch.isSound { outgoing.sound.advance(to: dot) }
        }
        if let frame = batch.frame {
            guard frame.body.count <= Int(hello.limits.maxBody) else {
                fail(SessionFailure(.eventTooLarge, "an event does not fit the peer's frames"), now: now, &effects)
                return
            }
            outgoing.credit -= Int64(frame.count)
            outgoing.flight.send(frame.count, at: now.monotonic)
            outgoing.events += UInt64(batch.events)
            outgoing.bytes += UInt64(frame.count)
            lastSent = now.monotonic
            effects.append(.send(frame, .data))
        }
        state = .open(hello, outgoing, incoming)
        pump(now: now, &effects)
    }

    mutating func creditReceived(_ bytes: UInt64, now: Moment, _ effects: inout [SessionEffect]) {
        let roundTrip = shortestRoundTrip ?? 0
        updateOpen { _, outgoing, _ in
            outgoing.flight.credit(bytes, roundTrip: roundTrip, at: now.monotonic)
            let limit = Int64(clamping: outgoing.window)
            let (sum, isOver) = outgoing.credit.addingReportingOverflow(Int64(clamping: bytes))
            outgoing.credit = isOver ? limit : min(sum, limit)
        }
        answerForPayloads(&effects)
        pumpSnapshot(now: now, &effects)
        pump(now: now, &effects)
    }

    /// When a peer that does not store what it is sent is given up.
    var flightDue: UInt64? { if case .open(_, let outgoing, _) = state { outgoing.flight.deadline } else { nil } }

    // MARK: From the peer

    mutating func eventsReceived(_ frame: Frame, now: Moment, _ effects: inout [SessionEffect]) {
        if case .comparing = state, isHearing {
            return setAside(frame, now: now, &effects)
        }
        switch snapshot.role {
        // They will come again on the next connection.
        case .complete: return
        case .opening, .receiving:
            return fail(SessionFailure(.badFrame, "events during a snapshot"), now: now, &effects)
        default: break
        }
        guard case .open(let hello, let outgoing, var incoming) = state else {
            return fail(SessionFailure(.badFrame, "events before the vectors"), now: now, &effects)
        }
        // The frame that uses up the credit may go beyond it; none may follow.
        guard incoming.waiting + incoming.owed < Int(limits.window) else {
            return fail(SessionFailure(.rateLimited, "more events than there was credit for"), now: now, &effects)
        }
        let id = RequestID(number: takeNumber())
        if outgoing.wanted != nil { news.hasDelivered = true }
        state = .comparing(hello)
        incoming.begin(id, frame, since: now.monotonic, isCredited: false)
        incoming.lastFrame = now.monotonic
        incoming.waiting += frame.count
        incoming.bytes += UInt64(frame.count)
        state = .open(hello, outgoing, incoming)
        effects.append(.store(id, frame))
    }

    /// Tries again with frames whose needs are here now, in their order; reports what others have needed for long, and gives
    /// up those that have waited too long.
    mutating func releaseHeld(now: Moment, _ effects: inout [SessionEffect]) {
        guard case .open(_, _, let incoming) = state, !incoming.held.isEmpty else { return }
        var rest: [Incoming.Held] = []
        var ready: [Incoming.Held] = []
        var isBlocking = false
        for var held in incoming.held {
            guard let needs = held.failure.needs else { continue }
            if progress[needs.origin]?.seq ?? 0 >= needs.seq {
                ready.append(held)
                continue
            }
            guard now.monotonic < max(held.since, incoming.lastFrame) + timing.heldAtMost else {
                return fail(held.failure, now: now, &effects)
            }
            if !held.isTold, now.monotonic >= held.since + timing.held {
                held.isTold = true
                news.needs.append(needs)
                isBlocking = isBlocking || !held.isCredited
            }
            rest.append(held)
        }
        let ids = ready.map { _ in RequestID(number: takeNumber()) }
        updateOpen { _, _, incoming in
            incoming.held = rest
            for (id, held) in zip(ids, ready) {
                incoming.begin(id, held.frame, since: held.since, isCredited: held.isCredited)
            }
        }
        for (id, held) in zip(ids, ready) { effects.append(.store(id, held.frame)) }
        if isBlocking { dropHeld(now: now, &effects) }
    }

    /// What held frames wait for is to come from the same peer, and they take the credit that it would need: they are
    /// dropped, and asked for again behind it.
    private mutating func dropHeld(now: Moment, _ effects: inout [SessionEffect]) {
        guard case .open(_, _, let incoming) = state else { return }
        // What it waits for does not come from this peer: sending the same again and again would not help.
        if incoming.drops >= Self.mostDrops, let held = incoming.held.first {
            return fail(held.failure, now: now, &effects)
        }
        var bytes = 0
        var origins: [OriginID] = []
        updateOpen { _, _, incoming in
            incoming.drops += 1
            for held in incoming.held where !held.isCredited {
                bytes += held.frame.count
                origins += held.failure.origins
            }
            incoming.held.removeAll { !$0.isCredited }
            incoming.waiting -= bytes
        }
        news.dropped += origins
        send(.credit(UInt64(bytes)), now: now, &effects)
    }

    /// How often frames are dropped and asked for again before the session is given up.
    private static let mostDrops = 8

    /// When a held frame is to be looked at again.
    var heldDue: UInt64? {
        guard case .open(_, _, let incoming) = state else { return nil }
        return incoming.held.map { held in
            held.isTold ? max(held.since, incoming.lastFrame) + timing.heldAtMost : held.since + timing.held
        }.min()
    }

    /// Bytes of proofs that may come early, beside the window of events.
    private static let earlyForks = 4 << 20

    /// A peer that heard what this node has may send, while it has to say once more itself what it has.
    mutating func setAside(_ frame: Frame, now: Moment, _ effects: inout [SessionEffect]) {
        guard earlyBytes < Int(limits.window) + Self.earlyForks else {
            return fail(SessionFailure(.rateLimited, "more events than there was credit for"), now: now, &effects)
        }
        earlyBytes += frame.count
        early.append(frame)
    }

    /// Answers ``SessionEffect/store(_:_:)``: the events are durable, or none of them is.
    package mutating func eventsStored(
        _ id: RequestID, _ result: Result<StoredFrame, SessionFailure>, now: Moment,
        effects: inout [SessionEffect]
    ) {
        guard case .open(let hello, var outgoing, var incoming) = state, incoming.storing[id] != nil else { return }
        state = .comparing(hello)
        guard let request = incoming.end(id) else { return }
        let bytes = request.frame.count
        let stored: StoredFrame
        switch result {
        case .failure(let failure):
            guard failure.needs != nil, outgoing.wanted != nil else {
                if let lost = failure.lost {
                    let have = progress[lost.origin]?.seq ?? 0
                    effects.append(.report(.behind(lost.origin, have: have, known: lost.seq)))
                }
                return fail(failure, now: now, &effects)
            }
            // What it depends on comes by another connection.
            let isLent = !request.isCredited && incoming.beyond + bytes <= Int(limits.window)
            if isLent {
                incoming.waiting -= bytes
                incoming.beyond += bytes
            }
            incoming.held.append(
                Incoming.Held(
                    frame: request.frame, failure: failure, since: request.since,
                    isCredited: request.isCredited || isLent))
            state = .open(hello, outgoing, incoming)
            if isLent { send(.credit(UInt64(bytes)), now: now, &effects) }
            releaseHeld(now: now, &effects)
            return
        case .success(let value): stored = value
        }
        durableRevision += 1
        if request.isCredited {
            incoming.beyond -= bytes
        } else {
            incoming.waiting -= bytes
            incoming.owed += bytes
        }
        incoming.events += UInt64(stored.events)
        if stored.events > 0 { incoming.drops = 0 }
        if stored.hasErased { news.hasErased = true }
        let owed = incoming.owed
        let isDue = incoming.storing.isEmpty || owed >= Int(limits.window / 4)
        if isDue { incoming.owed = 0 }
        for report in stored.reports { effects.append(.report(report)) }
        // What a node sends is durable there.
        outgoing.holds(stored.carried)
        state = .open(hello, outgoing, incoming)
        // A peer of the first release is told of its own events only, at once; others learn it from the commit.
        if !speaks(.standings, hello), !stored.progress.isEmpty {
            send(.ack(stored.progress.map(VectorEntry.init)), now: now, &effects)
        }
        if isDue, owed > 0 { send(.credit(UInt64(owed)), now: now, &effects) }
    }
}
