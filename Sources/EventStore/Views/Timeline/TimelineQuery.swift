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

/// An event with what became of it.
package struct TimelineEntry: Sendable {
    package let stored: StoredEvent
    /// What was done to it, if it is a message and anything was.
    package let history: MessageHistory?

    /// The text of its last edit.
    package var edited: String? { history?.edit?.text }
    /// How many edits count.
    package var edits: Int { history?.edits ?? 0 }
    /// Whether it was taken back.
    package var isRetracted: Bool { history?.retraction != nil }
}

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

/// One write of a profile field.
package struct ProfileWrite: Hashable, Sendable {
    /// JSON as it was written.
    package let value: String
    package let author: String
    /// Display time, Unix milliseconds.
    package let time: Int64
    package let dot: Dot
    package let position: UInt64
}

/// A profile field.
package struct ProfileField: Hashable, Sendable {
    package let name: String
    /// The last writer's value.
    package let winner: ProfileWrite
    /// Other writes that no write since has known of, by display order. Not empty and of other values: a conflict.
    package let concurrent: [ProfileWrite]

    /// Whether people should decide.
    package var isConflict: Bool { concurrent.contains { $0.value != winner.value } }
}

/// How often an answer was given.
package struct SurveyCount: Hashable, Sendable {
    package let survey: String
    package let question: String
    package let value: String
    package let count: UInt64
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
