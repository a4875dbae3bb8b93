/// What the rows of an owner in the base come to, kept beside them.
protocol BaseSum {
    /// Takes note of rows of one owner that have come.
    static func add(_ rows: ArraySlice<SortedRow>, to owner: Int64, _ connection: Connection) throws(DatabaseError)
    /// Takes note of rows that are gone; they are not in the base any longer.
    static func subtract(_ rows: [SortedRow], of owner: Int64, _ connection: Connection) throws(DatabaseError)
}

/// Writes an ordered table. One batch is `insert` and `remove` for its events, `flush` in the transaction, and `committed` after
/// it.
final class LSMTree {
    /// Rows of a tail that stand in one piece on disk.
    private static let piece = 2_048

    let table: SortedTable
    private let tail: Memtables
    private let generation: Int
    private let sum: (any BaseSum.Type)?
    private var merge = SortedTable.Merge()
    private var merger: RowMerger?
    private var gone: Set<UInt64> = []
    private var gathered: [SortedRow] = []
    /// Positions among ``gathered`` that came and went in one batch.
    private var dropped: Set<UInt64> = []
    /// Rows of the base that are to be taken out.
    private var leaving: [SortedRow] = []

    init(_ table: SortedTable, tail: Memtables, generation: Int, sum: (any BaseSum.Type)? = nil) {
        self.table = table
        self.tail = tail
        self.generation = generation
        self.sum = sum
    }

    /// Takes up what is on disk, before the first batch.
    func load(_ connection: Connection) throws(DatabaseError) {
        merge = try table.merge(connection)
        gone = try table.gone(connection)
        try tail.load(table, merge, connection)
        if merge.merging > merge.applied { merger = RowMerger(tail.frozen, after: merge.cursor) }
    }

    /// Whether a generation is being merged.
    var isMerging: Bool { merger != nil }
    /// How many rows are not in the base.
    var pending: Int { tail.active + (merger?.left ?? 0) }

    func insert(_ row: SortedRow) { gathered.append(row) }

    /// Takes out a row, of this batch or an earlier one.
    func remove(_ row: SortedRow, _ connection: Connection) throws(DatabaseError) {
        if let first = gathered.first, row.position >= first.position {
            dropped.insert(row.position)
        } else if merge.covers(row) {
            leaving.append(row)
        } else {
            try connection.run("INSERT INTO \(table.name)_gone VALUES(?)", .integer(Int64(bitPattern: row.position)))
            gone.insert(row.position)
        }
    }

    /// The owner's rows that are not in the base, those of the batch at hand included.
    func pending(_ owner: Int64) -> [SortedRow] {
        (tail.find(owner).rows + gathered.filter { $0.owner == owner })
            .filter { !merge.covers($0) && !gone.contains($0.position) }
    }

    /// Puts the batch into the tail, and moves rows of the frozen generation into the base: more than came in, so that it is
    /// merged before the next one is full.
    func flush(_ connection: Connection, atLeast rows: Int? = nil) throws(DatabaseError) {
        try takeOut(connection)
        if !dropped.isEmpty { gathered.removeAll { dropped.contains($0.position) } }
        dropped = []
        var rest = gathered[...]
        while let first = rest.first {
            let piece = rest.prefix(Self.piece)
            rest.removeFirst(piece.count)
            try connection.run(
                "INSERT INTO \(table.name)_tail VALUES(?, ?)", .integer(Int64(bitPattern: first.position)),
                .blob(SortedRow.pack(piece)))
        }
        if merger != nil {
            try mergeRows(max(rows ?? min(1_000, generation / 8), gathered.count * 3 / 2), connection)
        }
    }

    /// Takes rows out of the base, an owner's together: each of its blocks is then written once.
    private func takeOut(_ connection: Connection) throws(DatabaseError) {
        guard !leaving.isEmpty else { return }
        let blocks = BlockStore(table: table, connection: connection)
        var rest = leaving.sorted()[...]
        while let first = rest.first {
            let rows = rest.prefix { $0.owner == first.owner }
            rest = rest.dropFirst(rows.count)
            let removed = try blocks.remove(rows)
            try sum?.subtract(removed, of: first.owner, connection)
        }
        leaving = []
    }

    private func mergeRows(_ count: Int, _ connection: Connection) throws(DatabaseError) {
        let blocks = BlockStore(table: table, connection: connection)
        var left = count
        while left > 0, let rows = merger?.next(atMost: left), let last = rows.last {
            left -= rows.count
            merge.cursor = last
            let coming = gone.isEmpty ? rows : rows.filter { !gone.contains($0.position) }[...]
            try blocks.insert(coming)
            try sum?.add(coming, to: last.owner, connection)
        }
        if merger?.left == 0 {
            merge.applied = merge.merging
            for (name, key) in [("tail", "first"), ("gone", "position")] {
                try connection.run(
                    "DELETE FROM \(table.name)_\(name) WHERE \(key) <= ?", .integer(Int64(bitPattern: merge.applied)))
            }
        }
        try connection.run(
            "UPDATE \(table.name)_merge SET applied = ?, merging = ?, owner = ?, time = ?, hlc = ?, position = ?",
            .integer(Int64(bitPattern: merge.applied)), .integer(Int64(bitPattern: merge.merging)),
            .integer(merge.cursor.owner), .integer(merge.cursor.time), .integer(merge.cursor.hlc),
            .integer(Int64(bitPattern: merge.cursor.position)))
    }

    /// The batch is on disk: readers may see it in memory.
    func committed() {
        tail.append(gathered)
        gathered.removeAll(keepingCapacity: gathered.count <= Self.piece)
        if merger?.left == 0 {
            merger = nil
            tail.dropFrozen()
            gone = gone.filter { $0 > merge.applied }
        }
        if merger == nil, tail.isFull(generation) { freeze() }
    }

    /// Begins to merge what there is, full or not.
    func freeze() {
        guard merger == nil, tail.active > 0 else { return }
        let generation = tail.freeze()
        merge.merging = generation.last
        merge.cursor = .zero
        merger = RowMerger(generation, after: merge.cursor)
    }
}

/// The rows of a generation in key order, without sorting them all at once.
struct RowMerger {
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
