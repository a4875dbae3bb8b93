extension ViewReader {
    /// What was done to each message among `events`, by index, as of the open transaction of the views.
    ///
    /// - Parameter knownAt: Only what was in the log by this position.
    func amendments(
        _ events: [StoredEvent], knownAt: UInt64, _ connection: Connection
    ) throws(DatabaseError) -> [Int: Amendments] {
        var found: [Int: Amendments] = [:]
        let messages = events.map { $0.event.isMessage ? $0.event.header.id : nil }
        func take(_ index: Int, _ row: MessagesView.Row) throws(DatabaseError) {
            let header = events[index].event.header
            var all =
                try found[index].orLoad { () throws(DatabaseError) in
                    Amendments(
                        author: try log.names.ref(header.author, on: log.connection),
                        conversation: try header.conversation.map { text throws(DatabaseError) in
                            // A text that is no ref's is no conversation, not the one of those that have none.
                            try log.names.ref(text, on: log.connection) ?? 0
                        })
                } ?? Amendments(author: nil, conversation: nil)
            try all.take(row) { author throws(DatabaseError) in
                guard let conversation = row.conversation else { return false }
                let opening = try ConversationRow.load(conversation, connection).opening?.value
                return opening?.isModerator(try log.names.text(author, on: log.connection)) ?? false
            }
            found[index] = all
        }
        var replaced = knownAt < .max ? try self.replaced(messages, knownAt: knownAt, connection) : [:]
        try MessagesView.rows(of: messages, connection) { index, row throws(DatabaseError) in
            guard row.position <= knownAt else { return }
            while let earlier = replaced[index]?.last, earlier.stamp < row.stamp {
                replaced[index]?.removeLast()
                try take(index, earlier)
            }
            try take(index, row)
        }
        for (index, rows) in replaced { for row in rows.reversed() { try take(index, row) } }
        return found
    }

    /// Edits and retractions that counted when the log reached `knownAt`, and in whose place twins count that came later; of each message
    /// the last in display order first.
    private func replaced(
        _ messages: [EventID?], knownAt: UInt64, _ connection: Connection
    ) throws(DatabaseError) -> [Int: [MessagesView.Row]] {
        var rows: [Int: [MessagesView.Row]] = [:]
        try MessagesView.rows(of: messages, connection) { index, row throws(DatabaseError) in
            guard row.position > knownAt,
                let twin = try log.twin(countingBefore: row.position, at: knownAt),
                let event = try log.stored(at: twin.position)?.event, let payload = event.payload,
                MessagesView.target(JSONObject(validated: payload), cause: event.header.cause) == messages[index]
            else { return }
            let key = DisplayKey(time: event.header.time, hlc: twin.hlc, dot: twin.dot)
            rows[index, default: []].append(
                MessagesView.Row(
                    stamp: Stamp(key), position: twin.position, author: row.author, conversation: row.conversation,
                    isEdit: row.isEdit))
        }
        return rows.mapValues { $0.sorted { $0.stamp > $1.stamp } }
    }

    /// The same with texts, names and times.
    func history(_ amendments: Amendments) throws(StoreError) -> MessageHistory {
        var history = MessageHistory()
        (history.count, history.edits) = (amendments.count, amendments.edits)
        for judged in amendments.rows { history.amendments.append(try amendment(judged.row, judged.counts)) }
        if let edit = amendments.edit { history.edit = try amendment(edit, true) }
        if let retraction = amendments.retraction { history.retraction = try amendment(retraction, true) }
        return history
    }

    private func amendment(_ row: MessagesView.Row, _ counts: Bool) throws(StoreError) -> Amendment {
        guard let event = try log.event(at: row.position)?.event else {
            throw .corrupt("the views name event \(row.position), which the log does not have")
        }
        let data = event.payload.map { JSONObject(validated: $0) }
        return Amendment(
            id: event.header.id, author: event.header.author, time: event.header.time, hlc: event.header.hlc,
            conversation: event.header.conversation, isEdit: row.isEdit,
            text: row.isEdit ? data?.string("text") : nil, reason: row.isEdit ? nil : data?.string("reason"),
            counts: counts)
    }
}
