extension EventReader {
    /// The texts that are shown now and have the words, the newest first: messages as they were edited last, transcripts, comments, titles
    /// and names. A page ends early when its texts come to a MiB, or when many entries of the index had to be looked at.
    ///
    /// ```swift
    /// let page = try reader.search(SearchQuery(SearchWords("두통 -감기")))
    /// ```
    ///
    /// The index follows the other views: a query waits for it as for them, but not where it lacks many events.
    /// ``SearchPage/unindexed`` says how many it lacked.
    ///
    /// - Parameters:
    ///   - query: What is looked for, and where.
    ///   - key: ``SearchPage/next`` of the page before; `nil` for the newest.
    ///   - limit: At most so many, 1 to 500; what lies outside counts as the nearer of both.
    /// - Throws: As ``history(of:before:limit:)``.
    public func search(
        _ query: SearchQuery, before key: DisplayKey? = nil, limit: Int = 50
    ) throws(StoreError) -> SearchPage {
        try fresh(isIndexed: true) { views throws(StoreError) in
            try views.search(query, limit: limit, before: key)
        }
    }
}
