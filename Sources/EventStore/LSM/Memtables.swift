/// The tail of a sorted table in memory: the immutable memtable, which is being compacted, and the one that grows.
///
/// ## Concurrency model
/// The projector's thread changes it, after each commit; readers on other threads look up one owner at a time, before they
/// begin a transaction.
final class Memtables: Sendable {
    /// What it knows of an owner.
    struct Found {
        var rows: [SortedRow] = []
        /// Everything of the tail up to this position is known.
        var last = UInt64(0)
        /// ``SortedTable/Compaction/epoch``.
        var epoch = Int64(0)
    }

    private struct State {
        var frozen = Memtable()
        var active = Memtable()
        var last = UInt64(0)
        var epoch = Int64(0)
    }

    /// How many rows readers wait for at a time.
    private static let slice = 1_024
    private let state = Lock(State())

    /// The owner's rows of the tail.
    func find(_ owner: Int64) -> Found {
        state.withLock { state in
            var found = Found(last: state.last, epoch: state.epoch)
            state.frozen.chain(owner) { found.rows.append($0) }
            state.active.chain(owner) { found.rows.append($0) }
            return found
        }
    }

    /// How many rows the growing generation has.
    var active: Int { state.withLock { $0.active.count } }

    /// Bytes of memory after which a generation is as large as it should become, however few rows those are: a tail takes
    /// about twice as many (INV-9).
    private static let generationBytes = 6 << 20

    /// Whether the growing generation has `rows` rows, or takes as much memory as it may.
    func isFull(_ rows: Int) -> Bool {
        state.withLock { $0.active.count >= rows || $0.active.bytes >= Self.generationBytes }
    }

    /// Forgets everything and takes in what is on disk.
    func load(_ table: SortedTable, _ compaction: SortedTable.Compaction, _ connection: Connection)
        throws(DatabaseError)
    {
        var fresh = State(last: compaction.applied, epoch: compaction.epoch)
        try table.tail(connection) { row in
            if row.position <= compaction.end { fresh.frozen.append(row) } else { fresh.active.append(row) }
            fresh.last = row.position
        }
        state.withLock { $0 = fresh }
    }

    /// Takes in rows that are in the tail on disk now, in order of position.
    func append(_ rows: [SortedRow]) {
        var rest = rows[...]
        while !rest.isEmpty {
            let slice = rest.prefix(Self.slice)
            rest.removeFirst(slice.count)
            state.withLock { state in
                state.active.append(slice)
                // Only whole commits count as known: a transaction may end between two slices, but not begin there.
                if rest.isEmpty { state.last = slice.last?.position ?? state.last }
            }
        }
    }

    /// Begins a new generation; gives the one that is to be compacted.
    func freeze() -> Memtable {
        state.withLock { state in
            (state.frozen, state.active) = (state.active, Memtable())
            return state.frozen
        }
    }

    var frozen: Memtable { state.withLock { $0.frozen } }

    /// Drops the generation that has been compacted.
    func dropFrozen() { state.withLock { $0.frozen = Memtable() } }
}
