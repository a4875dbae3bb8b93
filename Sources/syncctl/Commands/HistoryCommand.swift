internal import CommandLineKit
internal import EventStore

enum HistoryCommand {
    static let entry = Subcommand(
        Command(
            "history", "One user's events across conversations", group: "Read",
            arguments: [.init("user", "Whose history.")],
            options: TimelineOptions.options + [
                .value("conversation", "ID", "Only this conversation.", repeatable: true)
            ],
            examples: [
                .init("syncctl history u-1029 --since yesterday", "what happened since midnight yesterday"),
                .init("syncctl history u-1029 --last 20 --type message.posted", "the user's last 20 messages"),
                .init(
                    "syncctl history u-1029 --json | jq -r 'select(.event).event.data.text'",
                    "the texts, for a program"),
            ],
            discussion: "In display order, the same on every node. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let conversations = session.arguments.values("conversation")
        let options = try TimelineOptions(session)
        let views = try FreshViews.open(session)
        var printer = try TimelinePrinter(session, views, showsConversation: true)
        if conversations.isEmpty {
            try printer.collect { body in try views.history(user: user, options.query, body) }
        } else {
            try collect(user, conversations, options.query, views, &printer)
        }
        let events = EventText.count(printer.count, "event")
        try printer.finish(title: "\(user) · \(events) · \(options.range)")
        try session.end(count: printer.count) { line in line.add("user", user) }
        if printer.count == 0 { try session.sayNothing(of: ("user", user), views.log) }
        return printer.count == 0 ? .nothingFound : .success
    }

    /// With a filter the reader does not know, the limit is applied here.
    private static func collect(
        _ user: String, _ conversations: [String], _ query: TimelineQuery, _ views: ViewReader,
        _ printer: inout TimelinePrinter
    ) throws(CommandFailure) {
        var all = query
        all.limit = .all
        var found: [TimelineEntry] = []
        try stored {
            try views.history(user: user, all) { entry in
                guard let conversation = entry.stored.event.header.conversation,
                    EventFilter.contains(conversations, conversation)
                else { return true }
                found.append(entry)
                if case .first(let count) = query.limit { return found.count < count }
                return true
            }
        }
        if case .last(let count) = query.limit { found = found.suffix(count) }
        for entry in found { try printer.add(entry) }
    }
}
