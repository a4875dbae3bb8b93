/// What a conversion wrote and what it left out.
public struct ConversionCounts: Sendable, Equatable, CustomStringConvertible {
    /// `message.posted` and `bot.replied` lines.
    public var messages = 0
    /// `conversation.started` lines.
    public var conversations = 0
    /// `profile.changed` lines.
    public var profiles = 0
    /// `survey.answered` lines.
    public var surveys = 0
    /// All lines.
    public var lines = 0
    /// Records that gave no line, counted by reason.
    public var skipped: [String: Int] = [:]

    /// Makes counts of zero.
    public init() {}

    mutating func add(_ type: EventType) {
        lines += 1
        switch type {
        case .messagePosted, .botReplied: messages += 1
        case .conversationStarted: conversations += 1
        case .profileChanged: profiles += 1
        case .surveyAnswered: surveys += 1
        }
    }

    mutating func skip(_ reason: String) {
        skipped[reason, default: 0] += 1
    }

    /// One line for people.
    public var description: String {
        let kinds = [
            "\(lines) lines", "\(messages) messages", "\(conversations) conversations", "\(profiles) profiles",
            "\(surveys) surveys",
        ]
        let reasons = skipped.keys.sorted().map { "skipped \(skipped[$0, default: 0]) (\($0))" }
        return (kinds + reasons).joined(separator: ", ")
    }
}
