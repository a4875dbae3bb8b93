/// Topical-Chat's validation part (`en_topical_chat`): two people talk, then rate each other's turns and the talk.
///
/// A turn is rated by the one who did not say it, a conversation by each speaker. Ratings that were left
/// empty are skipped and counted.
public struct TopicalChatConverter: DatasetConverter {
    /// `en_topical_chat`
    public static let name = "en_topical_chat"
    /// The options it was made with.
    public let options: ConversionOptions
    private let agents = ["agent_1", "agent_2"]

    /// Makes a converter; only the limit matters to it.
    public init(options: ConversionOptions = ConversionOptions()) {
        self.options = options
    }

    /// Records the frequent-topics file, then the rare-topics file, each in order of conversation id.
    public func write(from folder: String, to recorder: Recorder) throws {
        try Archive.withFolder(ofTarZstd: folder + "/topical_chat_valid.tar.zst") { unpacked in
            var clock = InventedClock(start: Timestamp.day(2026, 4, 1))
            for path in try InputFiles.list(unpacked, prefix: "valid_", suffix: ".json") {
                let talks = try Record(InputFiles.json(path, as: Any.self), in: path)
                for id in talks.fields.keys.sorted() {
                    try write(talks.record(id), id: id, startingAt: clock.nextStart(), to: recorder)
                }
            }
        }
    }

    private func write(_ talk: Record, id: String, startingAt start: Timestamp, to recorder: Recorder) throws {
        try recorder.start(id, participants: agents.map { Self.user($0, in: id) }, at: start)
        let turns = try talk.records("content")
        for (index, turn) in turns.enumerated() {
            let agent = try turn.text("agent")
            guard let partner = agents.first(where: { $0 != agent }), agents.contains(agent) else {
                throw ConversionError.malformed(path: talk.path, detail: "unknown speaker \(agent) in \(id)")
            }
            let time = InventedClock.time(ofTurn: index + 1, from: start)
            let message = "\(id)/\(index + 1)"
            try recorder.record(
                .messagePosted, id: message, at: time, conversation: id, user: Self.user(agent, in: id),
                data: [
                    JSONValue.Member("text", .string(try turn.text("message"))),
                    JSONValue.Member("sentiment", try turn.json("sentiment")),
                    JSONValue.Member("knowledgeSource", try turn.json("knowledge_source")),
                ])
            try rate(
                "turn", try turn.text("turn_rating"), id: message + "/rating", at: time.adding(seconds: 3),
                conversation: id, by: partner, extra: [JSONValue.Member("message", .string(message))],
                to: recorder)
        }
        let end = InventedClock.time(ofTurn: turns.count + 1, from: start)
        let ratings = try talk.record("conversation_rating")
        for agent in agents {
            try rate(
                "conversation", try ratings.text(agent), id: "\(id)/rating/\(agent)", at: end, conversation: id,
                by: agent, to: recorder)
        }
    }

    private func rate(
        _ question: String, _ choice: String, id: String, at time: Timestamp, conversation: String, by agent: String,
        extra: [JSONValue.Member] = [], to recorder: Recorder
    ) throws {
        guard !choice.isEmpty else { return recorder.skip("empty \(question) rating") }
        try recorder.record(
            .surveyAnswered, id: id, at: time, conversation: conversation, user: Self.user(agent, in: conversation),
            data: [
                JSONValue.Member("survey", .string("topical-chat")),
                JSONValue.Member("question", .string(question)),
                JSONValue.Member("choice", .string(choice)),
            ] + extra)
    }

    private static func user(_ agent: String, in conversation: String) -> String {
        conversation + "-" + agent
    }
}
