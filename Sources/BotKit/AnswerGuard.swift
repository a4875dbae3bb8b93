/// A rule about the shape of answers, which a model may miss.
///
/// What misses it is asked for once more, with the rule named (`repair`). If that does not help, or is not wanted, a sentence is appended,
/// another answer is given instead, or the answer goes as it is. Which of these came about stands in the reply.
package struct AnswerGuard: Equatable, Sendable {
    package enum Rule: Equatable, Sendable {
        /// Of these groups of words, so many have one in the answer, or in so many characters at its end.
        case words(groups: [[String]], least: Int, last: Int?)
        /// Numbered lines, as many as the question asks for: a number before one of these words.
        case items(units: [String])
        /// None of these words.
        case forbidden([String])
        /// At most so many characters.
        case longest(Int)
    }

    package let id: String
    package let rule: Rule
    /// It holds for questions with one of these words; for all if there are none.
    package var when: [String] = []
    /// It does not hold for questions with one of these.
    package var unless: [String] = []
    /// It holds only for questions of at most so many characters.
    package var longestQuestion: Int?
    /// It does not hold any more where the bot has kept it in an earlier answer: what was asked back is not asked twice.
    package var isOnce = false
    /// What the model is told when it has missed the rule.
    package var repair: String?
    package var append: BotText?
    package var instead: BotText?

    package init(_ id: String, _ rule: Rule) { (self.id, self.rule) = (id, rule) }

    /// What came of a rule.
    package enum Result: String, Sendable {
        case passed, repaired, appended, replaced, failed
    }

    /// - Parameter replies: What the bot has answered before, as far as it is known.
    package func applies(to question: String, after replies: [String] = []) -> Bool {
        if let longestQuestion, question.count > longestQuestion { return false }
        if isOnce, replies.contains(where: { passes($0, to: question) }) { return false }
        let question = FoldedText(question)
        if !when.isEmpty, !question.containsAny(of: when) { return false }
        if question.containsAny(of: unless) { return false }
        if case .items(let units) = rule { return Self.asked(question, units) != nil }
        return true
    }

    package func passes(_ answer: String, to question: String) -> Bool {
        switch rule {
        case .words(let groups, let least, let last):
            let text = last.map { FoldedText(answer.suffix($0)) } ?? FoldedText(answer)
            return groups.count { text.containsAny(of: $0) } >= least
        case .items(let units):
            guard let asked = Self.asked(FoldedText(question), units) else { return true }
            let numbers = Self.numbers(answer)
            return (1...asked).allSatisfy(numbers.contains) && !numbers.contains(asked + 1)
        case .forbidden(let words): return !FoldedText(answer).containsAny(of: words)
        case .longest(let count): return answer.count <= count
        }
    }

    /// How many the question asks for: the first number that stands before one of the words.
    private static func asked(_ question: FoldedText, _ units: [String]) -> Int? {
        let text = question.scalars
        let words = units.map { FoldedText($0).scalars }
        var index = 0
        while index < text.count {
            let digits = text[index...].prefix { "0"..."9" ~= $0 }
            guard !digits.isEmpty else {
                index += 1
                continue
            }
            let rest = text[(index + digits.count)...].drop { $0.properties.isWhitespace }
            if let number = Int(String(String.UnicodeScalarView(digits))), (1...50).contains(number),
                words.contains(where: { !$0.isEmpty && rest.starts(with: $0) })
            {
                return number
            }
            index += digits.count
        }
        return nil
    }

    /// The numbers that lines begin with: `1.` or `1)`.
    private static func numbers(_ answer: String) -> Set<Int> {
        var found: Set<Int> = []
        for line in answer.split(whereSeparator: \.isNewline) {
            let line = line.drop { $0.isWhitespace || $0 == "*" || $0 == "#" }
            let digits = line.prefix { $0.isASCII && $0.isNumber }
            guard let mark = line.dropFirst(digits.count).first, mark == "." || mark == ")" else { continue }
            if let number = Int(digits) { found.insert(number) }
        }
        return found
    }
}

/// A question that is answered by a text of the configuration at once, without a model.
package struct Emergency: Equatable, Sendable {
    package let id: String
    package let words: [String]
    package let text: BotText

    package init(_ id: String, words: [String], text: BotText) {
        (self.id, self.words, self.text) = (id, words, text)
    }

    package func applies(to question: String) -> Bool { FoldedText(question).containsAny(of: words) }
}

/// What became of an answer under all rules.
struct GuardedAnswer: Equatable {
    var text: String
    var results: [(id: String, result: AnswerGuard.Result)] = []

    /// - Parameters:
    ///   - guards: Those that apply to the question.
    ///   - missed: The rules that the answer before this one has missed.
    init(_ answer: String, to question: String, guards: [AnswerGuard], missed: Set<String>, language: String) {
        text = answer
        for rule in guards {
            guard !rule.passes(text, to: question) else {
                results.append((rule.id, missed.contains(rule.id) ? .repaired : .passed))
                continue
            }
            if let instead = rule.instead?.text(language) {
                text = instead
                results.append((rule.id, .replaced))
            } else if let more = rule.append?.text(language) {
                text += "\n\n" + more
                results.append((rule.id, .appended))
            } else if case .longest(let count) = rule.rule {
                text = String(text.prefix(count))
                results.append((rule.id, .replaced))
            } else {
                results.append((rule.id, .failed))
            }
        }
    }

    static func == (a: Self, b: Self) -> Bool {
        a.text == b.text && a.results.elementsEqual(b.results) { $0.id == $1.id && $0.result == $1.result }
    }
}
