/// Where the erasure events of a log stand, in table `meta`: the log has no index by type, and a node must know at its start what it is to
/// erase. Another hand may write that table while no one has the store open, so a seal of the node's key stands with it: without the right
/// one nothing of it is believed, and the log is looked through again (INV-11). Keys of `meta` (FORMATS.md, section 3):
///
/// | key | value |
/// | --- | --- |
/// | `erasures` | the log was looked through for erasure events; since then each that comes gets a key; and the seal of all of these |
/// | `erasure <position>` | there is an erasure event at this position |
/// | `erased` | up to which position the erasures of this node have been applied in every file |
/// | `erasing` | what goes on: up to which erasure, from which position on, whether views are to be built anew |
/// | `confirmed` | up to which position erasures of other nodes were confirmed |
enum ErasureIndex {
    static let looked = "erasures"
    static let erased = "erased"
    static let erasing = "erasing"
    static let confirmed = "confirmed"
    static let settings = [looked, erased, erasing, confirmed]
    private static let prefix = "erasure "

    /// Whether a key names the place of an erasure event.
    static func isPlace(_ key: String) -> Bool { place(key) != nil }

    private static func place(_ key: String) -> UInt64? {
        key.hasPrefix(prefix) ? position(key.dropFirst(prefix.utf8.count)) : nil
    }

    /// A position as this node writes it: digits alone.
    static func position(_ text: some StringProtocol) -> UInt64? {
        let isOne = (1...18).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isOne ? UInt64(text) : nil
    }

    /// How far the application of erasures has come.
    struct Progress: Hashable, Sendable {
        /// The erasures up to this position are being applied.
        var goal: UInt64
        /// The log was looked through up to this position.
        var cursor: UInt64
        /// Whether views have read what has gone.
        var isOfViews = false

        var text: String { "\(goal) \(cursor) \(isOfViews ? "views" : "log")" }

        init(goal: UInt64, cursor: UInt64 = 0, isOfViews: Bool = false) {
            (self.goal, self.cursor, self.isOfViews) = (goal, cursor, isOfViews)
        }

        init?(text: String) {
            let parts = text.split(separator: " ")
            guard parts.count == 3, let goal = UInt64(parts[0]), let cursor = UInt64(parts[1]),
                goal <= Limits.number, cursor <= Limits.number
            else { return nil }
            self.init(goal: goal, cursor: cursor, isOfViews: parts[2] == "views")
        }
    }

    static func note(_ position: UInt64, on connection: Connection) throws(DatabaseError) {
        try Schema.setMeta(prefix + String(position), .text(""), on: connection)
    }

    /// The positions of all erasure events, ascending.
    static func positions(on connection: Connection) throws(DatabaseError) -> [UInt64] {
        try connection.all("SELECT key FROM meta WHERE key >= 'erasure ' AND key < 'erasure!'") { row in
            place(row.text(0))
        }.compactMap { $0 }.sorted()
    }

    /// Looks through a log that an earlier release has written, that came as a snapshot, or beside which another hand has written. Where no
    /// event can be one nothing is written: a log without erasures stays as it was.
    ///
    /// - Parameters:
    ///   - sealer: The node's, of ``Sealer/Purpose/erasures``; `nil` for a log that was made a moment ago and is no node's.
    ///   - anew: Whether the log has other events than it was looked through for.
    static func make(on connection: Connection, _ sealer: Sealer?, anew: Bool = false) throws(DatabaseError) {
        if let sealer, !anew, let said = try meta(looked, connection), said == (try seal(on: connection, sealer)) {
            return
        }
        try connection.transaction { () throws(DatabaseError) in try remake(on: connection, sealer) }
    }

    /// The same whatever stands there, in an open transaction: the erasures of this node are applied once more.
    static func remake(on connection: Connection, _ sealer: Sealer?) throws(DatabaseError) {
        let before = try meta(erasing, connection).flatMap { Progress(text: $0) }
        let keys = settings.map { "'\($0)'" }.joined(separator: ",")
        let stands = "FROM meta WHERE key IN (\(keys)) OR (key >= 'erasure ' AND key < 'erasure!')"
        if try connection.integer("SELECT count(*) \(stands)") != 0 { try connection.run("DELETE \(stands)") }
        let refs = try types(on: connection)
        guard !refs.isEmpty else { return }
        for position in try find(refs, on: connection) { try note(position, on: connection) }
        // Views may have to do with what was under way.
        if before?.isOfViews == true {
            try Schema.setMeta(erasing, .text(Progress(goal: 0, isOfViews: true).text), on: connection)
        }
        try write(on: connection, sealer)
    }

    /// The refs of their types; none where no event can be one.
    private static func types(on connection: Connection) throws(DatabaseError) -> [String] {
        var refs: [String] = []
        for type in [ReservedType.userErased, ReservedType.conversationErased] {
            let ref = try connection.integer("SELECT ref FROM name WHERE text = ?", .text(type))
            if let ref { refs.append(String(ref)) }
        }
        return refs
    }

    private static func find(_ refs: [String], on connection: Connection) throws(DatabaseError) -> [UInt64] {
        try connection.all(
            "SELECT position FROM event WHERE type IN (\(refs.joined(separator: ","))) ORDER BY position"
        ) { row in row.uint64(0) }
    }

    /// The positions of all erasure events by the events themselves, ascending. Reads the types of all rows.
    static func find(on connection: Connection) throws(DatabaseError) -> [UInt64] {
        let refs = try types(on: connection)
        return refs.isEmpty ? [] : try find(refs, on: connection)
    }

