extension ViewReader {
    /// Rows found in one transaction, but for a group of equal (time, hlc), which is never parted.
    private static let page = 500
    /// Payload bytes after which events are handed out, before more are read (INV-9).
    private static let sliceBytes = 1 << 20

    /// Calls `body` with a user's events in display order until it returns false. Returns false if nothing matches.
    @discardableResult
    package func history(
        user: String, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        guard let ref = try log.ref(user) else { return false }
        return try entries(OrderedTable(table: "history", column: "user", owner: ref), query, body)
    }

    /// Calls `body` with a conversation's events in display order until it returns false. Returns false if nothing
    /// matches.
    @discardableResult
    package func conversation(
        _ id: String, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        guard let ref = try log.ref(id) else { return false }
        return try entries(OrderedTable(table: "timeline", column: "conversation", owner: ref), query, body)
    }

    private struct OrderedTable {
        let table: String
        let column: String
        let owner: Int64
    }

    /// A row: an event and the part of its display key that the table knows.
    private struct Key {
        let time: Int64
        /// ``HybridTime/ordered``.
        let hlc: Int64
        let position: UInt64

        func isTied(with other: Key) -> Bool { time == other.time && hlc == other.hlc }
    }

    private func entries(
        _ table: OrderedTable, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        var left =
            switch query.limit {
            case .all: Int.max
            case .first(let count), .last(let count): count
            }
        let types = try typeRefs(query)
        var start: DisplayKey?
        if case .last(let count) = query.limit, count > 0 {
            start = try seek(table, query, types, last: count)
        }
        var cursor = (start ?? query.after).map { Key(time: $0.time, hlc: $0.hlc.ordered, position: 0) }
        var found = false
        while left > 0 {
            let keys = try page(table, query, cursor, isBackward: false)
            guard let last = keys.last else { break }
            var rest = try inDisplayOrder(keys)[...]
            while left > 0, !rest.isEmpty {
                for entry in try slice(&rest, query, types, start) where left > 0 {
                    left -= 1
                    found = true
                    if !body(entry) { return true }
                }
            }
            cursor = last
        }
        return found
    }

    /// Where the last `count` of what matches begin. Walks backwards over rows without reading payloads or keeping more
    /// than a page.
    private func seek(
        _ table: OrderedTable, _ query: TimelineQuery, _ types: Set<Int64>?, last count: Int
    ) throws(StoreError) -> DisplayKey? {
        var left = count
        var cursor: Key?
        var first: DisplayKey?
        while true {
            let keys = try page(table, query, cursor, isBackward: true)
            guard let last = keys.last else { return first }
            for key in try inDisplayOrder(keys).reversed() {
                guard let display = try matching(key, query, types) else { continue }
                first = display
                left -= 1
                if left == 0 { return first }
            }
            if let after = query.after, last.time < after.time { return first }
            cursor = last
        }
    }

    /// The refs of the wanted types; `nil` if all are wanted.
    private func typeRefs(_ query: TimelineQuery) throws(StoreError) -> Set<Int64>? {
        guard !query.types.isEmpty else { return nil }
        var refs: Set<Int64> = []
        for type in query.types {
            if let ref = try log.ref(type) { refs.insert(ref) }
        }
        return refs
    }

    /// The display key of a row's event, if the query wants it. Reads header columns only.
    private func matching(
        _ key: Key, _ query: TimelineQuery, _ types: Set<Int64>?
    ) throws(StoreError) -> DisplayKey? {
        if let knownAt = query.knownAt, key.position > knownAt { return nil }
        return try mapped { () throws(SQLiteError) in
            let select = try log.connection.statement("SELECT type, origin, seq FROM event WHERE position = ?")
            defer { select.reset() }
            try select.bind(1, key.position)
            guard try select.step() else {
                throw SQLiteError(extendedCode: 11, message: "no event at \(key.position)", context: "event")
            }
            if let types, !types.contains(select.int64(0)) { return nil }
            let dot = Dot(origin: try log.names.origin(select.int64(1), on: log.connection), seq: select.uint64(2))
            let display = DisplayKey(time: key.time, hlc: HybridTime(ordered: key.hlc), dot: dot)
            if let after = query.after, display <= after { return nil }
            return display
        }
    }

