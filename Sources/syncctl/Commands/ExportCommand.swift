internal import CommandLineKit
internal import EventStore

enum ExportCommand {
    static let entry = Subcommand(
        Command(
            "export", "Prints the whole log as native NDJSON", group: "Take out",
            options: [
                .value("after", "POSITION", "Only what stands after this position."),
                .value("through", "POSITION", "Up to this position."),
            ],
            examples: [
                .init("syncctl export > log.ndjson", "everything, in the order of this node's log"),
                .init("syncctl export | zstd > log.ndjson.zst", "the same, small"),
                .init("syncctl export --after 10412", "what came after position 10412"),
            ],
            discussion: """
                Each line is a CloudEvents 1.0 object with the event's Merkle leaf; 'syncctl import' reads it back with \
                the same ids. With --json a last line of type 'end' tells that nothing was cut off.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let start = try session.position("after") ?? 0
        let location = try StoreLocation.find(for: session)
        let reader = try location.reader()
        let lines = try NativeLines(reader)
        let top = try stored { try reader.top() }
        let last = min(try session.position("through") ?? top, top)
        var count: UInt64 = 0
        var erased: UInt64 = 0
        var progress = Progress("export", unit: "events", style: session.style())
        let replay = LogReplay(location.files, after: start, through: last)
        let parts = try stored { try replay.parts(lines.adder) }
        while let part = try stored({ try parts.next() }) {
            try session.output.write(part.bytes)
            count += part.count
            erased += part.erased
            parts.giveBack(part)
            progress.update(done: count, total: replay.count)
        }
        progress.finish(done: count, total: count)
        try session.end(count: count) { line in
            line.add("position", last)
            line.add("erased", erased)
        }
        if erased > 0 {
            session.say("\(erased) events are erased: their lines have no data, and import passes them over")
        }
        return .success
    }
}
