/// What followed from an event: those that name it as their cause. A log finds the cause of an event by its id, and not the other way
/// round: its only indexes are those that grow in the order of arrival (D1).
///
/// The header names the cause, so that a payload that is erased, or cannot be read, takes nothing away. A row is there whether or not
/// the cause itself has come. Ids are made in the order of time, as replies are, so that rows are added near the end of the table.
final class CausesView: View {
    static let name = "causes"
    static let version: Int64 = 1
    static let tables = ["effect"]
    static let schema = """
        CREATE TABLE effect(
          cause BLOB, time INTEGER, hlc INTEGER, position INTEGER, PRIMARY KEY(cause, time, hlc, position)
        ) WITHOUT ROWID;
        """
    static let takesAll = true

    /// An event that follows from another.
    struct Row: Hashable, Comparable {
        let cause: EventID
        /// When it is shown, Unix milliseconds.
        let time: Int64
        /// ``HybridTime/ordered``.
        let hlc: Int64
        let position: UInt64

        static func < (a: Row, b: Row) -> Bool {
            a.cause != b.cause ? a.cause < b.cause : (a.time, a.hlc, a.position) < (b.time, b.hlc, b.position)
        }

        fileprivate var bindings: [Binding] {
            [.blob(cause.bytes), .integer(time), .integer(hlc), .unsigned(position)]
        }
    }

    /// What a batch adds, and which of all rows it takes out, with their dots.
    private var added: [Row: Dot] = [:]
    private var removed: [Row: Dot] = [:]
    var digest = DigestSum()

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let cause = event.cause else { return nil }
        let row = Row(
            cause: cause, time: event.key.time, hlc: event.key.hlc.ordered, position: event.position)
        switch change {
        case .insert: added[row] = event.key.dot
        case .shadow: break
        case .remove: if added.removeValue(forKey: row) == nil { removed[row] = event.key.dot }
        }
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for (row, dot) in removed.sorted(by: { $0.key < $1.key }) {
            digest.remove(Self.fields(row, dot))
            try store.connection.run(
                "DELETE FROM effect WHERE cause = ? AND time = ? AND hlc = ? AND position = ?", row.bindings)
        }
        for (row, dot) in added.sorted(by: { $0.key < $1.key }) {
            digest.add(Self.fields(row, dot))
            try store.connection.run("INSERT INTO effect VALUES(?, ?, ?, ?)", row.bindings)
        }
        (added, removed) = ([:], [:])
    }

    private static func fields(_ row: Row, _ dot: Dot) -> [DigestSum.Field] {
        [.text(hexText(row.cause.bytes)), .dot(dot)]
    }

    /// Positions of what names `cause` and does not change it, in the order of their times: the first `limit`.
    static func first(
        _ limit: Int, of cause: EventID, _ connection: Connection
    ) throws(DatabaseError) -> [UInt64] {
        try connection.all(
            """
            SELECT position FROM effect
            WHERE cause = ?1 AND position NOT IN (SELECT position FROM amendment WHERE message = ?1)
            ORDER BY time, hlc, position LIMIT ?2
            """, [.blob(cause.bytes), .integer(Int64(limit))]
        ) { row in row.uint64(0) }
    }
}
