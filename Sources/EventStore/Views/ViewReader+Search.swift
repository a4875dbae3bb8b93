extension ViewReader {
    /// Most hits of a page.
    static let mostHits = 500
    /// Bytes of texts after which a page ends (INV-9).
    static let hitBytes = 1 << 20

    /// The newest texts that are shown now and have the words, before `bound` in display order, newest first. They are at most `limit`,
    /// no more once they come to a MiB, and no more than what some entries of the index show (``mostRows``).
    ///
    /// - Parameter isSeen: Whether the one who asks sees the event; `nil`: all.
    package func search(
        _ query: SearchQuery, limit: Int, before bound: DisplayKey? = nil,
        isSeen: ((EventHeader) throws(StoreError) -> Bool)? = nil
    ) throws(StoreError) -> SearchPage {
        try searching(isSeen == nil) { () throws(StoreError) in
            var page = SearchPage()
            (page.position, page.unindexed) = (try progress(), try unindexed())
            guard let tags = try tags(query) else { return page }
            let limit = min(max(limit, 1), Self.mostHits)
            var walk = SearchWalk(query, query.words.expression(tags: tags), mostRows, before: bound)
            let matcher = SearchMatcher(query.words)
            var (bytes, known) = (0, Verdicts())
            // One more tells whether that was all; of those that are looked at few may be seen.
            var wanted = isSeen == nil ? limit + 1 : Self.mostHits
            while true {
                defer { wanted = Self.mostHits }
                var places: [SearchWalk.Place] = []
                try log.inOneTransaction { () throws(StoreError) in
                    places = try reading { connection throws(DatabaseError) in
                        try walk.next(wanted, log, connection)
                    }
                }
                var (events, dealtWith) = try log.events(at: places.map(\.position), bytes: Self.hitBytes)
                events = try seen(events, isSeen)
                for hit in try hits(events, query, matcher, isSeen, &known) {
                    bytes += hit.text.utf8.count
                    page.hits.append(hit)
                }
                if page.hits.count > limit || bytes > Self.hitBytes {
                    page.isLong = page.hits.count < limit
                    if page.hits.count > limit { page.hits.removeLast(page.hits.count - limit) }
                    page.next = page.hits.last?.key
                    return page
                }
                if dealtWith < places.count {
                    guard dealtWith > 0 else { throw .corrupt("the index names event \(places[0].position)") }
                    walk.before = places[dealtWith - 1].key
                    continue
                }
                if let end = walk.end(places.count < wanted) {
                    page.next = end.next
                    if isSeen != nil { page.veil(bound) }
                    return page
                }
            }
        }
    }

    /// How many of the events that other views show a search does not find yet.
    package func unindexed() throws(StoreError) -> UInt64 {
        let (position, indexed) = (try progress(), try indexed())
        return position - min(position, indexed)
    }

    /// Runs `body` on one state of the views. Not where someone is asked what is seen: that asks the views, too, and may not within a
    /// transaction of theirs.
    func searching<Result>(
        _ isOneState: Bool, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        isOneState ? try inOneReading(body) : try body()
    }

    /// How many texts the index has with these words: those that stand, and those that were edited away or taken back since.
    ///
    /// - Precondition: ``SearchQuery/isCountable``; else it counts more than those.
    package func searchCount(_ query: SearchQuery) throws(StoreError) -> UInt64 {
        guard let tags = try tags(query, ofIndex: true) else { return 0 }
        return try reading { connection throws(DatabaseError) in
            try SearchIndex(expression: query.words.expression(tags: tags), connection: connection).count()
        }
    }

    /// What entries must have, one of each list; `nil` if the log knows none of them. An edit may stand in another history than its message,
    /// and is found as that: all edits are among them, unless only the index is asked.
    func tags(_ query: SearchQuery, ofIndex: Bool = false) throws(StoreError) -> [[SearchTag]]? {
        var all: [[SearchTag]] = []
        func add(_ texts: [String], _ tags: (Int64) -> [SearchTag]) throws(StoreError) -> Bool {
            if texts.isEmpty { return true }
            var found: [SearchTag] = []
            for text in texts { if let ref = try log.ref(text) { found += tags(ref) } }
            all.append(found)
            return !found.isEmpty
        }
        // Who writes in their own history is not named twice.
        guard try add(query.users, { [.user($0)] }), try add(query.conversations, { [.conversation($0)] }),
            try add(query.authors, { [.author($0), .user($0)] })
        else { return nil }
        if !query.users.isEmpty, !ofIndex, let edits = try log.ref(EventType.messageEdited.rawValue) {
            all[0].append(.type(edits))
        }
        let isOfMessages = query.types.contains { EventType(rawValue: $0)?.isMessage == true }
        if !isOfMessages, try !add(query.types, { [.type($0)] }) { return nil }
        return all
    }

    func seen(
        _ events: [StoredEvent], _ isSeen: ((EventHeader) throws(StoreError) -> Bool)?
    ) throws(StoreError) -> [StoredEvent] {
        guard let isSeen else { return events }
        var seen: [StoredEvent] = []
        for event in events where try isSeen(event.event.header) { seen.append(event) }
        return seen
    }

    /// What became of messages, by their positions: a message is looked up once, however many edits of it have the words.
    struct Verdicts {
        private static let most = 4_096
        private var known: [UInt64: Verdict] = [:]

        struct Verdict {
            var isRetracted = false
            /// The edit that stands.
            var edit: UInt64?
        }

        subscript(position: UInt64) -> Verdict? { known[position] }

        mutating func add(_ amendments: Amendments?, of position: UInt64) {
            known[position] = Verdict(
                isRetracted: amendments?.retraction != nil, edit: amendments?.edit?.position)
        }

        /// Forgets all when they are many (INV-9).
        mutating func trim() { if known.count > Self.most { known = [:] } }
    }

    /// Those of the events whose texts stand, and have the words.
    func hits(
        _ events: [StoredEvent], _ query: SearchQuery, _ matcher: SearchMatcher,
        _ isSeen: ((EventHeader) throws(StoreError) -> Bool)?, _ known: inout Verdicts
    ) throws(StoreError) -> [SearchHit] {
        var found: [FoundText] = []
        for stored in events {
            let header = stored.event.header
            guard let type = EventType(rawValue: header.type),
                let payload = stored.event.payload.map({ JSONObject(validated: $0) }),
                let text = SearchedText(type, payload, hasConversation: header.conversation != nil),
                let ranges = matcher.ranges(in: text.text)
            else { continue }
            var shown: StoredEvent? = stored
            if text.kind == .edit {
                let target = AmendmentRule.target(payload, cause: header.cause)
                shown = try target.flatMap { id throws(StoreError) in
                    try log.message(id, amendedBy: header.author, in: header.conversation)
                }
                // Who sees the edit may not see what it changed.
                if let message = shown, let isSeen, try !isSeen(message.event.header) { shown = nil }
            }
            guard let shown, query.wants(shown.event) else { continue }
            // What was heard goes with the message in which it was.
            var judged = shown
            if text.kind == .transcript,
                let message = try header.cause.flatMap({ id throws(StoreError) in
                    try log.countingEvent(id: id)
                })
            {
                judged = message
            }
            found.append(FoundText(stored: stored, shown: shown, judged: judged, text: text, ranges: ranges))
        }
        known.trim()
        var (asked, unknown) = (Set<UInt64>(), [StoredEvent]())
        for text in found where known[text.judged.position] == nil && asked.insert(text.judged.position).inserted {
            unknown.append(text.judged)
        }
        let amendments: [Int: Amendments] =
            if let isSeen {
                try amendments(unknown, seenBy: isSeen)
            } else {
                try reading { connection throws(DatabaseError) in
                    try self.amendments(unknown, knownAt: .max, connection)
                }
            }
        for (index, message) in unknown.enumerated() { known.add(amendments[index], of: message.position) }
        var hits: [SearchHit] = []
        for text in found {
            if try stands(text, known[text.judged.position] ?? Verdicts.Verdict()) { hits.append(text.hit) }
        }
        return hits
    }

    /// Whether a text is what is shown now.
    private func stands(_ found: FoundText, _ verdict: Verdicts.Verdict) throws(StoreError) -> Bool {
        let header = found.stored.event.header
        switch found.text.kind {
        case .message, .reply: return !verdict.isRetracted && verdict.edit == nil
        case .edit: return !verdict.isRetracted && verdict.edit == found.stored.position
        case .transcript: return !verdict.isRetracted
        case .comment: return true
        case .title:
            guard let ref = try header.conversation.flatMap({ text throws(StoreError) in try log.ref(text) }) else {
                return false
            }
            let title = try reading { connection throws(DatabaseError) in
                try ConversationRow.load(ref, connection).title
            }
            return title?.stamp.key.dot == header.dot
        case .name:
            guard let ref = try log.ref(header.user) else { return false }
            let writes = try reading { connection throws(DatabaseError) in
                try ProfilesView.load(ref, "name", connection)
            }
            return writes.last?.stamp.key.dot == header.dot
        }
    }

    /// A text that has the words, with the event that shows it.
    private struct FoundText {
        let stored: StoredEvent
        /// The message, where the text is that of an edit.
        let shown: StoredEvent
        /// The message whose retraction takes the text along.
        let judged: StoredEvent
        let text: SearchedText
        let ranges: [Range<Int>]

        var hit: SearchHit {
            let isReply = shown.event.header.type == EventType.botReplied.rawValue
            let kind: SearchHitKind =
                switch text.kind {
                case .message, .reply, .edit: isReply ? .reply : .message
                case .transcript: .transcript
                case .comment: .comment
                case .title: .title
                case .name: .name
                }
            return SearchHit(
                stored: shown, kind: kind, text: text.text, ranges: ranges,
                edit: text.kind == .edit ? stored.event.header.id : nil, key: stored.event.header.displayKey)
        }
    }
}

extension SearchQuery {
    /// Whether an event is of those that are looked at, as far as the index does not tell.
    fileprivate func wants(_ event: Event) -> Bool {
        let header = event.header
        if !users.isEmpty, !users.contains(where: header.user.hasSameBytes) { return false }
        if !types.isEmpty, !types.contains(where: header.type.hasSameBytes) { return false }
        if !authors.isEmpty, !authors.contains(where: header.author.hasSameBytes) { return false }
        if languages.isEmpty { return true }
        guard let language = event.payload.flatMap({ JSONObject(validated: $0).string("lang") }) else { return false }
        return languages.contains { $0.lowercased() == language.lowercased() }
    }
}
