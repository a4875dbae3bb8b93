internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum UsersCommand {
    static let entry = Subcommand(
        Command(
            "users", "Users who have a name, by name", group: "Read",
            options: [
                .value("match", "TEXT", "Only whose names begin so, whatever the case.")
            ] + ListLimit.options + [OutputForm.csvOption],
            examples: [
                .init("syncctl users --match 김", "those whose names begin with 김"),
                .init("syncctl users --all --json", "all of them, for a program"),
            ],
            discussion: "The name is the field \"name\" of the profile. Exit code 1 when nothing matched."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let limit = try ListLimit(session).count
        let match = session.arguments.value("match")
        if let match { _ = try RoomFilter.words(match) }
        var table = TextTable([.whole(session.heading(.user)), .left(session.heading(.name))])
        let csv = MemberCSV(columns: ["user", "name"])
        if session.isCSV { try session.output.write(csv.header) }
        var count = 0
        try Reads(session).users(match, limit: limit) { line throws(CommandFailure) in
            count += 1
            guard !session.isJSON else { return try session.print(line) }
            guard !session.isCSV else { return try session.output.write(csv.record(line)) }
            table.add([.init(line.string("user") ?? ""), .init(line.string("name") ?? "")])
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: count)
        if count == 0 { match.map { session.say(.nothingFound, $0) } ?? session.say(.noUsers) }
        return count == 0 ? .nothingFound : .success
    }
}
