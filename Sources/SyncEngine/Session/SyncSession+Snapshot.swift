internal import EventStore

// A copy of the log for an empty node, in place of its events one by one.
extension SyncSession {
    // MARK: The node that has the log

    /// The vectors are exchanged: an empty peer that wants a snapshot, and is far enough behind, is offered one.
    mutating func offerIfWanted(now: Moment, _ effects: inout [SessionEffect]) {
        guard policy.offers, case .none = snapshot.role, case .open(let hello, let outgoing, _) = state,
            hello.snapshotAfter > 0, hello.limits.maxBody >= WireLimits.snapshotBody,
            lead(over: outgoing.known) >= hello.snapshotAfter
        else { return }
        let id = RequestID(number: takeNumber())
        snapshot.role = .describing(id)
        effects.append(.describeSnapshot(id))
    }

    /// Answers ``SessionEffect/describeSnapshot(_:)``; `nil`: there is none.
    package mutating func snapshotDescribed(
        _ id: RequestID, _ offer: SnapshotOffer?, now: Moment, effects: inout [SessionEffect]
    ) {
        guard case .describing(id) = snapshot.role, case .open(let hello, _, _) = state else { return }
        if let offer, offer.events >= hello.snapshotAfter {
            snapshot.role = .offered(offer)
            send(.snapshotOffer(offer), now: now, &effects)
        } else {
            snapshot.role = .over
            pump(now: now, &effects)
        }
    }

    mutating func snapshotWanted(_ get: SnapshotGet, now: Moment, _ effects: inout [SessionEffect]) {
        guard case .offered(let offer) = snapshot.role, offer.id == get.id, get.after <= offer.through else {
            return fail(SessionFailure(.badFrame, "a SnapshotGet for what was not offered"), now: now, &effects)
        }
        snapshot.role = .sending(SnapshotExchange.Sending(offer: offer, after: get.after))
        updateOpen { hello, outgoing, _ in
            outgoing.window = max(hello.limits.window, min(get.window, 64 << 20))
            outgoing.credit = Int64(clamping: outgoing.window)
            // Nothing urgent goes to a peer that waits for its first copy: a slow line may be filled for a while.
            outgoing.flight = CongestionWindow(window: outgoing.window, first: Self.snapshotFlight)
        }
        pumpSnapshot(now: now, &effects)
    }

    /// Bytes of rows on their way before it is known how fast they pass.
    private static let snapshotFlight = 4 << 20

    mutating func pumpSnapshot(now: Moment, _ effects: inout [SessionEffect]) {
        guard case .sending(var sending) = snapshot.role, sending.reading == nil, !sending.isEnded,
            case .open(let hello, let outgoing, _) = state, outgoing.credit > 0, outgoing.flight.hasRoom
        else { return }
        let id = RequestID(number: takeNumber())
        sending.reading = id
        snapshot.role = .sending(sending)
        let request = SnapshotRead(
            offer: sending.offer, after: sending.after, parts: sending.parts,
            bytes: min(Int(hello.limits.maxBody), max(outgoing.flight.limit, 64 << 10)),
            compress: hello.compressors.contains(Hello.zstd))
        effects.append(.readSnapshot(id, request))
    }

    /// Answers ``SessionEffect/readSnapshot(_:_:)``.
    package mutating func snapshotRead(
        _ id: RequestID, _ result: Result<SnapshotPart, SessionFailure>, now: Moment, effects: inout [SessionEffect]
    ) {
        guard case .sending(var sending) = snapshot.role, sending.reading == id else { return }
        let part: SnapshotPart
        switch result {
        case .failure(let failure): return fail(failure, now: now, &effects)
        case .success(let read): part = read
        }
        guard case .open(let hello, _, _) = state, part.frame.body.count <= Int(hello.limits.maxBody) else {
            return fail(SessionFailure(.eventTooLarge, "an event does not fit the peer's frames"), now: now, &effects)
        }
        if sending.after == sending.offer.through { sending.parts += 1 }
        sending.reading = nil
        sending.after = part.last
        sending.isEnded = part.isEnd
        sending.bytes += UInt64(part.frame.count)
        snapshot.role = .sending(sending)
        updateOpen { _, outgoing, _ in
            outgoing.credit -= Int64(part.frame.count)
            outgoing.bytes += UInt64(part.frame.count)
            // Proving a long log may take longer than storing any frame.
            if part.frame.type == MessageType.snapshotRows.rawValue {
                outgoing.flight.send(part.frame.count, at: now.monotonic)
            }
        }
        lastSent = now.monotonic
        effects.append(.send(part.frame, .data))
        pumpSnapshot(now: now, &effects)
    }

    mutating func snapshotDone(_ done: SnapshotDone, now: Moment, _ effects: inout [SessionEffect]) {
        let offer: SnapshotOffer
        switch snapshot.role {
        case .offered(let made): offer = made
        case .sending(let sending): offer = sending.offer
        default: return fail(SessionFailure(.badFrame, "a SnapshotDone out of turn"), now: now, &effects)
        }
        guard offer.id == done.id else {
            return fail(SessionFailure(.badFrame, "a SnapshotDone for another snapshot"), now: now, &effects)
        }
        snapshot.role = .over
        updateOpen { hello, outgoing, _ in
            outgoing.window = hello.limits.window
            outgoing.credit = Int64(clamping: outgoing.window)
            outgoing.flight = CongestionWindow(window: outgoing.window)
            guard done.code == 0 else { return }
            for entry in offer.entries {
                let dot = Dot(origin: entry.origin, seq: entry.seq)
                outgoing.known.advance(to: dot)
                outgoing.sound.advance(to: dot)
                outgoing.durable.advance(to: dot)
            }
        }
        durableRevision += 1
        pump(now: now, &effects)
    }

