/// What of a conversation goes to the model with a question.
///
/// The system text and the question always go. Before the question go as many of the latest turns as fit both bounds. A window begins
/// with a turn of a user: of a question and its answer both go, or neither.
package struct ContextWindow: Equatable, Sendable {
    /// Most turns but the system's, the question included.
    package var turns = 20
    /// Most tokens, as ``estimate(_:)`` counts them, the system text included.
    package var tokens = 3_000

    package init() {}

    /// About how many tokens a text takes: one for four characters of ASCII, one for any other character, four for the turn itself.
    ///
    /// Tokenizers differ, and none is here. This takes more than they do for English, and about as many for Hangul.
    package static func estimate(_ text: String) -> Int {
        var (narrow, wide) = (0, 0)
        for scalar in text.unicodeScalars { if scalar.isASCII { narrow += 1 } else { wide += 1 } }
        return (narrow + 3) / 4 + wide + 4
    }

    /// - Parameters:
    ///   - before: What was said before the question, in order.
    ///   - halvings: How often the bounds are halved, because the endpoint said that it was too much.
    package func fit(system: String?, before: [Turn], question: String, halvings: Int = 0) -> [Turn] {
        let limit = (turns: max(1, turns >> halvings), tokens: tokens >> halvings)
        var left = limit.tokens - Self.estimate(question) - (system.map(Self.estimate) ?? 0)
        var chosen: [Turn] = []
        for turn in before.reversed() {
            left -= Self.estimate(turn.text)
            guard left >= 0, chosen.count + 1 < limit.turns else { break }
            chosen.append(turn)
        }
        while let last = chosen.last, last.role != .user { chosen.removeLast() }
        return (system.map { [Turn(.system, $0)] } ?? []) + chosen.reversed() + [Turn(.user, question)]
    }
}
