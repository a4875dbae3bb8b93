/// A table of rows in key order for each owner, written behind (D1), many rows in one block
/// (``Block``), which stands under the key of its first.
///
/// New rows stand packed in its *tail*, in order of position. They are moved into the table itself, the *sorted run*, one generation at a
/// time in key order. So a leaf page of a large table is written once for a generation and not once for each of its rows. One row of
/// progress says what has been moved. All of it changes in the same transaction as the rows (D1).
///
/// ```
/// position: 1 ............ applied .............. end .............. last
///           | all in run   | in run iff         | in the tail
///           |              | row <= cursor      |
/// ```
struct SortedTable {
    let name: String
    /// Which column is the owner.
    let column: String
    /// The names of its tables.
    let tables: [String]
    /// Makes them.
    let schema: String
    /// Rows of the tail that have been hidden since they came; in the run a row says so itself.
    let hiddenSQL: String
    let anyHiddenSQL: String
    let isHiddenSQL: String
    /// All blocks in order.
    let allSQL: String
    let compactionSQL: String
    let tailSQL: String
    /// The owner's blocks that begin after a key, in order.
    let followingSQL: String
    /// The owner's blocks that begin with a key or before it, the last one first.
    let precedingSQL: String
    let saveSQL: String

    /// - Parameter column: What the column of the owner is named.
    init(_ name: String, column: String) {
        self.name = name
        self.column = column
        tables = [name, "\(name)_tail", "\(name)_hidden", "\(name)_merge"]
        schema = """
            CREATE TABLE \(name)(
              \(column) INTEGER, time INTEGER, hlc INTEGER, position INTEGER,
              rows BLOB NOT NULL,
              PRIMARY KEY(\(column), time, hlc, position)
            ) WITHOUT ROWID;
            CREATE TABLE \(name)_tail(first INTEGER PRIMARY KEY, rows BLOB NOT NULL);
            CREATE TABLE \(name)_hidden(position INTEGER PRIMARY KEY);
            CREATE TABLE \(name)_merge(
              applied INTEGER NOT NULL, merging INTEGER NOT NULL,
              owner INTEGER NOT NULL, time INTEGER NOT NULL, hlc INTEGER NOT NULL, position INTEGER NOT NULL,
              epoch INTEGER NOT NULL
            );
            INSERT INTO \(name)_merge VALUES(0, 0, 0, 0, 0, 0, random());
            """
        hiddenSQL = "SELECT position FROM \(name)_hidden"
        anyHiddenSQL = "\(hiddenSQL) LIMIT 1"
        allSQL = "SELECT time, hlc, position, rows, \(column) FROM \(name) ORDER BY \(column), time, hlc, position"
        isHiddenSQL = "\(hiddenSQL) WHERE position = ?"
        let key = "\(column) = ? AND (time, hlc, position)"
        let blocks = "SELECT time, hlc, position, rows FROM \(name) WHERE \(key)"
        followingSQL = "\(blocks) > (?, ?, ?) ORDER BY time, hlc, position"
        precedingSQL = "\(blocks) <= (?, ?, ?) ORDER BY time DESC, hlc DESC, position DESC"
        saveSQL = "INSERT OR REPLACE INTO \(name)(\(column), time, hlc, position, rows) VALUES(?, ?, ?, ?, ?)"
        compactionSQL = "SELECT applied, merging, owner, time, hlc, position, epoch FROM \(name)_merge"
        tailSQL = "SELECT rows FROM \(name)_tail WHERE first > ? ORDER BY first"
    }

    /// How far the tail has been compacted into the run.
    struct Compaction {
        /// Everything up to here is in the run.
        var applied = UInt64(0)
        /// The end of the generation that is being compacted; `applied` when none is.
        var end = UInt64(0)
        /// The last row of that generation that is in the run; all zero before the first, for refs begin at 1.
        var cursor = SortedRow.zero
        /// Drawn when the tables are made: what is in memory speaks of them only if it has the same.
        var epoch = Int64(0)

        /// Whether the run has a row of the tail.
        func covers(_ row: SortedRow) -> Bool {
            row.position <= applied || (row.position <= end && row <= cursor)
        }
    }

    func compaction(_ connection: Connection) throws(DatabaseError) -> Compaction {
        let select = try connection.statement(compactionSQL)
        defer { select.reset() }
        guard try select.step() else {
            throw .damaged(.table("\(name)_merge"), "no progress")
        }
        return Compaction(
            applied: select.uint64(0), end: select.uint64(1),
            cursor: SortedRow(
                owner: select.int64(2), time: select.int64(3), hlc: select.int64(4), position: select.uint64(5)),
            epoch: select.int64(6))
    }

    /// Positions of rows of the tail that have been hidden.
    func hidden(_ connection: Connection) throws(DatabaseError) -> Set<UInt64> {
        var hidden: Set<UInt64> = []
        try connection.rows(hiddenSQL) { hidden.insert($0.uint64(0)) }
        return hidden
    }

    /// Whether a row of the tail has been hidden; `nil` if none has.
    func hiddenRows(
        _ connection: Connection
    ) throws(DatabaseError) -> ((SortedRow) throws(DatabaseError) -> Bool)? {
        if try connection.integer(anyHiddenSQL) == nil { return nil }
        let select = try connection.statement(isHiddenSQL)
        return { row throws(DatabaseError) in
            defer { select.reset() }
            try select.bind(1, row.position)
            return try select.step()
        }
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

    /// The owner's rows that are not in the run, in order, as of the open transaction.
    ///
    /// - Parameter known: What was taken from memory *before* the transaction began.
    func pending(
        _ owner: Int64, known: Memtables.Found, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        var rows = try unmarked(owner, known: known, try compaction(connection), connection)
        guard !rows.isEmpty, let isHidden = try hiddenRows(connection) else { return rows }
        for index in rows.indices where try isHidden(rows[index]) { rows[index].isHidden = true }
        return rows
    }

    /// The same; rows that were hidden since they came do not say so.
    func unmarked(
        _ owner: Int64, known: Memtables.Found, _ compaction: Compaction, _ connection: Connection
    ) throws(DatabaseError) -> [SortedRow] {
        var rows: [SortedRow] = []
        var last = UInt64(0)
        if known.epoch == compaction.epoch { (rows, last) = (known.rows, known.last) }
        try tail(connection, after: last, owner: owner) { rows.append($0) }
        rows.removeAll(where: compaction.covers)
        rows.sort()
        // What was in memory beyond the last whole commit was found on disk again.
        var previous: SortedRow?
        rows.removeAll { row in
            defer { previous = row }
            return row == previous
        }
        return rows
    }

    /// Calls `body` with every row of the run, an owner's after the other, hidden ones too, as of the open transaction.
    func run(
        _ connection: Connection, _ body: (SortedRow) throws(DatabaseError) -> Void
    ) throws(DatabaseError) {
        try connection.rows(allSQL) { block throws(DatabaseError) in
            for row in try rows(block, owner: block.int64(4)) { try body(row) }
        }
    }

    /// Calls `body` with every row that is not in the run, hidden ones too, in order of position, as of the open transaction.
    func pending(_ connection: Connection, _ body: (SortedRow) -> Void) throws(DatabaseError) {
        let compaction = try compaction(connection)
        let hidden = try hidden(connection)
        try tail(connection) { row in
            if !compaction.covers(row) { body(hidden.contains(row.position) ? row.hidden : row) }
        }
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

    /// The first row of the block that `select` stands on, by its key.
    func first(_ select: Statement, _ owner: Int64) -> SortedRow {
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
