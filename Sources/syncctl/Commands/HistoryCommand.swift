internal import CommandLineKit
internal import EventStore

enum HistoryCommand: Subcommand {
    static let command = Command(
        "history", "One user's events across conversations, in display order.", group: "READ",
        arguments: [.init("uid", "The user.")], options: Context.timelineOptions,
        examples: [
            .init("syncctl history u-1029", "everything of this user"),
            .init("syncctl history u-1029 --since yesterday --last 20", "the last 20 since yesterday"),
            .init("syncctl history u-1029 --json | jq -r .event.data.text", "the texts, for programs"),
        ])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let user = context.arguments.positional("uid") ?? ""
        let query = try context.timelineQuery()
        let views = try context.views()
        var renderer = EntryRenderer(context, node: try context.nodeName(views.log), showsConversation: true)
        try renderer.showAll { (body) throws(StoreError) in try views.history(user: user, query, body) }
        try context.end(renderer.count)
        if renderer.count == 0 { context.remark("no events of user \(user) in this range") }
        return renderer.count == 0 ? .nothingFound : .success
    }
}

extension EntryRenderer {
    /// Shows everything that `read` passes to its argument.
    mutating func showAll(
        _ read: ((TimelineEntry) -> Bool) throws(StoreError) -> Bool
    ) throws(CommandFailure) {
        var failure: CommandFailure?
        _ = try stored { () throws(StoreError) in
            try read { entry in
                do throws(CommandFailure) { try add(entry) } catch { failure = error }
                return failure == nil
            }
        }
        if let failure { throw failure }
        try flush()
    }
}
