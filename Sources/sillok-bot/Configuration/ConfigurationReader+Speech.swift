internal import BotKit
internal import CommandLineKit

// What a bot hears and says: context, answers, retries, guards, greeting, intake, farewell, survey.
extension ConfigurationReader {
    func speech(_ top: inout Section, _ settings: inout BotSettings) throws(ConfigurationMistake) {
        if var section = try top.section("context") {
            if let count = try section.count("turns", in: 1...400) { settings.window.turns = count }
            if let count = try section.count("tokens", in: 100...10_000_000) { settings.window.tokens = count }
            settings.profile = try section.texts("profile") ?? []
            try section.end()
        }
        if var section = try top.section("answers") {
            enum Reach: String, CaseIterable { case invited, all }
            settings.answersAll = try section.choice("conversations", Reach.self) == .all
            if let bytes = try section.count("longest_question", in: 1...200_000) { settings.longestQuestion = bytes }
            if let bytes = try section.count("longest_answer", in: 100...200_000) { settings.longestAnswer = bytes }
            if let answer = try section.bool("live") { settings.tellsLive = answer }
            if case .image = settings.kind,
                let name = ["longest_answer", "live"].first(where: section.names.contains)
            {
                throw section.mistake(name, "a bot of kind \"image\" says no text: leave it out")
            }
            try section.end()
        }
        if var section = try top.section("retries") {
            if let count = try section.count("attempts", in: 1...20) { settings.retries.attempts = count }
            if let span = try section.span("first", in: 0...3_600_000) { settings.retries.first = span }
            if let span = try section.span("longest", in: 0...3_600_000) { settings.retries.longest = span }
            try section.end()
        }
        let greeting = try text(&top, "greeting")
        let intake = try intake(&top)
        guard greeting != nil || intake == nil else {
            throw top.mistake("greeting", "it is missing: what intake asks first is said with it")
        }
        settings.greeting = greeting.map { .init($0, intake: intake) }
        if var section = try top.section("farewell") {
            let words = try section.texts("words") ?? []
            if words.isEmpty { throw section.mistake("words", "it is missing") }
            settings.farewell = .init(words: words, text: try requiredText(&section, "text"))
            try section.end()
        }
        for value in try top.elements("emergencies") ?? [] {
            var section = try Section(value, at: "emergencies")
            let words = try section.texts("words") ?? []
            if words.isEmpty { throw section.mistake("words", "it is missing") }
            settings.emergencies.append(
                Emergency(try section.required("id"), words: words, text: try requiredText(&section, "text")))
            try section.end()
        }
        for value in try top.elements("guards") ?? [] {
            let one = try answerGuard(value)
            if settings.guards.contains(where: { $0.id == one.id }) {
                throw top.mistake("guards", "'\(one.id)' stands twice")
            }
            settings.guards.append(one)
        }
        settings.survey = try survey(&top)
    }

    /// A text for each language, or one for all.
    private func text(_ section: inout Section, _ name: String) throws(ConfigurationMistake) -> BotText? {
        guard let value = section.value(name) else { return nil }
        if case .string(let text) = value.content, !text.isEmpty { return BotText(["en": text]) }
        var languages = try Section(value, at: section.key(name))
        var texts: [(language: String, text: String)] = []
        for language in languages.names { texts.append((language, try languages.required(language))) }
        if texts.isEmpty { throw section.mistake(name, "a text, or one for each language") }
        return BotText(inOrder: texts)
    }

    private func requiredText(_ section: inout Section, _ name: String) throws(ConfigurationMistake) -> BotText {
        guard let text = try text(&section, name) else { throw section.mistake(name, "it is missing") }
        return text
    }

