/// When events came to this node: table `arrival`, sparse. A row says that the event at `position` came at `time`, by this node's clock, and
/// those behind it within the second, up to the next row. It is no part of what is proven, and no other node gets it.
struct Arrivals {
    /// Milliseconds that events of one row may be apart.
    static let span: Int64 = 1_000

    /// Stores of earlier releases get the table when they are opened for writing.
    static let table = """
        CREATE TABLE IF NOT EXISTS arrival(position INTEGER PRIMARY KEY, time INTEGER NOT NULL);
        """

    /// The time of the last row.
    private var last: Int64?

    /// - Throws: Where the table is missing or damaged.
    init(_ connection: Connection) throws(DatabaseError) {
        // A time that none noted is no reason not to note others: 'verify' names it.
        last = try connection.integer("SELECT time FROM arrival ORDER BY position DESC LIMIT 1")
            .flatMap { Limits.clock.contains($0) ? $0 : nil }
    }

    /// What is wrong with a row; `nil` for one that can have been noted.
    static func fault(position: Int64, time: Int64) -> String? {
        if position < 1 || position > Int64(Limits.number) { return "there is no position \(position)" }
        return Limits.clock.contains(time) ? nil : "the time at position \(position) is out of range"
    }

    /// Notes in the open transaction that the event at `position`, and perhaps others behind it, came just now.
    mutating func note(_ position: UInt64, at now: Int64, on connection: Connection) throws(DatabaseError) {
        // A clock that was set back begins a new row, too.
        if let last, now >= last, now - last < Self.span { return }
        // A row that no event came with is no reason not to note this one.
        let insert = try connection.statement("INSERT OR REPLACE INTO arrival(position, time) VALUES(?, ?)")
        defer { insert.reset() }
        try insert.bind(1, position)
        try insert.bind(2, now)
        _ = try insert.step()
        last = now
    }
}

/// What a log held at a moment.
package struct KnownPlace: Hashable, Sendable {
    /// Where it ended.
    package let position: UInt64
    /// False where some of the last events may have come up to a second later, or where it was not kept when events came: then it
    /// goes by the times at which they were recorded.
    package let isExact: Bool
}

extension LogReader {
    /// How far this log reached at `time`, Unix milliseconds. Where the node's clock was set back meanwhile, one of the moments that had
    /// this time.
    package func known(at time: Int64) throws(StoreError) -> KnownPlace {
        let top = try top()
        return try mapped { () throws(DatabaseError) in
            let isKept = try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'arrival'") != nil
            let first = isKept ? try row("position >= ? ORDER BY position", 0) : nil
            guard let first, first.time <= time else {
                let end = first.map { min($0.position - 1, top) } ?? top
                return KnownPlace(position: try recorded(by: time, upTo: end), isExact: end == 0)
            }
            var (found, low, high) = (first, first.position, top)
            while low < high {
                let middle = low + (high - low + 1) / 2
                guard let row = try row("position <= ? ORDER BY position DESC", middle) else { break }
                if row.time <= time { (found, low) = (row, middle) } else { high = row.position - 1 }
            }
            let next = try row("position > ? ORDER BY position", found.position)
            return KnownPlace(
                position: next.map { min($0.position - 1, top) } ?? top, isExact: time - found.time >= Arrivals.span)
        }
    }

    /// When the event with this dot came to this node, Unix milliseconds, within a second; `nil` where that was not kept.
    package func arrival(of dot: Dot) throws(StoreError) -> Int64? {
        try mapped { () throws(DatabaseError) in
            guard try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'arrival'") != nil,
                let ref = try names.originRef(dot.origin, on: connection),
                let position = try connection.integer(
                    "SELECT position FROM event WHERE origin = ? AND seq = ?", .integer(ref), .unsigned(dot.seq))
            else { return nil }
            return try row("position <= ? ORDER BY position DESC", UInt64(bitPattern: position))?.time
        }
    }

    private func row(_ condition: String, _ position: UInt64) throws(DatabaseError) -> (
        position: UInt64, time: Int64
    )? {
        let select = try connection.statement("SELECT position, time FROM arrival WHERE \(condition) LIMIT 1")
        defer { select.reset() }
        try select.bind(1, position)
        guard try select.step() else { return nil }
        let (found, time) = (select.int64(0), select.int64(1))
        if let fault = Arrivals.fault(position: found, time: time) { throw .damaged(.table("arrival"), fault) }
        return (UInt64(found), time)
    }

    /// The last of the first events up to `end` that was recorded by `time`: of one origin they lie in this order, of several nearly.
    private func recorded(by time: Int64, upTo end: UInt64) throws(DatabaseError) -> UInt64 {
        var (low, high) = (UInt64(0), end)
        while low < high {
            let middle = low + (high - low + 1) / 2
            let hlc = try connection.integer("SELECT hlc FROM event WHERE position = ?", .integer(Int64(middle)))
            if let hlc, HybridTime(rawValue: UInt64(bitPattern: hlc)).milliseconds <= time {
                low = middle
            } else {
                high = middle - 1
            }
        }
        return low
    }
}
