internal import CommandLineKit
internal import EventStore

// What a bot says without being asked: at a conversation's beginning, and after an answer to a survey.
extension ReplyMachine {
    /// Whether the beginning of a conversation names it.
    func isNamed(in event: BotEvent) -> Bool {
        (event.payload.strings("participants") ?? []).contains { $0.hasSameBytes(as: settings.bot) }
            || event.payload.string("bot").hasSameBytes(as: settings.bot)
    }

    /// Greets, and asks for the first field of the profile that is not known.
    mutating func greet(_ dialogue: Dialogue) -> [Effect] {
        let event = delivery.event
        guard let greeting = settings.greeting else { return passOver("no greeting") }
        let language = SpokenLanguage.of(
            event.payload.string("title") ?? "",
            profile: dialogue.profile.value("language") ?? event.payload.string("language"),
            spoken: greeting.text.languages)
        guard let text = greeting.text.text(language) else { return passOver("no greeting") }
        let first = greeting.intake?.field(after: nil, profile: dialogue.profile)
        let asked = first?.ask.text(language)
        var lines = ReplyLines(settings, to: event)
        lines.add("bot.replied", label: "greeting") { data in
            data.add("text", [text, asked].compactMap(\.self).joined(separator: "\n\n"))
            data.add("greeting", true)
            if let first { data.add("intake", first.name) }
            data.addPersona(settings)
        }
        return store(lines, .saidWithoutModel("greeting"))
    }

    /// The second question of the survey, after an answer to the first that leads to it.
    mutating func askFurther() -> [Effect] {
        let (event, answer) = (delivery.event, delivery.event.payload)
        guard let survey = settings.survey, let second = survey.second, answer.string("survey") == survey.id,
            answer.string("question") == survey.first.name, let choice = answer.string("choice"),
            survey.after.contains(choice)
        else { return passOver("an answer that leads to no question") }
        var lines = ReplyLines(settings, to: event)
        let about = answer.string("about").flatMap { EventID(text: $0) } ?? event.cause ?? event.id
        lines.addOffer(second, of: survey.id, label: "reason", about: about)
        return store(lines, .saidWithoutModel("survey"))
    }
}
