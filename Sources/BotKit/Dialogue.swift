package import EventStore

/// A delivery of the bot's subscription.
package struct BotDelivery: Sendable {
    package let token: String
    /// How often the event was given out, this time included.
    package let attempt: Int
    package let event: BotEvent

    package init(token: String, attempt: Int, event: BotEvent) {
        (self.token, self.attempt, self.event) = (token, attempt, event)
    }

    /// Reads a line of a stream of deliveries; `nil` if it is none.
    package init?(_ line: JSONObject) {
        guard let token = line.string("delivery"), let event = line.object("event").flatMap(BotEvent.init) else {
            return nil
        }
        self.init(token: token, attempt: Int(clamping: line.integer("attempt") ?? 1), event: event)
    }
}

/// What a bot reads of an event in its native form.
package struct BotEvent: Sendable {
    package let id: EventID
    package let type: String
    package let user: String
    package let author: String
    package let conversation: String?
    package let cause: EventID?
    /// RFC 3339.
    package let time: String
    package let payload: JSONObject

    /// `nil` if the object is no event.
    package init?(_ object: JSONObject) {
        guard let id = object.string("id").flatMap({ EventID(text: $0) }), let type = object.string("type"),
            let user = object.string("user"), let time = object.string("time")
        else { return nil }
        (self.id, self.type, self.user, self.time) = (id, type, user, time)
        author = object.string("author") ?? user
        let subject = object.string("subject") ?? ""
        conversation = subject.hasPrefix("conversation/") ? String(subject.dropFirst("conversation/".count)) : nil
        cause = object.string("cause").flatMap { EventID(text: $0) }
        payload = object.object("data") ?? JSONObject(validated: Array("{}".utf8))
    }

    /// The message that a request, or a retraction, is about.
    package var inReplyTo: EventID? {
        (payload.string("inReplyTo") ?? payload.string("message")).flatMap { EventID(text: $0) } ?? cause
    }
}

/// A message as it stands in a conversation, with what became of it.
package struct SpokenRow: Sendable {
    package let id: EventID
    package let isReply: Bool
    package let author: String
    package let cause: EventID?
    /// The text after its last edit; `nil` where there is none.
    package let text: String?
    /// Of a reply to what was spoken: what was heard.
    package let transcript: String?
    package let isRetracted: Bool
    /// Of a bot's text that asks for a field of the profile: which one, and whose.
    package let intake: Wanted?

    /// A field of someone's profile.
    package struct Wanted: Equatable, Sendable {
        package let field: String
        package let user: String
        package init(_ field: String, of user: String) { (self.field, self.user) = (field, user) }
    }

    package init(
        id: EventID, isReply: Bool, author: String, cause: EventID?, text: String?, transcript: String? = nil,
        isRetracted: Bool, intake: Wanted? = nil
    ) {
        self.intake = intake
        (self.id, self.isReply, self.author, self.cause) = (id, isReply, author, cause)
        (self.text, self.transcript, self.isRetracted) = (text, transcript, isRetracted)
    }

    /// Reads a line of a conversation's or a user's rows (docs/reference/CLI-JSON.md); `nil` if it is no message.
    package init?(_ line: JSONObject) {
        guard let event = line.object("event").flatMap(BotEvent.init),
            event.type == "message.posted" || event.type == "bot.replied"
        else { return nil }
        self.init(
            id: event.id, isReply: event.type == "bot.replied", author: event.author, cause: event.cause,
            text: (line["text"] ?? event.payload["text"])?.text, transcript: event.payload["transcript"]?.text,
            isRetracted: line.object("retracted") != nil,
            intake: event.payload.string("intake").map { Wanted($0, of: event.user) })
    }
}

