/// A user's rooms.
extension ViewReader {
    /// Rooms that are looked at for a page, wanted or not.
    private static let mostOccupants = 2_000
    /// Rooms of one hour, and of large conversations, of one user.
    private static let mostTogether = 20_000
    /// Rows of a conversation that are looked at for its last message, or for those that are unread.
    private static let mostRowsOfRoom = 20_000
    /// The most that are read together.
    private static let atOnce = 128

    /// A row of the list with what is known of it.
    private struct FoundRoom {
        let occupant: Occupant
        let place: RoomPlace
        /// The position of the last message.
        let message: UInt64?
        let membership: ParticipantsView.Membership?
        /// What of it the user may read.
        var seen = SeenOfRoom.all
    }

    /// The rooms of a user behind `place`, those whose last message is of the latest hour first: at most `limit`. Bounded by the rooms of the
    /// hours that are looked at, and of large conversations; the user's other rooms are not read, but for a row each where they are not
    /// named.
    ///
    /// - Parameter seen: Which events the user saw: of these some are unread.
    package func rooms(
        of user: String, _ query: RoomQuery = RoomQuery(), limit: Int, after place: RoomPlace? = nil, seen: SeenInRoom
    ) throws(StoreError) -> RoomPage {
        let own = try ownRows(user)
        var apart: [Occupant] = []
        var begun: RoomWalk?
        let memory = try reading { connection throws(DatabaseError) in
            apart = try Occupant.apart(user, limit: Self.mostTogether + 1, connection)
            begun = try walk(user, own, from: place?.hour ?? .max, connection)
            return try timelineMemory(connection)
        }
        guard apart.count <= Self.mostTogether, var walk = begun else { throw Self.tooMany }
        var pool = apart.filter { $0.hour <= place?.hour ?? .max }
        var found: [FoundRoom] = []
        var (last, looked, isEnd) = (Occupant?.none, 0, false)
        var page = RoomPage()
        // One more tells whether there are any behind the page, and one of another hour that an hour is whole.
        let atOnce = min(limit + 2, Self.atOnce)
        while found.count <= limit, !isEnd {
            let chunk = try reading { connection throws(DatabaseError) in
                try walk.next(atMost: atOnce, connection)
            }
            isEnd = chunk.count < atOnce
            last = chunk.last ?? last
            looked += chunk.count
            pool += chunk
            // Of the last hour there may be more.
            let hour = isEnd ? Int64.min : last?.hour ?? .min
            let whole = pool.filter { isEnd || $0.hour > hour }
            pool.removeAll { isEnd || $0.hour > hour }
            found += try judged(whole, user, query, memory).filter { room in
                place.map(room.place.isBehind) ?? true
            }
            if pool.count > Self.mostTogether + apart.count { throw Self.tooMany }
            if looked >= Self.mostOccupants, !whole.isEmpty, !isEnd {
                (page.next, page.cut) = (RoomPlace(before: hour), .rows)
                break
            }
        }
        found.sort { $1.place.isBehind($0.place) }
        if found.count > limit {
            found.removeSubrange(limit...)
            (page.next, page.cut) = (found.last?.place, nil)
        }
        try judge(&found, own?.ref, seen)
        page.rooms = try told(found, user, memory, query)
        return page
    }

    /// Notes what of rooms a user saw. Whom the beginning alone speaks of has been there since, and so has who began it; without a beginning and
    /// a word on them no list is kept. That is so in most rooms, and costs no event.
    private func judge(_ found: inout [FoundRoom], _ own: Int64?, _ seen: SeenInRoom) throws(StoreError) {
        var isThere: [Bool] = []
        try reading { connection throws(DatabaseError) in
            for room in found {
                let opening = try ConversationRow.load(room.occupant.conversation, connection).opening
                if let word = room.membership?.stamp.key.dot {
                    isThere.append(room.occupant.words == 1 && word == opening?.stamp.key.dot)
                } else {
                    isThere.append(opening.map { $0.value.starter == own } ?? true)
                }
            }
        }
        for (index, isThere) in isThere.enumerated() {
            let name = try log.text(found[index].occupant.conversation)
            if !isThere || DirectConversation.isID(name) { found[index].seen = try seen(name) }
        }
    }

    /// A user's ref, and what was in memory of their history before a transaction begins.
    func ownRows(_ user: String) throws(StoreError) -> (ref: Int64, known: Memtables.Found)? {
        try log.ref(user).map { ($0, tails.history.find($0)) }
    }

    /// Walks through a user's rooms but for those of large conversations.
    func walk(
        _ user: String, _ own: (ref: Int64, known: Memtables.Found)?, from hour: Int64, _ connection: Connection
    ) throws(DatabaseError) -> RoomWalk {
        var pending: [SortedRow] = []
        if let own { pending = try SortedTable.history.pending(own.ref, known: own.known, connection) }
        return RoomWalk(user, ref: own?.ref, from: hour, pending)
    }

