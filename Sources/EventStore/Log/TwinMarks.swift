/// Which events of a log do not count, because a twin does (D6): of the events with one id, type, user, author and conversation the
/// one with the smallest (hlc, origin) counts, the same on every node that has them.
///
/// It keeps some 60 bytes in memory for each of them.
package struct TwinMarks: Sendable {
    private var counting: [UInt64: Dot] = [:]

    /// The event that counts in place of the one at `position`; `nil` if that one counts.
    package subscript(position: UInt64) -> Dot? { counting[position] }

    /// Takes note of events with one id.
    fileprivate mutating func add(_ group: [TwinMember]) {
        for twins in Dictionary(grouping: group, by: \.subject).values {
            guard let first = twins.min() else { continue }
            for member in twins where member.position != first.position { counting[member.position] = first.dot }
        }
    }
}

/// One of the events with one id.
struct TwinMember: Comparable {
    /// What twins have in common, as refs.
    struct Subject: Hashable {
        let type: Int64
        let user: Int64
        let author: Int64
        let conversation: Int64?
    }

    static let columns = "position, hlc, origin, seq, type, user, author, conversation"
    let position: UInt64
    let hlc: HybridTime
    let dot: Dot
    let subject: Subject

    static func < (a: TwinMember, b: TwinMember) -> Bool { a.hlc != b.hlc ? a.hlc < b.hlc : a.dot < b.dot }
}

extension LogReader {
    /// The twins among the events up to position `top`: what came later is not known yet.
    package func twinMarks(through top: UInt64) throws(StoreError) -> TwinMarks {
        var marks = TwinMarks()
        var group: [TwinMember] = []
        var last: (first: UInt64, position: UInt64) = (0, 0)
        // Short read transactions: the WAL must not wait.
        while true {
            let isEnd = try mapped { () throws(DatabaseError) in
                var count = 0
                try connection.rows(
                    """
                    SELECT twin, \(TwinMember.columns) FROM event
                    WHERE twin >= ?1 AND (twin > ?1 OR position > ?2) ORDER BY twin, position LIMIT 4096
                    """, [.unsigned(last.first), .unsigned(last.position)]
                ) { row throws(DatabaseError) in
                    count += 1
                    if row.uint64(0) != last.first {
                        marks.add(group)
                        group = []
                        if let first = try twinMember(at: row.uint64(0)) { group.append(first) }
                    }
                    last = (row.uint64(0), row.uint64(1))
                    guard last.position <= top else { return }
                    group.append(try twinMember(row, from: 1))
                }
                return count < 4_096
            }
            if isEnd { break }
        }
        marks.add(group)
        return marks
    }

    /// The event that counts in place of `stored`; `nil` if `stored` counts itself.
    package func counting(inPlaceOf stored: StoredEvent) throws(StoreError) -> Dot? {
        let group = try mapped { () throws(DatabaseError) in
            try twins(of: stored.twinOf ?? stored.position, through: UInt64(Int64.max))
        }
        guard let counting = Self.counting(inPlaceOf: stored.position, group) else { return nil }
        return counting.position == stored.position ? nil : counting.dot
    }

    /// Which event counts in place of `stored`, and how many others were recorded as it with another payload: of twins one alone is shown, and
    /// whose text that is the stamps of their nodes say.
    package func twins(of stored: StoredEvent) throws(StoreError) -> (counting: Dot?, others: Int) {
        let group = try mapped { () throws(DatabaseError) in
            try twins(of: stored.twinOf ?? stored.position, through: UInt64(Int64.max))
        }
        guard group.count > 1, let counting = Self.counting(inPlaceOf: stored.position, group) else {
            return (nil, 0)
        }
        var others = 0
        for member in group where member.position != stored.position {
            guard let other = try event(at: member.position)?.event, other.header.isTwin(of: stored.event.header),
                let (mine, theirs) = stored.event.payload.flatMap({ mine in other.payload.map { (mine, $0) } })
            else { continue }
            if mine != theirs { others += 1 }
        }
        return (counting.position == stored.position ? nil : counting.dot, others)
    }

    /// Of the event at `position` and its twins the one that counted when the log reached `known`, where that is another and the event came
    /// later.
    func twin(countingBefore position: UInt64, at known: UInt64) throws(DatabaseError) -> TwinMember? {
        guard
            let first = try connection.integer(
                "SELECT twin FROM event WHERE position = ?", .integer(Int64(bitPattern: position))),
            let subject = try twinMember(at: position)?.subject,
            let beginning = try twinMember(at: UInt64(bitPattern: first))
        else { return nil }
        let group = try twins(of: beginning.position, through: known) + [beginning]
        return group.filter { $0.position <= known && $0.subject == subject }.min()
    }

