/// What is looked for, and where.
public struct SearchQuery: Hashable, Sendable {
    /// What a text must have, and must not.
    public let words: SearchWords
    /// Only in these users' histories; empty: all. An edit is found in that of the message that it changed.
    public var users: [String] = []
    /// Only in these conversations; empty: all.
    public var conversations: [String] = []
    /// Only what these wrote; empty: all.
    public var authors: [String] = []
    /// Only events of these types; empty: all. An edit is found as the message that it changed.
    public var types: [String] = []
    /// Only texts that say they are in one of these languages; empty: all.
    public var languages: [String] = []
    /// From here on, Unix milliseconds of display time.
    public var since: Int64?
    /// Up to but not including.
    public var until: Int64?

    /// Looks for words everywhere.
    public init(_ words: SearchWords) { self.words = words }

    /// Whether the index alone tells how many texts there are: for all else the texts are read.
    package var isCountable: Bool {
        authors.isEmpty && types.isEmpty && languages.isEmpty && since == nil && until == nil
    }
}

/// A text that was found.
public struct SearchHit: Sendable {
    /// The event that one reads: a message as it was posted, also where the words are those of an edit.
    public let stored: StoredEvent
    /// What the text is.
    public let kind: SearchHitKind
    /// The words as they are shown now.
    public let text: String
    /// Where the words stand in it, as bytes of UTF-8.
    public let ranges: [Range<Int>]
    /// The edit that the text is from, if it is from one.
    public let edit: EventID?
    /// When the words were written, and their place among what is found: that of the edit, if they are from one.
    public let key: DisplayKey
}

/// What a text is.
public enum SearchHitKind: String, CaseIterable, Sendable {
    /// What a person said.
    case message
    /// What a bot said.
    case reply
    /// What was heard in a voice.
    case transcript
    /// What was said to an answer of a survey.
    case comment
    /// The title of a conversation.
    case title
    /// What a user calls themselves.
    case name
}

/// Some of what was found.
public struct SearchPage: Sendable {
    /// The newest first.
    public internal(set) var hits: [SearchHit] = []
    /// Behind it more may come; there may be none after all. `nil`: that was all.
    public internal(set) var next: DisplayKey?
    /// Whether it ended because the texts came to a MiB.
    package var isLong = false
    /// The last position that the views had applied.
    public internal(set) var position: UInt64 = 0
    /// How many of the events up to there the index lacked.
    public internal(set) var unindexed: UInt64 = 0

    /// Takes away from ``next`` what it tells of texts that are not shown.
    ///
    /// - Parameter bound: Where the page began.
    mutating func veil(_ bound: DisplayKey?) {
        guard let next, hits.last?.key != next else { return }
        self.next = next.veiled(from: hits.last?.key ?? bound, isBackward: true)
    }
}
