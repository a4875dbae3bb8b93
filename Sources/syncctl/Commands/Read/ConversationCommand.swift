internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ConversationCommand {
    static let entry = Subcommand(
        Command(
            "conversation", "One conversation", group: "Read",
            arguments: [.init("id", "Which one.", names: "conversations")],
            options: TimelineOptions.options + [ProofOutput.option],
            examples: [
                .init("syncctl conversation c-88", "from its beginning"),
                .init("syncctl conversation c-88 --last 50 --utc", "the last 50 events, in UTC"),
            ],
            discussion: "In display order, the same on every node. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let id = session.arguments.positional("id") ?? ""
        let options = try TimelineOptions(session)
        if try ProofOutput.isWanted(session) { return try ProofOutput.run(session, .conversation(id), options.query) }
        let reads = try Reads(session)
        let found = try named(id, options.range.moment, reads)
        let names = participants(found?.participants ?? [], of: found?.summary, session)
        let title = [id, found?.summary.string("title"), names].compactMap { $0 }.joined(separator: " · ")
        var printer = TimelinePrinter(session, showsConversation: false, title: title)
        try reads.timeline(.conversation(id), options.query) { row throws(CommandFailure) in try printer.add(row) }
        try printer.finish()
        try session.end(count: printer.count, options.range) { line in
            line.add("conversation", id)
            if let summary = found?.summary {
                if let title = summary.string("title") { line.add("title", title) }
                if let version = summary.integer("version") { line.add("version", version) }
            }
        }
        if printer.count == 0 { try session.sayNothing(of: (.noConversation, id), reads) }
        return printer.count == 0 ? .nothingFound : .success
    }

    /// What the conversation was; nothing where that cannot be told in a bounded time. Its events are listed all the same.
    private static func named(
        _ id: String, _ moment: PointInTime, _ reads: Reads
    ) throws(CommandFailure) -> (summary: JSONObject, participants: [JSONObject])? {
        do throws(CommandFailure) {
            return try reads.conversation(id, at: moment)
        } catch  where error.code == ErrorCode.scope.rawValue {
            return nil
        }
    }

    /// The first of who takes part, and how many more have, or had.
    private static func participants(
        _ all: [JSONObject], of summary: JSONObject?, _ session: Session
    ) -> String? {
        let names = all.filter { $0.bool("joined") ?? true }.compactMap { $0.string("user") }
        if names.isEmpty { return nil }
        let shown = names.prefix(5).joined(separator: ", ")
        // Of those that were not read it is not known who has left.
        let count = names.count + max(Int(clamping: summary?.integer("participants") ?? 0) - all.count, 0)
        return count > 5 ? session.shown(.andMore, shown, String(count - 5)) : shown
    }
}

enum ConversationsCommand {
    static let entry = Subcommand(
        Command(
            "conversations", "Conversations, the latest active first", group: "Read",
            options: ListLimit.options + [
                .value("user", short: "u", "USER", "Only of this user, as 'rooms' lists them.", names: "users"),
                RoomsCommand.category, RoomsCommand.match,
            ] + TimeRange.moments + [OutputForm.csvOption],
            examples: [
                .init("syncctl conversations", "the 50 that were active last"),
                .init("syncctl conversations --category image --match 고양이", "those with pictures, by their titles"),
                .init("syncctl conversations --all --json", "all of them, for a program"),
            ],
            discussion: """
                With --category or --match the 100,000 that were active last are looked at, or all with --all. Exit code 1 when nothing \
                matched, 2 when not all were looked at.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let limit = try ListLimit(session).count
        let range = try TimeRange(session)
        let filter = try RoomFilter(session)
        if let user = session.arguments.value("user") {
            guard range.isEmpty else {
                throw usageFailure(
                    "--as-of and --known-at do not go with --user: a user's list is told as it stands now",
                    hint: "'syncctl history \(user) --as-of TIME' has what was said to then")
            }
            return try RoomsCommand.list(of: user, session, filter)
        }
        let reads = try Reads(session)
        range.tell(session)
        var table = TextTable([
            .whole(session.headingOfTimes(.last)), .whole(session.heading(.conversation)),
            .right(session.heading(.events)), .right(session.heading(.messages)),
            .left(session.heading(.startedBy)), .left(session.heading(.title)),
        ])
        let csv = MemberCSV(columns: [
            "conversation", "title", "category", "started_by", "version", "messages", "first_time", "last_time",
        ])
        if session.isCSV { try session.output.write(csv.header) }
        var count = 0
        let look = try reads.conversations(limit: limit, filter: filter, at: range.moment) {
            line throws(CommandFailure) in
            count += 1
            guard !session.isJSON else { return try session.print(line) }
            guard !session.isCSV else { return try session.output.write(csv.record(line)) }
            table.add(cells(line, session))
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: count, range) { line in
            if look.isCut { line.add("cut", PageCut.rows.rawValue) }
        }
        return look.end(count, session)
    }

    private static func cells(_ summary: JSONObject, _ session: Session) -> [TextTable.Cell] {
        [
            .init(session.clock(summary.moment("last_time"))), .init(summary.string("conversation") ?? ""),
            .init(summary["version"]?.numberText ?? ""), .init(summary["messages"]?.numberText ?? ""),
            .init(summary.string("started_by") ?? "-"), .init(summary.string("title") ?? ""),
        ]
    }
}
