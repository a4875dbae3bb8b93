/// Whether an edit or retraction would change the message that it names (docs/reference/VIEWS.md, "messages").
package enum AmendmentVerdict: Hashable, Sendable {
    /// It would, or what it names is not here yet.
    case counts
    /// It would be shown beside the message and change nothing: that is another author's.
    case foreign(author: String)
}

/// What the log alone says of an edit or retraction.
package enum LogVerdict: Hashable, Sendable {
    case settled(AmendmentVerdict)
    /// It takes back another's message in the same conversation, as moderators may: who they are, views know.
    case moderated(conversation: String, author: String)

    /// Of a draft that names a message by `author` in `conversation`.
    private init(_ draft: EventDraft, author: String, conversation: String?) {
        guard conversation.hasSameBytes(as: draft.conversation) else {
            self = .settled(.foreign(author: author))
            return
        }
        if author.hasSameBytes(as: draft.author ?? draft.user) {
            self = .settled(.counts)
        } else if draft.type == AmendmentRule.retracted, let conversation {
            self = .moderated(conversation: conversation, author: author)
        } else {
            self = .settled(.foreign(author: author))
        }
    }

    init(_ draft: EventDraft, of message: EventHeader) {
        self.init(draft, author: message.author, conversation: message.conversation)
    }

    /// Of a message that the same request appends.
    package init(_ draft: EventDraft, of message: EventDraft) {
        self.init(draft, author: message.author ?? message.user, conversation: message.conversation)
    }
}

extension LogReader {
    /// What an edit or retraction would do, as far as the log alone tells.
    package func verdict(on draft: EventDraft) throws(StoreError) -> LogVerdict {
        guard let message = try message(amendedBy: draft)?.event.header else { return .settled(.counts) }
        return LogVerdict(draft, of: message)
    }

    /// The message that a draft's edit or retraction names; `nil` where it is neither, or the message is not here.
    package func message(amendedBy draft: EventDraft) throws(StoreError) -> StoredEvent? {
        guard let target = ViewReader.target(of: draft) else { return nil }
        return try message(target, amendedBy: draft.author ?? draft.user, in: draft.conversation)
    }
}

extension ViewReader {
    /// The message that an edit or retraction names; `nil` where it is none, or names none.
    package static func target(of draft: EventDraft) -> EventID? {
        guard AmendmentRule.isAmendment(draft.type) else { return nil }
        return AmendmentRule.target(JSONObject(validated: draft.payload), cause: draft.cause)
    }

    /// The message that a stored edit or retraction is about; `nil` where it is erased, or what it names is not here.
    package func amended(by header: EventHeader) throws(StoreError) -> EventHeader? {
        guard let target = try log.event(header.dot)?.event.amended else { return nil }
        return try log.message(target, amendedBy: header.author, in: header.conversation)?.event.header
    }

    /// What an edit or retraction would do, as far as this node knows.
    ///
    /// - Parameters:
    ///   - message: What it names, where the same request appends that, too.
    ///   - earlier: What the same request appends before it.
    package func verdict(
        on draft: EventDraft, of message: EventDraft? = nil, after earlier: [EventDraft] = []
    ) throws(StoreError) -> AmendmentVerdict {
        let found = if let message { LogVerdict(draft, of: message) } else { try log.verdict(on: draft) }
        switch found {
        case .settled(let verdict): return verdict
        case .moderated(let conversation, let author):
            let isModerator = try isModerator(draft.author ?? draft.user, of: conversation, after: earlier)
            return isModerator ? .counts : .foreign(author: author)
        }
    }

    /// Whether one may retract what others say in a conversation, once `earlier` is stored: who its opening names. That is the
    /// `conversation.started` which is recorded first.
    private func isModerator(
        _ user: String, of conversation: String, after earlier: [EventDraft]
    ) throws(StoreError) -> Bool {
        if let opening = try moderators(conversation) { return opening.isModerator(user) }
        guard let first = Self.opening(of: conversation, in: earlier) else { return false }
        let named = JSONObject(validated: first.payload)["moderators"]
        return Opening(starter: 0, moderators: named.map { String(decoding: $0.raw, as: UTF8.self) }).isModerator(
            user)
    }

