internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ProfileCommand {
    static let entry = Subcommand(
        Command(
            "profile", "A user's profile, conflicts included", group: "Read",
            arguments: [.init("user", "Whose profile.", names: "users")],
            options: TimeRange.moments + [OutputForm.csvOption],
            examples: [
                .init("syncctl profile u-1029", "each field with who set it last"),
                .init("syncctl profile u-1029 --as-of 2026-10-01", "as it stood then"),
            ],
            discussion: """
                A field that was set on two nodes which did not know of each other is in conflict and shows both \
                values: the last one holds until somebody sets it again. Exit code 1 when there is no profile.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let user = session.arguments.positional("user") ?? ""
        let range = try TimeRange(session)
        let fields = try Reads(session).profile(of: user, at: range.moment)
        range.tell(session)
        var table = TextTable([
            .left(session.heading(.field)), .left(session.heading(.setBy)),
            .whole(session.headingOfTimes(.time)), .left(session.heading(.state)),
            .left(session.heading(.value)),
        ])
        let csv = MemberCSV(columns: [
            "name", "value", "author", "time", "event", "position", "conflict", "concurrent",
        ])
        if session.isCSV { try session.output.write(csv.header) }
        for field in fields {
            if session.isJSON {
                try session.print(field)
                continue
            }
            if session.isCSV {
                try session.output.write(csv.record(field))
                continue
            }
            let value = field.raw("value")
            let others = (field.elements("concurrent") ?? []).compactMap(\.object).filter { $0.raw("value") != value }
            table.add(cells(field.string("name") ?? "", field, others.isEmpty ? .isSet : .inConflict, session))
            for write in others { table.add(cells("", write, .alsoSaid, session)) }
        }
        if !table.isEmpty { try session.print(table) }
        try session.end(count: fields.count, range) { line in
            line.add("user", user)
            line.add("conflicts", fields.count { $0.bool("conflict") == true })
        }
        if fields.isEmpty { session.say(.noProfile, user) }
        return fields.isEmpty ? .nothingFound : .success
    }

    private static func cells(
        _ name: String, _ write: JSONObject, _ state: Wording, _ session: Session
    ) -> [TextTable.Cell] {
        [
            .init(name), .init(write.string("author") ?? ""), .init(session.clock(write.moment("time"))),
            .init(session.heading(state), style: state == .isSet ? nil : .yellow),
            .init(write["value"].map(EventText.text) ?? ""),
        ]
    }
}
