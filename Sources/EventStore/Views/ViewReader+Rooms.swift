/// A user's rooms, and who takes part in a conversation.
extension ViewReader {
    /// Rooms that are looked at for a page, wanted or not.
    private static let mostOccupants = 2_000
    /// Rooms of one hour, and of large conversations, of one user.
    private static let mostTogether = 20_000
    /// Rows of a conversation that are looked at for its last message, or for those that are unread.
    private static let mostRowsOfRoom = 20_000
    private static let atOnce = 128

    /// A row of the list with what is known of it.
    private struct FoundRoom {
        let occupant: Occupant
        let place: RoomPlace
        /// The position of the last message.
        let message: UInt64?
        let membership: ParticipantsView.Membership?
    }

    /// The rooms of a user behind `place`, those whose last message is of the latest hour first: at most `limit`. Bounded by the rooms of the
    /// hours that are looked at, and of large conversations; the user's other rooms are not read.
    package func rooms(
        of user: String, _ query: RoomQuery = RoomQuery(), limit: Int, after place: RoomPlace? = nil
    ) throws(StoreError) -> RoomPage {
        var apart: [Occupant] = []
        let memory = try reading { connection throws(DatabaseError) in
            apart = try Occupant.apart(user, limit: Self.mostTogether + 1, connection)
            return try timelineMemory(connection)
        }
        if apart.count > Self.mostTogether { throw Self.tooMany }
        var pool = apart.filter { $0.hour <= place?.hour ?? .max }
        var found: [FoundRoom] = []
        var (last, looked, isEnd) = (Occupant?.none, 0, false)
        var page = RoomPage()
        while found.count <= limit, !isEnd {
            let start = place?.hour ?? .max
            let chunk = try reading { connection throws(DatabaseError) in
                try Occupant.inOrder(user, from: start, after: last, limit: Self.atOnce, connection)
            }
            isEnd = chunk.count < Self.atOnce
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
        page.rooms = try told(found, user, memory)
        return page
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
        let wanted = occupants.filter { $0.ties.contains(.room) && (query.isAll || !$0.isHidden) }
        var found: [FoundRoom] = []
        var timelines = wanted.map { OwnerRows(.timeline, memory, owner: $0.conversation) }
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
        _ found: [FoundRoom], _ user: String, _ memory: Memtables
    ) throws(StoreError) -> [UserRoom] {
        let known = found.map { memory.find($0.occupant.conversation) }
        let own = try log.ref(user)
        var rooms: [UserRoom] = []
        let messages = try lastMessages(found)
        try inOneReading { () throws(StoreError) in
            for (index, room) in found.enumerated() {
                let conversation = room.occupant.conversation
                let (row, unread, others, people) = try reading { connection throws(DatabaseError) in
                    let row = try ConversationRow.load(conversation, known: known[index], connection)
                    return (
                        row, try self.unread(room, own, row, known[index], connection),
                        try self.others(conversation, user, connection),
                        try Room.load(conversation, connection)?.people ?? 0
                    )
                }
                rooms.append(
                    UserRoom(
                        summary: try named(row), last: messages[index],
                        unread: min(unread.count, UserRoom.mostUnread),
                        hasMoreUnread: unread.hasMore, isHidden: room.occupant.isHidden,
                        joined: room.membership?.joined, others: others, people: UInt64(clamping: people),
                        place: room.place))
            }
        }
        return rooms
    }

    /// The last messages of rooms, by index, as they stand now.
    private func lastMessages(_ found: [FoundRoom]) throws(StoreError) -> [Int: RoomMessage] {
        var events: [StoredEvent] = []
        var indexes: [Int] = []
        for (index, room) in found.enumerated() {
            guard let position = room.message, let event = try log.event(at: position) else { continue }
            events.append(event)
            indexes.append(index)
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

    /// How many messages of others stand behind what the user has read, and since they are there.
    private func unread(
        _ room: FoundRoom, _ own: Int64?, _ row: ConversationRow, _ known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> (count: Int, hasMore: Bool) {
        let conversation = room.occupant.conversation
        let mark = try room.occupant.read.map { read throws(DatabaseError) in try self.place(of: read) }
        let since = try joinedAt(room, row)
        let pending = try SortedTable.timeline.pending(conversation, known: known, connection)
        if mark == nil, since == nil {
            let mine = try own.map { own throws(DatabaseError) in
                let run = try connection.integer(
                    "SELECT messages FROM speaker WHERE conversation = ? AND user = ?", .integer(conversation),
                    .integer(own))
                return (run ?? 0) + (SpeakerCounts(pending).messages[own] ?? 0)
            }
            let count = Int(clamping: row.sum.messages - (mine ?? 0))
            return (max(count, 0), count > UserRoom.mostUnread)
        }
        var range = RowRange(
            owner: conversation, since: mark?.time ?? .min, until: .max, cursor: nil, isBackward: true)
        let place = mark.map { ($0.time, $0.hlc.ordered) }
        range.most = Self.mostRowsOfRoom
        range.condition = { row in
            guard let speaker = row.speaker, speaker != own else { return false }
            if let place, (row.time, row.hlc) <= place { return false }
            return since.map { row.hlc >= $0 } ?? true
        }
        var rows = OwnerRows(.timeline, known: known, owner: conversation)
        let found = try rows.rows(in: range, limit: UserRoom.mostUnread + 1, connection)
        return (found.rows.count, found.rows.count > UserRoom.mostUnread || found.cut != nil)
    }

    /// Up to where a mark says that all is read: the message that it names, or its own place where that is not here.
    private func place(of read: Register<EventID>) throws(DatabaseError) -> DisplayKey {
        let found = try log.connection.integer(
            "SELECT position FROM event WHERE id = ? AND twin IS NULL", .blob(read.value.bytes))
        guard let found else { return read.stamp.key }
        return try log.displayKey(at: UInt64(bitPattern: found))
    }

    /// When one who joined later did so, as ``HybridTime/ordered``: what was recorded before is not theirs. `nil` where they have been there
    /// from the beginning, or where the beginning lets all of it be seen.
    private func joinedAt(_ room: FoundRoom, _ row: ConversationRow) throws(DatabaseError) -> Int64? {
        guard let membership = room.membership, membership.joined else { return nil }
        let joined = membership.stamp.key
        guard let opening = row.opening?.stamp.key.dot else { return joined.hlc.ordered }
        guard opening != joined.dot else { return nil }
        let origin = try log.names.originRef(opening.origin, on: log.connection)
        let position = try log.connection.integer(
            "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(origin ?? 0), .unsigned(opening.seq))
        if let position {
            let payload = try log.connection.first(
                "SELECT payload FROM event WHERE position = ?", [.integer(position)]
            ) { $0.bytes(0) }
            let history = payload.flatMap { $0.isEmpty ? nil : JSONObject(validated: $0).string("history") }
            if history == "all" { return nil }
        }
        return joined.hlc.ordered
    }

    private func others(
        _ conversation: Int64, _ user: String, _ connection: Connection
    ) throws(DatabaseError) -> [RoomPerson] {
        var people: [RoomPerson] = []
        let names = try Occupant.names(
            .participant, in: conversation, after: nil, limit: UserRoom.mostOthers + 1, connection)
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

    // MARK: Who takes part

    /// Who takes part in a conversation, or has, by name: at most `limit`, after `last`. Costs what they are, however many there are.
    package func participants(
        of id: String, after last: String? = nil, limit: Int
    ) throws(StoreError) -> [Participant] {
        guard let ref = try log.ref(id) else { return [] }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            let pending = SpeakerCounts(try SortedTable.timeline.pending(ref, known: known, connection))
            let names = try Occupant.names(.participant, in: ref, after: last, limit: limit, connection)
            return try names.map { name throws(DatabaseError) in
                try participant(name, in: ref, pending, connection)
            }
        }
    }

    private func participant(
        _ name: String, in conversation: Int64, _ pending: SpeakerCounts, _ connection: Connection
    ) throws(DatabaseError) -> Participant {
        var row = ParticipantsView.Row(user: name)
        row.membership = try ParticipantsView.membership(of: name, in: conversation, connection)
        if let ref = try log.names.ref(name, on: log.connection) {
            let run = try connection.integer(
                "SELECT messages FROM speaker WHERE conversation = ? AND user = ?", .integer(conversation),
                .integer(ref))
            row.messages = (run ?? 0) + (pending.messages[ref] ?? 0)
        }
        return Participant(row)
    }

    /// One of those who take part, or have; `nil` if they do not.
    package func participant(_ user: String, of id: String) throws(StoreError) -> Participant? {
        guard let ref = try log.ref(id) else { return nil }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            guard let found = try Occupant.load(user, in: ref, connection), found.ties.contains(.participant) else {
                return nil
            }
            let pending = SpeakerCounts(try SortedTable.timeline.pending(ref, known: known, connection))
            return try participant(user, in: ref, pending, connection)
        }
    }

    /// How many take part in a conversation, or have.
    package func people(of id: String) throws(StoreError) -> UInt64 {
        guard let ref = try log.ref(id) else { return 0 }
        return try reading { connection throws(DatabaseError) in
            UInt64(clamping: try Room.load(ref, connection)?.people ?? 0)
        }
    }

    /// Whether any event says of a conversation who takes part.
    package func keepsList(_ id: String) throws(StoreError) -> Bool {
        guard let ref = try log.ref(id) else { return false }
        return try reading { connection throws(DatabaseError) in
            try connection.integer("SELECT 1 FROM member WHERE conversation = ? LIMIT 1", .integer(ref)) != nil
        }
    }

    /// The events that say when a user takes part in a conversation, where that is one, and its beginning; by when they were recorded. `nil` if
    /// all that speak of it have to be read.
    package func membershipWords(of user: String, in id: String) throws(StoreError) -> [Event]? {
        guard let ref = try log.ref(id) else { return nil }
        let dots = try reading { connection throws(DatabaseError) -> [Dot]? in
            guard let found = try Occupant.load(user, in: ref, connection), found.words == 1,
                let word = try ParticipantsView.membership(of: user, in: ref, connection)?.stamp.key.dot,
                let opening = try ConversationRow.load(ref, connection).opening?.stamp.key.dot
            else { return nil }
            return word == opening ? [word] : [opening, word]
        }
        var events: [Event] = []
        for dot in dots ?? [] { if let event = try log.event(dot)?.event { events.append(event) } }
        guard let dots, events.count == dots.count else { return nil }
        return events.sorted { ($0.header.hlc, $0.header.dot) < ($1.header.hlc, $1.header.dot) }
    }
}
