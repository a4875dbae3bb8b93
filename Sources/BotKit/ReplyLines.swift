internal import CommandLineKit
internal import EventStore

/// Writes what a bot appends. Every id follows from the bot and from the event that it answers, so that a worker that does it again, wherever,
/// is told that it is done (docs/reference/FORMATS.md §4).
struct ReplyLines {
    private struct Line {
        let type: String
        let label: String
        let data: JSONLine
        /// Whether it is about the reply, whose id is not settled yet.
        let isAboutReply: Bool
    }

    let settings: BotSettings
    /// What is answered.
    let event: BotEvent
    private var lines: [Line] = []
    private var turn = 1

    init(_ settings: BotSettings, to event: BotEvent) { (self.settings, self.event) = (settings, event) }

    /// Under the next ids, since an event of another one has one of these. False if there are no more.
    mutating func next() -> Bool {
        turn += 1
        return turn <= EventID.replyTurns
    }

    private func id(_ label: String) -> String {
        EventID(replyTo: event.id, by: settings.bot, label: label, turn: turn).description
    }

    /// Native lines.
    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        for one in lines {
            var line = JSONLine()
            line.add("id", id(one.label))
            line.add("type", one.type)
            line.add("user", event.user)
            line.add("author", settings.bot)
            if let conversation = event.conversation { line.add("subject", "conversation/" + conversation) }
            line.add("cause", event.id.description)
            var data = one.data
            if one.isAboutReply { data.add("about", id("")) }
            line.addRaw("data", data.text)
            line.write(to: &bytes)
        }
        return bytes
    }

    /// - Parameter label: Tells what is said to one event apart; none of the reply itself.
    mutating func add(_ type: String, label: String, isAboutReply: Bool = false, _ fill: (inout JSONLine) -> Void) {
        var data = JSONLine()
        fill(&data)
        lines.append(Line(type: type, label: label, data: data, isAboutReply: isAboutReply))
    }

    /// - Parameter about: `nil`: the reply itself.
    mutating func addOffer(
        _ question: BotSettings.Survey.Question, of survey: String, label: String, about: EventID?
    ) {
        add("survey.offered", label: label, isAboutReply: about == nil) { data in
            data.add("survey", survey)
            data.add("question", question.name)
            data.addTexts("text", question.text)
            data.addArray("choices") { array in
                for choice in question.choices {
                    array.addObject { object in
                        object.add("code", choice.code)
                        object.addTexts("label", choice.label)
                    }
                }
            }
            if let about { data.add("about", about.description) }
        }
    }
}

extension ReplyLines {
    /// The first question of the survey about the reply, if it is asked at this moment.
    mutating func addOffer(at moment: BotSettings.Survey.Moment) {
        guard let survey = settings.survey, survey.offer == moment else { return }
        addOffer(survey.first, of: survey.id, label: "offer", about: nil)
    }
}

extension JSONLine {
    /// Who says what no model has said.
    mutating func addPersona(_ settings: BotSettings) {
        addObject("persona") { persona in
            persona.add("name", settings.name)
            persona.add("version", settings.personaVersion)
        }
    }

    /// The one attachment of a reply.
    mutating func addAttachment(_ item: AttachmentItem, _ more: (inout JSONLine) -> Void) {
        addArray("attachments") { array in
            array.addObject { object in
                object.add("sha256", item.digest.description)
                object.add("bytes", item.bytes)
                object.add("mediaType", item.mediaType)
                more(&object)
            }
        }
    }

    fileprivate mutating func addTexts(_ name: String, _ text: BotText) {
        addObject(name) { object in
            for (language, text) in text.byLanguage.sorted(by: { $0.key < $1.key }) { object.add(language, text) }
        }
    }
}