    private static let tooMany = StoreError.tooWide("over 20,000 rooms would have to be looked at together")

    /// What is in memory of the tail of timelines: what the projector of this process shares, or what is on disk, read once.
    func timelineMemory(_ connection: Connection) throws(DatabaseError) -> Memtables {
        let compaction = try SortedTable.timeline.compaction(connection)
        if tails.timeline.find(0).epoch == compaction.epoch { return tails.timeline }
        let memory = Memtables()
        try memory.load(.timeline, compaction, connection)
        return memory
    }

    /// The wanted ones of a user's rows, with their places.
    private func judged(
        _ occupants: [Occupant], _ user: String, _ query: RoomQuery, _ memory: Memtables
    ) throws(StoreError) -> [FoundRoom] {
        let wanted = occupants.filter { query.isAll || !$0.isHidden }
        var found: [FoundRoom] = []
        var timelines = wanted.map { OwnerRows(.timeline, memory, owner: $0.conversation) }
        try log.inOneTransaction { () throws(StoreError) in
            try reading { connection throws(DatabaseError) in
                for (index, occupant) in wanted.enumerated() {
                    let membership = try ParticipantsView.membership(of: user, in: occupant.conversation, connection)
                    // What became of it since is not for one who has left (INV-13).
                    if membership?.joined == false { continue }
                    if query.category != nil || query.match != nil {
                        let row = try ConversationRow.load(occupant.conversation, connection)
                        if let category = query.category, !category.hasSameBytes(as: row.category?.value ?? "") {
                            continue
                        }
                        if let match = query.match, !match.isIn(row.title?.value) { continue }
                    }
                    let ends = try self.ends(of: &timelines[index], connection)
                    guard let key = ends.key else { continue }
                    found.append(
                        FoundRoom(
                            occupant: occupant, place: RoomPlace(hour: occupant.hour, key: key),
                            message: ends.message, membership: membership))
                }
            }
        }
        return found
    }

    /// The last message of a conversation; where it has none, the place of its first event.
    private func ends(
        of rows: inout OwnerRows, _ connection: Connection
    ) throws(DatabaseError) -> (key: DisplayKey?, message: UInt64?) {
        var range = RowRange.all(of: rows.owner, isBackward: true)
        (range.most, range.condition) = (Self.mostRowsOfRoom, { $0.speaker != nil })
        var last: (key: DisplayKey, position: UInt64)?
        for row in try rows.rows(in: range, limit: 1, connection).rows {
            let key = try log.displayKey(at: row.position)
            if last.map({ $0.key < key }) ?? true { last = (key, row.position) }
        }
        if let last { return (last.key, last.position) }
        range = RowRange.all(of: rows.owner)
        let first = try rows.rows(in: range, limit: 1, connection).rows.first
        return (try first.map { row throws(DatabaseError) in try log.displayKey(at: row.position) }, nil)
    }

    /// The rooms with all that a list tells of them.
    private func told(
        _ found: [FoundRoom], _ user: String, _ memory: Memtables, _ query: RoomQuery
    ) throws(StoreError) -> [UserRoom] {
        let known = found.map { memory.find($0.occupant.conversation) }
        var rooms: [UserRoom] = []
        let messages = try messages(found.map(\.message))
        let firsts = query.withFirst ? try self.messages(try first(of: found, memory)) : [:]
        try inOneReading { () throws(StoreError) in
            try log.inOneTransaction { () throws(StoreError) in
                for (index, room) in found.enumerated() {
                    let conversation = room.occupant.conversation
                    let (row, unread, others, people) = try reading { connection throws(DatabaseError) in
                        let row = try ConversationRow.load(conversation, known: known[index], connection)
                        let pending = try self.pending(conversation, known[index], connection)
                        return (
                            row, try self.unread(room, user, row, pending, known[index], connection),
                            try self.others(conversation, user, pending, connection),
                            try number(of: conversation, pending, connection)
                        )
                    }
                    rooms.append(
                        UserRoom(
                            summary: try named(row), last: messages[index], first: firsts[index],
                            unread: min(unread.count, UserRoom.mostUnread),
                            hasMoreUnread: unread.hasMore, isHidden: room.occupant.isHidden,
                            joined: room.membership?.joined, others: others, people: people,
                            place: room.place))
                }
            }
        }
        return rooms
    }

    /// Messages that are looked at for one of a person: a bot may have greeted.
    private static let mostGreetings = 4

