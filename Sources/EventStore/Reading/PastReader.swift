extension EventReader {
    /// Reads what stood at a moment: what had happened by then, as far as this node knew it by then.
    ///
    /// ```swift
    /// let before = try reader.asOf(PointInTime(asOf: monday)).profile(of: "u-1029")
    /// ```
    public func asOf(_ moment: PointInTime) -> PastReader { PastReader(reader: self, moment: moment) }
}

/// What stood at an earlier moment (``EventReader/asOf(_:)``). Edits and retractions that came later change nothing of it.
///
/// Histories are read as at any time. All else is made anew from the events of that time, by the rules that make the views: what would take too
/// many of them is refused (`E_SCOPE`). Else its queries throw what those of ``EventReader`` do, and block as they do.
public struct PastReader: Sendable {
    let reader: EventReader
    let moment: PointInTime

    /// As ``EventReader/history(of:before:limit:)``.
    public func history(
        of user: String, before key: DisplayKey? = nil, limit: Int = 50
    ) throws(StoreError) -> [TimelineEntry] {
        try reader.newest(limit, of: .user(user), query, before: key)
    }

    /// As ``EventReader/conversation(_:before:limit:)``.
    public func conversation(
        _ id: String, before key: DisplayKey? = nil, limit: Int = 50
    ) throws(StoreError) -> [TimelineEntry] {
        try reader.newest(limit, of: .conversation(id), query, before: key)
    }

    /// As ``EventReader/conversations(after:limit:)``.
    public func conversations(
        after last: ConversationSummary? = nil, limit: Int = 50
    ) throws(StoreError) -> [ConversationSummary] {
        try reader.fresh { views throws(StoreError) in
            try views.conversations(limit: EventReader.clamped(limit), before: last?.place, at: moment)
        }
    }

    /// As ``EventReader/summary(of:)``.
    public func summary(of conversation: String) throws(StoreError) -> ConversationSummary? {
        try reader.fresh { views throws(StoreError) in try views.conversationSummary(conversation, at: moment) }
    }

    /// As ``EventReader/profile(of:)``.
    public func profile(of user: String) throws(StoreError) -> [ProfileField] {
        try reader.fresh { views throws(StoreError) in try views.profile(user: user, at: moment) }
    }

    private var query: TimelineQuery {
        var query = TimelineQuery()
        (query.asOf, query.knownAt, query.knownTime) = (moment.asOf, moment.knownAt, moment.knownTime)
        return query
    }
}
