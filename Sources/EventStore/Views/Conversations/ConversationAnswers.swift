/// A conversation in the list of conversations.
public struct ConversationSummary: Hashable, Sendable {
    /// Its id.
    public let conversation: String
    /// The last title it was given, if any.
    public let title: String?
    /// `text`, `image` or `voice`, if that was said when it was started.
    public let category: String?
    /// Who started it; `nil` if no event says so.
    public let startedBy: String?
    /// How many events it has: the version that an append may expect (``ExpectedVersion``).
    public let events: UInt64
    /// How many of them are messages of people or bots.
    public let messages: UInt64
    /// Display time of the first event, Unix milliseconds.
    public let firstTime: Int64
    /// Display time of the last event, Unix milliseconds.
    public let lastTime: Int64
    let lastHLC: Int64
    let ref: Int64

    /// Where it stands among all.
    package var place: ConversationPlace { ConversationPlace(time: lastTime, hlc: HybridTime(ordered: lastHLC)) }
}

/// When the last event of a conversation was: the order of their list.
package struct ConversationPlace: Hashable, Sendable {
    package let time: Int64
    package let hlc: HybridTime

    package init(time: Int64, hlc: HybridTime) { (self.time, self.hlc) = (time, hlc) }
}

/// Who takes part in a conversation.
package struct Participant: Hashable, Sendable {
    package let user: String
    package let messages: UInt64
    /// What the last writer said; `nil` if no event said.
    package let joined: Bool?
}

extension Participant {
    init(_ row: ParticipantsView.Row) {
        self.init(user: row.user, messages: UInt64(clamping: row.messages), joined: row.membership?.joined)
    }
}
