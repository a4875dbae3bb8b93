internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ConversationCommand {
    static let entry = Subcommand(
        Command(
            "conversation", "One conversation", group: "Read", arguments: [.init("id", "Which one.")],
            options: TimelineOptions.options,
            examples: [
                .init("syncctl conversation c-88", "from its beginning"),
                .init("syncctl conversation c-88 --last 50 --utc", "the last 50 events, in UTC"),
            ],
            discussion: "In display order, the same on every node. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let id = session.arguments.positional("id") ?? ""
        let options = try TimelineOptions(session)
        let views = try FreshViews.open(session)
        let summary = try stored { try views.conversationSummary(id) }
        var printer = try TimelinePrinter(session, views, showsConversation: false)
        try printer.collect { body in try views.conversation(id, options.query, body) }
        if !session.isJSON {
            let names = participants(try stored { try views.participants(of: id) })
            let title = [id, summary?.title, names].compactMap { $0 }
            try printer.finish(title: (title + [options.range]).joined(separator: " · "))
        }
        try session.end(count: printer.count) { line in
            line.add("conversation", id)
            if let summary {
                if let title = summary.title { line.add("title", title) }
                line.add("version", summary.events)
            }
        }
        if printer.count == 0 { try session.sayNothing(of: ("conversation", id), views.log) }
        return printer.count == 0 ? .nothingFound : .success
    }

    private static func participants(_ all: [Participant]) -> String? {
        let names = all.filter { $0.joined ?? true }.map(\.user)
        if names.isEmpty { return nil }
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}

enum ConversationsCommand {
    static let entry = Subcommand(
        Command(
            "conversations", "Conversations, the latest active first", group: "Read",
            options: [
                .value("last", short: "n", "N", "How many (default: 50)."),
                .flag("all", "All of them."),
            ],
            examples: [
                .init("syncctl conversations", "the 50 that were active last"),
                .init("syncctl conversations --all --json", "all of them, for a program"),
            ]), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let wanted = try usage { try session.arguments.integer("last", in: 1...100_000_000) }
        if wanted != nil, session.arguments.flag("all") { throw usageFailure("--last and --all do not go together") }
        let limit = session.arguments.flag("all") ? Int.max : wanted ?? 50
        let views = try FreshViews.open(session)
        var table = TextTable([
            .whole("LAST (\(session.offset))"), .whole("CONVERSATION"), .right("EVENTS"), .right("MESSAGES"),
            .left("STARTED BY"), .left("TITLE"),
        ])
        var count = 0
        var last: ConversationSummary?
        while count < limit {
            let page = try stored { try views.conversations(limit: min(limit - count, 5_000), before: last?.place) }
            guard !page.isEmpty else { break }
            for summary in page {
                if session.isJSON {
                    try session.output.line(JSONLine(summary))
                } else {
                    table.add(cells(summary, session))
                }
            }
            count += page.count
            last = page.last
        }
        if !session.isJSON, count > 0 { try session.print(table) }
        try session.end(count: count)
        if count == 0 { session.say("no conversations") }
        return count == 0 ? .nothingFound : .success
    }

    private static func cells(_ summary: ConversationSummary, _ session: Session) -> [TextTable.Cell] {
        [
            .init(session.clock(summary.lastTime)), .init(summary.conversation), .init(String(summary.events)),
            .init(String(summary.messages)), .init(summary.startedBy ?? "-"), .init(summary.title ?? ""),
        ]
    }
}
