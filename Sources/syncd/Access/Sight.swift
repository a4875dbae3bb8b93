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

    /// Whether the caller may know events of a type at all: who holds tokens, and who has read what, is for the roles of `GET /v1/access`
    /// alone, by whatever way it is asked for.
    func mayKnow(_ type: String) -> Bool { !ReservedType.isOfAccess(type) || caller.isAny(of: [.auditor, .admin]) }

    /// Whether the caller sees an event.
    mutating func sees(_ header: EventHeader, _ views: ViewReader) throws(StoreError) -> Bool {
        guard mayKnow(header.type) else { return false }
        if isWhole { return true }
        if header.isOpaque { return false }
        if caller.isSelf(header.user) || caller.isSelf(header.author) { return true }
        guard let conversation = header.conversation else { return false }
        return try memberships(in: conversation, views).contains { $0.sees(header.hlc) }
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
