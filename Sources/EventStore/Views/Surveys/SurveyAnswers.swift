/// How often an answer was given.
package struct SurveyCount: Hashable, Sendable {
    package let survey: String
    package let question: String
    package let value: String
    package let count: UInt64
}
