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
    /// whose history one of its events stands.
    ///
    /// A conversation of two is of these two alone, whatever programs or other nodes bring into it.
    package init(of member: String, in conversation: String, _ views: ViewReader) throws(StoreError) {
        if DirectConversation.isID(conversation) {
            self = try Self.isOfTwo(member, conversation, views) ? .always : .none
            return
        }
        let participant = try views.participant(member, of: conversation)
        if participant?.joined != nil {
            // Where one event alone speaks of them, it and the beginning say all.
            var words = try views.membershipWords(of: member, in: conversation)
            if words == nil { words = try Self.words(conversation, views) }
            self.init(of: member, words ?? [])
            return
        }
        if try !views.keepsList(conversation) {
            var isOwn = participant != nil
            if !isOwn { isOwn = try Self.isOwn(conversation, member, views) }
            if isOwn {
                self = .always
                return
            }
        }
        let starter = try views.conversationSummary(conversation)?.startedBy
        self = starter.map { $0.hasSameBytes(as: member) } == true ? .always : .none
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

    /// Which events of a conversation a member saw, for ``ViewReader/received(by:_:limit:before:seen:)``; `nil` if none.
    package static func seen(
        by member: String, in conversation: String, _ views: ViewReader
    ) throws(StoreError) -> (@Sendable (HybridTime) -> Bool)? {
        let membership = try Membership(of: member, in: conversation, views)
        if membership.isEmpty { return nil }
        return { membership.sees($0) }
    }

    /// Whether an event of the conversation stands in the member's history: that of a chatbot and its user.
    private static func isOwn(
        _ conversation: String, _ member: String, _ views: ViewReader
    ) throws(StoreError) -> Bool {
        var query = TimelineQuery()
        query.conversations = [conversation]
        return try !views.newest(1, of: .user(member), query).entries.isEmpty
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

    /// - Parameter events: Of the three types, in the order of recording.
    package init(of member: String, _ events: [Event]) {
        spans = []
        var isForAll = false
        let opening = events.first?.header.dot
        for event in events {
            guard let payload = event.payload.map(JSONObject.init(validated:)) else { continue }
            let time = event.header.hlc
            if event.header.type == Self.types[0] {
                // Only its first beginning opens a conversation's past: a later one could be anyone's.
                let isOpening = event.header.dot == opening
                if isOpening { isForAll = payload.string("history") == "all" }
                let names = payload.strings("participants") ?? []
                if names.contains(where: { $0.hasSameBytes(as: member) }) { open(isOpening ? nil : time) }
                continue
            }
            guard (payload.string("user") ?? event.header.user).hasSameBytes(as: member) else { continue }
            if event.header.type == Self.types[1] { open(isForAll ? nil : time) } else { close(time) }
        }
    }

    private init(spans: [Span]) { self.spans = spans }

    private mutating func open(_ time: HybridTime?) {
        if spans.last?.until == nil, !spans.isEmpty { return }
        spans.append(Span(since: time))
    }

    private mutating func close(_ time: HybridTime) {
        // Who leaves without a beginning has been there.
        if spans.isEmpty { spans = [Span(until: time)] }
        guard let last = spans.indices.last, spans[last].until == nil else { return }
        spans[last].until = time
    }
}
