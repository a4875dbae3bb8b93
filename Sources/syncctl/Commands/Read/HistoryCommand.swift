internal import CommandLineKit
internal import EventStore

enum HistoryCommand {
    static let entry = Subcommand(
        Command(
            "history", "One user's events across conversations", group: "Read",
            arguments: [.init("user", "Whose history.", names: "users")],
            options: TimelineOptions.options + [
                .value("conversation", "ID", "Only this conversation.", repeatable: true, names: "conversations"),
                ProofOutput.option,
            ],
            examples: [
                .init("syncctl history u-1029 --since yesterday", "what happened since midnight yesterday"),
                .init("syncctl history u-1029 --last 20 --type message.posted", "the user's last 20 messages"),
                .init(
                    "syncctl history u-1029 --json | jq -r 'select(.event).event.data.text'",
                    "the texts, for a program"),
                .init("syncctl history u-1029 --proof > u-1029.proof", "all of it, for 'syncctl check-proof'"),
            ],
            discussion: "In display order, the same on every node. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let options = try TimelineOptions(session)
        if try ProofOutput.isWanted(session) { return try ProofOutput.run(session, .user(user), options.query) }
        let reads = try Reads(session)
        var printer = TimelinePrinter(session, showsConversation: true)
        try reads.timeline(.user(user), options.query) { row throws(CommandFailure) in try printer.add(row) }
        try printer.finish(title: "\(user) · \(session.eventCount(printer.count))")
        try session.end(count: printer.count, options.range) { line in line.add("user", user) }
        if printer.count == 0 { try session.sayNothing(of: (.noUser, user), reads.log()) }
        return printer.count == 0 ? .nothingFound : .success
    }
}
