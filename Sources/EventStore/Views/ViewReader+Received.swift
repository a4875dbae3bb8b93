/// Which events of a room a user saw, by when they were recorded.
package enum SeenOfRoom: Sendable {
    case nothing, all
    case some(@Sendable (HybridTime) -> Bool)

    func has(_ row: SortedRow) -> Bool {
        switch self {
        case .nothing: false
        case .all: true
        case .some(let isSeen): isSeen(HybridTime(ordered: row.hlc))
        }
    }
}

/// What a user has seen: the dialogue of their rooms, merged.
extension ViewReader {
    package typealias SeenInRoom = (_ conversation: String) throws(StoreError) -> SeenOfRoom

    /// Rooms that are looked at for a page.
    private static let mostRooms = 20_000
    private static let roomsAtOnce = 128
    private static let mostReceived = 500
    private static let receivedBytes = 1 << 20

    /// The newest messages before `bound` of the conversations that a user takes part in, or has, in display order from the newest on: at most
    /// `limit`, and no more once they come to a MiB.
    ///
    /// Rooms are looked at in the order of their last messages, and no further than one can have a message that is wanted. A page of old
    /// messages looks at all rooms that had newer ones since.
    ///
    /// - Parameters:
    ///   - query: Only `since`, `until`, `authors` and `knownAt` count.
    ///   - seen: Which events the user saw.
    package func received(
        by user: String, _ query: TimelineQuery = TimelineQuery(), limit: Int, before bound: DisplayKey? = nil,
        seen: SeenInRoom
    ) throws(StoreError) -> TimelinePage {
        let limit = min(max(limit, 1), Self.mostReceived)
        var authors: Set<Int64> = []
        for author in query.authors { if let ref = try log.ref(author) { authors.insert(ref) } }
        if authors.isEmpty, !query.authors.isEmpty { return TimelinePage() }
        let own = try ownRows(user)
        var apart: [Occupant] = []
        let memory = try reading { connection throws(DatabaseError) in
            apart = try Occupant.apart(user, limit: Self.mostRooms + 1, connection)
            // Where they are not named, others may have gone on when their own history ends.
            if let own { apart += try plainRooms(user, own, connection) }
            return try timelineMemory(connection)
        }
        apart.sort { $0.hour > $1.hour }
        var newest = NewestMessages(limit: limit + 1, query, bound)
        var (last, looked, isEnd) = (Occupant?.none, 0, false)
        var waiting = apart[...]
        while !isEnd {
            let chunk = try reading { connection throws(DatabaseError) in
                try Occupant.inOrder(user, from: .max, after: last, limit: Self.roomsAtOnce, connection)
            }
            isEnd = chunk.count < Self.roomsAtOnce
            last = chunk.last ?? last
            let hour = isEnd ? Int64.min : last?.hour ?? .min
            let due = waiting.prefix { $0.hour >= hour }
            waiting.removeFirst(due.count)
            looked += chunk.count + due.count
            if looked > Self.mostRooms { throw .tooWide("over 20,000 rooms would have to be looked at together") }
            for room in (chunk + due).sorted(by: { $0.hour > $1.hour }) {
                if newest.isBeyond(hour: room.hour) {
                    isEnd = true
                    break
                }
                let seen = try seen(try log.text(room.conversation))
                if case .nothing = seen { continue }
                let rows = OwnerRows(.timeline, memory, owner: room.conversation)
                newest.take(try messages(rows, newest, authors, upTo: query.knownAt ?? .max, seen))
            }
        }
        return try page(newest, limit, knownAt: query.knownAt ?? .max)
    }

    /// A user's rooms in which they are not named, by the hours of the conversations.
    func plainRooms(
        _ user: String, _ own: (ref: Int64, known: Memtables.Found), _ connection: Connection
    ) throws(DatabaseError) -> [Occupant] {
        var rooms = OwnRooms(try SortedTable.history.pending(own.ref, known: own.known, connection))
        try rooms.addRun(of: own.ref, limit: Self.mostRooms + 1, connection)
        var plain: [Occupant] = []
        for (conversation, hour) in rooms.hours.prefix(Self.mostRooms + 1) {
            if try Occupant.load(user, in: conversation, connection)?.isNamed == true { continue }
            let room = try Room.load(conversation, connection)
            plain.append(Occupant(plain: conversation, hour: room?.hour ?? hour))
        }
        return plain
    }

