/// How often an answer was given.
public struct SurveyCount: Hashable, Sendable {
    /// Which survey.
    public let survey: String
    /// Which of its questions.
    public let question: String
    /// The answer: a choice, or a rating as a number.
    public let value: String
    /// How often; each event counts once.
    public let count: UInt64
}
