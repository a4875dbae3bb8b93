/// Where the erasure events of a log stand, in table `meta`: the log has no index by type, and a node must know at its start what it is to
/// erase. Keys of `meta` (FORMATS.md, section 3):
///
/// | key | value |
/// | --- | --- |
/// | `erasures` | the log was looked through for erasure events; since then each that comes gets a key |
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
    static func isPlace(_ key: String) -> Bool {
        key.hasPrefix(prefix) && UInt64(key.dropFirst(prefix.utf8.count)) != nil
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
            UInt64(row.text(0).dropFirst(prefix.utf8.count))
        }.compactMap { $0 }.sorted()
    }

    /// Looks through a log that an earlier release has written, or that came as a snapshot, once. Where no event can be one nothing is
    /// written: a log without erasures stays as it was.
    static func make(on connection: Connection) throws(DatabaseError) {
        guard try meta(looked, connection) == nil else { return }
        try connection.transaction { () throws(DatabaseError) in
            var refs: [String] = []
            for type in [ReservedType.userErased, ReservedType.conversationErased] {
                let ref = try connection.integer("SELECT ref FROM name WHERE text = ?", .text(type))
                if let ref { refs.append(String(ref)) }
            }
            guard !refs.isEmpty else { return }
            let found = try connection.all(
                "SELECT position FROM event WHERE type IN (\(refs.joined(separator: ",")))"
            ) { row in row.uint64(0) }
            for position in found { try note(position, on: connection) }
            try Schema.setMeta(looked, .text("1"), on: connection)
        }
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
    /// The erasure events of the log, ascending by position; none of a log that no node of this release has opened for writing.
    package func erasures() throws(StoreError) -> [StoredErasure] {
        try mapped { () throws(DatabaseError) in
            let positions = try ErasureIndex.positions(on: connection)
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

    /// Positions of events whose payloads are to go, up to `limit` of those after `progress.cursor`, among the next `rows`; and how far
    /// that looked.
    func erasable(
        _ erasures: Erasures, after cursor: UInt64, through goal: UInt64, rows: Int, limit: Int
    ) throws(StoreError) -> (positions: [UInt64], cursor: UInt64) {
        try mapped { () throws(DatabaseError) in
            let subjects = erasures.subjects
            func refs(_ texts: Set<String>) throws(DatabaseError) -> Set<Int64> {
                var refs: Set<Int64> = []
                for text in texts { if let ref = try names.ref(text, on: connection) { refs.insert(ref) } }
                return refs
            }
            let people = try refs(subjects.people)
            let talks = try refs(subjects.conversations)
            let named = Set(subjects.events.map(\.seq))
            let select = try connection.statement(
                """
                SELECT \(ErasedRow.columns), digest IS NULL FROM event JOIN origin ON ref = event.origin
                WHERE position > ? AND position <= ? ORDER BY position LIMIT ?
                """)
            defer { select.reset() }
            try select.bind(1, cursor)
            try select.bind(2, goal)
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
            return (found, found.count < limit && count < rows ? goal : last)
        }
    }
}
