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

    /// What an edit or retraction would do, as far as this node knows.
    package func verdict(on draft: EventDraft) throws(StoreError) -> AmendmentVerdict {
        let named = JSONObject(validated: draft.payload).string("message").flatMap { EventID(text: $0) }
        guard Self.isAmendment(draft.type), let target = named ?? draft.cause,
            let message = try log.countingEvent(id: target)?.event.header
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
}
