/// Every edit and retraction that can be read, by the id of the message that it is about. Which of them count is decided when the
/// message is read, from it and them alone (``Amendments``): so it does not matter which of them came first, and one may be stored
/// before the message itself. Their texts stay in the log.
final class MessagesView: View {
    static let name = "messages"
    static let version: Int64 = 1
    static let tables = ["amendment"]
    static let schema = """
        CREATE TABLE amendment(
          message BLOB, stamp BLOB, position INTEGER NOT NULL, author INTEGER NOT NULL, conversation INTEGER,
          edit INTEGER NOT NULL, PRIMARY KEY(message, stamp)
        ) WITHOUT ROWID;
        """

    /// An edit or a retraction.
    struct Row {
        let stamp: Stamp
        let position: UInt64
        /// Refs.
        let author: Int64
        let conversation: Int64?
        /// Else it is a retraction.
        let isEdit: Bool
    }

    private struct Key: Hashable, Comparable {
        let message: EventID
        let stamp: Stamp
        static func < (a: Key, b: Key) -> Bool { (a.message, a.stamp) < (b.message, b.stamp) }
    }

    /// What a batch adds, and which of all rows it takes out, with whether those are edits.
    private var added: [Key: Row] = [:]
    private var removed: [Key: Bool] = [:]
    var digest = DigestSum()

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard event.type == .messageEdited || event.type == .messageRetracted,
            let payload = event.payload
        else { return nil }
        let isEdit = event.type == .messageEdited
        guard let target = AmendmentRule.target(payload, cause: event.cause),
            !isEdit || payload.string("text") != nil
        else { return Self.refusal(payload, isEdit: isEdit, cause: event.cause) }
        let key = Key(message: target, stamp: Stamp(event.key))
        switch change {
        case .insert:
            added[key] = Row(
                stamp: key.stamp, position: event.position, author: event.author, conversation: event.conversation,
                isEdit: isEdit)
        case .shadow: break
        case .remove: if added.removeValue(forKey: key) == nil { removed[key] = isEdit }
        }
        return nil
    }

    /// Why a payload is not of the form that is read; `nil` if it is.
    static func refusal(_ payload: JSONObject, isEdit: Bool, cause: EventID?) -> String? {
        if AmendmentRule.target(payload, cause: cause) == nil {
            return payload["message"] == nil ? "message is missing" : "message is not an event id"
        }
        return isEdit && payload.string("text") == nil ? "text is missing or not text" : nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for (key, isEdit) in removed.sorted(by: { $0.key < $1.key }) {
            digest.remove(fields(key, isEdit))
            try store.connection.run(
                "DELETE FROM amendment WHERE message = ? AND stamp = ?", .blob(key.message.bytes),
                .blob(key.stamp.bytes))
        }
        for (key, row) in added.sorted(by: { $0.key < $1.key }) {
            digest.add(fields(key, row.isEdit))
            try store.connection.run(
                "INSERT INTO amendment VALUES(?,?,?,?,?,?)", .blob(key.message.bytes), .blob(row.stamp.bytes),
                .unsigned(row.position), .integer(row.author), row.conversation.map { .integer($0) } ?? .null,
                .integer(row.isEdit ? 1 : 0))
        }
        (added, removed) = ([:], [:])
    }

    private func fields(_ key: Key, _ isEdit: Bool) -> [DigestSum.Field] {
        [.text(hexText(key.message.bytes)), .dot(key.stamp.key.dot), .text(isEdit ? "edit" : "retraction")]
    }

    private static let found = "stamp, position, author, conversation, edit"
    /// Messages asked for by one run of a statement.
    private static let atOnce = 50
    private static let several = """
        SELECT wanted.column1, \(found)
        FROM (VALUES \((1...atOnce).map { "(\($0 - 1), ?\($0))" }.joined(separator: ","))) AS wanted
        CROSS JOIN amendment ON message = wanted.column2
        """

    /// Calls `body` with each row about each of `messages`, of which some may be none, and the message's index; the rows of one in
    /// display order.
    static func rows(
        of messages: [EventID?], _ connection: Connection, _ body: (Int, Row) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        if try connection.integer("SELECT 1 FROM amendment LIMIT 1") == nil { return }
        let select = try connection.statement(several)
        defer { select.reset() }
        for start in stride(from: 0, to: messages.count, by: atOnce) {
            select.reset()
            select.unbind()
            for (place, message) in messages[start...].prefix(atOnce).enumerated() {
                if let message { try select.bind(place + 1, message.bits) }
            }
            // They come in the order in which they were asked for; two messages may have one id.
            while try select.step() {
                if let row = row(select, from: 1) { try body(start + Int(select.int64(0)), row) }
            }
        }
    }

    /// Positions of the edits and retractions of a message, the last in display order first: at most `limit`.
    static func newest(
        _ limit: Int, about message: EventID, _ connection: Connection
    ) throws(DatabaseError) -> [UInt64] {
        try connection.all(
            "SELECT position FROM amendment WHERE message = ? ORDER BY stamp DESC LIMIT ?",
            [.blob(message.bytes), .integer(Int64(limit))]
        ) { row in row.uint64(0) }
    }

    private static func row(_ select: Statement, from column: Int) -> Row? {
        guard let stamp = select.stamp(column) else { return nil }
        return Row(
            stamp: stamp, position: select.uint64(column + 1), author: select.int64(column + 2),
            conversation: select.int64IfAny(column + 3), isEdit: select.int64(column + 4) != 0)
    }
}

/// An edit or a retraction of a message, under its author's name.
public struct Amendment: Sendable {
    /// Of the event that says it.
    public let id: EventID
    /// Who wrote that.
    public let author: String
    /// When it happened, Unix milliseconds.
    public let time: Int64
    /// When its origin recorded it: with the time, its place in display order.
    public let hlc: HybridTime
    /// In which conversation it was said.
    public let conversation: String?
    /// Else it is a retraction.
    public let isEdit: Bool
    /// Of an edit the new text; `nil` once that is erased.
    public let text: String?
    /// Of a retraction why, if that was said.
    public let reason: String?
    /// Whether it changes the message (D24). If not it only stands beside it.
    public let counts: Bool

    var bytes: Int { (text?.utf8.count ?? 0) + (reason?.utf8.count ?? 0) }

    /// An amendment of these parts.
    package init(
        id: EventID, author: String, time: Int64, hlc: HybridTime, conversation: String?, isEdit: Bool, text: String?,
        reason: String?, counts: Bool
    ) {
        (self.id, self.author, self.time, self.hlc, self.conversation) = (id, author, time, hlc, conversation)
        (self.isEdit, self.text, self.reason, self.counts) = (isEdit, text, reason, counts)
    }
}

/// What was done to a message, and what of it counts (D24). Of edits by its own author in its own conversation the last in display order
/// stands. Of retractions by its author or by a moderator there the first does. It depends on events alone.
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
        _ row: MessagesView.Row, isModerator: (Int64) throws(DatabaseError) -> Bool
    ) throws(DatabaseError) {
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
public struct MessageHistory: Sendable {
    /// The last 100 in display order, and fewer where their texts come to 1 MiB.
    public package(set) var amendments: [Amendment] = []
    /// How many there are.
    public package(set) var count = 0
    /// How many edits count.
    public package(set) var edits = 0
    /// The edit whose text stands.
    public package(set) var edit: Amendment?
    /// The retraction that stands.
    public package(set) var retraction: Amendment?

    /// Of a message that nothing was done to yet.
    package init() {}
}
