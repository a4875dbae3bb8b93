internal import CommandLineKit
internal import EventStore

enum ConversationsCommand: Subcommand {
    static let command = Command(
        "conversations", "Conversations, the latest active first.", group: "READ",
        options: [.value("last", short: "n", "N", "The N that were active last. Default: 50.")],
        examples: [.init("syncctl conversations -n 10", "the ten that were active last")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let limit = try context.integer("last", in: 1...Int.max) ?? 50
        let views = try context.views()
        var table = TextTable([
            .left("LAST"), .left("CONVERSATION"), .right("EVENTS"), .right("MESSAGES"), .left("TITLE"),
        ])
        var count = 0
        var after: ConversationSummary?
        while count < limit {
            let page = try stored { () throws(StoreError) in
                try views.conversations(limit: min(500, limit - count), after: after)
            }
            guard let last = page.last else { break }
            after = last
            for summary in page {
                count += 1
                if context.form == .json {
                    try context.output.line(json(summary, []))
                } else {
                    table.add([
                        .init(TimeFormat.local(summary.lastTime, in: context.zone)), .init(summary.conversation),
                        .init(String(summary.events)), .init(String(summary.messages)), .init(summary.title ?? ""),
                    ])
                }
            }
        }
        if context.form != .json, count > 0 { try context.show(table) }
        try context.end(count)
        return count == 0 ? .nothingFound : .success
    }

    static func json(_ summary: ConversationSummary, _ participants: [Participant]) -> JSONLine {
        var line = JSONLine(type: "conversation")
        line.add("conversation", summary.conversation)
        line.add("title", summary.title)
        line.add("category", summary.category)
        line.add("started_by", summary.startedBy)
        line.add("events", summary.events)
        line.add("messages", summary.messages)
        line.add("first", TimeFormat.rfc3339(summary.firstTime))
        line.add("last", TimeFormat.rfc3339(summary.lastTime))
        guard !participants.isEmpty else { return line }
        line.addArray("participants") { array in
            for participant in participants {
                array.addObject { object in
                    object.add("user", participant.user)
                    object.add("messages", participant.messages)
                    if let joined = participant.joined { object.add("joined", joined) }
                }
            }
        }
        return line
    }
}
