internal import Access
internal import EventStore

/// What of the record a caller sees: all, or what belongs to them and to conversations that they take part in.
struct Sight {
    let caller: Caller
    private var memberships: [ByteText: [Membership]] = [:]
    /// Of so many conversations it is remembered who takes part.
    private static let most = 10_000

    init(_ caller: Caller) { self.caller = caller }

    var isWhole: Bool { caller.readsAll }

    /// Whether the caller may know such an event at all. Who holds tokens, and who has read what, is for the roles of `GET /v1/access`
    /// alone. What users keep for themselves is for them and for programs, by whatever way it is asked for.
    func mayKnow(_ header: EventHeader) -> Bool {
        if ReservedType.isOfAccess(header.type) { return caller.isAny(of: [.auditor, .admin]) }
        return caller.mayKnow(header.type, of: header.user)
    }

    /// Whether the caller may know lists that a user keeps for themselves.
    func mayKnow(keptBy user: String) -> Bool { caller.readsKept || caller.isUser(user) }

    /// Whether the caller may know a user's list of conversations, which tells what is read and hidden.
    func mayKnow(roomsOf user: String) -> Bool { caller.readsKept || caller.isSelf(user) }

    /// The history of a node has these events: pages that pass over them would tell how many there are, and of when.
    func mayKnow(historyOf user: String) -> Bool {
        let isOfNode = user.hasPrefix("node/") && NodeID(text: user.dropFirst(5)) != nil
        return !isOfNode || caller.isAny(of: [.auditor, .admin])
    }

    /// Whether the caller sees an event.
    mutating func sees(_ header: EventHeader, _ views: ViewReader) throws(StoreError) -> Bool {
        guard mayKnow(header) else { return false }
        if isWhole { return true }
        if header.isOpaque { return false }
        if caller.isSelf(header.user) || caller.isSelf(header.author) { return true }
        guard let conversation = header.conversation else { return false }
        let memberships = try memberships(in: conversation, views)
        guard memberships.contains(where: { $0.sees(header.hlc) }) else { return false }
        // An edit has what was said once more: who was not there then does not hear it now.
        guard AmendmentRule.isAmendment(header.type), !memberships.contains(.always),
            let message = try views.amended(by: header), message.conversation.hasSameBytes(as: conversation)
        else { return true }
        return caller.isSelf(message.user) || caller.isSelf(message.author)
            || memberships.contains { $0.sees(message.hlc) }
    }

    /// Whether a search finds a text for the caller. Of titles and names only the last is found: one that goes away tells that there is another.
    /// So they are for those alone who may know what they are today.
    mutating func finds(_ header: EventHeader, _ views: ViewReader) throws(StoreError) -> Bool {
        guard try sees(header, views) else { return false }
        switch header.type {
        case "conversation.started", "conversation.renamed":
            guard let conversation = header.conversation else { return false }
            return try isIn(conversation, views)
        case "profile.changed": return isWhole || caller.isSelf(header.user)
        default: return true
        }
    }

    /// The users to whose rooms a search by rank keeps; none where lists of rooms do not tell all that the caller sees, as of bots.
    var rankedUsers: [String] {
        let selves = caller.selves
        return isWhole || !selves.allSatisfy(caller.isUser) ? [] : selves
    }

    /// An entry with those edits and retractions alone that the caller sees: who has left does not hear of later ones.
    mutating func seen(
        _ entry: TimelineEntry, _ query: TimelineQuery, _ views: ViewReader
    ) throws(StoreError) -> TimelineEntry {
        guard !isWhole, entry.history != nil else { return entry }
        var sight = self
        defer { self = sight }
        return try views.entry(entry.stored, query) { header throws(StoreError) in try sight.sees(header, views) }
    }

    /// The caller as one who reads a history or a conversation; `nil` where they see all.
    mutating func viewer(of owner: TimelineOwner, _ views: ViewReader) throws(StoreError) -> TimelineViewer? {
        if isWhole { return nil }
        var sees: ((HybridTime) -> Bool)?
        if case .conversation(let id) = owner {
            let memberships = try self.memberships(in: id, views)
            if !memberships.contains(.always) { sees = { time in memberships.contains { $0.sees(time) } } }
        }
        var sight = self
        return TimelineViewer(
            caller.selves, sees: sees,
            isSeen: { header throws(StoreError) in try sight.sees(header, views) })
    }

    /// Whether the caller takes part in a conversation, or has.
    mutating func knows(_ conversation: String, _ views: ViewReader) throws(StoreError) -> Bool {
        if isWhole { return true }
        return try memberships(in: conversation, views).contains { !$0.isEmpty }
    }

    /// Whether the caller takes part in a conversation now.
    mutating func isIn(_ conversation: String, _ views: ViewReader) throws(StoreError) -> Bool {
        if isWhole { return true }
        return try memberships(in: conversation, views).contains(where: \.isOpen)
    }

    /// Who takes part may have changed.
    mutating func forget(_ conversation: String) { memberships[ByteText(conversation)] = nil }

    /// Who takes part may have changed anywhere.
    mutating func forgetAll() { memberships = [:] }

    private mutating func memberships(
        in conversation: String, _ views: ViewReader
    ) throws(StoreError) -> [Membership] {
        if let known = memberships[ByteText(conversation)] { return known }
        var found: [Membership] = []
        for member in caller.selves { found.append(try Membership(of: member, in: conversation, views)) }
        if memberships.count >= Self.most { memberships = [:] }
        memberships[ByteText(conversation)] = found
        return found
    }
}
