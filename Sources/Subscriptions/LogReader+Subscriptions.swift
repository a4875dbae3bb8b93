package import EventStore

extension SubscriptionMachine {
    /// Events of the log that are looked at before others have their turn.
    private static let slice = 2_000

    /// A machine at its beginning, with what is known to be done since.
    ///
    /// - Parameters:
    ///   - known: What this node has kept, and what other homes have told.
    ///   - parked: What is set aside: done, though the process may have ended before that was kept.
    package init(
        _ record: SubscriptionRecord, _ known: [SubscriptionState], parked: Set<Dot>, _ log: LogReader
    ) throws(StoreError) {
        var state = known.first ?? SubscriptionState()
        for one in known.dropFirst() { state.merge(one) }
        // What is known began there.
        if known.isEmpty {
            switch record.definition.start {
            // The whole log, if nothing has come since; else the sum of what its origin had applied, which reads all of that.
            case .now:
                let isLast = try log.event(record.dot)?.position == log.top()
                state.through = isLast ? try log.vector() : try log.clock(of: record.dot)
            case .vector(let known): state.through = known
            case .first, .time: break
            }
        }
        state.open.removeAll { parked.contains($0.dot) }
        state.early += parked.filter { !state.through.contains($0) }
        var events: [Dot: (key: String, position: UInt64)] = [:]
        for dot in (state.open + state.retried).map(\.dot) {
            guard let stored = try log.event(dot) else { continue }
            events[dot] = (record.definition.key(of: stored.event.header), stored.position)
        }
        self.init(record.definition, state, events: events)
    }

    /// Behind it stands all that was not looked at.
    package func start(in log: LogReader) throws(StoreError) -> UInt64 {
        try OutgoingReader(log, ownHead: { nil }).start(for: seen)
    }

    /// Looks at the next events of the log. Returns the last position that was looked at.
    package mutating func look(
        at log: LogReader, after position: UInt64, through durable: UInt64, now: UInt64
    ) throws(StoreError) -> UInt64 {
        guard position < durable, hasRoom else { return position }
        var looked = position
        var twins: [(EventHeader, position: UInt64, first: UInt64)] = []
        func pass(_ stored: StoredEvent) -> Bool {
            guard stored.position <= durable, hasRoom else { return false }
            let header = stored.event.header
            // Whether it is one of two of the same is told by the other, which is read when this scan has ended.
            if let first = stored.twinOf {
                twins.append((header, stored.position, first))
                return false
            }
            look(at: header, position: stored.position, isWanted: definition.wants(header), now: now)
            looked = stored.position
            return true
        }
        try log.scan(after: position, limit: Self.slice, pass)
        for (header, position, first) in twins {
            let other = try log.event(at: first)?.event.header
            let isSame =
                other?.type == header.type && other?.user == header.user && other?.author == header.author
                && other?.conversation == header.conversation
            look(at: header, position: position, isWanted: !isSame && definition.wants(header), now: now)
            looked = position
        }
        return looked
    }
}
