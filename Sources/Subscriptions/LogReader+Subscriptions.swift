package import EventStore

extension SubscriptionMachine {
    /// Events of the log that are looked at before others have their turn.
    private static let slice = 2_000
    /// Where each node delivers its own events, so long the others leave them to it, milliseconds.
    package static let patience: UInt64 = 30_000

    /// A machine at its beginning, with what is known to be done since.
    ///
    /// - Parameters:
    ///   - known: What this node has kept, and what other homes have told, as the record admits it.
    ///   - parked: What is set aside: done, though the process may have ended before that was kept.
    ///   - node: The one that this is.
    package init(
        _ record: SubscriptionRecord, _ known: [SubscriptionState], parked: Set<Dot>, _ log: LogReader,
        as node: NodeID
    ) throws(StoreError) {
        var state = known.first ?? SubscriptionState()
        for one in known.dropFirst() { state.merge(one) }
        // What is known began there.
        if known.isEmpty {
            switch record.definition.start {
            // The whole log where it was made, if nothing has come since; else the sum of what its origin had applied, which reads all of that.
            case .now:
                let isOwn = try log.origins().contains { $0.id == record.dot.origin && $0.node == node }
                let position = try log.event(record.dot)?.position
                let isLast = try log.top() == position && isOwn
                state.through = isLast ? try log.vector() : try log.clock(of: record.dot)
            case .vector(let known): state.through = known
            case .first, .time: break
            }
        }
        record.note(&state)
        state.open.removeAll { parked.contains($0.dot) }
        state.retried.removeAll { parked.contains($0.dot) }
        state.early += parked.filter { !state.through.contains($0) }
        var events: [Dot: (key: String, position: UInt64)] = [:]
        for dot in (state.open + state.retried).map(\.dot) {
            guard let stored = try log.event(dot) else { continue }
            events[dot] = (record.definition.key(of: stored.event.header), stored.position)
        }
        self.init(record.definition, state, events: events)
    }

    /// Behind it stands all that was not looked at, and what was open.
    package func start(in log: LogReader) throws(StoreError) -> UInt64 {
        let start = try OutgoingReader(log, ownHead: { nil }).start(for: seen)
        return firstOpen.map { min(start, $0 - 1) } ?? start
    }

    /// Looks at the next events of the log. Returns the last position that was looked at, and the events among them that ask for parked ones
    /// to be tried again, of whichever node they are.
    ///
    /// - Parameter node: The one that this is.
    package mutating func look(
        at log: LogReader, after position: UInt64, through durable: UInt64, as node: NodeID, now: UInt64
    ) throws(StoreError) -> (position: UInt64, retries: [StoredEvent]) {
        guard position < durable, hasRoom else { return (position, []) }
        var own: Set<OriginID>?
        if definition.home == .local { own = Set(try log.origins().lazy.filter { $0.node == node }.map(\.id)) }
        func notBefore(_ header: EventHeader) -> UInt64 {
            own.map { $0.contains(header.dot.origin) ? 0 : now + Self.patience } ?? 0
        }
        var looked = position
        var retries: [StoredEvent] = []
        var twins: [(EventHeader, position: UInt64, first: UInt64)] = []
        func pass(_ stored: StoredEvent) -> Bool {
            guard stored.position <= durable, hasRoom else { return false }
            let header = stored.event.header
            // Whether it is one of two of the same is told by the other, which is read when this scan has ended.
            if let first = stored.twinOf {
                twins.append((header, stored.position, first))
                return false
            }
            if header.type == SubscriptionRecord.retried, !isHeeded(header.dot) { retries.append(stored) }
            look(
                at: header, position: stored.position, isWanted: definition.wants(header),
                notBefore: notBefore(header))
            looked = stored.position
            return true
        }
        try log.scan(after: position, limit: Self.slice, pass)
        for (header, position, first) in twins {
            let other = try log.event(at: first)?.event.header
            let isSame =
                other.map { other in
                    other.type.hasSameBytes(as: header.type) && other.user.hasSameBytes(as: header.user)
                        && other.author.hasSameBytes(as: header.author)
                        && other.conversation.hasSameBytes(as: header.conversation)
                } ?? false
            // Which of the two is first is another matter at another node: neither is done before one of them was.
            let twin = isSame ? other.flatMap { definition.wants($0) ? $0.dot : nil } : nil
            look(
                at: header, position: position, isWanted: definition.wants(header), twinOf: twin,
                notBefore: notBefore(header))
            looked = position
        }
        return (looked, retries)
    }

    /// Parked events are tried again, as the event says.
    ///
    /// - Parameter proof: Whose home may say so is for the caller to know (INV-15).
    package mutating func heed(
        _ proof: StoredEvent, of record: SubscriptionRecord, in log: LogReader, now: UInt64
    ) throws(StoreError) {
        // What was asked before its place was set anew was asked of the older place.
        let isOfNow = !record.soughtBehind.contains(proof.event.header.dot)
        for dot in isOfNow ? SubscriptionRecord.retries(of: record.id, in: proof.event) : [] {
            guard let stored = try log.event(dot) else { continue }
            retry(stored.event.header, position: stored.position, now: now)
        }
        heeded(proof.event.header.dot)
    }
}