    /// The positions of the first messages of rooms that the user may see.
    private func first(of found: [FoundRoom], _ memory: Memtables) throws(StoreError) -> [UInt64?] {
        var positions: [UInt64?] = []
        for room in found {
            let begun = try reading { connection throws(DatabaseError) in
                let conversation = room.occupant.conversation
                var range = RowRange.all(of: conversation)
                range.most = Self.mostRowsOfRoom
                range.condition = { [seen = room.seen] row in row.speaker != nil && seen.has(row) }
                var rows = OwnerRows(.timeline, memory, owner: conversation)
                return try rows.rows(in: range, limit: Self.mostGreetings, connection).rows.map(\.position)
            }
            var chosen = begun.first
            for position in begun {
                guard try log.event(at: position)?.event.header.type == EventType.messagePosted.rawValue else {
                    continue
                }
                chosen = position
                break
            }
            positions.append(chosen)
        }
        return positions
    }

    /// Messages at positions, by index, as they stand now.
    private func messages(_ positions: [UInt64?]) throws(StoreError) -> [Int: RoomMessage] {
        var events: [StoredEvent] = []
        var indexes: [Int] = []
        try log.inOneTransaction { () throws(StoreError) in
            for (index, position) in positions.enumerated() {
                guard let position, let event = try log.event(at: position) else { continue }
                events.append(event)
                indexes.append(index)
            }
        }
        let changed = try reading { connection throws(DatabaseError) in
            try amendments(events, knownAt: .max, connection)
        }
        var messages: [Int: RoomMessage] = [:]
        for (place, event) in events.enumerated() {
            let history = try changed[place].map { changed throws(StoreError) in try self.history(changed) }
            messages[indexes[place]] = RoomMessage(TimelineEntry(stored: event, history: history))
        }
        return messages
    }

    /// How many messages of others that the user saw stand behind what they have read.
    ///
    /// - Parameter pending: Who said how much in rows that are not in the run.
    private func unread(
        _ room: FoundRoom, _ user: String, _ row: ConversationRow, _ pending: [ByteText: Int64],
        _ known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> (count: Int, hasMore: Bool) {
        let conversation = room.occupant.conversation
        let mark = try room.occupant.marks.read.map { read throws(DatabaseError) in
            try self.place(of: read, in: conversation)
        }
        if mark == nil, case .all = room.seen {
            let run = try SpeakerCounts.run(of: user, in: conversation, connection)
            let count = Int(clamping: row.sum.messages - (run ?? 0) - (pending[ByteText(user)] ?? 0))
            return (max(count, 0), count > UserRoom.mostUnread)
        }
        let own = try log.names.ref(user, on: log.connection)
        var range = RowRange(
            owner: conversation, since: mark?.time ?? .min, until: .max, cursor: nil, isBackward: true)
        let place = mark.map { ($0.time, $0.hlc.ordered) }
        range.most = Self.mostRowsOfRoom
        range.condition = { [seen = room.seen] row in
            guard let speaker = row.speaker, speaker != own else { return false }
            if let place, (row.time, row.hlc) <= place { return false }
            return seen.has(row)
        }
        var rows = OwnerRows(.timeline, known: known, owner: conversation)
        let found = try rows.rows(in: range, limit: UserRoom.mostUnread + 1, connection)
        return (found.rows.count, found.rows.count > UserRoom.mostUnread || found.cut != nil)
    }

    /// Up to where a mark says that all is read: the message of the conversation that it names, of several with its id the first in display
    /// order; or its own place where none is here.
    private func place(of read: Register<EventID>, in conversation: Int64) throws(DatabaseError) -> DisplayKey {
        let positions = try log.connection.all(
            """
            WITH named AS (SELECT position FROM event WHERE id = ? AND twin IS NULL)
            SELECT position FROM event
            WHERE (position IN named OR twin IN named) AND conversation = ?
            """, [.blob(read.value.bytes), .integer(conversation)]
        ) { $0.uint64(0) }
        return try positions.map { position throws(DatabaseError) in try log.displayKey(at: position) }.min()
            ?? read.stamp.key
    }

    private func others(
        _ conversation: Int64, _ user: String, _ pending: [ByteText: Int64], _ connection: Connection
    ) throws(DatabaseError) -> [RoomPerson] {
        var people: [RoomPerson] = []
        let names = try self.names(
            in: conversation, after: nil, limit: UserRoom.mostOthers + 1, pending, connection)
        for name in names where !name.hasSameBytes(as: user) && people.count < UserRoom.mostOthers {
            let ref = try log.names.ref(name, on: log.connection)
            let writes = try ref.map { ref throws(DatabaseError) in
                try ProfilesView.load(ref, UserNames.field, connection)
            }
            people.append(
                RoomPerson(user: name, name: writes?.last.flatMap { UserNames.text(json: $0.value) }))
        }
        return people
    }
}
