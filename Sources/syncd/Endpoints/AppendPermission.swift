internal import Access
internal import EventStore
internal import SyncEngine

/// What a caller may append: decided from the roles, and from who takes part in which conversation.
extension Service {
    /// Takes away what the caller may not append, and edits of what others have written. Waits for the views where they alone know.
    ///
    /// An import says what was done elsewhere, where other rules held: what its edits change is decided when they are read.
    func permit(_ batch: inout AppendBatch, _ caller: Caller, isImport: Bool) throws(StoreError) {
        if caller.isAny(of: .app) {
            if !isImport, batch.hasAmendments { try permitAmendments(&batch) }
            return
        }
        batch = try reader.fresh { [batch] views throws(StoreError) in
            var batch = batch
            var memberships: [ByteText: Bool] = [:]
            try batch.refuse { [whole = batch] draft, earlier throws(StoreError) in
                Self.note(earlier.last, &memberships)
                if let problem = Self.late(draft, after: earlier) { return problem }
                if let problem = try Self.problem(draft, whole, caller, views, &memberships, after: earlier) {
                    return problem
                }
                // Who speaks for themselves is told at once; what programs bring may be of an older form.
                if caller.isUser(draft.author ?? draft.user), let problem = AppendBatch.Problem(formOf: draft) {
                    return problem
                }
                if let problem = try Self.direct(draft, in: whole, views) { return problem }
                if let message = whole.message(amendedBy: draft), try !views.log.hasEvent(message) {
                    return Self.refusal(of: try views.verdict(on: draft, of: message, after: earlier))
                }
                guard AmendmentRule.isAmendment(draft.type) else { return nil }
                return try Self.ownAmendment(draft, caller, views, after: earlier)
            }
            return batch
        }
    }

    /// Takes away edits and retractions by others than the authors, of one who may write for all.
    private func permitAmendments(_ batch: inout AppendBatch) throws(StoreError) {
        try batch.refuse { [whole = batch] draft, earlier throws(StoreError) in
            guard AmendmentRule.isAmendment(draft.type) else { return nil }
            return Self.refusal(of: try verdict(on: draft, of: whole.message(amendedBy: draft), after: earlier))
        }
    }

    /// The log tells, but for moderators: an edit is answered in the time of an append.
    private func verdict(
        on draft: EventDraft, of message: EventDraft?, after earlier: [EventDraft]
    ) throws(StoreError) -> AmendmentVerdict {
        // An id that the log has is that of the older event: the line of the request is not stored, or is that event once more.
        let (found, message) = try reader.log { log throws(StoreError) -> (LogVerdict, EventDraft?) in
            guard let message, try !log.hasEvent(message) else { return (try log.verdict(on: draft), nil) }
            return (LogVerdict(draft, of: message), message)
        }
        if case .settled(let verdict) = found { return verdict }
        return try reader.fresh { views throws(StoreError) in
            try views.verdict(on: draft, of: message, after: earlier)
        }
    }

    private static func refusal(of verdict: AmendmentVerdict) -> AppendBatch.Problem? {
        guard case .foreign(let author) = verdict else { return nil }
        return .init(code: "E_NOT_AUTHOR", message: "the message is by \(author), who alone can change it")
    }

    /// Who joins or leaves by a line is in, or is not, for those behind it.
    private static func note(_ draft: EventDraft?, _ memberships: inout [ByteText: Bool]) {
        guard let draft, let conversation = draft.conversation, draft.type.hasPrefix("participant.") else { return }
        memberships[key(draft.participant, conversation)] = draft.type == "participant.joined"
    }

    /// What stands against beginning a conversation behind another line of it, as it would in a request of its own.
    private static func late(_ draft: EventDraft, after earlier: [EventDraft]) -> AppendBatch.Problem? {
        guard draft.type == "conversation.started", let conversation = draft.conversation,
            earlier.contains(where: {
                $0.conversation.hasSameBytes(as: conversation) && ($0.id == nil || $0.id != draft.id)
            })
        else { return nil }
        let rejection = AppendRejection.begun(conversation: conversation)
        return .init(code: rejection.code, message: rejection.description)
    }