    private func intake(_ top: inout Section) throws(ConfigurationMistake) -> Intake? {
        guard var section = try top.section("intake") else { return nil }
        var fields: [Intake.Field] = []
        for value in try section.elements("fields") ?? [] {
            var field = try Section(value, at: section.key("fields"))
            let name = try field.required("field")
            if fields.contains(where: { $0.name == name }) {
                throw section.mistake("fields", "'\(name)' stands twice")
            }
            let form = try field.choice("form", Intake.Form.self) ?? .text
            let ask = try requiredText(&field, "ask")
            fields.append(
                .init(
                    name, form, ask: ask, again: try text(&field, "again") ?? ask,
                    without: try field.texts("without") ?? []))
            try field.end()
        }
        if fields.isEmpty { throw section.mistake("fields", "it is missing") }
        let made = Intake(
            fields: fields, skip: try section.texts("skip") ?? [], unless: try section.texts("unless") ?? [],
            done: try requiredText(&section, "done"))
        try section.end()
        return made
    }

    private func answerGuard(_ value: JSON5Value) throws(ConfigurationMistake) -> AnswerGuard {
        var section = try Section(value, at: "guards")
        let id = try section.required("id")
        var rules: [AnswerGuard.Rule] = []
        if let elements = try section.elements("words") {
            var groups: [[String]] = []
            for element in elements {
                if case .string(let word) = element.content, !word.isEmpty {
                    groups.append([word])
                    continue
                }
                guard case .array(let words) = element.content else {
                    throw section.mistake("words", "a list of words, or of lists of words")
                }
                let group = words.compactMap {
                    if case .string(let word) = $0.content, !word.isEmpty { word } else { nil }
                }
                guard !group.isEmpty, group.count == words.count else {
                    throw section.mistake("words", "a list of words, or of lists of words")
                }
                groups.append(group)
            }
            let least = try section.count("least", in: 1...max(groups.count, 1)) ?? groups.count
            rules.append(
                .words(groups: groups, least: least, last: try section.count("within_last", in: 1...100_000)))
        }
        if let units = try section.texts("items") { rules.append(.items(units: units)) }
        if let words = try section.texts("forbidden") { rules.append(.forbidden(words)) }
        if let count = try section.count("longest", in: 1...200_000) { rules.append(.longest(count)) }
        guard rules.count == 1, let rule = rules.first else {
            throw section.mistake("id", "a guard has one of words, items, forbidden and longest")
        }
        var made = AnswerGuard(id, rule)
        made.when = try section.texts("when") ?? []
        made.unless = try section.texts("unless") ?? []
        made.longestQuestion = try section.count("up_to", in: 1...100_000)
        made.isOnce = try section.bool("once") ?? false
        made.repair = try section.text("repair")
        made.append = try text(&section, "append")
        made.instead = try text(&section, "instead")
        if case .forbidden = rule, made.instead == nil || made.append != nil {
            throw section.mistake(
                "instead", "what is said in place of an answer with a forbidden word; nothing is appended to it")
        }
        try section.end()
        return made
    }

    private func survey(_ top: inout Section) throws(ConfigurationMistake) -> BotSettings.Survey? {
        guard var section = try top.section("survey") else { return nil }
        let id = try section.required("id")
        let offer = try section.choice("offer", BotSettings.Survey.Moment.self) ?? .close
        guard let first = try question(&section, "first") else { throw section.mistake("first", "it is missing") }
        let second = try question(&section, "second")
        let after = try section.texts("after") ?? []
        if second != nil, after.isEmpty { throw section.mistake("after", "it names the choices that lead to second") }
        for code in after where !first.choices.contains(where: { $0.code == code }) {
            throw section.mistake("after", "'\(code)' is no choice of first")
        }
        try section.end()
        return BotSettings.Survey(id: id, offer: offer, first: first, second: second, after: after)
    }

    private func question(
        _ survey: inout Section, _ name: String
    ) throws(ConfigurationMistake) -> BotSettings.Survey.Question? {
        guard var section = try survey.section(name) else { return nil }
        var choices: [BotSettings.Survey.Choice] = []
        guard var codes = try section.section("choices"), !codes.names.isEmpty else {
            throw section.mistake("choices", "it is missing")
        }
        for code in codes.names { choices.append(.init(code, try requiredText(&codes, code))) }
        let made = BotSettings.Survey.Question(
            try section.required("question"), try requiredText(&section, "text"), choices)
        try section.end()
        return made
    }
}
