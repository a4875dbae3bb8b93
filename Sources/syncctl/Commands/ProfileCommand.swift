internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ProfileCommand {
    static let entry = Subcommand(
        Command(
            "profile", "A user's profile, conflicts included", group: "Read",
            arguments: [.init("user", "Whose profile.")],
            examples: [.init("syncctl profile u-1029", "each field with who set it last")],
            discussion: """
                A field that was set on two nodes which did not know of each other is in conflict and shows both \
                values: the last one holds until somebody sets it again. Exit code 1 when there is no profile.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let views = try FreshViews.open(session)
        let fields = try stored { try views.profile(user: user) }
        var table = TextTable([
            .left("FIELD"), .left("SET BY"), .whole("TIME (\(session.offset))"), .left("STATE"), .left("VALUE"),
        ])
        for field in fields {
            if session.isJSON {
                try session.output.line(JSONLine(field))
                continue
            }
            let others = field.concurrent.filter { $0.value != field.winner.value }
            let state = field.isConflict ? "conflict" : "set"
            table.add(cells(field.name, field.winner, state, session))
            for write in others { table.add(cells("", write, "also said", session)) }
        }
        if !session.isJSON, !fields.isEmpty { try session.print(table) }
        try session.end(count: fields.count) { line in
            line.add("user", user)
            line.add("conflicts", fields.count(where: \.isConflict))
        }
        if fields.isEmpty { session.say("no profile of \(user)") }
        return fields.isEmpty ? .nothingFound : .success
    }

    private static func cells(
        _ name: String, _ write: ProfileWrite, _ state: String, _ session: Session
    ) -> [TextTable.Cell] {
        [
            .init(name), .init(write.author), .init(session.clock(write.time)),
            .init(state, style: state == "set" ? nil : .yellow), .init(plain(write.value)),
        ]
    }

    /// The text of a JSON string, other values as they are written.
    private static func plain(_ json: String) -> String {
        guard json.hasPrefix("\"") else { return json }
        return JSONObject(validated: Array("{\"value\":\(json)}".utf8)).string("value") ?? json
    }
}
