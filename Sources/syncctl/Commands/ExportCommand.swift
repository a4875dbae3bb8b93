internal import CommandLineKit
internal import EventStore

enum ExportCommand: Subcommand {
    static let command = Command(
        "export", "The whole log as native NDJSON, in position order.", group: "TAKE OUT",
        options: [
            .value("after", "POSITION", "Only what stands after this position."),
            .value("through", "POSITION", "Up to this position."),
        ],
        examples: [
            .init("syncctl export > log.ndjson", "everything, with ids and leaves"),
            .init("syncctl export | syncctl import - --store copy", "into another store; ids stay"),
        ],
        discussion: """
            One CloudEvents 1.0 object per line, payloads byte for byte. Events of the store itself (origin.started) are \
            part of it; an import passes them over.
            """)

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let after = try context.integer("after", in: 0...Int.max).map(UInt64.init) ?? 0
        let through = try context.integer("through", in: 0...Int.max).map(UInt64.init)
        var exporter = try Exporter(context, context.log())
        try exporter.run(from: after, through: through) { _ in true }
        try context.end(exporter.count)
        return .success
    }
}

/// Writes native lines.
struct Exporter {
    private let context: Context
    private let log: LogReader
    private let writer: NativeLineWriter
    private let sha = SHA256()
    private(set) var count = 0

    init(_ context: Context, _ log: LogReader) throws(CommandFailure) {
        self.context = context
        self.log = log
        writer = NativeLineWriter(node: try context.nodeName(log))
    }

    mutating func write(_ event: StoredEvent) throws(CommandFailure) {
        var line: [UInt8] = []
        writer.append(event, leaf: sha.leaf(of: event.event), to: &line)
        line.append(UInt8(ascii: "\n"))
        try context.output.write(line)
        count += 1
    }

    /// Writes the events after `position` that `isWanted` lets through, up to where the log stands now.
    mutating func run(
        from position: UInt64, through end: UInt64?, where isWanted: (StoredEvent) -> Bool
    ) throws(CommandFailure) {
        let top = try stored { () throws(StoreError) in min(end ?? UInt64.max, try log.top()) }
        var position = position
        while position < top {
            var page: [StoredEvent] = []
            position = try stored { () throws(StoreError) in
                try log.scan(after: position, limit: 1_000) { event in
                    if event.position <= top, isWanted(event) { page.append(event) }
                    return event.position < top
                }
            }
            for event in page { try write(event) }
        }
    }
}
