package import CommandLineKit
internal import EventStore

/// What a bot is: who it speaks as, how, and by which model. Read from a configuration; nothing of it changes while it runs.
package struct BotSettings: Equatable, Sendable {
    /// The author of what it says.
    package var bot: String
    /// What people call it.
    package var name: String
    package var kind = BotKind.chat
    /// What the model is told first, by language; its version is whatever its keeper says.
    package var persona: BotText
    package var personaVersion = "1"
    package var model: String
    /// Those that a conversation may choose in its place.
    package var models: [String] = []
    package var isStreamed = true
    package var parameters: [CompletionRequest.Parameter] = []
    /// How long one request may take, in milliseconds.
    package var timeout: UInt64 = 120_000
    package var window = ContextWindow()
    /// Fields of the user's profile that the model is told.
    package var profile: [String] = []
    package var retries = RetryPolicy()
    package var guards: [AnswerGuard] = []
    package var emergencies: [Emergency] = []
    /// What the configuration says of guards, emergencies, greeting, intake, farewell and survey, as one JSON object: for the record.
    package var rules = "{}"
    /// Longest question that is answered, in bytes.
    package var longestQuestion = 16 << 10
    /// Longest answer that is taken, in bytes; the rest is cut off.
    package var longestAnswer = 64 << 10
    package var greeting: Greeting?
    package var farewell: Farewell?
    package var survey: Survey?
    /// Whether it answers in every conversation, also where a list of those who take part does not name it.
    package var answersAll = false
    /// Whether pieces of a reply are told live.
    package var tellsLive = true
    /// How long a delivery may go without a word, in milliseconds.
    package var patience: UInt64 = 30_000

    package init(bot: String, name: String, persona: BotText, model: String) {
        (self.bot, self.name, self.persona, self.model) = (bot, name, persona, model)
    }

    /// How a conversation begins.
    package struct Greeting: Equatable, Sendable {
        package let text: BotText
        /// What the user is asked with it.
        package let intake: Intake?

        package init(_ text: BotText, intake: Intake? = nil) { (self.text, self.intake) = (text, intake) }
    }

    /// How a conversation is ended by a word.
    package struct Farewell: Equatable, Sendable {
        package let words: [String]
        package let text: BotText

        package init(words: [String], text: BotText) { (self.words, self.text) = (words, text) }

        /// Whether that is all the user says, however it is spaced.
        package func isSaid(in text: String) -> Bool {
            let said = FoldedText(text).joined.scalars
            return words.contains { FoldedText($0).joined.scalars == said }
        }
    }

    /// What a user is asked about the answers, in two steps.
    package struct Survey: Equatable, Sendable {
        package enum Moment: String, CaseIterable, Sendable {
            case reply, close
        }

        package struct Choice: Equatable, Sendable {
            package let code: String
            package let label: BotText
            package init(_ code: String, _ label: BotText) { (self.code, self.label) = (code, label) }
        }

        package struct Question: Equatable, Sendable {
            package let name: String
            package let text: BotText
            package let choices: [Choice]
            package init(_ name: String, _ text: BotText, _ choices: [Choice]) {
                (self.name, self.text, self.choices) = (name, text, choices)
            }
        }

        package let id: String
        package let offer: Moment
        package let first: Question
        /// Asked after these choices of the first.
        package let second: Question?
        package let after: [String]

        package init(id: String, offer: Moment, first: Question, second: Question?, after: [String]) {
            (self.id, self.offer, self.first, self.second, self.after) = (id, offer, first, second, after)
        }
    }

    /// The languages that it speaks, in the order of its configuration.
    package var languages: [String] {
        let others = [greeting?.text, farewell?.text] + emergencies.map(\.text)
        let texts = persona.byLanguage.isEmpty ? others : [persona]
        var known: Set<String> = []
        return texts.flatMap { $0?.languages ?? [] }.filter { known.insert($0).inserted }
    }

    /// The types of the events that it works on.
    package var types: [String] {
        var types = ["message.posted", "bot.retryRequested"]
        if greeting != nil { types.append("conversation.started") }
        if survey?.second != nil { types.append("survey.answered") }
        return types
    }

    /// What the model is told first in a language: the persona, and what the profile says of the user.
    package func system(_ language: String, profile: [(name: String, value: String)]) -> String? {
        let persona = persona.text(language) ?? ""
        let facts = profile.map { "\($0.name): \($0.value)" }
        let about = facts.isEmpty ? [] : ["What is known of the user:\n" + facts.joined(separator: "\n")]
        let parts = [persona].filter { !$0.isEmpty } + about
        return parts.isEmpty ? nil : parts.joined(separator: "\n\n")
    }

    /// The SHA-256 of the persona in a language.
    package func personaDigest(_ language: String) -> String? {
        persona.text(language).map { SHA256().digest(Array($0.utf8)).description }
    }

    /// All that decides what it says, as the payload of `bot.configured` without its digest. Keys and addresses are none of it.
    package func configured(version: String) -> JSONLine {
        var line = JSONLine()
        line.add("bot", bot)
        line.add("kind", kind.name)
        line.add("name", name)
        line.add("software", version)
        line.addObject("persona") { object in
            object.add("version", personaVersion)
            object.addObject("texts") { texts in
                // Sorted: in another order it says the same.
                for language in languages.sorted() {
                    texts.addObject(language) { text in
                        text.add("sha256", personaDigest(language))
                        text.add("text", persona.byLanguage[language])
                    }
                }
            }
        }
        line.add("model", model)
        if !models.isEmpty { line.add("models", models) }
        line.addParameters(parameters)
        kind.add(to: &line)
        line.addObject("context") { object in
            object.add("turns", window.turns)
            object.add("tokens", window.tokens)
            object.add("profile", profile)
        }
        line.addRaw("rules", rules)
        return line
    }
}
