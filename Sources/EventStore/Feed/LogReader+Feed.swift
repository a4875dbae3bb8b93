/// Where a follower of the log begins.
package enum FeedStart: Hashable, Sendable {
    /// Behind what is durable now.
    case now
    /// With the first event.
    case first
    case cursor(FeedCursor)
    /// With what the vector does not contain.
    case vector(VersionVector)
    /// With the last so many that the filter wants.
    case last(Int)
    /// With what came to this node since then, Unix milliseconds.
    case time(Int64)
}

/// Where a follower stands in this log: behind a position, and of what follows it has some already.
package struct FeedPlace: Hashable, Sendable {
    package var position: UInt64
    /// Passed over: what they have had from elsewhere.
    package var known: VersionVector
    /// `known` as cursors name it.
    package var marks: [FeedCursor.Mark]

    package init(
        position: UInt64, known: VersionVector = VersionVector(), marks: [FeedCursor.Mark] = []
    ) {
        (self.position, self.known, self.marks) = (position, known, marks)
    }
}

/// Why a follower cannot go on here.
package enum FeedRefusal: Error, Hashable, Sendable {
    /// The event of its cursor is not here yet.
    case ahead(Dot)
    /// There is another event in its place: the log was cut, or its origin has two histories.
    case elsewhere(Dot)
}

/// Some of the next events for a follower.
package struct FeedBatch: Sendable {
    package var events: [StoredEvent] = []
    /// All up to here was looked at.
    package var through: UInt64
}

extension LogReader {
    /// Most events that are looked at, and bytes of those that are taken, before others have their turn (INV-9).
    /// How far back the last events are looked for.
    package static let mostLookedBack: UInt64 = 20_000
    private static let feedBatch = (rows: 2_000, bytes: 256 << 10)

    /// Where `start` is in this log, of which everything up to `durable` is durable.
    ///
    /// A cursor that another node gave, or this one before its log was replaced, names an event. What is not in that event's causal past
    /// may be unknown to the follower: logs are causally closed (INV-5), so it has had the rest, and what the cursor's marks say. Some events
    /// come again, none is missed.
    ///
    /// - Parameters:
    ///   - filter: What the last events are counted by.
    ///   - isSeen: Which of those count; it is not asked within a transaction.
    package func place(
        of start: FeedStart, durable: UInt64, _ filter: EventFilter = EventFilter(),
        isSeen: (EventHeader) throws(StoreError) -> Bool = { _ in true }
    ) throws(StoreError) -> Result<FeedPlace, FeedRefusal> {
        switch start {
        case .now: return .success(FeedPlace(position: durable))
        case .first: return .success(FeedPlace(position: 0))
        case .vector(let known): return .success(try place(lacking: known))
        case .last(let count):
            return .success(FeedPlace(position: try beginning(ofLast: count, upTo: durable, filter, isSeen)))
        case .time(let time):
            return .success(FeedPlace(position: min(durable, try known(at: time - 1 - Arrivals.span).position)))
        case .cursor(let cursor):
            return try place(of: cursor, durable: durable)
        }
    }

    private func place(
        of cursor: FeedCursor, durable: UInt64
    ) throws(StoreError) -> Result<FeedPlace, FeedRefusal> {
        var known = VersionVector()
        let isHere = try has(cursor.place)
        if !isHere, let dot = cursor.dot {
            let mark = FeedCursor.Mark(dot: dot, leaf: cursor.place.leaf ?? 0)
            if let refusal = try refusal(of: mark, in: cursor, durable: durable) { return .failure(refusal) }
            known = try clock(of: dot)
        }
        for mark in cursor.marks where !known.contains(mark.dot) {
            if let refusal = try refusal(of: mark, in: cursor, durable: durable) { return .failure(refusal) }
            known.advance(to: mark.dot)
        }
        if isHere {
            return .success(FeedPlace(position: cursor.place.position, known: known, marks: cursor.marks))
        }
        return .success(known.entries.isEmpty ? FeedPlace(position: 0) : try place(lacking: known))
    }

    /// Why an event that a cursor names stands for nothing here; `nil` if it does.
    private func refusal(
        of mark: FeedCursor.Mark, in cursor: FeedCursor, durable: UInt64
    ) throws(StoreError) -> FeedRefusal? {
        let found = try position(of: mark.dot)
        guard let found, found <= durable else {
            // What this log had itself will not come.
            let isOwn = try cursor.place.incarnation == incarnation()
            return isOwn && found == nil ? .elsewhere(mark.dot) : .ahead(mark.dot)
        }
        return try place(at: found).leaf == mark.leaf ? nil : .elsewhere(mark.dot)
    }

    /// Behind it stand the last `count` wanted events up to `end`, as far as ``mostLookedBack`` reaches.
    private func beginning(
        ofLast count: Int, upTo end: UInt64, _ filter: EventFilter,
        _ isSeen: (EventHeader) throws(StoreError) -> Bool
    ) throws(StoreError) -> UInt64 {
        guard count > 0 else { return end }
        var (missing, start) = (count, end)
        let lowest = end - min(end, Self.mostLookedBack)
        while start > lowest {
            let below = max(lowest, start - min(start, 500))
            var wanted: [(position: UInt64, header: EventHeader)] = []
            try scan(after: below, through: start, limit: Int(start - below)) { stored in
                if filter.matches(stored.event.header) { wanted.append((stored.position, stored.event.header)) }
                return true
            }
            var found: [UInt64] = []
            for (position, header) in wanted where try isSeen(header) { found.append(position) }
            if found.count >= missing { return found[found.count - missing] - 1 }
            (missing, start) = (missing - found.count, below)
        }
        return lowest
    }

    private func place(lacking known: VersionVector) throws(StoreError) -> FeedPlace {
        FeedPlace(
            position: try OutgoingReader(self, ownHead: { nil }).start(for: known), known: known,
            marks: try marks(known))
    }

    /// The next events that the filter wants, none behind `durable`.
    package func batch(
        after place: FeedPlace, through durable: UInt64, _ filter: EventFilter, limit: Int = .max
    ) throws(StoreError) -> FeedBatch {
        var batch = FeedBatch(through: place.position)
        guard place.position < durable else { return batch }
        var bytes = 0
        batch.through = try scan(
            after: place.position, through: durable, limit: Self.feedBatch.rows
        ) { stored in
            let header = stored.event.header
            guard !place.known.contains(header.dot), filter.matches(header) else { return true }
            bytes += stored.event.body.count + 256
            batch.events.append(stored)
            return bytes < Self.feedBatch.bytes && batch.events.count < limit
        }
        return batch
    }
}
