internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// How many lines a list has: `--last N`, `--all`, or 50.
struct ListLimit {
    static let options: [Command.Option] = [
        .value("last", short: "n", "N", "How many (default: 50)."),
        .flag("all", "All of them."),
    ]

    let count: Int

    init(_ session: Session) throws(CommandFailure) {
        let wanted = try usage { try session.arguments.integer("last", in: 1...100_000_000) }
        if wanted != nil, session.arguments.flag("all") { throw usageFailure("--last and --all do not go together") }
        count = session.arguments.flag("all") ? Int.max : wanted ?? 50
    }
}

/// A user's conversations.
enum RoomsCommand {
    static let category = Command.Option.value(
        "category", "NAME", "Only of this category.", allowed: ["text", "image", "voice"])
    static let match = Command.Option.value(
        "match", "TEXT", "Only in whose titles words begin so, whatever the case.")
    static let first = Command.Option.flag(
        "beginning", "With the first words of a person, in place of the last message.")
    static let hidden = Command.Option.flag("hidden", "Those, too, that the user has hidden.")

    static let entry = Subcommand(
        Command(
            "rooms", "A user's conversations, with what is unread", group: "Read",
            arguments: [.init("user", "Whose.", names: "users")],
            options: ListLimit.options + [hidden, first, category, match, OutputForm.csvOption],
            examples: [
                .init("syncctl rooms u-1029", "the 50 with the latest messages"),
                .init("syncctl rooms u-1029 --category text --beginning", "what each of them began with"),
                .init("syncctl rooms u-1029 --hidden --all --json", "all of them, also hidden ones, for a program"),
            ],
            discussion: """
                The latest message first: its text up to 80 characters, and how many of others' messages came after what the user \
                has read (message.read). With --category or --match 200,000 of them are looked at, or all with --all. Exit code 1 when \
                nothing matched, 2 when not all were looked at.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        return try list(of: user, session, try RoomFilter(session))
    }

    /// Prints the list.
    static func list(
        of user: String, _ session: Session, _ filter: RoomFilter
    ) throws(CommandFailure) -> ExitCode {
        let limit = try ListLimit(session).count
        var table = TextTable([
            .whole(session.headingOfTimes(.last)), .whole(session.heading(.conversation)),
            .right(session.heading(.unread)), .left(session.heading(.with)),
            .left(session.heading(filter.withFirst ? .firstMessage : .lastMessage)),
        ])
        let columns = [
            "conversation", "title", "category", "messages", "last_time", "last_text", "unread", "hidden", "joined",
        ]
        let csv = MemberCSV(columns: columns + (filter.withFirst ? ["first_time", "first_text"] : []))
        if session.isCSV { try session.output.write(csv.header) }
        var count = 0
        let query = try filter.query
        let look = try Reads(session).rooms(of: user, query, filter, in: session.outputLanguage, limit: limit) {
            line throws(CommandFailure) in
            count += 1
            guard !session.isJSON else { return try session.print(line) }
            guard !session.isCSV else { return try session.output.write(csv.record(line)) }
            table.add(cells(line, filter.withFirst ? "first_text" : "last_text", session))
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: count) { line in
            line.add("user", user)
            if look.isCut { line.add("cut", PageCut.rows.rawValue) }
        }
        return look.end(count, session)
    }

    private static func cells(_ room: JSONObject, _ words: String, _ session: Session) -> [TextTable.Cell] {
        let others = room["others"]?.elements?.compactMap(\.object) ?? []
        let names = others.compactMap { $0.string("name") ?? $0.string("user") }
        let unread = room["unread"]?.numberText ?? "0"
        var text = room.string(words) ?? session.shown(.noMessage)
        // A beginning tells conversations apart, as a title does; programs get all that there is of it.
        if words == "first_text", session.form == .human, text.count > 20 { text = "\(text.prefix(20))..." }
        if room.bool("hidden") == true { text = "[\(session.shown(.isHidden))] \(text)" }
        return [
            .init(session.clock(room.moment("last_time"))), .init(room.string("conversation") ?? ""),
            .init(
                unread == "0" && session.form == .human
                    ? "" : room.bool("unread_more") == true ? "\(unread)+" : unread),
            .init(names.joined(separator: ", ")), .init(text),
        ]
    }
}