    /// The bytes of both, of which the first cannot have a line feed.
    private static func key(_ member: String, _ conversation: String) -> ByteText {
        ByteText(member + "\n" + conversation)
    }

    private static func problem(
        _ draft: EventDraft, _ batch: AppendBatch, _ caller: Caller, _ views: ViewReader,
        _ memberships: inout [ByteText: Bool],
        after earlier: [EventDraft]
    ) throws(StoreError) -> AppendBatch.Problem? {
        let question: Caller.Question
        let isOfContent = draft.id.map(batch.ofContent.contains) ?? false
        do throws(AppendRefusal) { question = try caller.mayAppend(draft, isOfContent: isOfContent) } catch {
            return .init(code: "E_AUTHOR", message: error.description)
        }
        let member: String
        let conversation: String
        var user: String?
        switch question {
        case .none: return nil
        case .takesPart(let one, let place):
            member = one
            conversation = place
        case .speaksTo(let other, let one, let place):
            member = one
            conversation = place
            user = other
        }
        let key = key(member, conversation)
        let known = beginsDirect(draft, conversation) ? true : memberships[key]
        let isIn = if let known { known } else { try takesPart(member, conversation, views) }
        memberships[key] = isIn
        guard isIn else {
            return .init(code: "E_AUTHOR", message: AppendRefusal.conversation(conversation).description)
        }
        if let user, try !hasPart(user, conversation, beside: member, views, &memberships) {
            let refusal = AppendRefusal.stranger(user: user, conversation: conversation)
            return .init(code: "E_AUTHOR", message: refusal.description)
        }
        guard draft.putsOut(by: member), try !views.moderates(member, conversation, after: earlier) else {
            return nil
        }
        return .init(code: "E_AUTHOR", message: AppendRefusal.moderator(draft.participant).description)
    }

    /// What stands against an event in the conversation of two others: one of the two begins it, and for both.
    private static func direct(
        _ draft: EventDraft, in batch: AppendBatch, _ views: ViewReader
    ) throws(StoreError) -> AppendBatch.Problem? {
        guard let conversation = draft.conversation, DirectConversation.isID(conversation) else { return nil }
        if let message = advantage(draft, in: conversation) { return .init(code: "E_AUTHOR", message: message) }
        var isBegun =
            draft.type == "conversation.started"
            ? beginsDirect(draft, conversation) : batch.drafts.contains { beginsDirect($0, conversation) }
        if !isBegun, draft.type != "conversation.started" {
            isBegun = try views.conversationSummary(conversation) != nil
        }
        if isBegun { return nil }
        return .init(
            code: "E_AUTHOR",
            message:
                "subject: \(conversation) is a conversation of two, which one of them begins for both: POST /v1/direct"
        )
    }

    /// Whether one of two begins their conversation, for both: they may, whatever others have brought into it.
    private static func beginsDirect(_ draft: EventDraft, _ conversation: String) -> Bool {
        guard draft.type == "conversation.started", draft.conversation.hasSameBytes(as: conversation),
            let names = JSONObject(validated: draft.payload).strings("participants"), names.count == 2
        else { return false }
        return DirectConversation(names[0], names[1]).id == conversation
            && names.contains { $0.hasSameBytes(as: draft.author ?? draft.user) }
    }

    /// What an event would give one of two more than the other: neither moderates, puts the other out, or lets a third in.
    private static func advantage(_ draft: EventDraft, in conversation: String) -> String? {
        let author = draft.author ?? draft.user
        let named = draft.participant
        switch draft.type {
        case "conversation.started"
        where !(JSONObject(validated: draft.payload).strings("moderators") ?? []).isEmpty:
            return "moderators: a conversation of two has none"
        case "participant.left" where draft.putsOut(by: author):
            return "participant.left: of two who speak with each other, each leaves for themselves alone"
        case "participant.joined"
        where !named.hasSameBytes(as: author) && DirectConversation(author, named).id != conversation:
            return "participant.joined: \(conversation) is a conversation of two, and \(named) is neither"
        default: return nil
        }
    }

