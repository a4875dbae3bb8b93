/// What must hold for the columns of every row of table `event` before they mean anything. In SQL, because there a value
/// shows its type: reading an integer from the text "5x" gives 5.
///
/// The writer has one form for each value (NULL for what equals its default), so any other form was not its doing, even
/// where it reads the same.
struct RowRule {
    let check: VerifyCheck
    /// An SQL expression, true for a sound row and never NULL.
    let condition: String
    let message: String

    static let all: [RowRule] =
        ["user", "hlc", "origin", "seq", "type", "leaf"].map(integer)
        + ["conversation", "time", "author", "version", "twin", "actor"].map(optionalInteger)
        + [
            RowRule(.order, "typeof(seq) <> 'integer' OR seq >= 1", "column seq is less than 1"),
            RowRule(.events, blob("id", 16), "column id is not 16 bytes"),
            RowRule(.events, "cause IS NULL OR \(blob("cause", 16))", "column cause is neither NULL nor 16 bytes"),
            RowRule(.events, optionalBytes("dependencies"), "column dependencies is neither NULL nor bytes"),
            RowRule(.events, optionalBytes("unknown"), "column unknown is neither NULL nor bytes"),
            RowRule(
                .events,
                """
                (\(blob("salt", 16)) AND digest IS NULL AND typeof(payload) IN ('text', 'blob')) \
                OR (salt IS NULL AND \(blob("digest", 32)) AND payload IS NULL)
                """,
                "salt, digest and payload are neither those of a stored nor of an erased payload"),
            // UInt64 hlc stands there as a signed integer: its milliseconds are bits 16 to 63.
            RowRule(
                .events, "time IS NULL OR time <> ((hlc >> 16) & 0xffffffffffff)",
                "column time repeats the hlc, where NULL should stand"),
            RowRule(
                .events, "author IS NULL OR author <> user",
                "column author repeats the user, where NULL should stand"),
            RowRule(.seals, "seal IS NULL OR \(blob("seal", 16))", "column seal is neither NULL nor 16 bytes"),
            RowRule(.events, "actor IS NULL OR actor <> 0", "column actor is 0, which names no text"),
            RowRule(
                .events, "version IS NULL OR typeof(version) <> 'integer' OR version BETWEEN 2 AND 4294967295",
                "column version is neither NULL nor a number from 2 to 4294967295"),
        ]

    private init(_ check: VerifyCheck, _ condition: String, _ message: String) {
        self.check = check
        self.condition = condition
        self.message = message
    }

    private static func integer(_ column: String) -> RowRule {
        RowRule(.events, "typeof(\(column)) = 'integer'", "column \(column) is not an integer")
    }

    private static func optionalInteger(_ column: String) -> RowRule {
        RowRule(
            column == "twin" ? .twins : .events, "typeof(\(column)) IN ('integer', 'null')",
            "column \(column) is neither NULL nor an integer")
    }

    private static func blob(_ column: String, _ count: Int) -> String {
        "(typeof(\(column)) = 'blob' AND length(\(column)) = \(count))"
    }

    private static func optionalBytes(_ column: String) -> String {
        "\(column) IS NULL OR (typeof(\(column)) = 'blob' AND length(\(column)) > 0)"
    }
}

/// The verifier's query for events: the columns ``EventRow`` reads, and one more that is 1 when all rules hold.
enum AuditedRow {
    private static let names = EventRow.allColumns.split(separator: ",").map { $0.drop(while: { $0 == " " }) }
    private static func index(_ name: String) -> Int {
        guard let index = names.firstIndex(of: name[...]) else { preconditionFailure("no column \(name)") }
        return index
    }

    static let position = index("position")
    static let origin = index("origin")
    static let seq = index("seq")
    static let id = index("id")
    static let dependencies = index("dependencies")
    static let twin = index("twin")
    /// The columns that hold a ref of table `name`.
    static let interned = ["user", "conversation", "type", "author", "actor"].map(index)
    private static let user = index("user")
    private static let type = index("type")
    /// Columns that say nothing where the header could not be read.
    private static let readable = ["conversation", "time", "author", "cause", "version", "actor"].map(index)
    static let isSound = names.count

    /// Whether the columns beside a header that could not be read are those of such a row (FORMATS.md §3, `unknown`).
    static func standsAlone(_ row: Statement) -> Bool {
        row.int64(user) == row.int64(type) && readable.allSatisfy(row.isNull)
    }

    static let select = """
        SELECT \(EventRow.allColumns), \(RowRule.all.map { "(\($0.condition))" }.joined(separator: " AND "))
        FROM event WHERE position >= ? AND position <= ? ORDER BY position LIMIT ?
        """

    /// The rules that the row at `position` breaks.
    static func broken(at position: Int64, on connection: Connection) throws(DatabaseError) -> [RowRule] {
        let rules = RowRule.all.map { "(\($0.condition))" }.joined(separator: ", ")
        return try connection.first("SELECT \(rules) FROM event WHERE position = ?", [.integer(position)]) { row in
            RowRule.all.enumerated().filter { row.int64($0.offset) != 1 }.map(\.element)
        } ?? []
    }
}
