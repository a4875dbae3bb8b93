/// Which events name which bytes: who may be given those, whether anyone needs them, and what belongs to a user or a conversation, without
/// a look at other events.
///
/// An event whose payload is erased names nothing any more, for its row is not there when the views were built anew.
final class AttachmentsView: View {
    static let name = "attachments"
    static let version: Int64 = 1
    static let tables = ["attachment"]
    static let schema = """
        CREATE TABLE attachment(
          sha256 BLOB, time INTEGER, hlc INTEGER, position INTEGER, user INTEGER NOT NULL, author INTEGER NOT NULL,
          conversation INTEGER, bytes INTEGER NOT NULL, media TEXT, PRIMARY KEY(sha256, time, hlc, position)
        ) WITHOUT ROWID;
        CREATE INDEX attachment_position ON attachment(position);
        CREATE INDEX attachment_user ON attachment(user, time, hlc, position);
        CREATE INDEX attachment_conversation ON attachment(conversation, time, hlc, position)
          WHERE conversation IS NOT NULL;
        """
    static let readsMessages = true

    /// An event that names bytes.
    struct Row {
        let item: AttachmentItem
        /// When it is shown, Unix milliseconds.
        let time: Int64
        /// ``HybridTime/ordered``.
        let hlc: Int64
        let position: UInt64
        /// Refs.
        let user: Int64
        let author: Int64
        let conversation: Int64?

        fileprivate var key: [Binding] {
            [.blob(item.digest.bytes), .integer(time), .integer(hlc), .unsigned(position)]
        }
    }

    private struct Key: Hashable, Comparable {
        let digest: ByteText
        let position: UInt64
        static func < (a: Key, b: Key) -> Bool { (a.digest, a.position) < (b.digest, b.position) }
    }

