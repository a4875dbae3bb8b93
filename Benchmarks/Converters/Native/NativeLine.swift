/// The event types of the catalogue that the datasets need.
public enum EventType: String, Sendable {
    case conversationStarted = "conversation.started"
    case messagePosted = "message.posted"
    case botReplied = "bot.replied"
    case profileChanged = "profile.changed"
    case surveyAnswered = "survey.answered"
}

/// One line of native NDJSON: a CloudEvents 1.0 object without `id`, which the importer derives from
/// `source` and `recordid`.
public struct NativeLine: Sendable, Equatable {
    /// What happened.
    public var type: EventType
    /// The dataset, as `/datasets/<set>`.
    public var source: String
    /// Unique inside the set and the same in every run.
    public var recordID: String
    /// When it happened, by the set's own clock or an invented one.
    public var time: Timestamp
    /// The conversation it belongs to, without the `conversation/` prefix.
    public var conversation: String?
    /// Whose history it belongs to.
    public var user: String
    /// Who did it; nil when that is the user.
    public var author: String?
    /// The id of the event that led to it.
    public var cause: String?
    /// The payload's members in the order of output.
    public var data: [JSONValue.Member]

    /// Makes a line.
    public init(
        type: EventType, source: String, recordID: String, time: Timestamp, conversation: String? = nil,
        user: String, author: String? = nil, cause: String? = nil, data: [JSONValue.Member]
    ) {
        self.type = type
        self.source = source
        self.recordID = recordID
        self.time = time
        self.conversation = conversation
        self.user = user
        self.author = author
        self.cause = cause
        self.data = data
    }
}