    /// What opens a conversation that has no opening yet, when these are stored.
    private static func opening(of conversation: String, in drafts: [EventDraft]) -> EventDraft? {
        drafts.first { $0.type == "conversation.started" && $0.conversation.hasSameBytes(as: conversation) }
    }

    private func moderators(_ conversation: String) throws(StoreError) -> Opening? {
        guard let ref = try log.ref(conversation) else { return nil }
        return try reading { connection throws(DatabaseError) in
            try ConversationRow.load(ref, connection).opening?.value
        }
    }

    /// Whether someone may put others out of a conversation: who began it, and its moderators.
    ///
    /// - Parameter earlier: What the same request appends before.
    package func moderates(
        _ user: String, _ conversation: String, after earlier: [EventDraft] = []
    ) throws(StoreError) -> Bool {
        if try isModerator(user, of: conversation, after: earlier) { return true }
        if let opening = try moderators(conversation) { return try log.ref(user) == opening.starter }
        let starter = Self.opening(of: conversation, in: earlier).map { $0.author ?? $0.user }
        return starter.hasSameBytes(as: user)
    }

    /// Whether the event at a position opens a conversation of which this node had events before that were recorded later: it decides now who
    /// moderates what is there.
    package func opensLate(_ position: UInt64) throws(StoreError) -> Bool {
        guard let header = try log.event(at: position)?.event.header, let conversation = header.conversation,
            let ref = try log.ref(conversation)
        else { return false }
        let opening = try reading { connection throws(DatabaseError) in
            try ConversationRow.load(ref, connection).opening?.stamp.key.dot
        }
        guard opening == header.dot, position > 1 else { return false }
        var query = TimelineQuery()
        query.knownAt = position - 1
        return try newest(1, of: .conversation(conversation), query).entries.contains {
            $0.stored.event.header.hlc > header.hlc
        }
    }

    /// The message with those edits and retractions alone that `isSeen` lets through, by the event that says so; `nil`: all of them.
    package func entry(
        _ stored: StoredEvent, _ query: TimelineQuery, isSeen: ((EventHeader) throws(StoreError) -> Bool)? = nil
    ) throws(StoreError) -> TimelineEntry {
        let (knownAt, asOf) = (query.knownAt ?? .max, query.asOf ?? .max)
        let found =
            if let isSeen {
                try amendments([stored], knownAt: knownAt, asOf: asOf, seenBy: isSeen)
            } else {
                try reading { connection throws(DatabaseError) in
                    try amendments([stored], knownAt: knownAt, asOf: asOf, connection)
                }
            }
        guard let amendments = found[0] else { return TimelineEntry(stored: stored, history: nil) }
        return TimelineEntry(stored: stored, history: try history(amendments))
    }

    /// What became of messages, by those edits and retractions that are seen.
    func amendments(
        _ messages: [StoredEvent], knownAt: UInt64 = .max, asOf: Int64 = .max,
        seenBy isSeen: (EventHeader) throws(StoreError) -> Bool
    ) throws(StoreError) -> [Int: Amendments] {
        func read(_ wanted: (UInt64) -> Bool) throws(StoreError) -> [Int: Amendments] {
            try reading { connection throws(DatabaseError) in
                try amendments(messages, knownAt: knownAt, asOf: asOf, connection) { row throws(DatabaseError) in
                    wanted(row.position)
                }
            }
        }
        // Who is asked may ask the views, which have one transaction at a time: so first which there are.
        var positions: Set<UInt64> = []
        let all = try read { position in
            positions.insert(position)
            return true
        }
        if positions.isEmpty { return all }
        var seen: Set<UInt64> = []
        for position in positions {
            guard let header = try log.header(at: position), try isSeen(header) else { continue }
            seen.insert(position)
        }
        return try read { seen.contains($0) }
    }
}
