/// Answers of an earlier moment. They are made anew from the events of that time, by the rules that make the views, and are bounded by
/// what has to be read for that (``PastMoment``).
extension ViewReader {
    // MARK: Conversations

    /// What stood of a conversation.
    private struct PastConversation {
        var row: ConversationRow
        var said = SpeakerCounts()
        var members: [(user: String, membership: ParticipantsView.Membership)] = []
    }

    /// As ``conversationSummary(_:)``, of an earlier moment.
    package func conversationSummary(
        _ id: String, at moment: PointInTime
    ) throws(StoreError) -> ConversationSummary? {
        if moment.isNow { return try conversationSummary(id) }
        guard let ref = try log.ref(id) else { return nil }
        var past = try PastMoment(moment, log)
        let found = try conversation(ref, &past).row
        return found.isKnown ? try named(found) : nil
    }

    /// As ``participants(of:)``, of an earlier moment.
    package func participants(of id: String, at moment: PointInTime) throws(StoreError) -> [Participant] {
        if moment.isNow { return try participants(of: id) }
        guard let ref = try log.ref(id) else { return [] }
        var past = try PastMoment(moment, log)
        let found = try conversation(ref, &past)
        return try mapped { () throws(DatabaseError) in
            let said = try found.said.named { ref throws(DatabaseError) in
                try log.names.text(ref, on: log.connection)
            }
            return ParticipantsView.rows(said, found.members).map(Participant.init)
        }
    }

    private func conversation(_ ref: Int64, _ past: inout PastMoment) throws(StoreError) -> PastConversation {
        let owner = OwnerRows(.timeline, tails.timeline, owner: ref)
        let registers = try refs(of: [
            .conversationStarted, .conversationRenamed, .participantJoined, .participantLeft,
        ])
        var (sum, said) = (ConversationSum(), SpeakerCounts())
        var named: [UInt64] = []
        for row in try rows(owner, types: [], &past) {
            if registers.contains(row.tags.type) { named.append(row.position) }
            if row.isHidden {
                guard past.isBounded, try log.counted(row.position, at: past.knownAt) else { continue }
            }
            var row = row
            row.isHidden = false
            sum.add(row)
            said.add(row)
        }
        let (conversations, participants) = (ConversationsView(), ParticipantsView())
        try replay(named, &past) { event, store throws(DatabaseError) in
            _ = try conversations.apply(event, .insert, store)
            _ = try participants.apply(event, .insert, store)
        }
        var found = PastConversation(row: conversations.said(of: ref), said: said)
        found.row.sum = sum
        found.members = participants.said(of: ref)
        return found
    }

    /// As ``conversations(limit:before:)``, of an earlier moment.
    package func conversations(
        limit: Int, before place: ConversationPlace? = nil, at moment: PointInTime
    ) throws(StoreError) -> [ConversationSummary] {
        if moment.isNow { return try conversations(limit: limit, before: place) }
        var past = try PastMoment(moment, log)
        let bound = place.map { ConversationSum.Moment(time: $0.time, hlc: $0.hlc.ordered) } ?? .last
        let changed = try conversations(changedSince: &past)
        // Each is looked up by itself: half a second for so many as may be.
        try past.look(at: changed.count * PastMoment.rowsOfConversation)
        var found: [ConversationRow] = []
        for ref in changed {
            let row = try conversation(ref, &past).row
            if row.sum.events > 0, row.sum.last < bound { found.append(row) }
        }
        // All others stand as they stood.
        var seen = bound
        while found.count(where: { $0.sum.last >= seen }) < limit {
            let page = try reading { connection throws(DatabaseError) in
                try ConversationList(connection).page(limit, before: seen)
            }
            for row in page where !changed.contains(row.conversation) {
                found.append(row.isNamed(after: past.asOf) ? try conversation(row.conversation, &past).row : row)
            }
            guard page.count >= limit, let last = page.last?.sum.last else {
                seen = .first
                break
            }
            seen = last
        }
        let sorted = found.filter { $0.sum.last >= seen }.sorted { $0.sum.last > $1.sum.last }
        let end = sorted.count > limit ? sorted[limit - 1].sum.last : .first
        return try summaries(sorted.filter { $0.sum.last >= end })
    }

    /// The conversations of which something is known now that was not then.
    private func conversations(changedSince past: inout PastMoment) throws(StoreError) -> Set<Int64> {
        var changed: Set<Int64> = []
        if past.isBounded {
            let top = try log.top()
            try past.look(at: Int(clamping: top > past.knownAt ? top - past.knownAt : 0))
            try mapped { () throws(DatabaseError) in
                try log.connection.rows(
                    "SELECT DISTINCT conversation FROM event WHERE position > ?", [.unsigned(past.knownAt)]
                ) { row in if let ref = row.int64IfAny(0) { changed.insert(ref) } }
            }
        }
        guard past.asOf < .max else { return changed }
        var bound = ConversationSum.Moment.last
        while true {
            let page = try reading { connection throws(DatabaseError) in
                try ConversationList(connection).page(1_000, before: bound)
            }
            try past.look(at: page.count)
            for row in page where row.sum.last.time > past.asOf { changed.insert(row.conversation) }
            guard page.count >= 1_000, let last = page.last?.sum.last, last.time > past.asOf else { break }
            bound = last
        }
        return changed
    }

