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