/// What a bot is told of the conversation that a question stands in.
package struct Dialogue: Sendable {
    /// The question's event; another one than that of the delivery where a retry was asked for.
    package var question: BotEvent
    /// The question, messages before it and the replies that there are, in the order in which they are shown.
    package var rows: [SpokenRow]
    /// Those who take part, where the conversation keeps a list of them.
    package var participants: [String]?
    /// Whether the reply is stored already.
    package var isAnswered: Bool
    package var profile: [(name: String, value: String)]
    /// What was heard in the question, where that is recorded.
    package var transcript: String?
    /// The model that the conversation has chosen.
    package var model: String?

    package init(
        question: BotEvent, rows: [SpokenRow], participants: [String]?, isAnswered: Bool,
        profile: [(name: String, value: String)], transcript: String? = nil, model: String? = nil
    ) {
        (self.transcript, self.model) = (transcript, model)
        (self.question, self.rows, self.participants) = (question, rows, participants)
        (self.isAnswered, self.profile) = (isAnswered, profile)
    }

    private var row: SpokenRow? { rows.last { $0.id == question.id } }

    /// What is asked, after its last edit; `nil` where there is no text, or it was retracted.
    package var text: String? {
        guard let row else { return question.payload["text"]?.text }
        return row.isRetracted ? nil : row.text
    }

    var isRetracted: Bool { row?.isRetracted ?? false }

    /// The first recording in the question. Some programs tell what the bytes are by the form they lie in, which may hold pictures, too.
    var recording: AttachmentItem? {
        let items = (try? AttachmentItem.items(question.payload["attachments"])) ?? []
        return items.first { item in
            let type = item.mediaType?.lowercased() ?? ""
            return type.hasPrefix("audio/") || type == "video/webm" || type == "video/mp4"
        }
    }

    /// The bot's last text before the question.
    func lastReply(of bot: String) -> SpokenRow? {
        let before = rows.prefix { $0.id != question.id }
        let known = Set(before.map(\.id))
        // A reply to an earlier message may have come after the question.
        return rows.last { row in
            row.isReply && row.author.hasSameBytes(as: bot)
                && (known.contains(row.id) || row.cause.map(known.contains) ?? false)
        }
    }

    /// What was said before, as turns: each reply behind its message, also one that came after the question, as where a user asks twice at
    /// once. What was retracted is left out, and so are replies to it and all that was asked later.
    package func turns(of bot: String) -> [Turn] {
        let before = rows.prefix { $0.id != question.id }
        let messages = Set(before.map(\.id))
        var repliesTo: [EventID: [SpokenRow]] = [:]
        for row in rows where row.isReply {
            if let cause = row.cause, messages.contains(cause) { repliesTo[cause, default: []].append(row) }
        }
        var ordered: [SpokenRow] = []
        for row in before {
            if row.isReply, let cause = row.cause, messages.contains(cause) { continue }
            ordered.append(row)
            if !row.isRetracted { ordered += repliesTo[row.id] ?? [] }
        }
        return ordered.compactMap { row in
            let isOwn = row.isReply && row.author.hasSameBytes(as: bot)
            let heard = repliesTo[row.id]?.first { $0.transcript != nil && $0.author.hasSameBytes(as: bot) }?
                .transcript
            let text = Self.joined(row.text, row.isReply ? nil : heard)
            return row.isRetracted || text.isEmpty ? nil : Turn(isOwn ? .assistant : .user, text)
        }
    }
}

extension Dialogue {
    /// What was written, and what was heard.
    static func joined(_ text: String?, _ heard: String?) -> String {
        [text, heard].compactMap(\.self).filter { !$0.allSatisfy(\.isWhitespace) }.joined(separator: "\n")
    }
}

/// What a bot wants to know before it answers.
package struct DialogueQuery: Equatable, Sendable {
    /// The message; with `isElsewhere` it is not the event of the delivery, and is read, too.
    package let question: EventID
    package let isElsewhere: Bool
    /// Whose reply and transcript they are.
    package let bot: String
    /// The id that the reply will have: whether it is there.
    package let reply: EventID
    /// How many messages.
    package let rows: Int
    /// Fields of the profile.
    package let profile: [String]
    /// The id that the transcript of the message would have; `nil` where none is made.
    package let transcript: EventID?
    /// Whether the conversation may choose the model.
    package let asksModel: Bool
}
