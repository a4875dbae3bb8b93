/// Hears what compaction does: for what is kept beside the sorted run and has to say the same.
protocol CompactionListener {
    /// Rows of one owner stand in the run now.
    func entered(_ rows: ArraySlice<SortedRow>, of owner: Int64, _ connection: Connection)
        throws(DatabaseError)
    /// Rows of one owner that stand in it were hidden.
    func hid(_ rows: [SortedRow], of owner: Int64, _ connection: Connection) throws(DatabaseError)
}

/// Writes a sorted table: a log-structured merge tree of two levels (O'Neil et al., 1996), a memtable and one sorted run. One batch is
/// `insert` and `hide` for its events, `flush` in the transaction, and `committed` after it.
final class LSMTree {
    /// Rows of a tail that stand in one piece on disk.
    private static let piece = 2_048

    let table: SortedTable
    private let tail: Memtables
    private let generation: Int
    /// Has to be set before the first batch.
    var listener: (any CompactionListener)?
    private var compaction = SortedTable.Compaction()
    private var compactor: Compactor?
    /// Positions of rows of the tail that have been hidden.
    private var hidden: Set<UInt64> = []
    private var gathered: [SortedRow] = []
    /// Positions among ``gathered`` that came and were hidden in one batch.
    private var hiding: Set<UInt64> = []
    /// Rows of the run that are to be hidden.
    private var leaving: [SortedRow] = []

    init(_ table: SortedTable, tail: Memtables, generation: Int) {
        self.table = table
        self.tail = tail
        self.generation = generation
    }

    /// Takes up what is on disk, before the first batch.
    func load(_ connection: Connection) throws(DatabaseError) {
        compaction = try table.compaction(connection)
        hidden = try table.hidden(connection)
        try tail.load(table, compaction, connection)
        if compaction.end > compaction.applied { compactor = Compactor(tail.frozen, after: compaction.cursor) }
    }

    /// Whether a generation is being compacted.
    var isCompacting: Bool { compactor != nil }
    /// How many rows are not in the run.
    var pending: Int { tail.active + (compactor?.left ?? 0) }

    func insert(_ row: SortedRow) { gathered.append(row) }

    /// Hides a row, of this batch or an earlier one.
    func hide(_ row: SortedRow, _ connection: Connection) throws(DatabaseError) {
        if let first = gathered.first, row.position >= first.position {
            hiding.insert(row.position)
        } else if compaction.covers(row) {
            leaving.append(row)
        } else {
            let position = Int64(bitPattern: row.position)
            try connection.run("INSERT INTO \(table.name)_hidden VALUES(?)", .integer(position))
            hidden.insert(row.position)
        }
    }

    /// Puts the batch into the tail, and moves rows of the frozen generation into the run: more than came in, so that it is
    /// compacted before the next one is full.
    func flush(_ connection: Connection, atLeast rows: Int? = nil) throws(DatabaseError) {
        try hideInRun(connection)
        if !hiding.isEmpty { gathered = gathered.map { hiding.contains($0.position) ? $0.hidden : $0 } }
        hiding = []
        var rest = gathered[...]
        while let first = rest.first {
            let piece = rest.prefix(Self.piece)
            rest.removeFirst(piece.count)
            try connection.run(
                "INSERT INTO \(table.name)_tail VALUES(?, ?)", .unsigned(first.position),
                .blob(SortedRow.pack(piece)))
        }
        if compactor != nil {
            try compact(max(rows ?? min(100, generation / 8), gathered.count * 3 / 2), connection)
        }
    }

    /// Hides rows of the run, an owner's together: each of its blocks is then written once.
    private func hideInRun(_ connection: Connection) throws(DatabaseError) {
        guard !leaving.isEmpty else { return }
        let blocks = BlockStore(table: table, connection: connection)
        var rest = leaving.sorted()[...]
        while let first = rest.first {
            let rows = rest.prefix { $0.owner == first.owner }
            rest = rest.dropFirst(rows.count)
            let changed = try blocks.hide(rows)
            try listener?.hid(changed, of: first.owner, connection)
        }
        leaving = []
    }

