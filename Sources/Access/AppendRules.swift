package import EventStore

/// Why a caller may not append an event.
package enum AppendRefusal: Error, Hashable, Sendable {
    /// The roles do not let append at all.
    case role
    /// The event speaks for another one.
    case author(String)
    /// It stands in the history of another one.
    case user(String)
    /// Only bots, or programs, append events of this type.
    case type(String)
    /// Only the user, or programs, append events of this type.
    case ofUsers(String)
    /// The caller does not take part in the conversation.
    case conversation(String)
    /// It puts another out of the conversation.
    case moderator(String)
    /// A bot's event has no conversation, and stands in another's history.
    case noConversation
    /// A bot's event stands in the history of a user who has no part in its conversation.
    case stranger(user: String, conversation: String)
    /// Its id has the form of those that follow from other events: whose event it is decides who answers what.
    case id(EventID)
}

extension Caller {
    /// What of an append is to be looked up before it is known whether it may be.
    package enum Question: Hashable, Sendable {
        /// Nothing: it may be.
        case none
        /// Whether `member` takes part in the conversation, or the conversation is new.
        case takesPart(member: String, conversation: String)
        /// The same of the bot `member`, and whether `user`, in whose history the event stands, has a part in the conversation.
        case speaksTo(user: String, member: String, conversation: String)
    }

    /// Types with which bots speak.
    private static let ofBots = "bot."
    /// What people say to a bot of a question: that its answer is not wanted any more, or wanted once more.
    private static let toBots: Set = ["bot.cancelled", "bot.retryRequested"]
    /// How a bot is set up.
    private static let configured = "bot.configured"
    /// What users keep for themselves.
    private static let ofUsers: Set = [
        "contact.added", "contact.removed", "search.remembered", "search.forgotten", read,
        "conversation.hidden", "conversation.shown",
    ]
    private static let read = "message.read"

    /// Whether the caller may know such an event: what users keep for themselves, and who has which subscription, no scope opens. What one has
    /// read the other users in the conversation may see.
    package func mayKnow(_ type: String, of user: String) -> Bool {
        if readsKept { return true }
        if type.hasPrefix("subscription.") { return isAny(of: .operator) }
        guard Self.ofUsers.contains(type) else { return true }
        return isUser(user) || type == Self.read && !isInAll && isAny(of: .user)
    }

    /// Whether the caller may append this event, as far as the event alone tells.
    ///
    /// - Parameter isOfContent: Its id follows from all that it says, so that no other event can have it by rule.
    package func mayAppend(_ draft: EventDraft, isOfContent: Bool = false) throws(AppendRefusal) -> Question {
        if roles.contains(.app) { return .none }
        guard isAny(of: [.user, .bot]) else { throw .role }
        let author = draft.author ?? draft.user
        if isBot(author) { return try mayAppend(draft, asBot: author) }
        guard isUser(author) else { throw .author(author) }
        guard draft.user.hasSameBytes(as: author) else { throw .user(draft.user) }
        guard !draft.type.hasPrefix(Self.ofBots) || Self.toBots.contains(draft.type) else { throw .type(draft.type) }
        if !isOfContent, let id = draft.id, id.isDerived { throw .id(id) }
        guard !isInAll || draft.putsOut(by: author), let conversation = draft.conversation else { return .none }
        return .takesPart(member: author, conversation: conversation)
    }

    private func mayAppend(_ draft: EventDraft, asBot bot: String) throws(AppendRefusal) -> Question {
        guard !Self.ofUsers.contains(draft.type) else { throw .ofUsers(draft.type) }
        var isOwn = isSelf(draft.user)
        if draft.type == Self.configured {
            isOwn = draft.user.hasSameBytes(as: bot) || draft.user.hasSameBytes(as: "bot/" + bot)
            guard isOwn else { throw .user(draft.user) }
        }
        guard !isInAll || draft.putsOut(by: bot) else { return .none }
        guard let conversation = draft.conversation else {
            guard isOwn else { throw .noConversation }
            return .none
        }
        return isOwn
            ? .takesPart(member: bot, conversation: conversation)
            : .speaksTo(user: draft.user, member: bot, conversation: conversation)
    }
}

extension EventDraft {
    /// Of a `participant.joined` or `participant.left` who that is: its user, unless it names another one.
    package var participant: String { JSONObject(validated: payload).string("user") ?? user }

    /// Whether it takes another one out of a conversation: that is for who began it and for moderators, whatever a token's scope.
    package func putsOut(by author: String) -> Bool {
        type == "participant.left" && !participant.hasSameBytes(as: author)
    }
}
