/// What must hold for the columns of every row of table `event` before they mean anything. A rule asks for a value's type, not for the
/// value alone: reading an integer from the text "5x" gives 5.
///
/// The writer has one form for each value (NULL for what equals its default), so any other form was not its doing, even
/// where it reads the same.
struct RowRule: Sendable {
    private enum Form {
        case integer, integerOrNull, positive
        /// So many bytes.
        case blob(Int)
        case blobOrNull(Int)
        case bytesOrNull
        /// Beside salt and digest: stored, or erased.
        case payload
        /// NULL stands for what another column says.
        case noRepeatedTime, noRepeatedUser
        case nonzero, version
    }

    let check: VerifyCheck
    private let column: Int
    private let name: StaticString
    private let form: Form

    private typealias Row = AuditedRow

    /// Values without references: threads that check rows would contend for a shared count.
    private static let all: [RowRule] = [
        RowRule(.events, "user", .integer), RowRule(.events, "hlc", .integer), RowRule(.events, "origin", .integer),
        RowRule(.events, "seq", .integer), RowRule(.events, "type", .integer), RowRule(.events, "leaf", .integer),
        RowRule(.events, "conversation", .integerOrNull), RowRule(.events, "time", .integerOrNull),
        RowRule(.events, "author", .integerOrNull), RowRule(.events, "version", .integerOrNull),
        RowRule(.twins, "twin", .integerOrNull), RowRule(.events, "actor", .integerOrNull),
        RowRule(.order, "seq", .positive),
        RowRule(.events, "id", .blob(16)), RowRule(.events, "cause", .blobOrNull(16)),
        RowRule(.events, "dependencies", .bytesOrNull), RowRule(.events, "unknown", .bytesOrNull),
        RowRule(.events, "payload", .payload), RowRule(.events, "time", .noRepeatedTime),
        RowRule(.events, "author", .noRepeatedUser), RowRule(.seals, "seal", .blobOrNull(16)),
        RowRule(.events, "actor", .nonzero), RowRule(.events, "version", .version),
    ]

    private init(_ check: VerifyCheck, _ name: StaticString, _ form: Form) {
        (self.check, self.name, self.form) = (check, name, form)
        column = Row.index("\(name)")
    }

    /// Those that the current row of ``AuditedRow/select`` breaks.
    static func broken(by row: Statement) -> [RowRule] { all.filter { !$0.isKept(by: row) } }

    private func isKept(by row: Statement) -> Bool {
        switch form {
        case .integer: row.isInteger(column)
        case .integerOrNull: row.isNull(column) || row.isInteger(column)
        case .positive: !row.isInteger(column) || row.int64(column) >= 1
        case .blob(let count): isBlob(row, column, of: count)
        case .blobOrNull(let count): row.isNull(column) || isBlob(row, column, of: count)
        case .bytesOrNull: row.isNull(column) || (row.isBlob(column) && row.count(column) > 0)
        case .payload where row.isNull(column): row.isNull(Row.salt) && isBlob(row, Row.digest, of: 32)
        case .payload:
            (row.isText(column) || row.isBlob(column)) && isBlob(row, Row.salt, of: 16) && row.isNull(Row.digest)
        // UInt64 hlc stands there as a signed integer: its milliseconds are bits 16 to 63.
        case .noRepeatedTime:
            !row.isInteger(column) || row.int64(column) != row.int64(Row.hlc) >> 16 & 0xffff_ffff_ffff
        case .noRepeatedUser: !row.isInteger(column) || row.int64(column) != row.int64(Row.user)
        case .nonzero: !row.isInteger(column) || row.int64(column) != 0
        case .version: !row.isInteger(column) || (2...4_294_967_295).contains(row.int64(column))
        }
    }

    private func isBlob(_ row: Statement, _ column: Int, of count: Int) -> Bool {
        row.isBlob(column) && row.count(column) == count
    }

    var message: String {
        switch form {
        case .integer: "column \(name) is not an integer"
        case .integerOrNull: "column \(name) is neither NULL nor an integer"
        case .positive: "column \(name) is less than 1"
        case .blob(let count): "column \(name) is not \(count) bytes"
        case .blobOrNull(let count): "column \(name) is neither NULL nor \(count) bytes"
        case .bytesOrNull: "column \(name) is neither NULL nor bytes"
        case .payload: "salt, digest and payload are neither those of a stored nor of an erased payload"
        case .noRepeatedTime: "column \(name) repeats the hlc, where NULL should stand"
        case .noRepeatedUser: "column \(name) repeats the user, where NULL should stand"
        case .nonzero: "column \(name) is 0, which names no text"
        case .version: "column \(name) is neither NULL nor a number from 2 to 4294967295"
        }
    }
}

/// The verifier's query for events: the columns ``EventRow`` reads, and the seal.
enum AuditedRow {
    private static let columns = EventRow.allColumns + ", seal"
    private static let names = columns.split(separator: ",").map { $0.drop(while: { $0 == " " }) }
    static func index(_ name: String) -> Int {
        guard let index = names.firstIndex(of: name[...]) else { preconditionFailure("no column \(name)") }
        return index
    }

    static let position = index("position")
    static let origin = index("origin")
    static let seq = index("seq")
    static let id = index("id")
    static let dependencies = index("dependencies")
    static let twin = index("twin")
    fileprivate static let user = index("user")
    fileprivate static let type = index("type")
    fileprivate static let hlc = index("hlc")
    fileprivate static let salt = index("salt")
    fileprivate static let digest = index("digest")
    /// The columns that hold a ref of table `name`.
    static let interned = ["user", "conversation", "type", "author", "actor"].map(index)
    /// Columns that say nothing where the header could not be read.
    private static let readable = ["conversation", "time", "author", "cause", "version", "actor"].map(index)

    /// Whether the columns beside a header that could not be read are those of such a row (FORMATS.md §3, `unknown`).
    static func standsAlone(_ row: Statement) -> Bool {
        row.int64(user) == row.int64(type) && readable.allSatisfy(row.isNull)
    }

    static let select = """
        SELECT \(columns) FROM event WHERE position >= ? AND position <= ? ORDER BY position LIMIT ?
        """
}
