internal import EventStore
internal import Subscriptions

/// What a subscription has before it that no worker has asked for: found without touching what is kept of it.
struct SubscriptionAhead {
    /// All up to here was looked at for this.
    private(set) var through: UInt64 = 0
    /// The first event that is wanted, behind what the machine has looked at.
    private(set) var first: UInt64?

    /// Looks on, at no more than `limit` events.
    mutating func look(
        _ machine: SubscriptionMachine, in log: LogReader, after position: UInt64, through durable: UInt64, limit: Int
    ) throws(StoreError) {
        if let first, first > position { return }
        first = nil
        through = max(through, position)
        guard through < durable else { return }
        var found: UInt64?
        var last = through
        try log.scan(after: through, limit: limit) { stored in
            guard stored.position <= durable else { return false }
            last = stored.position
            let header = stored.event.header
            if machine.definition.wants(header), !machine.seen.contains(header.dot) { found = stored.position }
            return found == nil
        }
        (through, first) = (last, found)
    }

    /// How many events there are from the first that is wanted, as far as that is known.
    func behind(_ durable: UInt64, after position: UInt64) -> UInt64 {
        let passed = max(position, first.map { $0 - 1 } ?? through)
        return durable - min(durable, passed)
    }
}

// What metrics tell.
extension SubscriptionDesk {
    /// Events that a scrape looks at, of all subscriptions together.
    private static let mostLooked = 20_000
    /// For how long a scrape may start subscriptions that no one has asked for yet, milliseconds.
    private static let starting: UInt64 = 100

    func figures(at node: NodeID, durable: UInt64) -> SubscriptionFigures {
        var figures = SubscriptionFigures()
        guard let log = try? currentLog(), let records = try? allRecords() else { return figures }
        let begun = Self.now
        for record in records.all.values where record.isHome(node) && Self.now - begun < Self.starting {
            try? start(record)
        }
        let wall = WallClock.now
        let limit = Self.mostLooked / max(1, running.count)
        for name in running.values.sorted(by: { $0.record.dot < $1.record.dot }).map(\.record.name) {
            guard var one = running[name] else { continue }
            try? one.ahead.look(one.machine, in: log, after: one.position, through: durable, limit: limit)
            running[name]?.ahead = one.ahead
            var figure = SubscriptionFigures.One(name: name, tally: one.machine.tally)
            let cursor = one.machine.oldestCursor ?? durable
            figure.behind = max(one.ahead.behind(durable, after: one.position), durable - min(durable, cursor))
            (figure.open, figure.inFlight) = (one.machine.open, one.machine.inFlight)
            figure.conversationsBehind = one.machine.countBehind
            figure.parked = records.parked(one.record.id).count
            figure.stalled = one.machine.isStalled ? 1 : 0
            figure.workers = streams.values.count { $0.name == name } + pulls.values.count { $0.name == name }
            if let first = one.machine.oldestOpen ?? one.ahead.first, let stored = try? log.event(at: first) {
                figure.oldest = max(0, wall - max(stored.event.header.hlc.milliseconds, one.made))
            }
            figures.add(figure)
        }
        return figures
    }
}