    /// The next rows in table order, whole groups of equal (time, hlc) only, so that they can be put in display order.
    private func page(
        _ table: OrderedTable, _ query: TimelineQuery, _ cursor: Key?, isBackward: Bool
    ) throws(StoreError) -> [Key] {
        let (comparison, order) = isBackward ? ("<", "DESC") : (">", "ASC")
        let start = isBackward ? (Int64.max, Int64.max, Int64.max) : (Int64.min, Int64.min, Int64.min)
        return try reading { connection throws(SQLiteError) in
            func keys(_ select: Statement) throws(SQLiteError) -> [Key] {
                var keys: [Key] = []
                while try select.step() {
                    keys.append(Key(time: select.int64(0), hlc: select.int64(1), position: select.uint64(2)))
                }
                select.reset()
                return keys
            }
            let select = try connection.statement(
                """
                SELECT time, hlc, position FROM \(table.table)
                WHERE \(table.column) = ? AND (time, hlc, position) \(comparison) (?, ?, ?) AND time >= ? AND time < ?
                ORDER BY time \(order), hlc \(order), position \(order) LIMIT \(Self.page)
                """)
            try select.bind(1, table.owner)
            try select.bind(2, cursor?.time ?? start.0)
            try select.bind(3, cursor?.hlc ?? start.1)
            try select.bind(4, cursor.map { Int64(bitPattern: $0.position) } ?? start.2)
            try select.bind(5, query.since ?? Int64.min)
            try select.bind(6, query.until ?? Int64.max)
            var rows = try keys(select)
            guard rows.count == Self.page, let last = rows.last else { return rows }
            let rest = try connection.statement(
                """
                SELECT time, hlc, position FROM \(table.table)
                WHERE \(table.column) = ? AND time = ? AND hlc = ? AND position \(comparison) ?
                ORDER BY position \(order)
                """)
            try rest.bind(1, table.owner)
            try rest.bind(2, last.time)
            try rest.bind(3, last.hlc)
            try rest.bind(4, last.position)
            rows += try keys(rest)
            return rows
        }
    }

    /// Rows of a page, whichever way it was read, in display order: the dots in the log settle ties.
    private func inDisplayOrder(_ page: [Key]) throws(StoreError) -> [Key] {
        let isBackward = page.first.map { first in
            page.last.map { ($0.time, $0.hlc) < (first.time, first.hlc) } ?? false
        }
        let keys = isBackward == true ? Array(page.reversed()) : page
        var out: [Key] = []
        out.reserveCapacity(keys.count)
        var index = 0
        while index < keys.count {
            let end = keys[index...].firstIndex { !$0.isTied(with: keys[index]) } ?? keys.count
            if end - index == 1 {
                out.append(keys[index])
            } else {
                let dots = try mapped { () throws(SQLiteError) in
                    var dots: [(dot: Dot, key: Key)] = []
                    for key in keys[index..<end] { dots.append((try log.dot(at: key.position), key)) }
                    return dots
                }
                out += dots.sorted { $0.dot < $1.dot }.map(\.key)
            }
            index = end
        }
        return out
    }

    /// The next entries of `rest` that the query wants, with what became of them, in one transaction on the views.
    private func slice(
        _ rest: inout ArraySlice<Key>, _ query: TimelineQuery, _ types: Set<Int64>?, _ start: DisplayKey?
    ) throws(StoreError) -> [TimelineEntry] {
        var events: [StoredEvent] = []
        var bytes = 0
        try log.inOneTransaction { () throws(StoreError) in
            while bytes < Self.sliceBytes, let key = rest.popFirst() {
                guard let display = try matching(key, query, types) else { continue }
                if let start, display < start { continue }
                guard let event = try log.event(at: key.position) else {
                    throw .corrupt("the views name event \(key.position), which the log does not have")
                }
                bytes += event.event.payload?.count ?? 0
                events.append(event)
            }
        }
        return try reading { connection throws(SQLiteError) in
            var entries: [TimelineEntry] = []
            for event in events {
                let state = event.event.isMessage ? try MessagesView.load(event.event.header.id, connection) : nil
                entries.append(
                    TimelineEntry(
                        stored: event, edited: state?.edit?.text, edits: Int(state?.edits ?? 0),
                        isRetracted: state?.retraction != nil))
            }
            return entries
        }
    }
}
