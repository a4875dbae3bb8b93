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
        let reader = try StoreLocation.find(for: session).reader()
        let lines = try NativeLines(reader)
        let top = try stored { try reader.top() }
        let last = min(try session.position("through") ?? top, top)
        var position = start
        var count: UInt64 = 0
        var erased: UInt64 = 0
        var progress = Progress("export", unit: "events", style: session.style())
        while position < last {
            var bytes: [UInt8] = []
            let limit = Int(min(last - position, 1_000))
            position = try stored {
                try reader.scan(after: position, limit: limit) { event in
                    bytes += lines.line(event)
                    count += 1
                    if event.event.isErased { erased += 1 }
                    return bytes.count < 4 << 20
                }
            }
            try session.output.write(bytes)
            progress.update(done: count, total: last - start)
        }
        progress.finish(done: count, total: count)
        try session.end(count: count) { line in
            line.addExact("position", last)
            line.add("erased", erased)
        }
        if erased > 0 {
            session.say("\(erased) events are erased: their lines have no data, and import passes them over")
        }
        return .success
    }
}
