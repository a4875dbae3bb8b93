/// A conversation in the list of conversations.
package struct ConversationSummary: Hashable, Sendable {
    package let conversation: String
    package let title: String?
    package let category: String?
    package let startedBy: String?
    /// How many events: the version that an appender may expect.
    package let events: UInt64
    package let messages: UInt64
    /// Display time of the first and the last event, Unix milliseconds.
    package let firstTime: Int64
    package let lastTime: Int64
    let lastHLC: Int64
    let ref: Int64
}

/// Who takes part in a conversation.
package struct Participant: Hashable, Sendable {
    package let user: String
    package let messages: UInt64
    /// What the last writer said; `nil` if no event said.
    package let joined: Bool?
}