    /// The newest messages of a room that may be among those wanted.
    private func messages(
        _ rows: OwnerRows, _ newest: NewestMessages, _ authors: Set<Int64>, upTo known: UInt64,
        _ seen: SeenOfRoom
    ) throws(StoreError) -> [SortedRow] {
        var rows = rows
        var range = RowRange(
            owner: rows.owner, since: newest.since, until: newest.until, cursor: nil, isBackward: true)
        let bound = newest.bound.map { ($0.time, $0.hlc.ordered) }
        range.term = term
        range.condition = { row in
            guard row.position <= known, let speaker = row.speaker else { return false }
            if let bound, (row.time, row.hlc) > bound { return false }
            return (authors.isEmpty || authors.contains(speaker)) && seen.has(row)
        }
        return try reading { connection throws(DatabaseError) in
            try rows.rows(in: range, limit: newest.most, connection).rows
        }
    }

    private func page(_ newest: NewestMessages, _ limit: Int, knownAt: UInt64) throws(StoreError) -> TimelinePage {
        var keyed: [(key: DisplayKey, position: UInt64)] = []
        try mapped { () throws(DatabaseError) in
            for row in newest.rows { keyed.append((try log.displayKey(at: row.position), row.position)) }
        }
        keyed.sort { $0.key > $1.key }
        if let bound = newest.bound { keyed.removeAll { $0.key >= bound } }
        var page = TimelinePage()
        page.position = try progress()
        let wanted = keyed.prefix(limit).map(\.position)
        if wanted.isEmpty { return page }
        let events = try log.events(at: wanted, bytes: Self.receivedBytes, term).events
        let found = try reading { connection throws(DatabaseError) in
            try self.amendments(events, knownAt: knownAt, connection)
        }
        for (index, event) in events.enumerated() {
            let history = try found[index].map { changed throws(StoreError) in try self.history(changed) }
            page.entries.append(TimelineEntry(stored: event, history: history))
        }
        if page.entries.count < keyed.count {
            page.next = page.entries.last?.key
            if page.entries.count < wanted.count { page.cut = term?.isDue == true ? .time : .bytes }
        }
        return page
    }
}

/// The newest of the rows that were taken.
private struct NewestMessages {
    let limit: Int
    let bound: DisplayKey?
    let until: Int64
    private let first: Int64
    private(set) var rows: [SortedRow] = []

    init(limit: Int, _ query: TimelineQuery, _ bound: DisplayKey?) {
        self.limit = limit
        self.bound = bound
        first = query.since ?? .min
        until = min(query.until ?? .max, bound.map { $0.time == .max ? $0.time : $0.time + 1 } ?? .max)
    }

    /// Rows that are kept: of those that are tied with the bound, which only origins can be, some may stand before it.
    var most: Int { bound == nil ? limit : limit + 16 }

    /// Rows before this time are not wanted.
    var since: Int64 { rows.count < most ? first : max(first, rows[most - 1].time) }

    /// Whether no message of this hour, or before, is among the newest.
    func isBeyond(hour: Int64) -> Bool {
        if let last = rows.count < most ? nil : rows[most - 1], Room.hour(of: last.time) > hour { return true }
        return first > .min && Room.hour(of: first) > hour
    }

    mutating func take(_ more: [SortedRow]) {
        guard !more.isEmpty else { return }
        rows += more
        rows.sort { ($0.time, $0.hlc) > ($1.time, $1.hlc) }
        // Those that are tied with the last one stay: their dots tell which come first.
        guard rows.count > most else { return }
        let end = rows[most - 1]
        rows = Array(rows.prefix { ($0.time, $0.hlc) >= (end.time, end.hlc) })
    }
}
