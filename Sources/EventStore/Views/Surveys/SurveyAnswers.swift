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

    package init(survey: String, question: String, value: String, count: UInt64) {
        (self.survey, self.question, self.value, self.count) = (survey, question, value, count)
    }
}
