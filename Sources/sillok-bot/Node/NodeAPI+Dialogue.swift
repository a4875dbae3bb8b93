internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

extension NodeAPI {
    /// What the bot wants to know of a conversation; `nil` where there is no such message.
    ///
    /// - Parameter isRepeated: Whether the message may have been answered before.
    func dialogue(_ query: DialogueQuery, of event: BotEvent, isRepeated: Bool) throws(CommandFailure) -> Dialogue? {
        var question = event
        if query.isElsewhere {
            let found = try lines(ReadRoute.event(query.question.description).path(with: []))
            guard let asked = found?.first.flatMap(BotEvent.init) else { return nil }
            question = asked
        }
        var isAnswered = false
        if isRepeated || query.isElsewhere {
            isAnswered = try self.event(query.reply, by: query.bot, about: query.question) != nil
        }
        guard !isAnswered else {
            return Dialogue(question: question, rows: [], participants: nil, isAnswered: true, profile: [])
        }
        return Dialogue(
            question: question, rows: try rows(query.rows, before: question),
            participants: try participants(question),
            isAnswered: false, profile: try profile(query.profile, of: question.user),
            transcript: try query.transcript.flatMap { id throws(CommandFailure) in try transcript(id, query) },
            model: query.asksModel ? try model(question) : nil)
    }

    /// What was heard, where the event with this id says it.
    private func transcript(_ id: EventID, _ query: DialogueQuery) throws(CommandFailure) -> String? {
        let event = try event(id, by: query.bot, about: query.question)
        return event?.type == "bot.transcribed" ? event?.payload["text"]?.text : nil
    }

    /// The model that the conversation has chosen last.
    private func model(_ question: BotEvent) throws(CommandFailure) -> String? {
        guard let conversation = question.conversation else { return nil }
        let query = [("type", "conversation.changed"), ("order", "newest"), ("limit", "50")]
        let found = try lines(ReadRoute.rows(conversation: conversation).path(with: query)) ?? []
        let chosen = found.lazy.compactMap { $0.object("event")?.object("data")?.object("fields")?["model"] }.first
        return chosen?.text
    }

    /// More messages than are asked for, because later ones than the question are among them.
    private static let later = 100
    /// Most rows of a page.
    private static let mostRows = 500

    /// The latest messages, the question among them, in the order in which they are shown.
    private func rows(_ count: Int, before question: BotEvent) throws(CommandFailure) -> [SpokenRow] {
        let found = try rows(min(count + Self.later, Self.mostRows), of: question, [])
        if found.contains(where: { $0.id == question.id }) || found.count < count { return found }
        // It is an old one. Its view's moment is that of the event, or before it: a clock may have been ahead.
        let end = (Timestamp.milliseconds(question.time) ?? Timestamp.range.upperBound - 1) + 1
        return try rows(min(count, Self.mostRows), of: question, [("until", Timestamp.text(end))])
    }

    private func rows(
        _ count: Int, of question: BotEvent, _ more: [(String, String)]
    ) throws(CommandFailure) -> [SpokenRow] {
        let parameters = [("role", "all"), ("order", "newest"), ("limit", "\(count)")] + more
        guard let conversation = question.conversation else {
            // What this user has said elsewhere is no part of it.
            let found = try lines(ReadRoute.history(user: question.user).path(with: parameters)) ?? []
            return found.filter { $0.object("event")?["subject"] == nil }.compactMap { SpokenRow($0) }.reversed()
        }
        let found = try lines(ReadRoute.rows(conversation: conversation).path(with: parameters)) ?? []
        return found.compactMap { SpokenRow($0) }.reversed()
    }

    /// Those who take part, where the conversation keeps a list of them.
    private func participants(_ question: BotEvent) throws(CommandFailure) -> [String]? {
        guard let conversation = question.conversation else { return nil }
        let people = (try lines(ReadRoute.conversation(conversation).path(with: [("limit", "500")])) ?? [])
            .filter { $0.string("type") == "participant" && $0.bool("joined") != nil }
        guard !people.isEmpty else { return nil }
        return people.filter { $0.bool("joined") == true }.compactMap { $0.string("user") }
    }

    private func profile(
        _ names: [String], of user: String
    ) throws(CommandFailure) -> [(name: String, value: String)] {
        let fields = try lines(ReadRoute.profile(user: user).path(with: [("limit", "500")])) ?? []
        return names.compactMap { name in
            guard let field = fields.first(where: { $0.string("name") == name }), let value = field["value"],
                let text = value.text ?? value.numberText ?? value.bool.map({ "\($0)" })
            else { return nil }
            return (name, String(text.prefix(500)))
        }
    }
}
