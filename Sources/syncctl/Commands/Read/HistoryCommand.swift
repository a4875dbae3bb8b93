internal import CommandLineKit
internal import EventStore

enum HistoryCommand {
    static let entry = Subcommand(
        Command(
            "history", "One user's events across conversations", group: "Read",
            arguments: [.init("user", "Whose history.", names: "users")],
            options: TimelineOptions.options + [
                .value("conversation", "ID", "Only this conversation.", repeatable: true, names: "conversations"),
                .flag("received", "What the user saw: messages of all in their conversations."),
                ProofOutput.option,
            ],
            examples: [
                .init("syncctl history u-1029 --since yesterday", "what happened since midnight yesterday"),
                .init("syncctl history u-1029 --last 20 --type message.posted", "the user's last 20 messages"),
                .init("syncctl history u-1029 --received --last 20", "the last 20 messages that the user saw"),
                .init(
                    "syncctl history u-1029 --json | jq -r 'select(.event).event.data.text'",
                    "the texts, for a program"),
                .init("syncctl history u-1029 --proof > u-1029.proof", "all of it, for 'syncctl check-proof'"),
            ],
            discussion: "In display order, the same on every node. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let options = try TimelineOptions(session)
        if try ProofOutput.isWanted(session) {
            guard !session.arguments.flag("received") else {
                throw usageFailure("--proof does not go with --received")
            }
            return try ProofOutput.run(session, .user(user), options.query)
        }
        let reads = try Reads(session)
        var printer = TimelinePrinter(session, showsConversation: true, title: user)
        if session.arguments.flag("received") {
            let limit = try received(options)
            try reads.received(by: user, options.query, limit: limit) { row throws(CommandFailure) in
                try printer.add(row)
            }
        } else {
            try reads.timeline(.user(user), options.query) { row throws(CommandFailure) in try printer.add(row) }
        }
        try printer.finish()
        try session.end(count: printer.count, options.range) { line in line.add("user", user) }
        if printer.count == 0 { try session.sayNothing(of: (.noUser, user), reads) }
        return printer.count == 0 ? .nothingFound : .success
    }

    /// Messages that are told of what was received, unless said otherwise: they are held until the oldest of them is known.
    private static let received = (usual: 50, most: 10_000)

    /// How many messages `--received` has; says so where an option does not go with it.
    private static func received(_ options: TimelineOptions) throws(CommandFailure) -> Int {
        let query = options.query
        guard query.types.isEmpty, query.conversations.isEmpty else {
            throw usageFailure(
                "--type, --role and --conversation do not go with --received: it has the messages of all",
                hint: "--since, --until and --author do")
        }
        guard options.range.asOf == nil, options.range.known == nil else {
            throw usageFailure(
                "--as-of and --known-at do not go with --received: who was in which conversation is told as of now",
                hint: "--until TIME has what was said before then")
        }
        switch query.limit {
        case .all: return received.usual
        case .last(let count) where count <= received.most: return count
        case .last: throw usageFailure("--last: at most 10,000 with --received", hint: "--until for what is older")
        case .first: throw usageFailure("--first does not go with --received, which has the newest", hint: "--last N")
        }
    }
}
