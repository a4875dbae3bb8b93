package import EventStore

/// One conversation between two nodes, after the link is up: a pure state machine (D9).
///
/// It has no clock, no randomness, no I/O and no threads. Inputs are facts in the past tense; what is to be done comes out as
/// effects, which the shell performs. The daemon and the simulator drive the same code.
///
/// Hello and Hello; what each side has, as the difference from what the other remembers; then events in the sender's
/// position order, which is causal order, as far as the receiver's credit goes; statements of what has become durable.
/// Catching up and following live are one path: the session reads on from where it stands whenever the log may have more
/// and the peer has room.
package struct SyncSession: Sendable {
    package internal(set) var local: Local
    /// The peer, as its certificate proved.
    package let remote: NodeID
    package internal(set) var state = State.idle
    let limits: WireLimits
    let timing: SessionTiming
    /// What this node can do beyond the first release of the protocol.
    let features: Features
    /// Whether snapshots are handed out or wanted.
    let policy: SnapshotPolicy
    /// Where the session stands with a snapshot.
    package internal(set) var snapshot = SnapshotExchange()
    /// How far the local log has each origin.
    var progress: LocalVector
    /// What the peer has said that it has.
    package internal(set) var memory: PeerMemory?
    /// Grows whenever the peer is known to hold more, or something else.
    package internal(set) var durableRevision: UInt64 = 0
    package internal(set) var news = SessionNews()
    /// What the peer has been told.
    var told = SentState()
    /// How often everything was stated because the peer asked.
    var restatements = 0
    /// Whether the next StateDelta is a first part.
    package internal(set) var awaitsFirstPart = true
    /// Whether the peer was asked to state everything, and has not begun.
    package internal(set) var isRestating = false
    /// What came while what the peer has was still open, because it is long or it was asked to state it again.
    var early: [Frame] = []
    var earlyBytes = 0
    /// What the peer says of this node's own origin.
    var claim: OwnClaim?
    /// Payloads that were lost, here or there.
    var healing = HealingState()
    /// Bytes of attachments.
    var attachments = AttachmentExchange()
    /// Histories that differ.
    package internal(set) var forks = ForkState()
    /// How many values were told since when, monotonic milliseconds.
    var shared: (since: UInt64, count: Int) = (0, 0)
    /// Whether the peer has begun to say what it has, and is not done.
    var isHearing: Bool { isRestating || !awaitsFirstPart }
    private var nextRequest = UInt64(1)
    var openingDeadline = UInt64.max
    var lastSent = UInt64(0)
    package internal(set) var lastReceived = UInt64(0)
    /// The exchange has begun.
    var hasOpened = false
    /// When the peer was heard last, monotonic milliseconds; `nil` where all that it has said is that it takes part in no exchange.
    package var lastHeard: UInt64? { hasOpened ? lastReceived : nil }
    var pingSent: (nonce: UInt64, at: Moment)?
    /// How many Pings were answered.
    package private(set) var pongs = UInt64(0)
    /// Milliseconds there and back, of the last answered Ping.
    package internal(set) var roundTrip: UInt64?
    private(set) var shortestRoundTrip: UInt64?
    /// Their wall clock minus ours, milliseconds, of the last answered Ping.
    package internal(set) var clockOffset: Int64?

    /// A session with `remote` over a log that stands at `progress`.
    ///
    /// - Parameter memory: What is remembered of the peer from an earlier session.
    package init(
        local: Local, remote: NodeID, progress: LocalVector, memory: PeerMemory? = nil,
        features: Features = [.standings], limits: WireLimits = WireLimits(), timing: SessionTiming = SessionTiming(),
        policy: SnapshotPolicy = SnapshotPolicy()
    ) {
        self.local = local
        self.remote = remote
        self.limits = limits
        self.timing = timing
        self.features = policy.offers ? features.union(.snapshots) : features
        self.policy = policy
        self.progress = progress
        self.memory = memory
    }

    /// As above, for a log of which it is not known when its origins changed.
    package init(
        local: Local, remote: NodeID, progress: [OriginProgress], limits: WireLimits = WireLimits(),
        timing: SessionTiming = SessionTiming(), policy: SnapshotPolicy = SnapshotPolicy()
    ) {
        self.init(
            local: local, remote: remote, progress: LocalVector(progress), limits: limits, timing: timing,
            policy: policy)
    }

    /// When ``timerFired(now:effects:)`` is due, monotonic milliseconds.
    package var nextDeadline: UInt64? {
        switch state {
        case .idle, .closed: nil
        case .greeting: openingDeadline
        case .comparing: min(openingDeadline, lastSent + timing.keepalive)
        case .open:
            min(
                lastSent + timing.keepalive, lastReceived + timing.silence, statementDue ?? .max, heldDue ?? .max,
                flightDue ?? .max, snapshotDeadline ?? .max, forks.deadline?.due ?? .max, claimDue,
                attachments.deadline?.due ?? .max)
        }
    }

    // MARK: Inputs

    /// The link is up and the peer's certificate is one that is let in.
    package mutating func started(now: Moment, effects: inout [SessionEffect]) {
        guard case .idle = state else { return }
        state = .greeting
        openingDeadline = now.monotonic + timing.opening
        lastReceived = now.monotonic
        send(.hello(greeting(now)), now: now, &effects)
    }

    /// A whole frame came.
    package mutating func frameReceived(_ frame: Frame, now: Moment, effects: inout [SessionEffect]) {
        if case .closed = state { return }
        lastReceived = now.monotonic
        if frame.type == MessageType.events.rawValue {
            eventsReceived(frame, now: now, &effects)
            return
        }
        if frame.type == MessageType.snapshotRows.rawValue || frame.type == MessageType.snapshotEnd.rawValue {
            snapshotFrameReceived(frame, now: now, &effects)
            return
        }
        let message: Message
        do { message = try Message(frame: frame, limits: limits) } catch {
            fail(SessionFailure(error), now: now, &effects)
            return
        }
        switch (message, state) {
        case (.unknown, _): break
        case (.bye(let bye), _): close(.refused(code: bye.code, text: bye.text, retryAfter: bye.retryAfter), &effects)
        case (.hello(let hello), .greeting): helloReceived(hello, now: now, &effects)
        case (.vector(let entries), .comparing(let hello)) where !speaks(.standings, hello):
            vectorReceived(entries, hello, now: now, &effects)
        case (.ack(let entries), .open(let hello, _, _)) where !speaks(.standings, hello):
            acknowledged(entries, now: now, &effects)
        case (.stateDelta(let statement), .comparing(let hello)) where speaks(.standings, hello):
            openingReceived(statement, hello, now: now, &effects)
        case (.stateDelta(let statement), .open(let hello, _, _)) where speaks(.standings, hello):
            statementReceived(statement, now: now, &effects)
        case (.resync, .comparing(let hello)) where speaks(.standings, hello): tellAll(now: now, &effects)
        case (.resync, .open(let hello, _, _)) where speaks(.standings, hello): tellAll(now: now, &effects)
        case (.want(let want), .open(let hello, _, _)) where speaks(.sources, hello):
            wanted(want, now: now, &effects)
        case (.want, .comparing(let hello)) where speaks(.sources, hello) && isHearing:
            setAside(frame, now: now, &effects)
        case (.snapshotOffer(let offer), .open): snapshotOffered(offer, now: now, &effects)
        case (.snapshotOffer, .comparing) where isHearing: setAside(frame, now: now, &effects)
        case (.snapshotGet(let get), .open): snapshotWanted(get, now: now, &effects)
        case (.snapshotDone(let done), .open): snapshotDone(done, now: now, &effects)
        case (.credit(let bytes), .open): creditReceived(bytes, now: now, &effects)
        case (.ping(let ping), .comparing), (.ping(let ping), .open):
            send(.pong(Pong(nonce: ping.nonce, clock: now.wall)), now: now, &effects)
        case (.pong(let pong), _): pongReceived(pong, now: now, &effects)
        // It knew no better: this node has let it in meanwhile.
        case (.join, _): break
        case (.fork(let fork), .open): forkReceived(fork, now: now, &effects)
        // As events do when the peer was asked to state everything again.
        case (.fork, .comparing) where early.count < ForkEvidence.capacity * 2: setAside(frame, now: now, &effects)
        case (.headAsk(let ask), .open(let hello, _, _)) where speaks(.heads, hello):
            headAsked(ask, now: now, &effects)
        case (.headAsk, .comparing(let hello)) where speaks(.heads, hello) && isHearing:
            setAside(frame, now: now, &effects)
        case (.headTold(let told), .open(let hello, _, _)) where speaks(.heads, hello):
            headTold(told, now: now, &effects)
        case (.headTold, .comparing(let hello)) where speaks(.heads, hello): break
        case (.payloadAsk(let ask), .open(let hello, _, _)) where speaks(.payloads, hello):
            payloadsAsked(ask, now: now, &effects)
        case (.payloadAsk, .comparing(let hello)) where speaks(.payloads, hello) && isHearing:
            setAside(frame, now: now, &effects)
        case (.payloadTold(let told), .open(let hello, _, _)) where speaks(.payloads, hello):
            payloadsTold(told, bytes: frame.count, now: now, &effects)
        case (.payloadTold, .comparing(let hello)) where speaks(.payloads, hello) && isHearing:
            setAside(frame, now: now, &effects)
        case (.attachmentAsk(let ask), .open(let hello, _, _)) where speaks(.attachments, hello):
            attachmentAsked(ask, now: now, &effects)
        case (.attachmentTold(let told), .open(let hello, _, _)) where speaks(.attachments, hello):
            attachmentTold(told, now: now, &effects)
        case (.attachmentAsk, .comparing(let hello)) where speaks(.attachments, hello) && isHearing,
            (.attachmentTold, .comparing(let hello)) where speaks(.attachments, hello) && isHearing:
            setAside(frame, now: now, &effects)
        case (.sharedState(let shared), .open(let hello, _, _)) where speaks(.sharedState, hello):
            sharedReceived(shared, now: now, &effects)
        case (.sharedState, .comparing(let hello)) where speaks(.sharedState, hello) && isHearing:
            setAside(frame, now: now, &effects)
        default:
            fail(SessionFailure(.badFrame, "a \(message.name) out of turn"), now: now, &effects)
        }
    }

    /// Bytes came, perhaps not a whole frame: the peer is alive.
    package mutating func heard(at now: Moment) {
        lastReceived = max(lastReceived, now.monotonic)
        snapshot.heard(at: now.monotonic)
    }

    /// The local log has more events, all durable.
    package mutating func logAdvanced(_ notice: CommitNotice, now: Moment, effects: inout [SessionEffect]) {
        let before = progress.top
        let numbers = progress.advance(notice)
        told.changed.formUnion(numbers)
        let met = stated(numbers)
        updateOpen { _, outgoing, _ in
            outgoing.holds(met)
            outgoing.hasMore = true
            if outgoing.isBehind, outgoing.tail == nil, before > 0 { outgoing.tail = before }
        }
        releaseHeld(now: now, &effects)
        tellIfDue(now: now, &effects)
        pump(now: now, &effects)
    }

    /// ``nextDeadline`` has come.
    package mutating func timerFired(now: Moment, effects: inout [SessionEffect]) {
        switch state {
        case .idle, .closed: break
        case .greeting, .comparing:
            if now.monotonic >= openingDeadline {
                fail(
                    SessionFailure(.idleTimeout, "the peer did not say who it is and what it has"), now: now, &effects
                )
            } else if case .comparing = state {
                pingIfQuiet(now: now, &effects)
            }
        case .open:
            if now.monotonic >= lastReceived + timing.silence {
                let seconds = (now.monotonic - lastReceived) / 1_000
                fail(SessionFailure(.idleTimeout, "nothing heard for \(seconds) s"), now: now, &effects)
            } else if now.monotonic >= flightDue ?? .max {
                fail(SessionFailure(.slowPeer, "events are not stored by the peer for a minute"), now: now, &effects)
            } else {
                checkSnapshotStall(now: now, &effects)
                releaseHeld(now: now, &effects)
                tellIfDue(now: now, &effects)
                pingIfQuiet(now: now, &effects)
                forkTimerFired(now: now, &effects)
                claimTimerFired(now: now, &effects)
                attachmentTimerFired(now: now, &effects)
            }
        }
    }

    /// The link is gone.
    package mutating func linkLost(_ reason: String) {
        if case .closed = state { return }
        state = .closed(.linkLost(reason))
    }

    /// This node ends the session.
    package mutating func stop(_ failure: SessionFailure, now: Moment, effects: inout [SessionEffect]) {
        fail(failure, now: now, &effects)
    }

    // MARK: Pings

    private mutating func pingIfQuiet(now: Moment, _ effects: inout [SessionEffect]) {
        if now.monotonic >= lastSent + timing.keepalive { ping(now: now, &effects) }
    }

    mutating func ping(now: Moment, _ effects: inout [SessionEffect]) {
        let nonce = takeNumber()
        pingSent = (nonce, now)
        send(.ping(Ping(nonce: nonce, clock: now.wall)), now: now, &effects)
    }

    private mutating func pongReceived(_ pong: Pong, now: Moment, _ effects: inout [SessionEffect]) {
        guard let ping = pingSent, ping.nonce == pong.nonce else { return }
        pingSent = nil
        pongs += 1
        let elapsed = now.monotonic - ping.at.monotonic
        roundTrip = elapsed
        shortestRoundTrip = min(shortestRoundTrip ?? elapsed, elapsed)
        clockOffset = pong.clock.subtractingSaturated(ping.at.wall + Int64(elapsed / 2))
        tellIfDue(now: now, &effects)
    }

    // MARK: Helpers

    /// Whether both sides can do it.
    func speaks(_ feature: Features, _ hello: Hello) -> Bool {
        features.contains(feature) && hello.features.contains(feature)
    }

    mutating func updateOpen(_ body: (Hello, inout Outgoing, inout Incoming) -> Void) {
        guard case .open(let hello, var outgoing, var incoming) = state else { return }
        // The vectors in it have one owner at a time, so that they are changed where they are.
        state = .comparing(hello)
        body(hello, &outgoing, &incoming)
        state = .open(hello, outgoing, incoming)
    }

    mutating func takeNumber() -> UInt64 {
        defer { nextRequest += 1 }
        return nextRequest
    }

    mutating func send(_ message: Message, now: Moment, _ effects: inout [SessionEffect]) {
        lastSent = now.monotonic
        effects.append(.send(message.frame(compress: false), .control))
    }

    mutating func fail(_ failure: SessionFailure, now: Moment, _ effects: inout [SessionEffect]) {
        if case .closed = state { return }
        send(.bye(Bye(failure.code, text: failure.text)), now: now, &effects)
        close(.failed(failure), &effects)
    }

    private mutating func close(_ end: SessionEnd, _ effects: inout [SessionEffect]) {
        if case .closed = state { return }
        state = .closed(end)
        effects.append(.close(end))
    }
}

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
