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
        _ record: SubscriptionRecord, _ known: [SubscriptionState], parked: [Dot: ParkedEvent], _ log: LogReader,
        as node: NodeID, bounds: Bounds = Bounds()
    ) throws(StoreError) {
        var known = known
        SubscriptionState.complete(&known, from: log)
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
        state.open.removeAll { parked[$0.dot] != nil }
        state.retried.removeAll { parked[$0.dot] != nil }
        state.early += state.looked.early(parked.keys)
        for event in parked.values { state.needs.advance(to: event.proof) }
        var events: [Dot: (key: ByteText, position: UInt64)] = [:]
        for dot in (state.open + state.retried).map(\.dot) {
            guard let stored = try log.event(dot) else { continue }
            events[dot] = (record.definition.key(of: stored.event.header), stored.position)
        }
        let here = state.looked.behind.isEmpty ? nil : try log.vector()
        self.init(record.definition, state, events: events, here: here, bounds: bounds)
        guard here != nil else { return }
        backlogEnd = try log.top()
        for (mark, origins) in looked.behind {
            let places = try origins.map { origin, seq throws(StoreError) in
                try log.event(Dot(origin: origin, seq: seq))?.position
            }
            let open = pending.lazy.filter { $0.value.mark == mark }.compactMap { events[$0.key]?.position }
            guard let first = (places.compactMap(\.self) + open).min() else { continue }
            cursors[mark] = first - 1
        }
    }

    /// Behind it stands all that was not looked at, and what was open.
    package func start(in log: LogReader) throws(StoreError) -> UInt64 {
        let start = try OutgoingReader(log, ownHead: { nil }).start(for: seen)
        return firstOpen.map { min(start, $0 - 1) } ?? start
    }

    /// The log of this node has come so far, with events of which other homes may not know yet that this one has them.
    package mutating func note(_ position: UInt64, now: UInt64) {
        guard definition.home == .local, reached.last.map({ $0.position < position && $0.at + 1_000 <= now }) ?? true
        else { return }
        // Times of the last half minute, the oldest first; of those before that one is enough.
        reached.removeFirst(max(0, reached.count { $0.at + Self.patience <= now } - 1))
        reached.append((position, now))
    }

    /// When the event may be delivered here: those of others once they have been here for a while.
    private func times(
        _ log: LogReader, _ node: NodeID, _ now: UInt64
    ) throws(StoreError) -> (StoredEvent) -> UInt64 {
        guard definition.home == .local else { return { _ in 0 } }
        let own = Set(try log.origins().lazy.filter { $0.node == node }.map(\.id))
        let overdue = reached.last { $0.at + Self.patience <= now }?.position ?? 0
        return { stored in
            return own.contains(stored.event.header.dot.origin) || stored.position <= overdue
                ? 0 : now + Self.patience
        }
    }

    /// Looks at the next events of conversations that are behind and have little left.
    ///
    /// - Parameters:
    ///   - position: All up to here was looked at, but for those.
    ///   - isShort: Whether workers would take more than there is.
    ///   - node: The one that this is.
    /// - Returns: Whether there may be more.
    package mutating func lookBack(
        in log: LogReader, through position: UInt64, isShort: Bool, as node: NodeID, now: UInt64
    ) throws(StoreError) -> Bool {
        guard var pass = backlogPass(through: position, isShort: isShort) else { return false }
        let notBefore = try times(log, node, now)
        var end = pass.start
        var twins: [StoredEvent] = []
        let last = try log.scan(after: pass.start, limit: Self.slice) { stored in
            guard stored.position <= position, !pass.marks.isEmpty else { return false }
            // Whether it is one of two of the same is told by the other, which is read when this scan has ended.
            guard stored.twinOf == nil else {
                twins.append(stored)
                return false
            }
            let header = stored.event.header
            lookBack(
                at: header, position: stored.position, isWanted: definition.wants(header), twinOf: nil,
                notBefore: notBefore(stored), &pass)
            end = stored.position
            return true
        }
        for stored in twins {
            let header = stored.event.header
            lookBack(
                at: header, position: stored.position, isWanted: definition.wants(header),
                twinOf: try first(of: stored, in: log), notBefore: notBefore(stored), &pass)
            end = stored.position
        }
        if last > position { end = position }
        ended(pass, at: min(end, position), through: position)
        return isBacklogDue(through: position, isShort: isShort)
    }

    /// The wanted event with the same content before it. Which of the two is first is another matter at another node: neither is done before
    /// one of them was.
    private func first(of twin: StoredEvent, in log: LogReader) throws(StoreError) -> Dot? {
        let header = twin.event.header
        guard let position = twin.twinOf, let other = try log.event(at: position)?.event.header,
            other.type.hasSameBytes(as: header.type), other.user.hasSameBytes(as: header.user),
            other.author.hasSameBytes(as: header.author),
            other.conversation.hasSameBytes(as: header.conversation)
        else { return nil }
        return definition.wants(other) ? other.dot : nil
    }

    /// Looks at the next events of the log. Returns the last position that was looked at, and the events among them that ask for parked ones
    /// to be tried again, of whichever node they are.
    ///
    /// - Parameter node: The one that this is.
    package mutating func look(
        at log: LogReader, after position: UInt64, through durable: UInt64, as node: NodeID, now: UInt64
    ) throws(StoreError) -> (position: UInt64, retries: [StoredEvent]) {
        guard position < durable, hasRoom else { return (position, []) }
        let notBefore = try times(log, node, now)
        var looked = position
        var retries: [StoredEvent] = []
        var twins: [StoredEvent] = []
        func pass(_ stored: StoredEvent) -> Bool {
            guard stored.position <= durable, hasRoom else { return false }
            let header = stored.event.header
            // Whether it is one of two of the same is told by the other, which is read when this scan has ended.
            guard stored.twinOf == nil else {
                twins.append(stored)
                return false
            }
            if header.type == SubscriptionRecord.retried, !isHeeded(header.dot) { retries.append(stored) }
            look(
                at: header, position: stored.position, isWanted: definition.wants(header),
                notBefore: notBefore(stored))
            looked = stored.position
            return true
        }
        try log.scan(after: position, limit: Self.slice, pass)
        for stored in twins {
            let header = stored.event.header
            look(
                at: header, position: stored.position, isWanted: definition.wants(header),
                twinOf: try first(of: stored, in: log), notBefore: notBefore(stored))
            looked = stored.position
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

extension SubscriptionState {
    /// Tells of which conversations the open events are, where it matters: another set may say that one is behind.
    package static func complete(_ states: inout [SubscriptionState], from log: LogReader) {
        guard states.contains(where: { !$0.looked.behind.isEmpty }) else { return }
        for index in states.indices {
            states[index].complete { dot in (try? log.event(dot)).map { ConversationMark(of: $0.event.header) } }
        }
    }
}
