/// Whether an edit or retraction would change the message that it names (docs/reference/VIEWS.md, "messages").
package enum AmendmentVerdict: Hashable, Sendable {
    /// It would, or what it names is not here yet.
    case counts
    /// It would be shown beside the message and change nothing: that is another author's.
    case foreign(author: String)
}

extension ViewReader {
    private static let edited = "message.edited"
    private static let retracted = "message.retracted"

    /// Whether a draft of this type amends a message at all.
    package static func isAmendment(_ type: String) -> Bool { type == edited || type == retracted }

    /// The message that an edit or retraction names; `nil` where it is none, or names none.
    package static func target(of draft: EventDraft) -> EventID? {
        guard isAmendment(draft.type) else { return nil }
        return JSONObject(validated: draft.payload).string("message").flatMap { EventID(text: $0) } ?? draft.cause
    }

    /// What an edit or retraction would do, as far as this node knows.
    package func verdict(on draft: EventDraft) throws(StoreError) -> AmendmentVerdict {
        guard let target = Self.target(of: draft), let message = try log.countingEvent(id: target)?.event.header
        else { return .counts }
        let author = draft.author ?? draft.user
        let isSameConversation = message.conversation.hasSameBytes(as: draft.conversation)
        if isSameConversation, message.author.hasSameBytes(as: author) { return .counts }
        if isSameConversation, draft.type == Self.retracted, let conversation = message.conversation,
            let ref = try log.ref(conversation)
        {
            let opening = try reading { connection throws(DatabaseError) in
                try ConversationRow.load(ref, connection).opening?.value
            }
            if opening?.isModerator(author) == true { return .counts }
        }
        return .foreign(author: message.author)
    }

    /// Whether someone may put others out of a conversation: who began it, and its moderators.
    package func moderates(_ user: String, _ conversation: String) throws(StoreError) -> Bool {
        guard let ref = try log.ref(conversation) else { return false }
        let opening = try reading { connection throws(DatabaseError) in
            try ConversationRow.load(ref, connection).opening?.value
        }
        guard let opening else { return false }
        if opening.isModerator(user) { return true }
        return try log.ref(user) == opening.starter
    }

    /// The message with those edits and retractions alone that `isSeen` lets through, by the event that says so.
    package func entry(
        _ stored: StoredEvent, _ query: TimelineQuery, isSeen: (EventHeader) throws(StoreError) -> Bool
    ) throws(StoreError) -> TimelineEntry {
        var failure: StoreError?
        let found = try reading { connection throws(DatabaseError) in
            try amendments(
                [stored], knownAt: query.knownAt ?? .max, asOf: query.asOf ?? .max, connection
            ) { row throws(DatabaseError) in
                do throws(StoreError) {
                    guard let header = try log.event(at: row.position)?.event.header else { return false }
                    return try isSeen(header)
                } catch {
                    failure = error
                    return false
                }
            }
        }
        if let failure { throw failure }
        guard let amendments = found[0] else { return TimelineEntry(stored: stored, history: nil) }
        return TimelineEntry(stored: stored, history: try history(amendments))
    }
}
