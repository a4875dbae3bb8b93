/// A table of events in display order for each owner, written behind (D1), many rows in one block
/// (``Block``), which stands under the key of its first.
///
/// New rows stand packed in its *tail*, in order of position, and are moved into the table itself, the *base*, one
/// generation at a time in key order, so that a leaf page of a large table is written once for a generation and not once
/// for each of its rows. One row of progress says what has been moved. All of it changes in the same transaction as the
/// rows (the shape and its invariants: research behind D1, "tail, base and progress").
///
/// ```
/// position: 1 ............ applied ............ merging ............ last
///           | all in base  | in base iff        | in the tail
///           |              | row <= cursor      |
/// ```
struct SortedTable {
    static let timeline = SortedTable("timeline", column: "conversation")
    static let history = SortedTable("history", column: "user")

    let name: String
    /// Which column is the owner.
    let column: String
    /// Makes the tables.
    let schema: String
    /// Rows whose event counts no longer while they are not in the base.
    let goneSQL: String
    let anyGoneSQL: String
    let isGoneSQL: String
    /// All blocks in order.
    let allSQL: String
    let mergeSQL: String
    let tailSQL: String
    /// The owner's blocks that begin after a key, in order.
    let followingSQL: String
    /// The owner's blocks that begin with a key or before it, the last one first.
    let precedingSQL: String
    let saveSQL: String
    let deleteSQL: String

    private init(_ name: String, column: String) {
        self.name = name
        self.column = column
        schema = """
            CREATE TABLE \(name)(
              \(column) INTEGER, time INTEGER, hlc INTEGER, position INTEGER,
              rows BLOB NOT NULL,
              PRIMARY KEY(\(column), time, hlc, position)
            ) WITHOUT ROWID;
            CREATE TABLE \(name)_tail(first INTEGER PRIMARY KEY, rows BLOB NOT NULL);
            CREATE TABLE \(name)_gone(position INTEGER PRIMARY KEY);
            CREATE TABLE \(name)_merge(
              applied INTEGER NOT NULL, merging INTEGER NOT NULL,
              owner INTEGER NOT NULL, time INTEGER NOT NULL, hlc INTEGER NOT NULL, position INTEGER NOT NULL,
              epoch INTEGER NOT NULL
            );
            INSERT INTO \(name)_merge VALUES(0, 0, 0, 0, 0, 0, random());
            """
        goneSQL = "SELECT position FROM \(name)_gone"
        anyGoneSQL = "\(goneSQL) LIMIT 1"
        allSQL = "SELECT time, hlc, position, rows, \(column) FROM \(name) ORDER BY \(column), time, hlc, position"
        isGoneSQL = "\(goneSQL) WHERE position = ?"
        let key = "\(column) = ? AND (time, hlc, position)"
        let blocks = "SELECT time, hlc, position, rows FROM \(name) WHERE \(key)"
        followingSQL = "\(blocks) > (?, ?, ?) ORDER BY time, hlc, position"
        precedingSQL = "\(blocks) <= (?, ?, ?) ORDER BY time DESC, hlc DESC, position DESC"
        saveSQL = "INSERT OR REPLACE INTO \(name)(\(column), time, hlc, position, rows) VALUES(?, ?, ?, ?, ?)"
        deleteSQL = "DELETE FROM \(name) WHERE \(key) = (?, ?, ?)"
        mergeSQL = "SELECT applied, merging, owner, time, hlc, position, epoch FROM \(name)_merge"
        tailSQL = "SELECT rows FROM \(name)_tail WHERE first > ? ORDER BY first"
    }

    /// How far the tail has been merged into the base.
    struct Merge {
        /// Everything up to here is in the base.
        var applied = UInt64(0)
        /// The end of the generation that is being merged; `applied` when none is.
        var merging = UInt64(0)
        /// The last row of that generation that is in the base; all zero before the first, for refs begin at 1.
        var cursor = SortedRow.zero
        /// Drawn when the tables are made: what is in memory speaks of them only if it has the same.
        var epoch = Int64(0)

        /// Whether the base has a row of the tail.
        func covers(_ row: SortedRow) -> Bool {
            row.position <= applied || (row.position <= merging && row <= cursor)
        }
    }

    func merge(_ connection: Connection) throws(DatabaseError) -> Merge {
        let select = try connection.statement(mergeSQL)
        defer { select.reset() }
        guard try select.step() else {
            throw .damaged(.table("\(name)_merge"), "no progress")
        }
        return Merge(
            applied: select.uint64(0), merging: select.uint64(1),
            cursor: SortedRow(
                owner: select.int64(2), time: select.int64(3), hlc: select.int64(4), position: select.uint64(5)),
            epoch: select.int64(6))
    }

