/// Collects what one conversion writes: stamps the set's name on each line, counts it, hands it on, and
/// ends the conversion when the limit is reached.
public final class Recorder {
    /// The counts so far.
    public private(set) var counts = ConversionCounts()
    private let source: String
    private let limit: Int
    private let emit: (NativeLine) throws -> Void

    /// Ends a conversion early from any depth; never leaves `DatasetConverter.convert`.
    struct LimitReached: Error {}

    init(set: String, limit: Int?, emit: @escaping (NativeLine) throws -> Void) {
        source = "/datasets/" + set
        self.limit = limit ?? Int.max
        self.emit = emit
    }

    func record(
        _ type: EventType, id: String, at time: Timestamp, conversation: String? = nil, user: String,
        author: String? = nil, data: [JSONValue.Member]
    ) throws {
        guard counts.lines < limit else { throw LimitReached() }
        try emit(
            NativeLine(
                type: type, source: source, recordID: id, time: time, conversation: conversation, user: user,
                author: author == user ? nil : author, data: data))
        counts.add(type)
    }

    func skip(_ reason: String) {
        counts.skip(reason)
    }
}

/// A conversation between one person and one bot, the shape of most sets.
struct Dialogue {
    /// One turn: who spoke, what, and what else the payload carries.
    struct Turn {
        var isBot: Bool
        var text: String
        var extra: [JSONValue.Member] = []
    }

    var id: String
    var user: String
    var bot: String
    var turns: [Turn]
}

extension Recorder {
    /// Records that a conversation began; the first participant is the user whose history it joins.
    func start(_ conversation: String, participants: [String], at time: Timestamp) throws {
        try record(
            .conversationStarted, id: conversation + "/started", at: time, conversation: conversation,
            user: participants.first ?? "",
            data: [
                JSONValue.Member("category", .string("text")),
                JSONValue.Member("participants", .array(participants.map(JSONValue.string))),
            ])
    }

    /// Records a whole dialogue: its start, then turn after turn.
    func record(_ dialogue: Dialogue, startingAt start: Timestamp) throws {
        try self.start(dialogue.id, participants: [dialogue.user, dialogue.bot], at: start)
        for (index, turn) in dialogue.turns.enumerated() {
            try record(
                turn.isBot ? .botReplied : .messagePosted, id: "\(dialogue.id)/\(index + 1)",
                at: InventedClock.time(ofTurn: index + 1, from: start), conversation: dialogue.id,
                user: dialogue.user, author: turn.isBot ? dialogue.bot : nil,
                data: [JSONValue.Member("text", .string(turn.text))] + turn.extra)
        }
    }

    /// Records a user's profile fields.
    func recordProfile(of user: String, fields: [JSONValue.Member], at time: Timestamp) throws {
        try record(
            .profileChanged, id: "profile/" + user, at: time, user: user,
            data: [JSONValue.Member("fields", .object(fields))])
    }
}
