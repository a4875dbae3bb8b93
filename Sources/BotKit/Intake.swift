internal import CommandLineKit
internal import EventStore

/// What a bot asks a user for at a conversation's beginning, one field of the profile after another. What is known is not asked.
package struct Intake: Equatable, Sendable {
    package struct Field: Equatable, Sendable {
        /// As the profile calls it.
        package let name: String
        package let form: Form
        package let ask: BotText
        /// Said where an answer is not of the form.
        package let again: BotText
        /// Words around an answer that are no part of it, as greetings.
        package let without: [String]

        package init(_ name: String, _ form: Form, ask: BotText, again: BotText, without: [String] = []) {
            (self.name, self.form, self.ask, self.again, self.without) = (name, form, ask, again, without)
        }

        /// What is stored of an answer; `nil` if it is none of the form.
        ///
        /// - Parameter now: Milliseconds since 1970.
        func value(_ said: String, now: Int64) -> String? { form.value(bare(said), now: now) }

        /// The answer without the words around it. One in Latin letters is a word only where no other letter stands beside it; in Korean
        /// nothing parts a name from the ending behind it. Where nothing else was said, it is the answer.
        private func bare(_ said: String) -> String {
            guard !without.isEmpty, said.utf8.count <= Self.longestLooked else { return said }
            let words = without.map(Array.init).sorted { $0.count > $1.count }
            var hasLess = false
            let isEdge = { (character: Character) in character.isWhitespace || character.isPunctuation }
            var rest = Array(said)[...]
            // Each round takes something away.
            while true {
                rest = rest.drop(while: isEdge)
                while let last = rest.last, isEdge(last) { rest.removeLast() }
                let count = rest.count
                for word in words where word.count < rest.count {
                    let isLatin = word.allSatisfy { $0.isASCII }
                    let (head, tail) = (rest.dropFirst(word.count), rest.dropLast(word.count))
                    if Self.equal(rest.prefix(word.count), word), head.first.map(isEdge) ?? false {
                        rest = head
                        break
                    }
                    if Self.equal(rest.suffix(word.count), word), !isLatin || (tail.last.map(isEdge) ?? false) {
                        rest = tail
                        break
                    }
                }
                if rest.count == count { return hasLess ? String(rest) : said }
                hasLess = true
            }
        }

        /// Bytes of an answer in which it is looked for words around it: longer ones are of no form.
        private static let longestLooked = 2_000

        private static func equal(_ a: ArraySlice<Character>, _ b: [Character]) -> Bool {
            String(a).lowercased() == String(b).lowercased()
        }
    }

    /// What an answer must be.
    package enum Form: String, CaseIterable, Sendable {
        /// One line, of at most 100 characters.
        case text
        /// A day of the calendar, not after today and at most 130 years ago: year, month, day, as `1990-01-02`, `1990. 1. 2`,
        /// `1990년 1월 2일` or `19900102`. Stored as `1990-01-02`.
        case date
    }

    package let fields: [Field]
    /// A message that is one of these words ends the asking.
    package let skip: [String]
    /// A message with one of these words is no answer, but a question.
    package let unless: [String]
    /// Said after the last answer, and after a word of `skip`.
    package let done: BotText

    package init(fields: [Field], skip: [String], unless: [String], done: BotText) {
        (self.fields, self.skip, self.unless, self.done) = (fields, skip, unless, done)
    }

    /// The next field that the profile has not.
    func field(after last: Field?, profile: [(name: String, value: String)]) -> Field? {
        let rest = last.flatMap { fields.firstIndex(of: $0) }.map { fields[($0 + 1)...] } ?? fields[...]
        return rest.first { profile.value($0.name) == nil }
    }
}

extension Intake.Form {
    private static let longestText = 100
    /// 130 years.
    private static let longestLife: Int64 = 130 * 366 * 86_400_000
    /// Somewhere it is tomorrow already.
    private static let farthestZone: Int64 = 14 * 3_600_000

    /// What is stored of an answer; `nil` if it is none of this form.
    ///
    /// - Parameter now: Milliseconds since 1970.
    func value(_ said: String, now: Int64) -> String? {
        switch self {
        case .text:
            let lines = said.split(whereSeparator: \.isNewline)
                .map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }.filter { !$0.isEmpty }
            guard lines.count == 1, let line = lines.first, line.count <= Self.longestText else { return nil }
            return line
        case .date:
            // No calendar has a day whose midnight is no time.
            guard let day = Self.day(said), let midnight = Timestamp.milliseconds(day + "T00:00:00Z"),
                midnight <= now + Self.farthestZone, midnight >= now - Self.longestLife
            else { return nil }
            return day
        }
    }

    /// The one date in a text, as `1990-01-02`: three numbers, the first of four digits, or eight digits.
    private static func day(_ said: String) -> String? {
        var groups = said.split { !($0.isASCII && $0.isNumber) }.map(String.init)
        if groups.count == 1, let all = groups.first, all.count == 8 {
            groups = [String(all.prefix(4)), String(all.dropFirst(4).prefix(2)), String(all.suffix(2))]
        }
        guard groups.count == 3, groups[0].count == 4, groups[1].count <= 2, groups[2].count <= 2 else { return nil }
        return ([groups[0]] + groups[1...].map { $0.count == 1 ? "0" + $0 : $0 }).joined(separator: "-")
    }
}

extension [(name: String, value: String)] {
    func value(_ name: String) -> String? { first { $0.name.hasSameBytes(as: name) && !$0.value.isEmpty }?.value }
}

extension ReplyMachine {
    /// What is done with a message where the bot has asked for a field of the profile; `nil` where it is a question as any other.
    mutating func takeIn(_ text: String, _ dialogue: Dialogue) -> [Effect]? {
        let question = dialogue.question
        guard let intake = settings.greeting?.intake, let asking = dialogue.lastReply(of: settings.bot),
            let wanted = asking.intake, wanted.user.hasSameBytes(as: question.author),
            let field = intake.fields.first(where: { $0.name.hasSameBytes(as: wanted.field) }),
            !FoldedText(text).containsAny(of: intake.unless)
        else { return nil }
        // Dates tell no language, and names in Latin letters hardly one: it goes on in that of what was asked.
        language = SpokenLanguage.of(
            SpokenLanguage.isKorean(text) ? text : asking.text ?? text, profile: dialogue.profile.value("language"),
            spoken: settings.languages)
        let isSkipped = BotSettings.Farewell(words: intake.skip, text: intake.done).isSaid(in: text)
        let now = Timestamp.milliseconds(question.time) ?? 0
        let value = isSkipped ? nil : field.value(text, now: now)
        let next = isSkipped ? nil : value == nil ? field : intake.field(after: field, profile: dialogue.profile)
        let said = isSkipped ? intake.done : value == nil ? field.again : next?.ask ?? intake.done
        guard let said = said.text(language) else { return nil }
        var lines = ReplyLines(settings, to: question)
        lines.add("bot.replied", label: "") { data in
            data.add("text", said)
            if let next { data.add("intake", next.name) } else { data.add("intake", false) }
            data.addPersona(settings)
        }
        if let value {
            lines.add("profile.changed", label: "profile") { data in
                data.addObject("fields") { $0.add(field.name, value) }
            }
        }
        return store(lines, .saidWithoutModel("intake"))
    }
}
