/// Who takes part in a conversation: named when it started, joined, left, or simply said something.
final class ParticipantsView: View {
    static let name = "participants"
    static let tables = """
        CREATE TABLE participant(
          conversation INTEGER, user TEXT, messages INTEGER NOT NULL, joined INTEGER, stamp BLOB,
          PRIMARY KEY(conversation, user)
        ) WITHOUT ROWID;
        """

    private struct Key: Hashable, Comparable {
        let conversation: Int64
        let user: ByteText
        static func < (a: Key, b: Key) -> Bool { (a.conversation, a.user) < (b.conversation, b.user) }
    }

    private struct Row {
        var messages = Int64(0)
        /// Whether the last writer said joined or left; `nil` if nobody said.
        var membership: (joined: Bool, stamp: Stamp)?
    }

    private var touched: [Key: Row] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        guard let conversation = event.conversation else { return nil }
        if event.isMessage {
            try update(Key(conversation: conversation, user: ByteText(try store.text(event.author))), store) {
                $0.messages += change.amount
            }
            return nil
        }
        guard change.amount >= 0, let payload = event.payload else { return nil }
        let users: [String]
        switch event.type {
        case EventType.conversationStarted:
            guard let value = payload["participants"], !value.isNull else { return nil }
            guard let elements = value.elements, let names = Self.texts(elements) else {
                return "participants is not a list of texts"
            }
            users = names
        case EventType.participantJoined, EventType.participantLeft:
            if let value = payload["user"], value.string == nil { return "user is not text" }
            let named = try payload.string("user").orLoad { () throws(SQLiteError) in try store.text(event.user) }
            users = named.map { [$0] } ?? []
        default: return nil
        }
        let stamp = Stamp(event.key)
        for user in users {
            try update(Key(conversation: conversation, user: ByteText(user)), store) { row in
                if row.membership.map({ $0.stamp < stamp }) ?? true {
                    row.membership = (event.type != EventType.participantLeft, stamp)
                }
            }
        }
        return nil
    }

    private static func texts(_ values: [JSONValue]) -> [String]? {
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    private func update(_ key: Key, _ store: ViewStore, _ body: (inout Row) -> Void) throws(SQLiteError) {
        var row = try touched[key].orLoad { () throws(SQLiteError) in try load(key, store) } ?? Row()
        body(&row)
        touched[key] = row
    }

    private func load(_ key: Key, _ store: ViewStore) throws(SQLiteError) -> Row? {
        let select = try store.connection.statement(
            "SELECT messages, joined, stamp FROM participant WHERE conversation = ? AND user = ?")
        defer { select.reset() }
        try select.bind(1, key.conversation)
        try select.bind(2, text: Array(key.user.text.utf8))
        guard try select.step() else { return nil }
        return Row(messages: select.int64(0), membership: select.stamp(2).map { (select.int64(1) != 0, $0) })
    }

    func flush(_ store: ViewStore) throws(SQLiteError) {
        for key in touched.keys.sorted() {
            guard let row = touched[key] else { continue }
            if row.messages == 0, row.membership == nil {
                try store.run(
                    "DELETE FROM participant WHERE conversation = ? AND user = ?", .integer(key.conversation),
                    .text(key.user.text))
            } else {
                try store.run(
                    "INSERT OR REPLACE INTO participant VALUES(?,?,?,?,?)", .integer(key.conversation),
                    .text(key.user.text), .integer(row.messages),
                    row.membership.map { .integer($0.joined ? 1 : 0) } ?? .null, .optional(row.membership?.stamp))
            }
        }
        touched = [:]
    }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try store.rows("SELECT conversation, user, messages, joined, stamp FROM participant") {
            row throws(SQLiteError) in
            digest.add(
                try store.text(row.int64(0)), row.text(1), String(row.int64(2)),
                row.isNull(3) ? "" : String(row.int64(3)), row.stamp(4)?.key.dot.description ?? "")
        }
    }
}
