/// The sorted tables of this folder, and what the tags of a row say in them.
extension SortedTable {
    /// The events of a conversation.
    static let timeline = SortedTable("timeline", column: "conversation")
    /// The events of a user.
    static let history = SortedTable("history", column: "user")
}

extension RowTags {
    private static let message: Int64 = 1
    private static let uncounted: Int64 = 2
    private static let bits: Int64 = 2

    /// What a row tells of its event, so that a query need not look into the log for those that it does not want.
    ///
    /// - Parameters:
    ///   - isMessage: Whether it is a line of dialogue: in a history one that is not erased.
    ///   - author: The ref of the author; 0 for the owner of the row.
    ///   - context: In a history the ref of the conversation; 0 if there is none, and in a timeline.
    init(_ event: ProjectedEvent, isMessage: Bool, isCounted: Bool, author: Int64, context: Int64) {
        var flags: Int64 = 0
        if isMessage { flags |= Self.message }
        if !isCounted { flags |= Self.uncounted }
        self.init(kind: event.typeRef << Self.bits | flags, author: author, context: context)
    }

    /// The ref of the event's type.
    var type: Int64 { kind >> Self.bits }
    /// Whether it is a line of dialogue that can be read.
    var isMessage: Bool { kind & Self.message != 0 }
    /// Whether it is an event that is listed, but does not count: it cannot be read.
    var isUncounted: Bool { kind & Self.uncounted != 0 }
}

extension SortedRow {
    /// In a timeline whether it is one of the events that the conversation has.
    var isCounted: Bool { !tags.isUncounted && !isHidden }
    /// In a timeline the ref of the one who spoke, if the event is a line of dialogue that counts.
    var speaker: Int64? { tags.isMessage && isCounted ? tags.author : nil }
    /// In a history the ref of the conversation in which its message makes a room of the user's, twins included.
    var room: Int64? { tags.isMessage && !tags.isUncounted && tags.context != 0 ? tags.context : nil }
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
