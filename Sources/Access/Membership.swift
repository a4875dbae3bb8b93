package import EventStore

/// When one takes part in a conversation: what they may read of it. Times are those of recording; what an author states does not count.
package struct Membership: Hashable, Sendable {
    /// From `since` on, before `until`; `nil`: from the beginning, without end.
    package struct Span: Hashable, Sendable {
        package var since: HybridTime?
        package var until: HybridTime?
    }

    package private(set) var spans: [Span]

    package static let none = Membership(spans: [])
    package static let always = Membership(spans: [Span()])

    /// Whether an event that was recorded then is seen.
    package func sees(_ time: HybridTime) -> Bool {
        spans.contains { span in
            (span.since.map { time >= $0 } ?? true) && (span.until.map { time <= $0 } ?? true)
        }
    }

    /// Whether it goes on.
    package var isOpen: Bool { spans.contains { $0.until == nil } }
    package var isEmpty: Bool { spans.isEmpty }

    private static let types = ["conversation.started", "participant.joined", "participant.left"]
    private static let page = 500

    /// When `member` takes part in `conversation`, of all that views show.
    ///
    /// Who is named at the beginning takes part from the beginning; who joins, from then on, unless the beginning says `"history":"all"`; who
    /// leaves, to that moment. In a conversation that keeps no list of who takes part, that is each who has said something there, and each in
    /// whose history one of its events stands. Who was there is not let in by a word, and who was not has nothing to leave.
    ///
    /// A conversation of two is of these two alone, whatever programs or other nodes bring into it.
    package init(of member: String, in conversation: String, _ views: ViewReader) throws(StoreError) {
        if DirectConversation.isID(conversation) {
            self = try Self.isOfTwo(member, conversation, views) ? .always : .none
            return
        }
        let participant = try views.participant(member, of: conversation)
        var words: [Event] = []
        if participant?.joined != nil {
            // Where one event alone speaks of them, it and the beginning say all.
            words = try views.membershipWords(of: member, in: conversation) ?? []
            if words.isEmpty { words = try Self.words(conversation, views) }
        }
        let first = words.first { Self.speaks($0, of: member) }
        var wasThere = false
        // Whom its beginning names has been there since.
        if first == nil || first?.header.dot != Self.opening(of: words)?.header.dot {
            let hasSpoken = participant?.messages ?? 0 > 0
            wasThere = try Self.isThere(
                member, in: conversation, before: first?.header.hlc, hasSpoken: hasSpoken, views)
        }
        self.init(of: member, words, wasThere: wasThere)
    }

    /// Whether one took part before any word on it: they began the conversation, or it keeps no list and one of their events, or of their
    /// history, was recorded there before that moment; `nil`: ever.
    private static func isThere(
        _ member: String, in conversation: String, before moment: HybridTime?, hasSpoken: Bool, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        let starter = try views.conversationSummary(conversation)?.startedBy
        if let starter, starter.hasSameBytes(as: member) { return true }
        if try views.keepsList(conversation) { return false }
        if moment == nil, hasSpoken { return true }
        if try isOwn(conversation, member, before: moment, views) { return true }
        guard hasSpoken else { return false }
        var written = TimelineQuery()
        written.authors = [member]
        return try hasRow(.conversation(conversation), written, before: moment, views)
    }

    /// Those among whom the two are looked for.
    private static let mostNames = 1_000

    /// Whether a conversation of two is the member's, which its id tells of any two. Where the other one is not known it is no one's: one of the two
    /// begins it.
    private static func isOfTwo(
        _ member: String, _ conversation: String, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        func areTwo(_ one: String, _ other: String) -> Bool { DirectConversation(one, other).id == conversation }
        let names = try views.namedAtOpening(of: conversation) ?? []
        if names.contains(where: { areTwo($0, member) }) { return true }
        if names.count == 2, areTwo(names[0], names[1]) { return false }
        return try views.participants(of: conversation, limit: mostNames).contains { areTwo($0.user, member) }
    }

    /// Whether a user has a part in a conversation, or had: an event of it stands in their history, or another than `bot` has named them among
    /// those who take part.
    package static func hasPart(
        _ user: String, in conversation: String, beside bot: String, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        if try isOwn(conversation, user, views) { return true }
        let words = try words(conversation, views).filter { !$0.header.author.hasSameBytes(as: bot) }
        return !Membership(of: user, words).isEmpty
    }

    /// Which events of a conversation a member saw, for ``ViewReader/received(by:_:limit:before:seen:)`` and lists of rooms.
    package static func seen(
        by member: String, in conversation: String, _ views: ViewReader
    ) throws(StoreError) -> SeenOfRoom {
        let membership = try Membership(of: member, in: conversation, views)
        if membership.isEmpty { return .nothing }
        return membership == .always ? .all : .some { membership.sees($0) }
    }

    /// Whether an event of the conversation stands in the member's history: that of a chatbot and its user.
    private static func isOwn(
        _ conversation: String, _ member: String, before moment: HybridTime? = nil, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        var query = TimelineQuery()
        query.conversations = [conversation]
        return try hasRow(.user(member), query, before: moment, views)
    }

    /// Whether a row matches that was recorded before a moment; `nil`: ever. Of others no event is read, and they are looked at as far as a page
    /// goes.
    private static func hasRow(
        _ owner: TimelineOwner, _ query: TimelineQuery, before moment: HybridTime?, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        guard let moment else { return try !views.newest(1, of: owner, query).entries.isEmpty }
        var query = query
        // What was recorded before it is shown no later.
        query.until = moment.milliseconds + 1
        let viewer = TimelineViewer([], sees: { $0 < moment }, isSeen: { _ in true })
        return try !views.newest(1, of: owner, query, for: viewer).entries.isEmpty
    }

    /// What was said of who takes part, in the order of recording.
    private static func words(_ conversation: String, _ views: ViewReader) throws(StoreError) -> [Event] {
        var query = TimelineQuery()
        query.types = types
        var events: [Event] = []
        var bound: DisplayKey?
        repeat {
            let page = try views.oldest(page, of: .conversation(conversation), query, after: bound)
            events += page.entries.map(\.stored.event)
            bound = page.next
        } while bound != nil
        return events.sorted { ($0.header.hlc, $0.header.dot) < ($1.header.hlc, $1.header.dot) }
    }

    private static func opening(of events: [Event]) -> Event? { events.first { $0.header.type == types[0] } }

    /// Whether an event of the three types says of a member that they take part, or no longer do.
    private static func speaks(_ event: Event, of member: String) -> Bool {
        guard let payload = event.payload.map(JSONObject.init(validated:)) else { return false }
        if event.header.type == types[0] {
            return payload.strings("participants")?.contains(where: member.hasSameBytes) ?? false
        }
        return (payload.string("user") ?? event.header.user).hasSameBytes(as: member)
    }

    /// - Parameters:
    ///   - events: Of the three types, in the order of recording.
    ///   - wasThere: Whether they took part before any of these spoke of them.
    package init(of member: String, _ events: [Event], wasThere: Bool = false) {
        spans = wasThere ? [Span()] : []
        // Only its first beginning opens a conversation's past: a later one could be anyone's.
        let opening = Self.opening(of: events)
        let isForAll = opening?.payload.map(JSONObject.init(validated:))?.string("history") == "all"
        for event in events where Self.speaks(event, of: member) {
            let time = event.header.hlc
            switch event.header.type {
            case Self.types[0]: open(event.header.dot == opening?.header.dot ? nil : time)
            case Self.types[1]: open(isForAll ? nil : time)
            default: close(time)
            }
        }
    }

    private init(spans: [Span]) { self.spans = spans }

    private mutating func open(_ time: HybridTime?) {
        guard let time else {
            spans = [Span()]
            return
        }
        if spans.last?.until == nil, !spans.isEmpty { return }
        spans.append(Span(since: time))
    }

    private mutating func close(_ time: HybridTime) {
        guard let last = spans.indices.last, spans[last].until == nil else { return }
        spans[last].until = time
    }
}
