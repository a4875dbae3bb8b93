internal import CommandLineKit
internal import EventStore

enum ConversationCommand: Subcommand {
    static let command = Command(
        "conversation", "One conversation, in display order.", group: "READ",
        arguments: [.init("id", "The conversation.")], options: Context.timelineOptions,
        examples: [.init("syncctl conversation c-88", "the whole conversation with its participants")])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let id = context.arguments.positional("id") ?? ""
        let query = try context.timelineQuery()
        let views = try context.views()
        let summary = try stored { () throws(StoreError) in try views.conversationSummary(id) }
        let participants = try stored { () throws(StoreError) in try views.participants(of: id) }
        if let summary { try head(summary, participants, context) }
        var renderer = EntryRenderer(context, node: try context.nodeName(views.log), showsConversation: false)
        try renderer.showAll { (body) throws(StoreError) in try views.conversation(id, query, body) }
        try context.end(renderer.count)
        if renderer.count == 0 { context.remark("no events of conversation \(id) in this range") }
        return renderer.count == 0 ? .nothingFound : .success
    }

    private static func head(
        _ summary: ConversationSummary, _ participants: [Participant], _ context: Context
    ) throws(CommandFailure) {
        switch context.form {
        case .json: try context.output.line(ConversationsCommand.json(summary, participants))
        case .plain: break
        case .human:
            let title = summary.title.map { " · \($0)" } ?? ""
            try context.output.line(
                Sanitizer.line(
                    "\(summary.conversation)\(title) · \(summary.events) events, \(summary.messages) messages"))
            let names = participants.map { participant in
                participant.joined == false ? "\(participant.user) (left)" : participant.user
            }
            if !names.isEmpty { try context.output.line(Sanitizer.line("with " + names.joined(separator: ", "))) }
            try context.output.line()
        }
    }
}