    /// Seals what stands there.
    static func write(on connection: Connection, _ sealer: Sealer?) throws(DatabaseError) {
        let said = if let sealer { try seal(on: connection, sealer) } else { "1" }
        try Schema.setMeta(looked, .text(said), on: connection)
    }

    /// Whether what stands there has a seal that is not this node's; of an earlier release, and of a log that no node has opened yet, there is
    /// none.
    static func isForeign(on connection: Connection, _ sealer: Sealer) throws(DatabaseError) -> Bool {
        guard let said = try meta(looked, connection), said != "1" else { return false }
        return try said != seal(on: connection, sealer)
    }

    private static func seal(on connection: Connection, _ sealer: Sealer) throws(DatabaseError) -> String {
        var text = ""
        for key in [erased, erasing, confirmed] { text += "\(try meta(key, connection) ?? "")\n" }
        for position in try positions(on: connection) { text += "\(position)\n" }
        return "1 \(hexText(sealer.seal(Array(text.utf8)).bytes))"
    }

    static func meta(_ key: String, _ connection: Connection) throws(DatabaseError) -> String? {
        try connection.first("SELECT value FROM meta WHERE key = ?", [.text(key)]) { row in row.text(0) }
    }
}

/// An erasure event and where it stands.
package struct StoredErasure: Sendable {
    package let position: UInt64
    package let event: Event
    /// Who recorded it.
    package let node: NodeID
    /// What it says; `nil` where its payload is gone or of another form.
    package let erasure: Erasure?
}

extension LogReader {
    /// The erasure events of the log, ascending by position.
    ///
    /// - Parameter isSearched: Whether the log is looked through for them, and not what table `meta` says of them: that costs as much as reading
    ///   the types of all rows. A log without that table's word of them always is.
    package func erasures(isSearched: Bool = false) throws(StoreError) -> [StoredErasure] {
        try mapped { () throws(DatabaseError) in
            let isNoted = try ErasureIndex.meta(ErasureIndex.looked, connection) != nil
            let positions =
                isNoted && !isSearched
                ? try ErasureIndex.positions(on: connection) : try ErasureIndex.find(on: connection)
            guard !positions.isEmpty else { return [] }
            let nodes = try connection.nodes()
            var found: [StoredErasure] = []
            for position in positions {
                guard let event = try stored(at: position)?.event, ReservedType.isErasure(event.header.type),
                    let node = nodes[event.header.dot.origin]
                else { continue }
                found.append(
                    StoredErasure(position: position, event: event, node: node, erasure: Erasure(event)))
            }
            return found
        }
    }

    /// Positions of events whose payloads are to go, also where a hand has put one beside the digest that erasure left, up to `limit` of those after `progress.cursor`, among the next `rows`; and how far
    /// that looked.
    func erasable(
        _ erasures: Erasures, after cursor: UInt64, through end: UInt64, rows: Int, limit: Int
    ) throws(StoreError) -> (positions: [UInt64], cursor: UInt64) {
        try mapped { () throws(DatabaseError) in
            let subjects = erasures.subjects
            func refs(_ texts: Set<ByteText>) throws(DatabaseError) -> Set<Int64> {
                var refs: Set<Int64> = []
                for text in texts { if let ref = try names.ref(text.text, on: connection) { refs.insert(ref) } }
                return refs
            }
            let people = try refs(subjects.people)
            let talks = try refs(subjects.conversations)
            let named = Set(subjects.events.map(\.seq))
            let select = try connection.statement(
                """
                SELECT \(ErasedRow.columns), digest IS NULL OR salt IS NOT NULL OR typeof(payload) <> 'null' FROM event JOIN origin ON ref = event.origin
                WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
                """)
            defer { select.reset() }
            try select.bind(1, cursor)
            try select.bind(2, end)
            try select.bind(3, Int64(rows))
            var (found, last, count): ([UInt64], UInt64, Int) = ([], cursor, 0)
            while found.count < limit, try select.step() {
                count += 1
                let row = ErasedRow(select)
                last = row.position
                let mayBe =
                    people.contains(row.user) || people.contains(row.author)
                    || row.conversation.map(talks.contains) ?? false || named.contains(row.seq)
                guard mayBe, select.int64(9) == 1, try row.isCovered(by: erasures, &names, connection) else {
                    continue
                }
                found.append(row.position)
            }
            return (found, found.count < limit && count < rows ? end : last)
        }
    }

    /// Whether what table `meta` says of erasures is what the log says, and no payload is here that those of `node` cover which are applied: a
    /// hand on the files may have put back either. Reads the headers of the whole log, where it has erasures at all; true where `goesOn` says
    /// no before the end.
    func areErasuresSound(of node: NodeID, rows: Int, _ goesOn: () -> Bool) throws(StoreError) -> Bool {
        let noted = try mapped { () throws(DatabaseError) in try ErasureIndex.positions(on: connection) }
        let found = try mapped { () throws(DatabaseError) in try ErasureIndex.find(on: connection) }
        // Between the two some may have come.
        guard found.starts(with: noted) else { return false }
        guard
            try mapped({ () throws(DatabaseError) in try ErasureIndex.positions(on: connection) }).starts(with: found)
        else { return false }
        let erasures = Erasures(keeper: node, among: try erasures(), through: try erasedThrough())
        guard !erasures.isEmpty else { return true }
        let last = try top()
        var cursor = UInt64(0)
        while cursor < last, goesOn() {
            let next = try erasable(erasures, after: cursor, through: last, rows: rows, limit: 1)
            guard next.positions.isEmpty else { return false }
            cursor = next.cursor
        }
        return true
    }
}
