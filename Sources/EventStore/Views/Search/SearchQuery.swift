/// What is looked for, and where.
package struct SearchQuery: Hashable, Sendable {
    package let words: SearchWords
    /// Only in these users' histories; empty: all.
    package var users: [String] = []
    /// Only in these conversations; empty: all.
    package var conversations: [String] = []
    /// Only what these wrote; empty: all.
    package var authors: [String] = []
    /// Only events of these types; empty: all. An edit is found as the message that it changed.
    package var types: [String] = []
    /// Only texts that say they are in one of these languages; empty: all.
    package var languages: [String] = []
    /// From here on, Unix milliseconds of display time.
    package var since: Int64?
    /// Up to but not including.
    package var until: Int64?

    package init(_ words: SearchWords) { self.words = words }

    /// Whether the index alone tells how many texts there are: for all else the texts are read.
    package var isCountable: Bool {
        authors.isEmpty && types.isEmpty && languages.isEmpty && since == nil && until == nil
    }
}

/// A text that was found.
package struct SearchHit: Sendable {
    /// The event that one reads: a message as it was posted, also where the words are those of an edit.
    package let stored: StoredEvent
    /// What the text is.
    package let kind: SearchHitKind
    /// The words as they are shown now.
    package let text: String
    /// Where the words stand in it, as bytes of UTF-8.
    package let ranges: [Range<Int>]
    /// The edit that the text is from, if it is from one.
    package let edit: EventID?
    /// When the words were written, and their place among what is found: that of the edit, if they are from one.
    package let key: DisplayKey
}

/// What a text is.
package enum SearchHitKind: String, CaseIterable, Sendable {
    case message, reply, transcript, comment, title, name
}

/// Some of what was found.
package struct SearchPage: Sendable {
    /// The newest first.
    package var hits: [SearchHit] = []
    /// Behind it more may come; there may be none after all. `nil`: that was all.
    package var next: DisplayKey?
    /// Whether it ended because the texts came to a MiB.
    package var isLong = false
    /// The last position that the views had applied.
    package var position: UInt64 = 0
    /// How many of the events up to there the index lacked.
    package var unindexed: UInt64 = 0

    /// Takes away from ``next`` what it tells of texts that are not shown.
    ///
    /// - Parameter bound: Where the page began.
    mutating func veil(_ bound: DisplayKey?) {
        guard let next, hits.last?.key != next else { return }
        self.next = next.veiled(from: hits.last?.key ?? bound, isBackward: true)
    }
}