    /// What stands against a user's or bot's edit or retraction: of messages that they do not see they learn nothing, not even whether
    /// there are any.
    private static func ownAmendment(
        _ draft: EventDraft, _ caller: Caller, _ views: ViewReader, after earlier: [EventDraft]
    ) throws(StoreError) -> AppendBatch.Problem? {
        let none = AppendBatch.Problem(
            code: "E_NOT_AUTHOR", message: "there is no message here that the token's holder can change so")
        var sight = Sight(caller)
        guard let message = try views.log.message(amendedBy: draft),
            try sight.sees(message.event.header, views), case .counts = try views.verdict(on: draft, after: earlier)
        else { return none }
        return nil
    }

    /// Notes what the batch may begin: who speaks for themselves begins new conversations alone, lest they make themselves moderators of
    /// another's.
    func restrict(_ batch: inout AppendBatch, _ caller: Caller) throws(StoreError) {
        let beginnings = batch.drafts.filter { $0.type == "conversation.started" }
        guard !caller.isAny(of: .app), let first = beginnings.first?.conversation else { return }
        (batch.newOnly, batch.own) = try reader.fresh { views throws(StoreError) in
            // What comes into the views from here on the writer sees, too.
            let position = try views.conversationVersion(first).at
            var sight = Sight(caller)
            var (begun, own): ([String], [String]) = ([], [])
            for draft in beginnings {
                guard let name = draft.conversation, try views.conversationSummary(name) != nil else { continue }
                begun.append(name)
                let isIn = try sight.isIn(name, views)
                if isIn || Self.beginsDirect(draft, name) { own.append(name) }
            }
            return (NewConversations(but: TextSet(begun), at: position), TextSet(own))
        }
    }

    /// Whether a caller may expect so many events of a conversation: one who sees it, or who is about to begin it. Whether there is one that is not
    /// theirs no answer tells.
    func mayExpect(_ expected: ExpectedVersion, _ caller: Caller) throws(StoreError) -> Bool {
        var sight = Sight(caller)
        guard !sight.isWhole else { return true }
        return try reader.fresh { views throws(StoreError) in
            if try sight.isIn(expected.conversation, views) { return true }
            guard expected.version == 0 else { return false }
            return try views.conversationSummary(expected.conversation) == nil
        }
    }

    /// Whether a user has a part in a conversation, or had, by another's word than that of `bot`, which could invent one.
    private static func hasPart(
        _ user: String, _ conversation: String, beside bot: String, _ views: ViewReader,
        _ memberships: inout [ByteText: Bool]
    ) throws(StoreError) -> Bool {
        // No key of those who take part has two line feeds.
        let key = ByteText("\n\(user)\n\(bot)\n\(conversation)")
        if let known = memberships[key] { return known }
        let found = try Membership.hasPart(user, in: conversation, beside: bot, views)
        memberships[key] = found
        return found
    }

    /// Whether one takes part in a conversation now, or it has no event yet.
    private static func takesPart(
        _ member: String, _ conversation: String, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        guard try views.conversationSummary(conversation) != nil else { return true }
        return try Membership(of: member, in: conversation, views).isOpen
    }
}

extension LogReader {
    /// Whether an event with the draft's id is here.
    fileprivate func hasEvent(_ draft: EventDraft) throws(StoreError) -> Bool {
        try draft.id.flatMap { (id) throws(StoreError) in try countingEvent(id: id) } != nil
    }
}

extension AppendRefusal: CustomStringConvertible {
    /// One sentence for people.
    public var description: String {
        switch self {
        case .role: "the roles do not let append"
        case .author(let author): "author: \(author) is another one than the token is for"
        case .user(let user): "user: \(user) is another one than the token is for"
        case .type(let type): "type: \(type) is for bots"
        case .ofUsers(let type): "type: \(type) is for the user, or for a program (role app)"
        case .stranger(let user, let conversation):
            "user: \(user) has no part in conversation \(conversation), by their own word or that of another than the bot"
        case .conversation(let conversation): "subject: the token's holder is not in conversation \(conversation)"
        case .moderator(let user):
            "participant.left: only they themselves, who began it, or a moderator put \(user) out"
        case .noConversation: "subject: a bot's event of a user has a conversation"
        case .id(let id): "id: \(id) is a UUIDv8, which only bots and programs give: a UUIDv7 is free"
        }
    }
}
