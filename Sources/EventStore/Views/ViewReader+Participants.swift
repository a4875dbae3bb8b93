/// Who takes part in a conversation.
extension ViewReader {
    /// Who takes part in a conversation, or has, by name: at most `limit`, after `last`. Costs what they are, however many there are.
    package func participants(
        of id: String, after last: String? = nil, limit: Int
    ) throws(StoreError) -> [Participant] {
        guard let ref = try log.ref(id) else { return [] }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            let pending = try self.pending(ref, known, connection)
            let names = try self.names(in: ref, after: last, limit: limit, pending, connection)
            return try names.map { name throws(DatabaseError) in
                try participant(name, in: ref, pending, connection)
            }
        }
    }

    /// Who said how much in the rows of a conversation that are not in the run, by name.
    func pending(
        _ conversation: Int64, _ known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> [ByteText: Int64] {
        let rows = try SortedTable.timeline.pending(conversation, known: known, connection)
        return try SpeakerCounts(rows).named { ref throws(DatabaseError) in
            try log.names.text(ref, on: log.connection)
        }
    }

    /// The names of those who take part, by their bytes: at most `limit`, after `last`.
    func names(
        in conversation: Int64, after last: String?, limit: Int, _ pending: [ByteText: Int64],
        _ connection: Connection
    ) throws(DatabaseError) -> [String] {
        let found = try ParticipantsView.names(in: conversation, after: last, limit: limit, connection)
        let bound = last.map(ByteText.init)
        let more = pending.keys.filter { name in bound.map { $0 < name } ?? true }
        if more.isEmpty { return found }
        return Set(found.map(ByteText.init)).union(more).sorted().prefix(limit).map(\.text)
    }

    private func participant(
        _ name: String, in conversation: Int64, _ pending: [ByteText: Int64], _ connection: Connection
    ) throws(DatabaseError) -> Participant {
        var row = ParticipantsView.Row(user: name)
        row.membership = try ParticipantsView.membership(of: name, in: conversation, connection)
        let run = try SpeakerCounts.run(of: name, in: conversation, connection)
        row.messages = (run ?? 0) + (pending[ByteText(name)] ?? 0)
        return Participant(row)
    }

    /// One of those who take part, or have; `nil` if they do not.
    package func participant(_ user: String, of id: String) throws(StoreError) -> Participant? {
        guard let ref = try log.ref(id) else { return nil }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            let pending = try self.pending(ref, known, connection)
            let found = try participant(user, in: ref, pending, connection)
            return found.joined == nil && found.messages == 0 ? nil : found
        }
    }

    /// How many take part in a conversation, or have.
    package func people(of id: String) throws(StoreError) -> UInt64 {
        guard let ref = try log.ref(id) else { return 0 }
        let known = tails.timeline.find(ref)
        return try reading { connection throws(DatabaseError) in
            try number(of: ref, try pending(ref, known, connection), connection)
        }
    }

    func number(
        of conversation: Int64, _ pending: [ByteText: Int64], _ connection: Connection
    ) throws(DatabaseError) -> UInt64 {
        var change = PeopleChange(of: conversation)
        for name in pending.keys { try change.speaksSince(name.text, connection) }
        return UInt64(clamping: try PeopleChange.number(in: conversation, connection) + change.change)
    }

    /// Whether a conversation keeps a list of who takes part: its opening names them. One who lets another in later does not make it keep one,
    /// or those who were there would be out.
    package func keepsList(_ id: String) throws(StoreError) -> Bool {
        try namedAtOpening(of: id)?.isEmpty == false
    }

    /// Whom the opening of a conversation names; `nil` if there is none, or it has no list.
    package func namedAtOpening(of id: String) throws(StoreError) -> [String]? {
        guard let ref = try log.ref(id) else { return nil }
        let dot = try reading { connection throws(DatabaseError) in
            try ConversationRow.load(ref, connection).opening?.stamp.key.dot
        }
        guard let dot, let payload = try log.event(dot)?.event.payload else { return nil }
        return JSONObject(validated: payload).strings("participants")
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