    private func compact(_ count: Int, _ connection: Connection) throws(DatabaseError) {
        let blocks = BlockStore(table: table, connection: connection)
        var left = count
        while left > 0, let rows = compactor?.next(atMost: left), let last = rows.last {
            left -= rows.count
            compaction.cursor = last
            let coming = hidden.isEmpty ? rows : rows.map { hidden.contains($0.position) ? $0.hidden : $0 }[...]
            try blocks.insert(coming)
            try listener?.entered(coming, of: last.owner, connection)
        }
        if compactor?.left == 0 {
            compaction.applied = compaction.end
            for (name, key) in [("tail", "first"), ("hidden", "position")] {
                try connection.run(
                    "DELETE FROM \(table.name)_\(name) WHERE \(key) <= ?",
                    .unsigned(compaction.applied))
            }
        }
        try connection.run(
            "UPDATE \(table.name)_merge SET applied = ?, merging = ?, owner = ?, time = ?, hlc = ?, position = ?",
            .unsigned(compaction.applied), .unsigned(compaction.end),
            .integer(compaction.cursor.owner), .integer(compaction.cursor.time), .integer(compaction.cursor.hlc),
            .unsigned(compaction.cursor.position))
    }

    /// The batch is on disk: readers may see it in memory.
    func committed() {
        tail.append(gathered)
        gathered.removeAll(keepingCapacity: gathered.count <= Self.piece)
        if compactor?.left == 0 {
            compactor = nil
            tail.dropFrozen()
            hidden = hidden.filter { $0 > compaction.applied }
        }
        if compactor == nil, tail.isFull(generation) { freeze() }
    }

    /// Begins to compact what there is, full or not.
    func freeze() {
        guard compactor == nil, tail.active > 0 else { return }
        let generation = tail.freeze()
        compaction.end = generation.last
        compaction.cursor = .zero
        compactor = Compactor(generation, after: compaction.cursor)
    }
}

/// The rows of a generation in key order, without sorting them all at once.
struct Compactor {
    /// How many rows are still to come.
    private(set) var left: Int
    private let generation: Memtable
    private let owners: [Int64]
    private var nextOwner = 0
    /// The chains of the next owners, the next one last; newest row first.
    private var loaded: [[SortedRow]] = []
    private var rows: ArraySlice<SortedRow> = []

    /// How many owners' rows are in memory at a time.
    private static let atOnce = 16

    /// Begins after `cursor`.
    init(_ generation: Memtable, after cursor: SortedRow) {
        self.generation = generation
        owners = generation.owners.filter { $0 >= cursor.owner }.sorted()
        var passed = 0
        for owner in generation.owners where owner <= cursor.owner {
            generation.chain(owner) { if $0 <= cursor { passed += 1 } }
        }
        left = generation.count - passed
        if owners.first == cursor.owner {
            load()
            rows = rows.drop { $0 <= cursor }
        }
    }

    /// The next rows, all of one owner; `nil` at the end.
    mutating func next(atMost limit: Int) -> ArraySlice<SortedRow>? {
        while rows.isEmpty {
            guard nextOwner < owners.count else { return nil }
            load()
        }
        let next = rows.prefix(limit)
        rows = rows.dropFirst(limit)
        left -= next.count
        return next
    }

    private mutating func load() {
        if loaded.isEmpty { loaded = generation.chains(owners[nextOwner...].prefix(Self.atOnce)).reversed() }
        nextOwner += 1
        guard var chain = loaded.popLast() else { return }
        chain.reverse()
        // Mostly they came in order.
        if !zip(chain, chain.dropFirst()).allSatisfy({ $0 < $1 }) { chain.sort() }
        rows = chain[...]
    }
}
