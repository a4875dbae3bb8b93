internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Origins with two histories, as far as that is proven here.
enum ForksCommand {
    static let entry = Subcommand(
        Command(
            "forks", "Origins with two histories, with the proofs", group: "Administration",
            examples: [
                .init("syncctl forks", "of the store here"),
                .init("syncctl forks --url https://seoul.example:7461 --token-file op.token", "of another node"),
            ],
            discussion: """
                SEQUENCE is the first event in which the two histories differ, HERE the leaf of the one that this log has. Where only heads \
                prove it, they are of SEQUENCE events, and HERE is a root. Each proof is a file evidence/NAME.json in the store's folder. \
                'syncctl doctor' says what to do, and which of them somebody has settled.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let lines = try lines(session)
        if session.isJSON {
            for line in lines { try session.print(line) }
        } else if !lines.isEmpty {
            var table = TextTable([
                .left(session.heading(.origin)), .right(session.heading(.sequence)), .left(session.heading(.at)),
                .left(session.heading(.ownBranch)), .left(session.heading(.name)),
            ])
            for line in lines {
                let own = line.elements("branches")?.compactMap(\.object).first { $0.bool("here") == true }
                table.add([
                    .init(line.string("origin") ?? ""), .init(String(line.integer("sequence") ?? 0)),
                    .init(line.string("at") ?? "-"), .init(String((own?.string("leaf") ?? "-").prefix(8))),
                    .init(line.string("name") ?? ""),
                ])
            }
            try session.print(table)
        }
        try session.end(count: lines.count)
        if lines.isEmpty { session.say(.noForks) }
        return .success
    }

    /// Of the node that `--url` names; else of the files here, whether a daemon runs or not.
    private static func lines(_ session: Session) throws(CommandFailure) -> [JSONObject] {
        if let named = try DaemonClient.named(by: session) { return try named.lines(Route.forks.path) }
        let files = try StoreLocation.find(for: session).files
        return try stored { try LogReader(files).forkLines(files).map(\.line.object) }
    }
}
