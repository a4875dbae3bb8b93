/// An edit or a retraction of a message, under the name of who made it.
package struct Amendment: Sendable {
    package let id: EventID
    package let author: String
    /// When it happened, Unix milliseconds.
    package let time: Int64
    package let conversation: String?
    package let isEdit: Bool
    /// Of an edit the new text; `nil` once that is erased.
    package let text: String?
    /// Of a retraction why, if that was said.
    package let reason: String?
    /// Whether it changes the message (D24). If not it only stands beside it.
    package let counts: Bool
}

/// What was done to a message, and what of it counts (D24): edits of its own author in its own conversation, of which the last in display
/// order stands; retractions of its author or of a moderator there, of which the first does. It depends on events alone.
struct Amendments {
    /// The message's own, as refs; `nil` where nothing else has that text.
    private let author: Int64?
    private let conversation: Int64?

    /// A row, and whether it counts.
    struct Judged {
        let row: MessagesView.Row
        let counts: Bool
    }

    /// The last of them, in display order.
    private(set) var rows: [Judged] = []
    /// How many there are.
    private(set) var count = 0
    /// How many edits count.
    private(set) var edits = 0
    private(set) var edit: MessagesView.Row?
    private(set) var retraction: MessagesView.Row?

    /// Most rows that are kept of one message (INV-9).
    private static let kept = 100

    init(author: Int64?, conversation: Int64?) { (self.author, self.conversation) = (author, conversation) }

    /// Takes the next row in display order.
    mutating func take(
        _ row: MessagesView.Row, isModerator: (Int64) throws(SQLiteError) -> Bool
    ) throws(SQLiteError) {
        var counts = row.conversation == conversation && row.author == author
        if !counts, !row.isEdit, row.conversation == conversation { counts = try isModerator(row.author) }
        count += 1
        if counts, row.isEdit { (edit, edits) = (row, edits + 1) }
        if counts, !row.isEdit { retraction = retraction ?? row }
        rows.append(Judged(row: row, counts: counts))
        if rows.count > Self.kept { rows.removeFirst() }
    }
}

/// A message's amendments with what the log says of them.
package struct MessageHistory: Sendable {
    /// The last 100 in display order.
    package internal(set) var amendments: [Amendment] = []
    /// How many there are.
    package internal(set) var count = 0
    /// How many edits count.
    package internal(set) var edits = 0
    /// The edit whose text stands.
    package internal(set) var edit: Amendment?
    /// The retraction that stands.
    package internal(set) var retraction: Amendment?
}

extension ViewReader {
    /// What was done to each message among `events`, by index, as of the open transaction of the views.
    func amendments(
        _ events: [StoredEvent], _ connection: Connection
    ) throws(SQLiteError) -> [Int: Amendments] {
        var found: [Int: Amendments] = [:]
        let messages = events.map { $0.event.isMessage ? $0.event.header.id : nil }
        try MessagesView.rows(of: messages, connection) { index, row throws(SQLiteError) in
            let header = events[index].event.header
            var all =
                try found[index].orLoad { () throws(SQLiteError) in
                    Amendments(
                        author: try log.names.ref(header.author, on: log.connection),
                        conversation: try header.conversation.map { text throws(SQLiteError) in
                            // A text that is no ref's is nobody's conversation, not the one of those that have none.
                            try log.names.ref(text, on: log.connection) ?? 0
                        })
                } ?? Amendments(author: nil, conversation: nil)
            try all.take(row) { author throws(SQLiteError) in
                guard let conversation = row.conversation else { return false }
                let opening = try ConversationRow.load(conversation, connection).opening?.value
                return opening?.isModerator(try log.names.text(author, on: log.connection)) ?? false
            }
            found[index] = all
        }
        return found
    }

    /// The same with texts, names and times.
    func history(_ amendments: Amendments) throws(StoreError) -> MessageHistory {
        var history = MessageHistory(count: amendments.count, edits: amendments.edits)
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
            id: event.header.id, author: event.header.author, time: event.header.time,
            conversation: event.header.conversation, isEdit: row.isEdit,
            text: row.isEdit ? data?.string("text") : nil, reason: row.isEdit ? nil : data?.string("reason"),
            counts: counts)
    }
}
