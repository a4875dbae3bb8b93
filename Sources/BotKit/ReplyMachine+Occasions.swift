internal import CommandLineKit
internal import EventStore

// What a bot says without being asked: at a conversation's beginning, and after an answer to a survey.
extension ReplyMachine {
    mutating func greet() -> [Effect] {
        let event = delivery.event
        let named = event.payload.strings("participants") ?? []
        let isNamed =
            named.contains { $0.hasSameBytes(as: settings.bot) }
            || event.payload.string("bot").hasSameBytes(as: settings.bot)
        guard let greeting = settings.greeting, isNamed else { return passOver("a conversation that it is not in") }
        let title = event.payload.string("title") ?? ""
        let language = SpokenLanguage.of(
            title, profile: event.payload.string("language"), spoken: greeting.byLanguage.keys.sorted())
        guard let text = greeting.text(language) else { return passOver("no greeting") }
        var lines = ReplyLines(settings, to: event)
        lines.add("bot.replied", label: "greeting") { data in
            data.add("text", text)
            data.add("greeting", true)
            data.addObject("persona") { persona in
                persona.add("name", settings.name)
                persona.add("version", settings.personaVersion)
            }
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