    /// Positions of rows that are to be passed over in the tail.
    func gone(_ connection: Connection) throws(DatabaseError) -> Set<UInt64> {
        let select = try connection.statement(goneSQL)
        defer { select.reset() }
        var gone: Set<UInt64> = []
        while try select.step() { gone.insert(select.uint64(0)) }
        return gone
    }

    /// Calls `body` with the rows of the tail whose first position is after `position`.
    func tail(
        _ connection: Connection, after position: UInt64 = 0, owner: Int64? = nil, _ body: (SortedRow) -> Void
    ) throws(DatabaseError) {
        let select = try connection.statement(tailSQL)
        defer { select.reset() }
        try select.bind(1, position)
        while try select.step() {
            guard select.withBytes(0, { SortedRow.unpack($0, owner: owner, body) }) else {
                throw .damaged(.table("\(name)_tail"), "a piece is cut off")
            }
        }
    }

    /// The owner's rows that are not in the base, in order, as of the open transaction.
    ///
    /// - Parameter known: What was taken from memory *before* the transaction began.
    func pending(
        _ owner: Int64, known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        let merge = try merge(connection)
        var rows: [SortedRow] = []
        var last = UInt64(0)
        if known.epoch == merge.epoch { (rows, last) = (known.rows, known.last) }
        try tail(connection, after: last, owner: owner) { rows.append($0) }
        guard !rows.isEmpty else { return [] }
        rows.removeAll(where: merge.covers)
        try dropGone(&rows, connection)
        rows.sort()
        // What was in memory beyond the last whole commit was found on disk again.
        var previous: SortedRow?
        rows.removeAll { row in
            defer { previous = row }
            return row == previous
        }
        return rows
    }

    /// Drops those of a few rows that are to be passed over.
    private func dropGone(_ rows: inout [SortedRow], _ connection: Connection) throws(DatabaseError) {
        if try connection.integer(anyGoneSQL) == nil { return }
        let select = try connection.statement(isGoneSQL)
        defer { select.reset() }
        var left: [SortedRow] = []
        for row in rows {
            try select.bind(1, row.position)
            if try !select.step() { left.append(row) }
            select.reset()
        }
        rows = left
    }

    /// Calls `body` with every row, in no particular order, as of the open transaction.
    func all(
        _ connection: Connection, _ body: (SortedRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        let select = try connection.statement("SELECT time, hlc, position, rows, \(column) FROM \(name)")
        defer { select.reset() }
        while try select.step() { for row in try rows(select, owner: select.int64(4)) { try body(row) } }
        var rows: [SortedRow] = []
        try pending(connection) { rows.append($0) }
        for row in rows { try body(row) }
    }

    /// Calls `body` with every row that is not in the base, in order of position, as of the open transaction.
    func pending(_ connection: Connection, _ body: (SortedRow) -> Void) throws(DatabaseError) {
        let merge = try merge(connection)
        let gone = try gone(connection)
        try tail(connection) { if !merge.covers($0), !gone.contains($0.position) { body($0) } }
    }

    /// The rows of the block that `select` stands on: time, hlc and position of the first, and what follows.
    func rows(_ select: Statement, owner: Int64) throws(DatabaseError) -> [SortedRow] {
        var rows: [SortedRow] = []
        rows.reserveCapacity(Block.limit / 8)
        let isWhole = select.withBytes(3) { Block.unpack(first(select, owner), $0) { rows.append($0) } }
        guard isWhole else { throw damaged(owner) }
        return rows
    }

    /// The block that `select` stands on.
    func block(_ select: Statement, owner: Int64) throws(DatabaseError) -> Block {
        guard let block = select.withBytes(3, { Block(first: first(select, owner), raw: $0) }) else {
            throw damaged(owner)
        }
        return block
    }

    private func first(_ select: Statement, _ owner: Int64) -> SortedRow {
        SortedRow(owner: owner, time: select.int64(0), hlc: select.int64(1), position: select.uint64(2))
    }

    private func damaged(_ owner: Int64) -> DatabaseError {
        .damaged(.table(name), "a block of \(column) \(owner) is cut off")
    }
}

extension Statement {
    /// Binds the key of a row from `index` on.
    func bind(_ index: Int, _ row: SortedRow) throws(DatabaseError) {
        try bind(index, row.owner)
        try bind(index + 1, row.time)
        try bind(index + 2, row.hlc)
        try bind(index + 3, row.position)
    }
}
