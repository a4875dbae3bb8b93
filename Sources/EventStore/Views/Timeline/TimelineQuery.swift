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
    package var types: [String] = []
    /// Only events of these conversations, for a history; empty: all.
    package var conversations: [String] = []
    /// Only what these users have written; empty: all.
    package var authors: [String] = []
    /// Also events that do not count, because the same was recorded earlier elsewhere (twins).
    package var withTwins = false
    /// Only what had happened by then, Unix milliseconds: edits and retractions that came later change nothing.
    package var asOf: Int64?
    /// Only events that were in the log by this position.
    package var knownAt: UInt64?
    /// Only events that were in the log by then, Unix milliseconds (``LogReader/known(at:)``).
    package var knownTime: Int64?
    /// Continues after this entry.
    package var after: DisplayKey?
    package var limit = Limit.all

    package init() {}

    /// Events at this time, or later, are not wanted.
    var end: Int64 { min(until ?? .max, asOf.map { $0 == .max ? $0 : $0 + 1 } ?? .max) }
}

/// Who speaks in a dialogue, in the words of chat models.
package enum DialogueRole: String, CaseIterable, Sendable {
    case user, assistant, all

    /// The types of what it says.
    package var types: [String] {
        let types: [EventType] =
            switch self {
            case .user: [.messagePosted]
            case .assistant: [.botReplied]
            case .all: [.messagePosted, .botReplied]
            }
        return types.map(\.rawValue)
    }

    /// Those of them that are among `wanted`, where that names any. Where both have none in common it is the empty type, which no event has.
    package func types(among wanted: [String]) -> [String] {
        guard !wanted.isEmpty else { return types }
        let both = types.filter { type in wanted.contains(where: type.hasSameBytes) }
        return both.isEmpty ? [""] : both
    }
}

/// Whose events: a user's, across conversations, or a conversation's.
package enum TimelineOwner: Hashable, Sendable {
    case user(String)
    case conversation(String)
}

/// Some entries of a timeline in a row.
package struct TimelinePage: Sendable {
    package var entries: [TimelineEntry] = []
    /// Behind it more may come; there may be none after all. `nil`: that was all.
    package var next: DisplayKey?
    /// Why it has fewer entries than were asked for, where more may come.
    package var cut: PageCut?
    /// The last position that the views of it had applied; `nil` where the log does not know the owner.
    package var position: UInt64?
}

/// An event of a history or a conversation, with what became of it.
public struct TimelineEntry: Sendable {
    /// The event, and its position in this node's log.
    public let stored: StoredEvent
    /// What was done to it, if it is a message and anything was.
    public let history: MessageHistory?

    /// An entry of these parts.
    package init(stored: StoredEvent, history: MessageHistory?) { (self.stored, self.history) = (stored, history) }

    /// Of its payload, and of the texts of its edits.
    var bytes: Int {
        let texts = history?.amendments.reduce(0) { $0 + $1.bytes } ?? 0
        return (stored.event.payload?.count ?? 0) + texts
    }

    /// Its place in display order, which is the same on every node.
    public var key: DisplayKey { stored.event.header.displayKey }
    /// The text of the edit that stands; `nil` if there is none.
    public var edited: String? { history?.edit?.text }
    /// How many edits count.
    public var edits: Int { history?.edits ?? 0 }
    /// Whether it was taken back.
    public var isRetracted: Bool { history?.retraction != nil }
}
