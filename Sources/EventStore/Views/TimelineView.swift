/// Events of a conversation, and of a user, in display order. `time` is the display time; ties of (time, hlc), which only
/// different origins can make, are settled at reading by the dot.
final class TimelineView: View {
    static let name = "timeline"
    static let takesLaterFormats = true
    static let tables = """
        CREATE TABLE timeline(
          conversation INTEGER, time INTEGER, hlc INTEGER, position INTEGER,
          PRIMARY KEY(conversation, time, hlc, position)
        ) WITHOUT ROWID;
        """
    private var rows = OrderedRows(table: "timeline", column: "conversation")

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        if let conversation = event.conversation { try rows.apply(conversation, event, change, store) }
        return nil
    }

    func flush(_ store: ViewStore) throws(SQLiteError) { try rows.flush(store) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try rows.digest(store, into: &digest)
    }
}

/// Every event of a user, in display order.
final class HistoryView: View {
    static let name = "history"
    static let takesLaterFormats = true
    static let tables = """
        CREATE TABLE history(
          user INTEGER, time INTEGER, hlc INTEGER, position INTEGER,
          PRIMARY KEY(user, time, hlc, position)
        ) WITHOUT ROWID;
        """
    private var rows = OrderedRows(table: "history", column: "user")

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(SQLiteError) -> String? {
        try rows.apply(event.user, event, change, store)
        return nil
    }

    func flush(_ store: ViewStore) throws(SQLiteError) { try rows.flush(store) }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        try rows.digest(store, into: &digest)
    }
}

/// The rows of a table keyed by (owner, time, hlc, position), gathered for one batch.
struct OrderedRows {
    private struct Row: Comparable {
        let owner: Int64
        let time: Int64
        let hlc: Int64
        let position: UInt64

        static func < (a: Row, b: Row) -> Bool {
            (a.owner, a.time, a.hlc, a.position) < (b.owner, b.time, b.hlc, b.position)
        }
    }

    let table: String
    let column: String
    private var gathered: [Row] = []

    init(table: String, column: String) {
        self.table = table
        self.column = column
    }

    mutating func apply(
        _ owner: Int64, _ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore
    ) throws(SQLiteError) {
        switch change {
        case .insert:
            gathered.append(
                Row(owner: owner, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position))
        case .shadow: break
        case .remove:
            try store.run(
                "DELETE FROM \(table) WHERE \(column) = ? AND time = ? AND hlc = ? AND position = ?", .integer(owner),
                .integer(event.key.time), .integer(event.key.hlc.ordered),
                .integer(Int64(bitPattern: event.position)))
        }
    }

    mutating func flush(_ store: ViewStore) throws(SQLiteError) {
        gathered.sort()
        let insert = try store.connection.statement(
            "INSERT INTO \(table)(\(column), time, hlc, position) VALUES(?, ?, ?, ?)")
        for row in gathered {
            try insert.bind(1, row.owner)
            try insert.bind(2, row.time)
            try insert.bind(3, row.hlc)
            try insert.bind(4, row.position)
            try insert.run()
        }
        gathered.removeAll(keepingCapacity: true)
    }

    func digest(_ store: ViewStore, into digest: inout DigestSum) throws(SQLiteError) {
        let log = store.source.log
        try store.rows("SELECT \(column), time, hlc, position FROM \(table)") { row throws(SQLiteError) in
            let dot = try log.connection.statement("SELECT origin, seq FROM event WHERE position = ?")
            try dot.bind(1, row.int64(3))
            guard try dot.step() else {
                throw SQLiteError(extendedCode: 11, message: "no event \(row.int64(3))", context: table)
            }
            let origin = try log.names.origin(dot.int64(0), on: log.connection)
            digest.add(
                try store.text(row.int64(0)), String(row.int64(1)), String(row.uint64(2)),
                Dot(origin: origin, seq: dot.uint64(1)).description)
            dot.reset()
        }
    }
}
