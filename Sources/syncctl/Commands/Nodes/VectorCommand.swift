internal import CommandLineKit
internal import EventStore

enum VectorCommand {
    static let entry = Subcommand(
        Command(
            "vector", "What the store holds of each origin", group: "Nodes",
            examples: [
                .init("syncctl vector", "one line for each origin"),
                .init("syncctl vector | syncctl wait --vector - --nodes 2", "until another node holds it too"),
            ],
            discussion: "Each line is <origin>/<seq>: all events of that origin from 1 to seq are here."),
        run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let reader = try StoreLocation.find(for: session).reader()
        let entries = try stored { try reader.vector() }.entries.filter { $0.seq > 0 }
        for dot in entries {
            try session.line(dot.description, "origin") { line in
                line.add("origin", dot.origin.description)
                line.add("seq", dot.seq)
            }
        }
        try session.end(count: entries.count)
        return .success
    }
}
