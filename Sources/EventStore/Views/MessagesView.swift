/// What became of a message: its last edit, and whether it was retracted. Keyed by the message's id: an edit may be
/// stored before the message itself if its author never saw that.
final class MessagesView: View {
    static let name = "messages"
    static let tables = """
        CREATE TABLE message(
          message BLOB PRIMARY KEY, edits INTEGER NOT NULL, edit_stamp BLOB, edit_position INTEGER, text TEXT,
          retract_stamp BLOB
        ) WITHOUT ROWID;
        """

    struct Row {
        var edits = Int64(0)
        var edit: (stamp: Stamp, position: UInt64, text: String)?
        /// The earliest retraction; it is final.
        var retraction: Stamp?
    }

    private var touched: [EventID: Row] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        guard event.type == .messageEdited || event.type == .messageRetracted,
            let payload = event.payload
        else { return nil }
        if let value = payload["message"], value.string.flatMap({ EventID(text: $0) }) == nil {
            return "message is not an event id"
        }
        guard let target = payload.string("message").flatMap({ EventID(text: $0) }) ?? event.cause else {
            return "message is missing"
        }
        var row =
            try touched[target].orLoad { () throws(SQLiteError) in try Lookup(store.connection)[target] } ?? Row()
        let stamp = Stamp(event.key)
        if event.type == .messageEdited {
            guard let text = payload.string("text") else { return "text is missing or not text" }
            row.edits += change.amount
            if change.amount >= 0, row.edit.map({ $0.stamp < stamp }) ?? true {
                row.edit = (stamp, event.position, text)
            }
        } else if change.amount >= 0, row.retraction.map({ stamp < $0 }) ?? true {
            row.retraction = stamp
        }
        touched[target] = row
        return nil
    }

    /// Finds what became of messages, for many in one transaction.
    struct Lookup {
        private let select: Statement
        private let isEmpty: Bool

        init(_ connection: Connection) throws(SQLiteError) {
            isEmpty = try connection.integer("SELECT 1 FROM message LIMIT 1") == nil
            select = try connection.statement(
                "SELECT edits, edit_stamp, edit_position, text, retract_stamp FROM message WHERE message = ?")
        }

        subscript(message: EventID) -> Row? {
            get throws(SQLiteError) {
                if isEmpty { return nil }
                defer { select.reset() }
                try select.bind(1, message.bits)
                guard try select.step() else { return nil }
                return Row(
                    edits: select.int64(0), edit: select.stamp(1).map { ($0, select.uint64(2), select.text(3)) },
                    retraction: select.stamp(4))
            }
        }
    }

    func flush(_ store: ViewStore) throws(SQLiteError) {
        for target in touched.keys.sorted() {
            guard let row = touched[target] else { continue }
            try store.run(
                "INSERT OR REPLACE INTO message VALUES(?,?,?,?,?,?)", .blob(target.bytes), .integer(row.edits),
                .optional(row.edit?.stamp), row.edit.map { .integer(Int64(bitPattern: $0.position)) } ?? .null,
                .optional(row.edit?.text), .optional(row.retraction))
        }
        touched = [:]
    }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try store.rows("SELECT message, edits, edit_stamp, text, retract_stamp FROM message") { row in
            digest.add(
                hexText(row.bytes(0)), String(row.int64(1)), row.stamp(2)?.key.dot.description ?? "", row.text(3),
                row.stamp(4)?.key.dot.description ?? "")
        }
    }
}
