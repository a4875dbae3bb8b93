import Testing

@testable import EventStore

/// What a follower wants is told by bytes, as everything that is named.
struct EventFilterTests {
    private func header(_ type: String = "message.posted", user: String = "u", conversation: String? = nil)
        -> EventHeader
    {
        EventHeader(
            dot: Dot(origin: OriginID(UUIDBits(high: 1, low: 2)), seq: 1),
            hlc: HybridTime(milliseconds: 1, counter: 0),
            id: EventID(UUIDBits(high: 3, low: 4)), type: type, conversation: conversation, user: user)
    }

    @Test("Names that only look the same are others: composed and decomposed Hangul")
    func bytes() {
        let (composed, decomposed) = ("가", "\u{1100}\u{1161}")
        #expect(composed == decomposed && !composed.hasSameBytes(as: decomposed))
        var filter = EventFilter()
        filter.users = [composed]
        #expect(filter.matches(header(user: composed)) && !filter.matches(header(user: decomposed)))
        #expect(TextSet([composed, decomposed]).sorted().count == 2)
        #expect(TextSet([composed]) != TextSet([decomposed]))
        filter = EventFilter()
        filter.conversations = [decomposed]
        #expect(filter.matches(header(conversation: decomposed)) && !filter.matches(header(conversation: composed)))
        filter = EventFilter()
        filter.types = [composed]
        #expect(filter.matches(header(composed)) && !filter.matches(header(decomposed)))
    }
}
