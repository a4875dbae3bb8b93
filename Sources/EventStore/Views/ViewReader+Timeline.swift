extension ViewReader {
    /// Rows found in one transaction, but for a group of equal (time, hlc), which is never parted.
    private static let page = 500
    /// Rows of which only the positions are wanted.
    static let positionPage = 8_192
    /// Payload bytes after which events are handed out, before more are read (INV-9).
    private static let sliceBytes = 1 << 20

    /// Calls `body` with a user's events in display order until it returns false. Returns false if nothing matches.
    @discardableResult
    package func history(
        user: String, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        guard let table = try rows(of: .user(user)) else { return false }
        return try entries(table, query, body)
    }

    /// Calls `body` with a conversation's events in display order until it returns false. Returns false if nothing
    /// matches.
    @discardableResult
    package func conversation(
        _ id: String, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        guard let table = try rows(of: .conversation(id)) else { return false }
        return try entries(table, query, body)
    }

    /// The positions in the log of a user's events, in display order. Reads rows alone, and no event.
    package func positions(user: String, _ query: TimelineQuery) throws(StoreError) -> [UInt64] {
        guard let table = try rows(of: .user(user)) else { return [] }
        return try positions(table, query)
    }

    /// As ``positions(user:_:)``, of a conversation's events.
    package func positions(conversation: String, _ query: TimelineQuery) throws(StoreError) -> [UInt64] {
        guard let table = try rows(of: .conversation(conversation)) else { return [] }
        return try positions(table, query)
    }

    private func positions(_ table: OwnerRows, _ query: TimelineQuery) throws(StoreError) -> [UInt64] {
        guard let filter = try filter(query, table) else { return [] }
        var table = table
        var positions: [UInt64] = []
        var cursor: SortedRow?
        while true {
            let rows = try page(&table, filter, cursor, limit: Self.positionPage, isBackward: false).rows
            guard let last = rows.last else { return positions }
            positions += try inDisplayOrder(rows).map(\.position)
            cursor = last
        }
    }

    /// The newest of what matches before `bound`, newest first: at most `limit`, no more once their payloads come to a MiB, and no
    /// more than what few rows show (``mostRows``).
    ///
    /// - Parameter viewer: What they do not see is not on the page, and costs it nothing but rows; `nil`: all is seen.
    package func newest(
        _ limit: Int, of owner: TimelineOwner, _ query: TimelineQuery = TimelineQuery(),
        before bound: DisplayKey? = nil, for viewer: TimelineViewer? = nil
    ) throws(StoreError) -> TimelinePage {
        try bounded(limit, of: owner, query, beyond: bound, isBackward: true, viewer)
    }

    /// The oldest of what matches after `bound`, in display order, bounded as ``newest(_:of:_:before:for:)``.
    package func oldest(
        _ limit: Int, of owner: TimelineOwner, _ query: TimelineQuery = TimelineQuery(),
        after bound: DisplayKey? = nil, for viewer: TimelineViewer? = nil
    ) throws(StoreError) -> TimelinePage {
        try bounded(limit, of: owner, query, beyond: bound, isBackward: false, viewer)
    }

    private func bounded(
        _ limit: Int, of owner: TimelineOwner, _ query: TimelineQuery, beyond bound: DisplayKey?, isBackward: Bool,
        _ viewer: TimelineViewer?
    ) throws(StoreError) -> TimelinePage {
        guard var table = try rows(of: owner) else { return TimelinePage() }
        var known = try filter(query, table)
        // A name that the log does not know costs what any other does: else it would tell whether the log knows it.
        if known == nil, viewer?.sees != nil { known = RowFilter(query: query, condition: { _ in false }) }
        guard let filter = known else { return TimelinePage() }
        let sight = try viewer.flatMap { viewer throws(StoreError) in try RowSight(viewer, filter.condition, log) }
        let limit = min(max(limit, 1), Self.page)
        // Of those that are tied with the bound, only the dots tell which lie beyond it, unless it lies beyond all of them.
        var cursor = bound.map { bound in
            let withTied = bound.dot != .edge(isBackward: isBackward)
            let position = withTied == isBackward ? UInt64(Int64.max) : 0
            return SortedRow(owner: table.owner, time: bound.time, hlc: bound.hlc.ordered, position: position)
        }
        while true {
            var rows = OwnerRows.Found()
            var (isCut, isShort, position) = (false, false, UInt64(0))
            var found = try inOneReading { () throws(StoreError) in
                rows = try page(
                    &table, filter, cursor, limit: limit + 1, isBackward: isBackward, most: mostRows, term, sight)
                var wanted = try inDisplayOrder(rows.rows)
                if isBackward { wanted.reverse() }
                if let bound {
                    while let row = wanted.first, try !isBeyond(row, bound, isBackward) { wanted.removeFirst() }
                }
                var rest = wanted.prefix(limit)
                let slice = rest.isEmpty ? Slice(events: [], amendments: [:]) : try slice(&rest, filter, term)
                (isCut, isShort) = (slice.events.count < wanted.count, !rest.isEmpty)
                position = try progress()
                return slice
            }
            if let viewer {
                found.amendments = try amendments(
                    found.events, knownAt: filter.query.knownAt ?? .max, asOf: filter.query.asOf ?? .max,
                    seenBy: viewer.isSeen)
            }
            let isFull = rows.rows.count > limit
            if found.events.isEmpty, isFull, let last = rows.rows.last {
                // All of them are tied with the bound, and none lies beyond it.
                cursor = last
                continue
            }
            var result = TimelinePage()
            result.position = position
            var left = Self.sliceBytes
            let isWhole = try hand(found) { entry in
                result.entries.append(entry)
                left -= entry.bytes
                return left > 0
            }
            if isCut || isFull || !isWhole {
                result.next = result.entries.last?.key
                if isShort || !isWhole { result.cut = isWhole && term?.isDue == true ? .time : .bytes }
            } else {
                result.next = rows.end.map { DisplayKey($0, isBackward: isBackward) }
                if sight != nil {
                    result.next = result.next?.veiled(
                        from: result.entries.last?.key ?? bound, isBackward: isBackward)
                }
                result.cut = rows.cut
            }
            return result
        }
    }

    /// `nil` if the log does not know the owner.
    func rows(of owner: TimelineOwner) throws(StoreError) -> OwnerRows? {
        switch owner {
        case .user(let user):
            try log.ref(user).map { OwnerRows(.history, tails.history, owner: $0) }
        case .conversation(let id):
            try log.ref(id).map { OwnerRows(.timeline, tails.timeline, owner: $0) }
        }
    }

    private func isBeyond(_ row: SortedRow, _ bound: DisplayKey, _ isBackward: Bool) throws(StoreError) -> Bool {
        guard (row.time, row.hlc) == (bound.time, bound.hlc.ordered) else { return true }
        return isBackward ? try display(row) < bound : try display(row) > bound
    }

    /// What is wanted of rows, in terms of the log.
    struct RowFilter {
        var query = TimelineQuery()
        /// What a row has to say; `nil`: anything.
        var condition: (@Sendable (SortedRow) -> Bool)?
        /// Only this entry and those after it.
        var from: DisplayKey?

        /// Whether a row alone tells that it is wanted.
        var isPlain: Bool { from == nil && query.after == nil }
    }

    /// What rows have to say that a query wants; `nil` if nothing in the log can match.
    func filter(_ query: TimelineQuery, _ table: OwnerRows) throws(StoreError) -> RowFilter? {
        guard let types = try refs(query.types), let contexts = try refs(query.conversations),
            var authors = try refs(query.authors)
        else { return nil }
        // In a history the owner stands as 0.
        if table.table.name == SortedTable.history.name, authors.remove(table.owner) != nil { authors.insert(0) }
        var query = query
        if let time = query.knownTime {
            let known = try log.known(at: time).position
            (query.knownAt, query.knownTime) = (min(query.knownAt ?? known, known), nil)
        }
        // Positions are SQLite's integers.
        query.knownAt = query.knownAt.map { min($0, UInt64(Int64.max)) }
        var filter = RowFilter(query: query)
        let knownAt = filter.query.knownAt
        guard knownAt != nil || !(types.isEmpty && contexts.isEmpty && authors.isEmpty) else { return filter }
        filter.condition = { [authors] row in
            if let knownAt, row.position > knownAt { return false }
            return (types.isEmpty || types.contains(row.tags.type))
                && (contexts.isEmpty || contexts.contains(row.tags.context))
                && (authors.isEmpty || authors.contains(row.tags.author))
        }
        return filter
    }

    /// The refs of those texts that the log knows; `nil` if there are texts, and it knows none of them.
    private func refs(_ texts: [String]) throws(StoreError) -> Set<Int64>? {
        var refs: Set<Int64> = []
        for text in texts { if let ref = try log.ref(text) { refs.insert(ref) } }
        return refs.isEmpty && !texts.isEmpty ? nil : refs
    }

    private func entries(
        _ table: OwnerRows, _ query: TimelineQuery, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        guard var filter = try filter(query, table) else { return false }
        var table = table
        var left = Int.max
        switch query.limit {
        case .all: break
        case .first(let count): left = count
        case .last(let count) where count <= Self.page && filter.isPlain:
            return try newest(count, &table, filter, body)
        case .last(let count):
            left = count
            switch try tail(&table, filter, count) {
            case .keys(let keys):
                _ = try emit(keys[...], filter, body)
                return !keys.isEmpty
            case .from(let first): filter.from = first
            }
        }
        var cursor = (filter.from ?? query.after).map {
            SortedRow(owner: table.owner, time: $0.time, hlc: $0.hlc.ordered, position: 0)
        }
        var found = false
        while left > 0 {
            let keys = try page(&table, filter, cursor, limit: min(left, Self.page), isBackward: false).rows
            guard let last = keys.last else { break }
            let wanted = try matching(try inDisplayOrder(keys), filter).prefix(left)
            left -= wanted.count
            found = found || !wanted.isEmpty
            if try !emit(wanted, filter, body) { return true }
            cursor = last
        }
        return found
    }

    /// The last `count` entries, a page at most: rows and what became of them in one transaction of the views.
    private func newest(
        _ count: Int, _ table: inout OwnerRows, _ filter: RowFilter, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        var rest: ArraySlice<SortedRow> = []
        let found = try inOneReading { () throws(StoreError) in
            let rows = try page(&table, filter, nil, limit: count, isBackward: true).rows
            rest = try inDisplayOrder(rows).suffix(count)
            return try slice(&rest, filter)
        }
        if try hand(found, to: body) { _ = try emit(rest, filter, body) }
        return !found.events.isEmpty
    }

    private enum Tail {
        /// All of them, in display order.
        case keys([SortedRow])
        /// The first of them: they are too many to keep.
        case from(DisplayKey)
    }

    /// The last `count` of what matches. Walks backwards over rows without reading payloads.
    private func tail(_ table: inout OwnerRows, _ filter: RowFilter, _ count: Int) throws(StoreError) -> Tail {
        var left = count
        var cursor: SortedRow?
        var first: SortedRow?
        var kept: [SortedRow] = []
        while left > 0 {
            let keys = try page(&table, filter, cursor, limit: min(left, Self.page), isBackward: true).rows
            guard let last = keys.last else { break }
            let wanted = try matching(try inDisplayOrder(keys), filter).reversed().prefix(left)
            left -= wanted.count
            first = wanted.last ?? first
            if count <= tailCapacity { kept += wanted }
            if let after = filter.query.after, last.time < after.time { break }
            cursor = last
        }
        guard let first, count > tailCapacity else { return .keys(kept.reversed()) }
        return .from(try display(first))
    }

    private func display(_ key: SortedRow) throws(StoreError) -> DisplayKey {
        let dot = try mapped { () throws(DatabaseError) in try log.dot(at: key.position) }
        return DisplayKey(time: key.time, hlc: HybridTime(ordered: key.hlc), dot: dot)
    }

    /// The rows that are wanted. Asks the log only where the dot decides.
    private func matching(_ keys: [SortedRow], _ filter: RowFilter) throws(StoreError) -> [SortedRow] {
        if filter.isPlain { return keys }
        var wanted: [SortedRow] = []
        try log.inOneTransaction { () throws(StoreError) in
            for key in keys {
                if let after = filter.query.after, try !isAfter(key, after, orEqual: false) { continue }
                if let from = filter.from, try !isAfter(key, from, orEqual: true) { continue }
                wanted.append(key)
            }
        }
        return wanted
    }

    private func isAfter(_ key: SortedRow, _ other: DisplayKey, orEqual: Bool) throws(StoreError) -> Bool {
        let order = (key.time, key.hlc)
        let bound = (other.time, other.hlc.ordered)
        guard order == bound else { return order > bound }
        let own = try display(key)
        return orEqual ? own >= other : own > other
    }

    /// The next rows, whole groups of equal (time, hlc) only, so that they can be put in display order.
    func page(
        _ rows: inout OwnerRows, _ filter: RowFilter, _ cursor: SortedRow?, limit: Int, isBackward: Bool,
        most: Int = .max, _ term: AnswerTerm? = nil, _ sight: RowSight? = nil
    ) throws(StoreError) -> OwnerRows.Found {
        var range = RowRange(
            owner: rows.owner, since: filter.query.since ?? Int64.min, until: filter.query.end,
            cursor: cursor, isBackward: isBackward)
        range.withHidden = filter.query.withTwins
        // What a viewer sees is judged before anything else, so that cuts by rows are the same whatever is asked for.
        range.condition = sight == nil ? filter.condition : nil
        (range.most, range.term) = (sight == nil ? most : .max, term)
        let knownAt = range.withHidden ? nil : filter.query.knownAt
        guard knownAt != nil || sight != nil else { return try found(&rows, range, limit) }
        // A twin that came later may have hidden what counted then.
        if knownAt != nil { range.withHidden = true }
        var piece = limit
        var counting = OwnerRows.Found()
        var looked = 0
        while true {
            let found = try found(&rows, range, piece)
            try log.inOneTransaction { () throws(StoreError) in
                for row in found.rows {
                    if row.isHidden, let knownAt, try !log.counted(row.position, at: knownAt) { continue }
                    if let sight, try !sight.shows(row, log) { continue }
                    counting.rows.append(row)
                }
            }
            looked += found.rows.count
            (counting.end, counting.cut) = (found.end, found.cut)
            guard counting.rows.count < limit, found.rows.count >= piece, let last = found.rows.last else {
                return counting
            }
            let isTelling =
                sight != nil && looked < 2 * most
                && !DisplayKey(last, isBackward: isBackward).canBeVeiled(
                    from: (counting.rows.last ?? cursor).map { DisplayKey($0, isBackward: isBackward) },
                    isBackward: isBackward)
            // Of many rows of one millisecond a page ends behind the last, where that tells less.
            if looked >= most || term?.isDue == true, !isTelling {
                (counting.end, counting.cut) = (last, looked >= most ? .rows : .time)
                return counting
            }
            range.cursor = last
            if sight != nil { piece = max(limit, Self.page) }
        }
    }

    private func found(
        _ rows: inout OwnerRows, _ range: RowRange, _ limit: Int
    ) throws(StoreError) -> OwnerRows.Found {
        var query = rows
        let found = try reading { connection throws(DatabaseError) in
            try query.rows(in: range, limit: limit, connection)
        }
        rows = query
        return found
    }

    /// Rows of a page, whichever way it was read, in display order: the dots in the log settle ties.
    private func inDisplayOrder(_ page: [SortedRow]) throws(StoreError) -> [SortedRow] {
        let isBackward = page.first.map { first in
            page.last.map { ($0.time, $0.hlc) < (first.time, first.hlc) } ?? false
        }
        let keys = isBackward == true ? Array(page.reversed()) : page
        var out: [SortedRow] = []
        out.reserveCapacity(keys.count)
        var index = 0
        while index < keys.count {
            let end = keys[index...].firstIndex { !$0.isTied(with: keys[index]) } ?? keys.count
            if end - index == 1 {
                out.append(keys[index])
            } else {
                var tied: [(display: DisplayKey, key: SortedRow)] = []
                for key in keys[index..<end] { tied.append((try display(key), key)) }
                out += tied.sorted { $0.display < $1.display }.map(\.key)
            }
            index = end
        }
        return out
    }

    /// Calls `body` with the events of `keys` and what became of them, until it returns false.
    private func emit(
        _ keys: ArraySlice<SortedRow>, _ filter: RowFilter, _ body: (TimelineEntry) -> Bool
    ) throws(StoreError) -> Bool {
        var rest = keys
        while !rest.isEmpty {
            if try !hand(slice(&rest, filter), to: body) { return false }
        }
        return true
    }

    /// Events, and by their index what was done to them.
    private struct Slice {
        let events: [StoredEvent]
        var amendments: [Int: Amendments]
    }

    /// Calls `body` with what is in `slice` until it returns false. Entries are made here and not before: each copy of one counts
    /// references to all that it has, and a message may have many edits (INV-9).
    private func hand(_ slice: Slice, to body: (TimelineEntry) -> Bool) throws(StoreError) -> Bool {
        for index in slice.events.indices {
            var history: MessageHistory?
            if let found = slice.amendments[index] { history = try self.history(found) }
            if !body(TimelineEntry(stored: slice.events[index], history: history)) { return false }
        }
        return true
    }

    /// The next entries of `rest`, each half of them in one transaction.
    private func slice(
        _ rest: inout ArraySlice<SortedRow>, _ filter: RowFilter, _ term: AnswerTerm? = nil
    ) throws(StoreError) -> Slice {
        let wanted = rest.prefix(Self.page).map(\.position)
        var events: [StoredEvent] = []
        try log.inOneTransaction { () throws(StoreError) in
            let found = try log.events(at: wanted, bytes: Self.sliceBytes, term)
            events = found.events
            guard found.dealtWith == events.count else {
                throw .corrupt("the views name event \(wanted[events.count]), which the log does not have")
            }
        }
        rest.removeFirst(events.count)
        let knownAt = filter.query.knownAt ?? .max
        let found = try reading { connection throws(DatabaseError) in
            try amendments(events, knownAt: knownAt, asOf: filter.query.asOf ?? .max, connection)
        }
        return Slice(events: events, amendments: found)
    }
}