    /// What a batch adds, and which of all rows it takes out, with their dots.
    private var added: [Key: (row: Row, dot: Dot)] = [:]
    private var removed: [Key: (row: Row, dot: Dot)] = [:]
    var digest = DigestSum()

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let type = event.type, type.isMessage || type == .profileChanged, let payload = event.payload,
            AttachmentNaming.isLikely(payload.bytes)
        else { return nil }
        let items: [AttachmentItem]
        do throws(MalformedAttachment) {
            items = try AttachmentNaming.items(type: type.rawValue, payload)
        } catch {
            return Self.refusal(error)
        }
        if change == .shadow { return nil }
        for item in items {
            let row = Row(
                item: item, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position,
                user: event.user, author: event.author, conversation: event.conversation)
            let key = Key(digest: ByteText(item.digest.description), position: event.position)
            if change == .insert {
                added[key] = (row, event.key.dot)
            } else if added.removeValue(forKey: key) == nil {
                removed[key] = (row, event.key.dot)
            }
        }
        return nil
    }

    /// Why the bytes that an event names cannot be read; `nil` if they can, or it names none.
    static func refusal(_ type: EventType, _ payload: JSONObject) -> String? {
        guard AttachmentNaming.isLikely(payload.bytes) else { return nil }
        do throws(MalformedAttachment) {
            _ = try AttachmentNaming.items(type: type.rawValue, payload)
            return nil
        } catch {
            return refusal(error)
        }
    }

    private static func refusal(_ error: MalformedAttachment) -> String { "attachments: \(error.reason)" }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for (_, gone) in removed.sorted(by: { $0.key < $1.key }) {
            digest.remove(Self.fields(gone.row, gone.dot))
            try store.connection.run(
                "DELETE FROM attachment WHERE sha256 = ? AND time = ? AND hlc = ? AND position = ?", gone.row.key)
        }
        for (_, new) in added.sorted(by: { $0.key < $1.key }) {
            let row = new.row
            digest.add(Self.fields(row, new.dot))
            try store.connection.run(
                "INSERT INTO attachment VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row.key + [
                    .integer(row.user), .integer(row.author), row.conversation.map { .integer($0) } ?? .null,
                    .unsigned(row.item.bytes), row.item.mediaType.map { .text($0) } ?? .null,
                ])
        }
        (added, removed) = ([:], [:])
    }

    private static func fields(_ row: Row, _ dot: Dot) -> [DigestSum.Field] {
        [
            .text(row.item.digest.description), .dot(dot), .text(String(row.item.bytes)),
            .text(row.item.mediaType ?? ""),
        ]
    }

    // MARK: Questions, as of the open transaction

    private static let columns = "sha256, time, hlc, position, user, author, conversation, bytes, media"

    private static func row(_ select: Statement) -> Row? {
        guard let digest = select.digest(0) else { return nil }
        let item = AttachmentItem(
            digest: digest, bytes: select.uint64(7), mediaType: select.isNull(8) ? nil : select.text(8))
        return Row(
            item: item, time: select.int64(1), hlc: select.int64(2), position: select.uint64(3),
            user: select.int64(4), author: select.int64(5), conversation: select.int64IfAny(6))
    }

    /// The newest events that name `digest`.
    static func rows(naming digest: Digest, limit: Int, _ connection: Connection) throws(DatabaseError) -> [Row] {
        try connection.all(
            """
            SELECT \(columns) FROM attachment WHERE sha256 = ? ORDER BY time DESC, hlc DESC, position DESC LIMIT ?
            """, [.blob(digest.bytes), .integer(Int64(limit))], row)
    }

    /// Whether an event names `digest`.
    static func isNamed(_ digest: Digest, _ connection: Connection) throws(DatabaseError) -> Bool {
        try connection.integer("SELECT 1 FROM attachment WHERE sha256 = ? LIMIT 1", .blob(digest.bytes)) != nil
    }

    /// What events after `position` name, in their order: at most `limit` rows, and those of the last event whole.
    static func rows(
        after position: UInt64, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [Row] {
        let end = try connection.first(
            "SELECT position FROM attachment WHERE position > ? ORDER BY position LIMIT 1 OFFSET ?",
            [.unsigned(position), .integer(Int64(limit - 1))]
        ) { $0.int64(0) }
        return try connection.all(
            """
            SELECT \(columns) FROM attachment WHERE position > ? AND position <= ? ORDER BY position, sha256
            """, [.unsigned(position), .integer(end ?? .max)], row)
    }

    /// Whose rows are listed.
    enum Owner {
        case user(Int64)
        case conversation(Int64)
        case all
    }

    /// The newest rows of an owner, before a place: in display order, or in the order of the log where all are listed.
    static func rows(
        of owner: Owner, limit: Int, before place: AttachmentPlace?, _ connection: Connection
    ) throws(DatabaseError) -> [Row] {
        let condition: String
        var bindings: [Binding] = [.integer(Int64(limit))]
        func moment(_ column: String, _ ref: Int64) -> String {
            bindings += [
                .integer(ref), .integer(place?.time ?? .max), .integer(place?.hlc ?? .max),
                .integer(place.map { Int64(bitPattern: $0.position) } ?? .max), .blob(place?.digest.bytes ?? []),
            ]
            return """
                \(column) = ?2 AND ((time, hlc, position) < (?3, ?4, ?5)
                  OR (time, hlc, position) = (?3, ?4, ?5) AND sha256 < ?6)
                ORDER BY time DESC, hlc DESC, position DESC, sha256 DESC
                """
        }
        switch owner {
        case .user(let ref): condition = moment("user", ref)
        case .conversation(let ref): condition = moment("conversation", ref)
        case .all:
            bindings += [
                .integer(place.map { Int64(bitPattern: $0.position) } ?? .max), .blob(place?.digest.bytes ?? []),
            ]
            condition = "(position, sha256) < (?2, ?3) ORDER BY position DESC, sha256 DESC"
        }
        return try connection.all("SELECT \(columns) FROM attachment WHERE \(condition) LIMIT ?1", bindings, row)
    }

}

/// Where a page of attachments ended.
package struct AttachmentPlace: Hashable, Sendable {
    package let time: Int64
    /// ``HybridTime/ordered``.
    package let hlc: Int64
    package let position: UInt64
    package let digest: Digest

    package init(time: Int64, hlc: Int64, position: UInt64, digest: Digest) {
        (self.time, self.hlc, self.position, self.digest) = (time, hlc, position, digest)
    }
}