    /// Whether an event counted when the log reached `known`: a twin that came later may count in its place now.
    func counted(_ position: UInt64, at known: UInt64) throws(StoreError) -> Bool {
        let group = try mapped { () throws(DatabaseError) in
            let first = try connection.integer(
                "SELECT twin FROM event WHERE position = ?", .unsigned(position))
            return try twins(of: first.map(UInt64.init(bitPattern:)) ?? position, through: known)
        }
        return Self.counting(inPlaceOf: position, group)?.position ?? position == position
    }

    private static func counting(inPlaceOf position: UInt64, _ group: [TwinMember]) -> TwinMember? {
        guard let subject = group.first(where: { $0.position == position })?.subject else { return nil }
        return group.filter { $0.subject == subject }.min()
    }

    /// The events with the id of the one at `first`, up to a position; none if there is no other.
    private func twins(of first: UInt64, through last: UInt64) throws(DatabaseError) -> [TwinMember] {
        var group = try connection.all(
            "SELECT \(TwinMember.columns) FROM event WHERE twin = ? AND position <= ?",
            [.unsigned(first), .unsigned(last)]
        ) { row throws(DatabaseError) in try twinMember(row, from: 0) }
        if !group.isEmpty, let member = try twinMember(at: first) { group.append(member) }
        return group
    }

    /// The events with this id that count, each for itself and its twins, by when they were recorded: on every node the same ones in the
    /// same order.
    package func countingEvents(id: EventID) throws(StoreError) -> [StoredEvent] {
        guard let first = try event(id: id) else { return [] }
        let all = try mapped { () throws(DatabaseError) in
            try twins(of: first.position, through: UInt64(Int64.max))
        }
        if all.isEmpty { return [first] }
        var found: [StoredEvent] = []
        for member in Dictionary(grouping: all, by: \.subject).values.compactMap({ $0.min() }).sorted() {
            if let event = try event(at: member.position) { found.append(event) }
        }
        return found
    }

    /// The event with this id that counts; of several that have only the id in common the one that was recorded first.
    package func countingEvent(id: EventID) throws(StoreError) -> StoredEvent? { try countingEvents(id: id).first }

    /// The message of this id that an edit or retraction by `author` in `conversation` names: of several their own there, else the one that was
    /// recorded first.
    package func message(
        _ id: EventID, amendedBy author: String, in conversation: String?
    ) throws(StoreError) -> StoredEvent? {
        let found = try countingEvents(id: id)
        let own = found.first { stored in
            let header = stored.event.header
            return header.author.hasSameBytes(as: author) && header.conversation.hasSameBytes(as: conversation)
        }
        return own ?? found.first
    }

    /// The node of every origin.
    package func nodes() throws(StoreError) -> [OriginID: NodeID] {
        try mapped { () throws(DatabaseError) in try connection.nodes() }
    }

    private func twinMember(at position: UInt64) throws(DatabaseError) -> TwinMember? {
        try connection.first("SELECT \(TwinMember.columns) FROM event WHERE position = ?", [.unsigned(position)]) {
            row throws(DatabaseError) in try twinMember(row, from: 0)
        }
    }

    /// Its columns, from one on.
    private func twinMember(_ row: Statement, from column: Int) throws(DatabaseError) -> TwinMember {
        let origin = try names.origin(row.int64(column + 2), on: connection)
        let user = row.int64(column + 5)
        return TwinMember(
            position: row.uint64(column), hlc: HybridTime(rawValue: row.uint64(column + 1)),
            dot: Dot(origin: origin, seq: row.uint64(column + 3)),
            subject: TwinMember.Subject(
                type: row.int64(column + 4), user: user, author: row.int64IfAny(column + 6) ?? user,
                conversation: row.int64IfAny(column + 7)))
    }
}

extension Connection {
    /// The node of every origin.
    func nodes() throws(DatabaseError) -> [OriginID: NodeID] {
        var nodes: [OriginID: NodeID] = [:]
        try rows("SELECT id, node FROM origin") { row throws(DatabaseError) in
            guard let id = row.uuid(0), let node = row.digest(1) else {
                throw .damaged(.table("origin"), "an id is not 16 bytes, or a node not 32")
            }
            nodes[OriginID(id)] = NodeID(node)
        }
        return nodes
    }
}
