package import EventStore

/// One conversation between two nodes, after the link is up: a pure state machine (D9).
///
/// It has no clock, no randomness, no I/O and no threads. Inputs are facts in the past tense; what is to be done comes out as
/// effects, which the shell performs. The daemon and the simulator drive the same code.
///
/// Hello and Hello; vector and vector; then events in the sender's position order, which is causal order, as far as the
/// receiver's credit goes; acknowledgements of what is durable. Catching up and following live are one path: the session
/// reads on from where it stands whenever the log may have more and the peer has room.
package struct SyncSession: Sendable {
    package let local: Local
    /// The peer, as its certificate proved.
    package let remote: NodeID
    package private(set) var state = State.idle
    private let limits: WireLimits
    private let timing: SessionTiming
    /// How far the local log has each origin.
    private var progress: [OriginID: OriginProgress]
    private var nextRequest = UInt64(1)
    private var openingDeadline = UInt64.max
    private var lastSent = UInt64(0)
    package private(set) var lastReceived = UInt64(0)
    private var pingSent: (nonce: UInt64, at: Moment)?
    /// Milliseconds there and back, of the last answered Ping.
    package private(set) var roundTrip: UInt64?
    /// Their wall clock minus ours, milliseconds, of the last answered Ping.
    package private(set) var clockOffset: Int64?

    /// A session with `remote` over a log that stands at `progress`.
    package init(
        local: Local, remote: NodeID, progress: [OriginProgress], limits: WireLimits = WireLimits(),
        timing: SessionTiming = SessionTiming()
    ) {
        self.local = local
        self.remote = remote
        self.limits = limits
        self.timing = timing
        self.progress = Dictionary(uniqueKeysWithValues: progress.map { ($0.origin, $0) })
    }

    /// When ``timerFired(now:effects:)`` is due, monotonic milliseconds.
    package var nextDeadline: UInt64? {
        switch state {
        case .idle, .closed: nil
        case .greeting, .comparing: openingDeadline
        case .open: min(lastSent + timing.keepalive, lastReceived + timing.silence)
        }
    }

    // MARK: Inputs

    /// The link is up and the peer's certificate is one that is let in.
    package mutating func started(now: Moment, effects: inout [SessionEffect]) {
        guard case .idle = state else { return }
        state = .greeting
        openingDeadline = now.monotonic + timing.opening
        lastReceived = now.monotonic
        let hello = Hello(
            cluster: local.cluster, node: local.node, incarnation: local.incarnation, clock: now.wall, limits: limits,
            software: local.software, name: local.name)
        send(.hello(hello), now: now, &effects)
    }

    /// A whole frame came.
    package mutating func frameReceived(_ frame: Frame, now: Moment, effects: inout [SessionEffect]) {
        if case .closed = state { return }
        lastReceived = now.monotonic
        if frame.type == MessageType.events.rawValue {
            eventsReceived(frame, now: now, &effects)
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
        case (.vector(let entries), .comparing(let hello)): vectorReceived(entries, hello, now: now, &effects)
        case (.ack(let entries), .open): acknowledged(entries, now: now, &effects)
        case (.credit(let bytes), .open): creditReceived(bytes, now: now, &effects)
        case (.ping(let ping), .comparing), (.ping(let ping), .open):
            send(.pong(Pong(nonce: ping.nonce, clock: now.wall)), now: now, &effects)
        case (.pong(let pong), _): pongReceived(pong, now: now)
        default:
            fail(SessionFailure(.badFrame, "a \(message.name) out of turn"), now: now, &effects)
        }
    }

    /// The local log has more events, all durable.
    package mutating func logAdvanced(_ notice: CommitNotice, now: Moment, effects: inout [SessionEffect]) {
        for entry in notice.advanced where entry.seq > progress[entry.origin]?.seq ?? 0 {
            progress[entry.origin] = entry
        }
        updateOpen { _, outgoing, _ in outgoing.hasMore = true }
        pump(now: now, &effects)
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
        outgoing.reading = nil
        outgoing.start = .after(batch.through)
        // The log may have advanced while it was being read: `hasMore` was set again in that case.
        if !batch.isAtTop { outgoing.hasMore = true }
        for dot in batch.advanced { outgoing.known.advance(to: dot) }
        if let frame = batch.frame {
            guard frame.body.count <= Int(hello.limits.maxBody) else {
                fail(SessionFailure(.eventTooLarge, "an event does not fit the peer's frames"), now: now, &effects)
                return
            }
            outgoing.credit -= Int64(frame.count)
            outgoing.events += UInt64(batch.events)
            outgoing.bytes += UInt64(frame.count)
            lastSent = now.monotonic
            effects.append(.send(frame, .data))
        }
        state = .open(hello, outgoing, incoming)
        pump(now: now, &effects)
    }

    /// Answers ``SessionEffect/store(_:_:)``: the events are durable, or none of them is.
    package mutating func eventsStored(
        _ id: RequestID, _ result: Result<StoredFrame, SessionFailure>, now: Moment,
        effects: inout [SessionEffect]
    ) {
        guard case .open(let hello, var outgoing, var incoming) = state,
            let bytes = incoming.storing.removeValue(forKey: id)
        else { return }
        let stored: StoredFrame
        switch result {
        case .failure(let failure):
            fail(failure, now: now, &effects)
            return
        case .success(let value): stored = value
        }
        incoming.waiting -= bytes
        incoming.owed += bytes
        incoming.events += UInt64(stored.events)
        let owed = incoming.owed
        let isDue = incoming.storing.isEmpty || owed >= Int(limits.window / 4)
        if isDue { incoming.owed = 0 }
        for entry in stored.progress {
            // What a node sends is durable there.
            let dot = Dot(origin: entry.origin, seq: entry.seq)
            outgoing.known.advance(to: dot)
            outgoing.durable.advance(to: dot)
            if entry.seq > progress[entry.origin]?.seq ?? 0 { progress[entry.origin] = entry }
        }
        state = .open(hello, outgoing, incoming)
        if !stored.progress.isEmpty { send(.ack(stored.progress.map(VectorEntry.init)), now: now, &effects) }
        if isDue { send(.credit(UInt64(owed)), now: now, &effects) }
    }

    /// ``nextDeadline`` has come.
    package mutating func timerFired(now: Moment, effects: inout [SessionEffect]) {
        switch state {
        case .idle, .closed: break
        case .greeting, .comparing:
            guard now.monotonic >= openingDeadline else { return }
            fail(SessionFailure(.idleTimeout, "the peer did not say who it is and what it has"), now: now, &effects)
        case .open:
            if now.monotonic >= lastReceived + timing.silence {
                let seconds = (now.monotonic - lastReceived) / 1_000
                fail(SessionFailure(.idleTimeout, "nothing heard for \(seconds) s"), now: now, &effects)
            } else if now.monotonic >= lastSent + timing.keepalive {
                let nonce = takeNumber()
                pingSent = (nonce, now)
                send(.ping(Ping(nonce: nonce, clock: now.wall)), now: now, &effects)
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

    // MARK: Opening

    private mutating func helloReceived(_ hello: Hello, now: Moment, _ effects: inout [SessionEffect]) {
        func refuse(_ code: SessionErrorCode, _ text: String) {
            fail(SessionFailure(code, text), now: now, &effects)
        }
        guard hello.node == remote else {
            return refuse(
                .wrongCertificate, "the Hello names node \(hello.node.short), the certificate \(remote.short)")
        }
        guard hello.node != local.node else { return refuse(.metSelf, "this is the node itself") }
        let ours = Hello(
            cluster: local.cluster, node: local.node, incarnation: local.incarnation, clock: now.wall, limits: limits)
        guard ours.commonProtocol(with: hello) != nil else {
            return refuse(
                .protocolVersion,
                "the peer speaks versions \(hello.protocolMin) to \(hello.protocolMax), this node "
                    + "\(ours.protocolMin) to \(ours.protocolMax)")
        }
        guard hello.cluster == local.cluster else {
            return refuse(.wrongCluster, "the peer is of cluster '\(hello.cluster)', this node of '\(local.cluster)'")
        }
        clockOffset = hello.clock.saturatingDifference(now.wall)
        state = .comparing(hello)
        effects.append(.allowBodies(Int(limits.maxBody)))
        let entries = progress.values.sorted { $0.origin < $1.origin }
        send(.vector(entries.map(VectorEntry.init)), now: now, &effects)
    }

    private mutating func vectorReceived(
        _ entries: [VectorEntry], _ hello: Hello, now: Moment, _ effects: inout [SessionEffect]
    ) {
        for entry in entries {
            let mine = progress[entry.origin]
            if entry.origin == local.origin, entry.seq > mine?.seq ?? 0 {
                let text =
                    "the peer has \(entry.seq) events of this node's own origin, the node itself \(mine?.seq ?? 0)"
                return fail(SessionFailure(.amnesia, text), now: now, &effects)
            }
            if let mine, mine.seq == entry.seq, mine.rootPrefix != entry.root {
                let text = "two histories of origin \(entry.origin) up to \(entry.seq)"
                return fail(SessionFailure(.fork, text), now: now, &effects)
            }
        }
        let vector = VersionVector(entries.map { Dot(origin: $0.origin, seq: $0.seq) })
        state = .open(
            hello, Outgoing(known: vector, durable: vector, credit: Int64(clamping: hello.limits.window)), Incoming())
        pump(now: now, &effects)
    }

    // MARK: Replicating

    /// Reads on if the log may have more, nothing is being read and the peer has room.
    private mutating func pump(now: Moment, _ effects: inout [SessionEffect]) {
        guard case .open(let hello, var outgoing, let incoming) = state, outgoing.hasMore, outgoing.reading == nil,
            outgoing.credit > 0
        else { return }
        let id = RequestID(number: takeNumber())
        outgoing.reading = id
        outgoing.hasMore = false
        let request = ReadRequest(
            start: outgoing.start, known: outgoing.known, bytes: Int(clamping: min(outgoing.credit, 256 << 10)),
            compress: hello.compressors.contains(Hello.zstd))
        state = .open(hello, outgoing, incoming)
        effects.append(.read(id, request))
    }

    private mutating func eventsReceived(_ frame: Frame, now: Moment, _ effects: inout [SessionEffect]) {
        guard case .open(let hello, let outgoing, var incoming) = state else {
            return fail(SessionFailure(.badFrame, "events before the vectors"), now: now, &effects)
        }
        // The frame that uses up the credit may go beyond it; none may follow.
        guard incoming.waiting + incoming.owed < Int(limits.window) else {
            return fail(SessionFailure(.rateLimited, "more events than there was credit for"), now: now, &effects)
        }
        let id = RequestID(number: takeNumber())
        incoming.storing[id] = frame.count
        incoming.waiting += frame.count
        incoming.bytes += UInt64(frame.count)
        state = .open(hello, outgoing, incoming)
        effects.append(.store(id, frame))
    }

    private mutating func acknowledged(_ entries: [VectorEntry], now: Moment, _ effects: inout [SessionEffect]) {
        for entry in entries {
            guard let mine = progress[entry.origin], mine.seq == entry.seq, mine.rootPrefix != entry.root else {
                continue
            }
            let text = "two histories of origin \(entry.origin) up to \(entry.seq)"
            return fail(SessionFailure(.fork, text), now: now, &effects)
        }
        // Origins that are not here were never sent to the peer; what it says of them is not kept (INV-9).
        let sent = entries.filter { progress[$0.origin] != nil }
        updateOpen { _, outgoing, _ in
            for entry in sent {
                let dot = Dot(origin: entry.origin, seq: entry.seq)
                outgoing.durable.advance(to: dot)
                outgoing.known.advance(to: dot)
            }
        }
    }

    private mutating func creditReceived(_ bytes: UInt64, now: Moment, _ effects: inout [SessionEffect]) {
        updateOpen { hello, outgoing, _ in
            let limit = Int64(clamping: hello.limits.window)
            let (sum, isOver) = outgoing.credit.addingReportingOverflow(Int64(clamping: bytes))
            outgoing.credit = isOver ? limit : min(sum, limit)
        }
        pump(now: now, &effects)
    }

    private mutating func pongReceived(_ pong: Pong, now: Moment) {
        guard let ping = pingSent, ping.nonce == pong.nonce else { return }
        pingSent = nil
        let elapsed = now.monotonic - ping.at.monotonic
        roundTrip = elapsed
        clockOffset = pong.clock.saturatingDifference(ping.at.wall + Int64(elapsed / 2))
    }

    // MARK: Helpers

    private mutating func updateOpen(_ body: (Hello, inout Outgoing, inout Incoming) -> Void) {
        guard case .open(let hello, var outgoing, var incoming) = state else { return }
        body(hello, &outgoing, &incoming)
        state = .open(hello, outgoing, incoming)
    }

    private mutating func takeNumber() -> UInt64 {
        defer { nextRequest += 1 }
        return nextRequest
    }

    private mutating func send(_ message: Message, now: Moment, _ effects: inout [SessionEffect]) {
        lastSent = now.monotonic
        effects.append(.send(message.frame(compress: false), .control))
    }

    private mutating func fail(_ failure: SessionFailure, now: Moment, _ effects: inout [SessionEffect]) {
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

extension Int64 {
    /// A peer's clock may stand anywhere: a difference that is out of range is the nearest that is not.
    fileprivate func saturatingDifference(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < 0 ? .min : .max) : difference
    }
}

extension VectorEntry {
    init(_ progress: OriginProgress) {
        self.init(origin: progress.origin, seq: progress.seq, root: progress.rootPrefix)
    }
}