    // MARK: Profiles

    /// As ``profile(user:)``, of an earlier moment.
    package func profile(user: String, at moment: PointInTime) throws(StoreError) -> [ProfileField] {
        if moment.isNow { return try profile(user: user) }
        guard let owner = try rows(of: .user(user)) else { return [] }
        var past = try PastMoment(moment, log)
        var writes: [ByteText: [ProfilesView.Write]] = [:]
        let places = try rows(owner, types: [EventType.profileChanged.rawValue], &past).map(\.position)
        var failure: StoreError?
        var left = past
        try replay(places, &past) { event, _ throws(DatabaseError) in
            guard let fields = event.payload?.object("fields") else { return }
            for member in fields {
                let write = ProfilesView.Write(
                    stamp: Stamp(event.key), position: event.position, author: event.author,
                    value: String(decoding: member.value.raw, as: UTF8.self), isMaximal: true)
                let name = ByteText(member.name)
                do throws(StoreError) {
                    writes[name] = try CausalWrites.adding(write, to: writes[name] ?? []) {
                        dot throws(StoreError) in
                        try log.hadApplied(dot, when: event.key.dot, &left)
                    }
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
        return try named(writes.keys.sorted().map { ($0.text, writes[$0] ?? []) })
    }

    // MARK: What they are made from

    private func refs(of types: [EventType]) throws(StoreError) -> Set<Int64> {
        var refs: Set<Int64> = []
        for type in types { if let ref = try log.ref(type.rawValue) { refs.insert(ref) } }
        return refs
    }

    /// The rows of a timeline that were there, also hidden ones, in display order but for ties.
    private func rows(
        _ owner: OwnerRows, types: [String], _ past: inout PastMoment
    ) throws(StoreError) -> [SortedRow] {
        var query = TimelineQuery()
        (query.types, query.withTwins) = (types, true)
        (query.asOf, query.knownAt) = (past.asOf, past.knownAt)
        guard let filter = try filter(query, owner) else { return [] }
        var (owner, rows) = (owner, [SortedRow]())
        var cursor: SortedRow?
        while true {
            let found = try page(
                &owner, filter, cursor, limit: Self.positionPage, isBackward: false, most: mostRows)
            let isCut = found.end != nil && found.rows.count < Self.positionPage
            try past.look(at: isCut ? mostRows : found.rows.count)
            rows += found.rows
            guard let next = found.end ?? found.rows.last, isCut || found.rows.count >= Self.positionPage else {
                return rows
            }
            cursor = next
        }
    }

    /// Calls `body` with the events at `positions` that can be interpreted, in the order of the log.
    private func replay(
        _ positions: [UInt64], _ past: inout PastMoment,
        _ body: (ProjectedEvent, ViewStore) throws(DatabaseError) -> Void
    ) throws(StoreError) {
        let source = ProjectionSource(reading: log)
        for position in positions.sorted() {
            let event = try mapped { () throws(DatabaseError) in try source.event(at: position) }
            try past.read(bytes: event.payload?.bytes.count ?? 0)
            guard event.obstacle == nil else { continue }
            try reading { connection throws(DatabaseError) in
                try body(event, ViewStore(connection: connection, source: source))
            }
        }
    }
}

extension ConversationRow {
    /// Whether something that was said of it may have happened later: a twin that does not count may have said it.
    fileprivate func isNamed(after time: Int64) -> Bool {
        [title?.stamp, category?.stamp, opening?.stamp].contains { $0.map { $0.key.time > time } ?? false }
    }
}

extension LogReader {
    /// Whether the origin of an event had applied another when it appended that one. The log has what came to it with each event: it is
    /// read backwards until the other's origin is named.
    fileprivate func hadApplied(_ earlier: Dot, when event: Dot, _ past: inout PastMoment) throws(StoreError) -> Bool
    {
        if earlier.origin == event.origin { return earlier.seq < event.seq }
        var looked = 0
        let found = try mapped { () throws(DatabaseError) -> UInt64? in
            guard let origin = try names.originRef(event.origin, on: connection) else { return nil }
            let select = try connection.statement(
                "SELECT position, dependencies FROM event WHERE origin = ? AND seq <= ? ORDER BY seq DESC LIMIT 20001"
            )
            defer { select.reset() }
            try select.bind(1, origin)
            try select.bind(2, event.seq)
            while try select.step() {
                looked += 1
                if select.isNull(1) { continue }
                let known = try EventRow.dependencies(
                    select.bytes(1), at: select.uint64(0), names: &names, on: connection)
                if let dot = known.first(where: { $0.origin == earlier.origin }) { return dot.seq }
            }
            return nil
        }
        try past.read(events: looked)
        return found.map { $0 >= earlier.seq } ?? false
    }
}
