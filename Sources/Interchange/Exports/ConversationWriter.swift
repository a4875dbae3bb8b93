package import EventStore

/// A form in which conversations leave the store, as bytes: one writer of one export. Memory grows with what a form says of one
/// message or one line, never with the log.
package protocol ConversationWriter: AnyObject {
    /// The types of the events it looks at; empty: all.
    var types: [String] { get }
    /// Whether it asks what was answered to surveys.
    var survey: SurveyWish? { get }
    /// What of it was left out, by reason.
    var leftOut: [String: Int] { get }
    /// How many messages, lines or pairs were written.
    var written: Int { get }

    /// What stands before everything.
    func begin() -> [UInt8]
    /// A conversation comes, in display order.
    func begin(_ conversation: ExportedConversation) -> [UInt8]
    func add(_ entry: TimelineEntry) -> [UInt8]
    /// The conversation is over.
    func end() -> [UInt8]
}

/// What is known of a conversation before its first event.
package struct ExportedConversation {
    package var id: String
    package var title: String?
    package var startedBy: String?
    /// Who is in it now.
    package var participants: [String] = []
    package var messages: UInt64 = 0
    package var firstTime: Int64?
    package var lastTime: Int64?
    package var answers = SurveyAnswers()

    package init(_ id: String) { self.id = id }
}

/// Which answers to which survey are wanted.
package struct SurveyWish: Hashable, Sendable {
    package var survey: String
    /// Only what was answered so; `nil`: everything.
    package var value: String?

    package init(_ survey: String, value: String? = nil) { (self.survey, self.value) = (survey, value) }

    /// `satisfaction` or `satisfaction=dissatisfied`; `nil` if it names no survey.
    package init?(text: String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, !name.isEmpty, parts.last != "" else { return nil }
        self.init(name, value: parts.count > 1 ? parts[1] : nil)
    }
}

/// Who speaks, in the words of chat models.
package enum SpokenRole: String {
    case user, assistant, system, tool

    /// `nil`: an event of this type says nothing.
    init?(type: String) {
        switch type {
        case "message.posted": self = .user
        case "bot.replied": self = .assistant
        case "bot.configured": self = .system
        case "tool.returned": self = .tool
        default: return nil
        }
    }
}

/// A message as it stands now.
struct Spoken {
    enum State: String {
        case edited, retracted, erased, unreadable
    }

    let header: EventHeader
    let role: SpokenRole
    let payload: JSONObject?
    let state: State?
    /// What it says; `nil`: it has no text.
    let text: String?

    /// `nil` if the event is none that says something.
    init?(_ entry: TimelineEntry) {
        let event = entry.stored.event
        guard !event.header.isOpaque, let role = SpokenRole(type: event.header.type) else { return nil }
        header = event.header
        self.role = role
        payload = event.payload.map { JSONObject(validated: $0) }
        text = entry.edited ?? payload?.string("text")
        if event.isErased {
            state = .erased
        } else if payload == nil {
            state = .unreadable
        } else if entry.isRetracted {
            state = .retracted
        } else {
            state = entry.edited == nil ? nil : .edited
        }
    }
}
