/// Which part of a timeline or history, in display time.
package struct TimelineQuery: Hashable, Sendable {
    /// Which end counts.
    package enum Limit: Hashable, Sendable {
        case all
        case first(Int)
        case last(Int)
    }

    /// From here on, Unix milliseconds of display time.
    package var since: Int64?
    /// Up to but not including.
    package var until: Int64?
    /// Only these event types; empty: all.
    package var types: Set<String> = []
    /// Only events that were in the log by this position.
    package var knownAt: UInt64?
    /// Continues after this entry.
    package var after: DisplayKey?
    package var limit = Limit.all

    package init() {}
}

/// An event of a history or a conversation, with what became of it.
public struct TimelineEntry: Sendable {
    /// The event, and its position in this node's log.
    public let stored: StoredEvent
    /// What was done to it, if it is a message and anything was.
    public let history: MessageHistory?

    /// Its place in display order, which is the same on every node.
    public var key: DisplayKey { stored.event.header.displayKey }
    /// The text of the edit that stands; `nil` if there is none.
    public var edited: String? { history?.edit?.text }
    /// How many edits count.
    public var edits: Int { history?.edits ?? 0 }
    /// Whether it was taken back.
    public var isRetracted: Bool { history?.retraction != nil }
}

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
    /// How many events it has.
    public let events: UInt64
    /// How many of them are messages of people or bots.
    public let messages: UInt64
    /// Display time of the first event, Unix milliseconds.
    public let firstTime: Int64
    /// Display time of the last event, Unix milliseconds.
    public let lastTime: Int64
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

/// One write of a profile field.
public struct ProfileWrite: Hashable, Sendable {
    /// JSON as it was written: text has its quotation marks.
    public let value: String
    /// Who wrote it.
    public let author: String
    /// Display time, Unix milliseconds.
    public let time: Int64
    /// Names the event that says so, on every node.
    public let dot: Dot
    /// Where that event stands in this node's log.
    public let position: UInt64
}

/// A profile field.
public struct ProfileField: Hashable, Sendable {
    /// Its name.
    public let name: String
    /// The write that stands: the last in display order.
    public let winner: ProfileWrite
    /// Other writes that no write since has known of, by display order. Not empty and of other values: a conflict.
    public let concurrent: [ProfileWrite]

    /// Whether people should decide.
    public var isConflict: Bool { concurrent.contains { $0.value != winner.value } }
}

/// How often an answer was given.
public struct SurveyCount: Hashable, Sendable {
    /// Which survey.
    public let survey: String
    /// Which of its questions.
    public let question: String
    /// The answer: a choice, or a rating as a number.
    public let value: String
    /// How often; each event counts once.
    public let count: UInt64
}

/// An event that a view refused, or that this release cannot read at all (D13): stored, relayed, and hidden from that
/// view or from all that would interpret it.
package struct QuarantinedEvent: Hashable, Sendable {
    /// Stands for all views.
    package static let everyView = "*"

    package let position: UInt64
    /// Which view, or ``everyView``.
    package let view: String
    package let reason: String
}
