package import EventStore

/// What was answered to one survey in one conversation. To a question about the same thing the last answer of a user counts.
///
/// An answer is about what its member `about` names, a reply or the conversation; without it about what its cause is, a reply or the offer
/// of a question about one, or else the conversation. What a bot said when it closed the conversation is no answer to be judged: what is
/// about that is about the conversation.
package struct SurveyAnswers {
    private struct Asked: Hashable {
        let question: String
        let about: String?
        let user: String
    }

    private struct Answer {
        let number: Int
        let values: [String]
        let comment: String?
    }

    private var answers: [Asked: Answer] = [:]
    private var count = 0
    /// What offers, and answers, are about; `nil`: the conversation.
    private var abouts: [String: String?] = [:]
    /// Replies by which the conversation was closed.
    private var farewells: Set<String> = []
    /// Most that are kept of one conversation.
    private static let most = 100_000

    package init() {}

    /// What has to be known before the answers.
    package static let contextTypes = ["survey.offered", "conversation.closed"]
    package static let types = ["survey.answered"]

    /// Takes one of ``contextTypes``.
    package mutating func note(_ entry: TimelineEntry) {
        let header = entry.stored.event.header
        guard abouts.count < Self.most, farewells.count < Self.most else { return }
        switch header.type {
        case "survey.offered":
            let payload = entry.stored.event.payload.map(JSONObject.init(validated:))
            abouts[header.id.description] = .some(payload?.string("about")?.lowercased())
        case "conversation.closed":
            // The reply to the word that closed it: its id follows from that word, and from the bot.
            guard let word = header.cause else { return }
            for turn in 1...EventID.replyTurns {
                farewells.insert(EventID(replyTo: word, by: header.author, turn: turn).description)
            }
        default: break
        }
    }

    /// Takes the next event in display order; others than answers to the survey are passed over.
    package mutating func take(_ entry: TimelineEntry, _ wish: SurveyWish) {
        let event = entry.stored.event
        guard event.header.type == "survey.answered", let payload = event.payload.map(JSONObject.init(validated:)),
            payload.string("survey") == wish.survey, let question = payload.string("question")
        else { return }
        let values =
            payload.string("choice").map { [$0] } ?? payload["rating"]?.numberText.map { [$0] }
            ?? payload.strings("choices")
        guard let values else { return }
        var about = payload.string("about")?.lowercased()
        // The conversation itself is named, or nothing.
        if about == event.header.conversation?.lowercased() { about = nil }
        if payload["about"] == nil { about = event.header.cause?.description }
        // A second question may be about the first: so many steps lead to what that was about.
        for _ in 0..<4 {
            guard let id = about, let further = abouts[id] else { break }
            about = further
        }
        if let id = about, id == event.header.conversation?.lowercased() || farewells.contains(id) { about = nil }
        if abouts.count < Self.most { abouts[event.header.id.description] = .some(about) }
        count += 1
        let asked = Asked(question: question, about: about, user: event.header.user)
        guard answers[asked] != nil || answers.count < Self.most else { return }
        answers[asked] = Answer(number: count, values: values, comment: payload.string("comment"))
    }

    /// Whether some answer is `value`; `nil`: whether there is any.
    package func has(_ value: String?) -> Bool {
        answers.values.contains { answer in value.map(answer.values.contains) ?? true }
    }

    /// The same of what was said of one reply; where nothing was, of the conversation.
    func has(_ value: String?, about reply: EventID) -> Bool {
        of(reply).contains { answer in value.map(answer.value.values.contains) ?? true }
    }

    private func of(_ reply: EventID) -> [(key: Asked, value: Answer)] {
        let name = reply.description
        let own = answers.filter { $0.key.about == name }
        return (own.isEmpty ? answers.filter { $0.key.about == nil } : own).sorted {
            $0.value.number < $1.value.number
        }
    }

    /// What was said of a reply: how it was found, why, and what was added in words.
    ///
    /// How it was found is the answer to the question `helpful`, or to the only question there is besides `reason`; of several all,
    /// each with its question.
    func told(of reply: EventID) -> (answer: String?, reason: String?, comment: String?) {
        let all = of(reply)
        let value = { (answer: (key: Asked, value: Answer)) in answer.value.values.joined(separator: ", ") }
        let others = all.filter { $0.key.question != "reason" }
        let answer: String?
        if let helpful = others.last(where: { $0.key.question == "helpful" }) {
            answer = value(helpful)
        } else if Set(others.map(\.key.question)).count < 2 {
            answer = others.last.map(value)
        } else {
            answer = others.map { "\($0.key.question): \(value($0))" }.joined(separator: "; ")
        }
        return (
            answer, all.last { $0.key.question == "reason" }.map(value),
            all.last { $0.value.comment != nil }?.value.comment
        )
    }
}
