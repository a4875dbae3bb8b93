/// What became of a message: its last edit, and whether it was retracted. Keyed by the message's id: an edit may be
/// stored before the message itself if its author never saw that.
final class MessagesView: View {
    static let name = "messages"
    /// With a rowid, so that the index is of ids alone and stays in the processor's cache: readers ask it for every message,
    /// and most have no row.
    static let tables = """
        CREATE TABLE message(
          message BLOB NOT NULL PRIMARY KEY, edits INTEGER NOT NULL, edit_stamp BLOB, edit_position INTEGER, text TEXT,
          retract_stamp BLOB
        );
        """

    struct Row {
        var edits = Int64(0)
        var edit: (stamp: Stamp, position: UInt64, text: String)?
        /// The earliest retraction; it is final.
        var retraction: Stamp?

        fileprivate mutating func edit(_ change: ViewChange, _ stamp: Stamp, _ position: UInt64, _ text: String) {
            edits += change.amount
            guard change.amount >= 0, edit.map({ $0.stamp < stamp }) ?? true else { return }
            edit = (stamp, position, text)
        }

        fileprivate mutating func retract(_ stamp: Stamp) {
            if retraction.map({ stamp < $0 }) ?? true { retraction = stamp }
        }
    }

    /// What a batch does to messages.
    private var touched: [EventID: Row] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        guard event.type == .messageEdited || event.type == .messageRetracted,
            let payload = event.payload
        else { return nil }
        var target = event.cause
        if let value = payload["message"] {
            target = value.string.flatMap { EventID(text: $0) }
            if target == nil { return "message is not an event id" }
        }
        guard let target else { return "message is missing" }
        let stamp = Stamp(event.key)
        if event.type == .messageEdited {
            guard let text = payload.string("text") else { return "text is missing or not text" }
            touched[target, default: Row()].edit(change, stamp, event.position, text)
        } else if change.amount >= 0 {
            touched[target, default: Row()].retract(stamp)
        }
        return nil
    }

    private static let found = "edits, edit_stamp, edit_position, text, retract_stamp"
    /// Messages asked for by one run of a statement.
    private static let atOnce = 50
    private static let several = """
        SELECT message, \(found)
        FROM (VALUES \((1...atOnce).map { "(?\($0))" }.joined(separator: ","))) AS wanted
        CROSS JOIN message ON message = wanted.column1
        """

    /// What became of each of `messages`, of which some may be none.
    static func rows(of messages: [EventID?], _ connection: Connection) throws(SQLiteError) -> [Row?] {
        var rows = [Row?](repeating: nil, count: messages.count)
        if try connection.integer("SELECT 1 FROM message LIMIT 1") == nil { return rows }
        let select = try connection.statement(several)
        defer { select.reset() }
        var index = 0
        for start in stride(from: 0, to: messages.count, by: atOnce) {
            select.reset()
            let end = min(start + atOnce, messages.count)
            for place in 0..<atOnce {
                if start + place < end, let message = messages[start + place] {
                    try select.bind(place + 1, message.bits)
                } else {
                    try select.bindNull(place + 1)
                }
            }
            // They come in the order in which they were asked for, without those of which nothing became anything.
            while try select.step() {
                let message = select.uuid(0)
                while index < end, messages[index]?.bits != message { index += 1 }
                if index < end { rows[index] = row(select, from: 1) }
                index += 1
            }
        }
        return rows
    }

    private static func row(_ select: Statement, from column: Int) -> Row {
        Row(
            edits: select.int64(column),
            edit: select.stamp(column + 1).map { ($0, select.uint64(column + 2), select.text(column + 3)) },
            retraction: select.stamp(column + 4))
    }

    func flush(_ store: ViewStore) throws(SQLiteError) {
        let save = try store.connection.statement(Self.save)
        for target in touched.keys.sorted() {
            guard let row = touched[target] else { continue }
            try save.bind(1, target.bits)
            try save.bind(2, row.edits)
            try save.bind(3, .optional(row.edit?.stamp))
            try save.bind(4, row.edit.map { .integer(Int64(bitPattern: $0.position)) } ?? .null)
            try save.bind(5, .optional(row.edit?.text))
            try save.bind(6, .optional(row.retraction))
            try save.run()
        }
        touched = [:]
    }

    /// Adds to a message's row. The row is not read before: the later edit counts, and the earlier retraction.
    private static let save = """
        INSERT INTO message VALUES(?1, ?2, ?3, ?4, ?5, ?6)
        ON CONFLICT DO UPDATE SET
          edits = edits + ?2,
          edit_position = CASE WHEN ifnull(edit_stamp, x'') < ?3 THEN ?4 ELSE edit_position END,
          text = CASE WHEN ifnull(edit_stamp, x'') < ?3 THEN ?5 ELSE text END,
          edit_stamp = CASE WHEN ifnull(edit_stamp, x'') < ?3 THEN ?3 ELSE edit_stamp END,
          retract_stamp = coalesce(min(retract_stamp, ?6), retract_stamp, ?6)
        """

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try store.rows("SELECT message, edits, edit_stamp, text, retract_stamp FROM message") { row in
            digest.add(
                hexText(row.bytes(0)), String(row.int64(1)), row.stamp(2)?.key.dot.description ?? "", row.text(3),
                row.stamp(4)?.key.dot.description ?? "")
        }
    }
}
