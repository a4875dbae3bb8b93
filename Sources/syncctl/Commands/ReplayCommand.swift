internal import CommandLineKit
internal import EventStore

enum ReplayCommand: Subcommand {
    static let command = Command(
        "replay", "What was said, as native NDJSON in display order; as of a time if wanted.", group: "READ",
        options: [
            .value("user", short: "u", "UID", "This user's events."),
            .value("conversation", "ID", "This conversation."),
            .flag("all", "The whole log, in position order."),
            .value("since", "TIME", "From this time on."), .value("until", "TIME", "Up to this time."),
            .value("as-of", "TIME", "Only what had happened by this time."),
            .value("known-at", "POSITION", "Only what this node's log had at this position."),
            .value("type", "TYPE", "Only events of this type; may be repeated.", repeatable: true),
        ],
        examples: [
            .init("syncctl replay --conversation c-88 --as-of '2026-08-01 11:03'", "as it stood at that moment"),
            .init("syncctl replay --user u-1029 > u-1029.ndjson", "one user's events, to be imported elsewhere"),
            .init("syncctl replay --all --known-at 10414", "what this node knew then"),
        ],
        discussion: "Each event comes out as it was recorded, not as it was edited later.")

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let scopes = [
            context.arguments.value("user") != nil, context.arguments.value("conversation") != nil,
            context.arguments.flag("all"),
        ]
        guard scopes.count(where: { $0 }) == 1 else {
            throw CommandFailure(code: "E_USAGE", "give one of --user, --conversation and --all", exitCode: .usage)
        }
        var query = TimelineQuery()
        query.since = try context.instant("since")
        query.until = try context.instant("until")
        if let asOf = try context.instant("as-of") { query.until = min(query.until ?? Int64.max, asOf + 1) }
        query.types = Set(context.arguments.values("type"))
        query.knownAt = try context.integer("known-at", in: 0...Int.max).map(UInt64.init)
        let count = try context.arguments.flag("all") ? wholeLog(context, query) : timeline(context, query)
        try context.end(count)
        return count == 0 ? .nothingFound : .success
    }

    private static func wholeLog(_ context: Context, _ query: TimelineQuery) throws(CommandFailure) -> Int {
        var exporter = try Exporter(context, context.log())
        try exporter.run(from: 0, through: query.knownAt) { stored in
            let header = stored.event.header
            let time = header.displayKey.time
            return (query.types.isEmpty || query.types.contains(header.type)) && time >= query.since ?? Int64.min
                && time < query.until ?? Int64.max
        }
        return exporter.count
    }

    private static func timeline(_ context: Context, _ query: TimelineQuery) throws(CommandFailure) -> Int {
        let views = try context.views()
        var exporter = try Exporter(context, views.log)
        var failure: CommandFailure?
        _ = try stored { () throws(StoreError) in
            let body: (TimelineEntry) -> Bool = { entry in
                do throws(CommandFailure) { try exporter.write(entry.stored) } catch { failure = error }
                return failure == nil
            }
            if let user = context.arguments.value("user") { return try views.history(user: user, query, body) }
            return try views.conversation(context.arguments.value("conversation") ?? "", query, body)
        }
        if let failure { throw failure }
        return exporter.count
    }
}