    // MARK: The node that wants it

    mutating func snapshotOffered(_ offer: SnapshotOffer, now: Moment, _ effects: inout [SessionEffect]) {
        guard policy.after > 0, case .none = snapshot.role else {
            return fail(SessionFailure(.badFrame, "a snapshot nobody asked for"), now: now, &effects)
        }
        if let entry = offer.entries.first(where: { isOtherHistory($0) }) {
            // Its events may still come one by one, with the proof of the fork before them.
            let text = "two histories of origin \(entry.origin) up to \(entry.seq)"
            return refuse(offer, SessionFailure(.fork, text), now: now, &effects)
        }
        let id = RequestID(number: takeNumber())
        snapshot.role = .opening(id, offer)
        effects.append(.openSnapshot(id, offer))
    }

    /// Answers ``SessionEffect/openSnapshot(_:_:)``: the position up to which its rows are here already, or why it is refused.
    package mutating func snapshotOpened(
        _ id: RequestID, _ result: Result<UInt64, SessionFailure>, now: Moment, effects: inout [SessionEffect]
    ) {
        guard case .opening(id, let offer) = snapshot.role, case .open = state else { return }
        switch result {
        case .failure(let failure): refuse(offer, failure, now: now, &effects)
        case .success(let after):
            snapshot.role = .receiving(
                SnapshotExchange.Receiving(offer: offer, last: after, heard: now.monotonic))
            send(
                .snapshotGet(SnapshotGet(id: offer.id, after: after, window: policy.window)), now: now, &effects)
        }
    }

    mutating func snapshotFrameReceived(_ frame: Frame, now: Moment, _ effects: inout [SessionEffect]) {
        switch snapshot.role {
        case .receiving(var receiving):
            // The frame that uses up the credit may go beyond it; none may follow.
            guard receiving.waiting + receiving.owed < Int(max(policy.window, limits.window)) else {
                return fail(SessionFailure(.rateLimited, "more rows than there was credit for"), now: now, &effects)
            }
            guard !receiving.isProving || frame.type == MessageType.snapshotEnd.rawValue else {
                return fail(SessionFailure(.badFrame, "rows of a snapshot after its end"), now: now, &effects)
            }
            let id = RequestID(number: takeNumber())
            receiving.storing[id] = frame.count
            receiving.waiting += frame.count
            receiving.bytes += UInt64(frame.count)
            receiving.heard = now.monotonic
            if frame.type == MessageType.snapshotEnd.rawValue { receiving.isProving = true }
            snapshot.role = .receiving(receiving)
            updateOpen { _, _, incoming in incoming.bytes += UInt64(frame.count) }
            effects.append(.storeSnapshot(id, frame))
        // What was under way when it was refused.
        case .over, .complete: break
        default: fail(SessionFailure(.badFrame, "rows of a snapshot out of turn"), now: now, &effects)
        }
    }

    /// Answers ``SessionEffect/storeSnapshot(_:_:)``.
    package mutating func snapshotStored(
        _ id: RequestID, _ result: Result<SnapshotStored, SessionFailure>, now: Moment,
        effects: inout [SessionEffect]
    ) {
        guard case .receiving(var receiving) = snapshot.role, case .open = state,
            let bytes = receiving.storing.removeValue(forKey: id)
        else { return }
        switch result {
        case .failure(let failure): return refuse(receiving.offer, failure, now: now, &effects)
        case .success(.complete):
            snapshot.role = .complete(receiving.offer)
            return send(.snapshotDone(SnapshotDone(id: receiving.offer.id, code: 0)), now: now, &effects)
        case .success(.rows(let last)): receiving.last = max(receiving.last, last)
        case .success(.proof): break
        }
        receiving.waiting -= bytes
        receiving.owed += bytes
        receiving.heard = now.monotonic
        let owed = receiving.owed
        let isDue = receiving.storing.isEmpty || owed >= Int(policy.window / 16)
        if isDue { receiving.owed = 0 }
        snapshot.role = .receiving(receiving)
        if isDue { send(.credit(UInt64(owed)), now: now, &effects) }
    }

    /// The sender is alive but sends nothing more: it must not keep this node from its peers for ever.
    mutating func checkSnapshotStall(now: Moment, _ effects: inout [SessionEffect]) {
        guard case .receiving(let receiving) = snapshot.role, receiving.storing.isEmpty,
            now.monotonic >= receiving.heard + timing.snapshotStall
        else { return }
        refuse(receiving.offer, SessionFailure(.slowPeer, "no more rows came"), now: now, &effects)
    }

    /// When ``checkSnapshotStall(now:_:)`` is due.
    var snapshotDeadline: UInt64? {
        guard case .receiving(let receiving) = snapshot.role, receiving.storing.isEmpty else { return nil }
        return receiving.heard + timing.snapshotStall
    }

    private mutating func refuse(
        _ offer: SnapshotOffer, _ failure: SessionFailure, now: Moment, _ effects: inout [SessionEffect]
    ) {
        snapshot.role = .over
        send(
            .snapshotDone(SnapshotDone(id: offer.id, code: failure.code.rawValue, text: failure.text)), now: now,
            &effects)
        effects.append(.dropSnapshot(failure))
    }

    // MARK: Helpers

    /// How many events this node has and `known` lacks.
    private func lead(over known: VersionVector) -> UInt64 {
        progress.vector.count(missingFrom: known)
    }

    /// Whether what the peer has of an origin cannot be what this node has.
    private func isOtherHistory(_ entry: VectorEntry) -> Bool {
        guard let mine = progress[entry.origin] else { return false }
        return mine.seq == entry.seq && mine.rootPrefix != entry.root
    }
}
