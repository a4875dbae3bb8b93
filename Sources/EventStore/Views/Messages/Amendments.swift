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

    /// An amendment of these parts.
    package init(
        id: EventID, author: String, time: Int64, hlc: HybridTime, conversation: String?, isEdit: Bool, text: String?,
        reason: String?, counts: Bool
    ) {
        (self.id, self.author, self.time, self.hlc, self.conversation) = (id, author, time, hlc, conversation)
        (self.isEdit, self.text, self.reason, self.counts) = (isEdit, text, reason, counts)
    }
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
    /// The last 100 in display order.
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
