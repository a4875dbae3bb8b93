/// The sorted tables of this folder, and what the tag of a row says in them.
extension SortedTable {
    /// The events of a conversation.
    static let timeline = SortedTable("timeline", column: "conversation")
    /// The events of a user.
    static let history = SortedTable("history", column: "user")
}

extension SortedRow {
    /// In a timeline the ref of the one who spoke, if the event is a line of dialogue; 0 if not, and ``uncounted``.
    var speaker: Int64 { tag }

    /// The speaker of an event that is listed in its conversation, but does not count there: it cannot be read.
    static let uncounted: Int64 = -1
    /// Whether it is one of the events that the conversation has.
    var isCounted: Bool { tag != Self.uncounted }
}

/// The tails of timelines and histories in memory, shared by the projector and the readers of one process.
package struct ViewMemtables: Sendable {
    let timeline = Memtables()
    let history = Memtables()
    let generation: Int

    /// - Parameter generation: How many rows of a table are compacted at a time, at most: a generation ends earlier when it has taken
    ///   ``Memtables/generationBytes``. The larger, the fewer pages are written for each row.
    package init(generation: Int = 1 << 18) { self.generation = generation }
}
