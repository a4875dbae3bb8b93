internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Whom a user keeps.
enum ContactsCommand {
    static let entry = Subcommand(
        Command(
            "contacts", "A user's contacts", group: "Read",
            arguments: [.init("user", "Whose.", names: "users")],
            options: ListLimit.options + [OutputForm.csvOption],
            examples: [.init("syncctl contacts u-1029", "the first 50, by id")],
            discussion: """
                Who was added on one node and removed on another, neither knowing of the other, stays. Exit code 1 when there is none.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let limit = try ListLimit(session).count
        var table = TextTable([
            .whole(session.heading(.contact)), .left(session.heading(.name)), .left(session.heading(.phone)),
            .left(session.heading(.source)),
        ])
        let csv = MemberCSV(columns: ["contact", "name", "profile_name", "phone_number", "source", "time"])
        if session.isCSV { try session.output.write(csv.header) }
        var count = 0
        try Reads(session).contacts(of: user, limit: limit) { line throws(CommandFailure) in
            count += 1
            guard !session.isJSON else { return try session.print(line) }
            guard !session.isCSV else { return try session.output.write(csv.record(line)) }
            table.add([
                .init(line.string("contact") ?? ""),
                .init(line.string("name") ?? line.string("profile_name") ?? ""),
                .init(line.string("phone_number") ?? ""), .init(line.string("source") ?? ""),
            ])
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: count) { line in line.add("user", user) }
        if count == 0 { session.say(.noContacts, user) }
        return count == 0 ? .nothingFound : .success
    }
}

/// What a user looked for.
enum SearchesCommand {
    static let entry = Subcommand(
        Command(
            "searches", "What a user looked for, to be offered again", group: "Read",
            arguments: [.init("user", "Whose.", names: "users")],
            options: ListLimit.options + [
                .value("match", "TEXT", "Only what begins so, whatever the case."),
                .value("sort", "ORDER", "By when, the newest first, or by the words.", allowed: ["date", "query"]),
                .value(
                    "scope", "PLACE", "Only what was looked for there.", allowed: ["messages", "users"]),
                OutputForm.csvOption,
            ],
            examples: [
                .init("syncctl searches u-1029", "the newest first"),
                .init("syncctl searches u-1029 --sort query --match 김", "those that begin with 김, by their words"),
            ],
            discussion: "Of a user the newest 1,000. Exit code 1 when there is none."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let limit = try ListLimit(session).count
        let match = session.arguments.value("match")
        if let match { _ = try RoomFilter.words(match) }
        let order = session.arguments.value("sort").flatMap(RecentSearchOrder.init) ?? .date
        var table = TextTable([
            .whole(session.headingOfTimes(.last)), .whole(session.heading(.searchScope)),
            .left(session.heading(.searchWords)),
        ])
        let csv = MemberCSV(columns: ["query", "scope", "time"])
        if session.isCSV { try session.output.write(csv.header) }
        var count = 0
        try Reads(session).searches(
            of: user, scope: session.arguments.value("scope"), match: match, order: order, limit: limit
        ) { line throws(CommandFailure) in
            count += 1
            guard !session.isJSON else { return try session.print(line) }
            guard !session.isCSV else { return try session.output.write(csv.record(line)) }
            table.add([
                .init(session.clock(line.moment("time"))), .init(line.string("scope") ?? ""),
                .init(line.string("query") ?? ""),
            ])
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: count) { line in line.add("user", user) }
        if count == 0 { session.say(.noSearches, user) }
        return count == 0 ? .nothingFound : .success
    }
}
