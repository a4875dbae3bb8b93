internal import CommandLineKit
internal import EventStore

enum ShowCommand: Subcommand {
    static let command = Command(
        "show", "One event in full.", group: "READ",
        arguments: [.init("event", "Its id, its position, or <origin>/<seq>.")],
        examples: [
            .init("syncctl show 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "by id"),
            .init("syncctl show 10412 --json", "by position, as the native line"),
        ])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let text = context.arguments.positional("event") ?? ""
        let log = try context.log()
        let events = try find(text, log)
        guard !events.isEmpty else {
            context.remark("no event \(text)")
            try context.end(0)
            return .nothingFound
        }
        let node = try context.nodeName(log)
        let sha = SHA256()
        for event in events {
            let leaf = sha.leaf(of: event.event)
            if context.form == .json {
                try context.output.write(NativeLineWriter(node: node).line(event, leaf: leaf) + [UInt8(ascii: "\n")])
            } else {
                try show(event, leaf, context)
            }
        }
        try context.end(events.count)
        return .success
    }

    private static func find(_ text: String, _ log: LogReader) throws(CommandFailure) -> [StoredEvent] {
        let parts = text.split(separator: "/")
        if let id = EventID(text: text) { return try stored { () throws(StoreError) in try log.events(id: id) } }
        if let position = UInt64(text) {
            return try stored { () throws(StoreError) in try log.event(at: position).map { [$0] } ?? [] }
        }
        guard parts.count == 2, let origin = OriginID(text: parts[0]), let seq = UInt64(parts[1]) else {
            throw CommandFailure(
                code: "E_EVENT", "'\(text)' is no event id, position or <origin>/<seq>", exitCode: .usage)
        }
        return try stored { () throws(StoreError) in
            try log.event(Dot(origin: origin, seq: seq)).map { [$0] } ?? []
        }
    }

    private static func show(_ stored: StoredEvent, _ leaf: Digest, _ context: Context) throws(CommandFailure) {
        let header = stored.event.header
        var rows: [(String, String)] = [
            ("id", header.id.description), ("type", header.type),
            ("time", "\(TimeFormat.local(header.time, in: context.zone)) (\(TimeFormat.rfc3339(header.time)))"),
            ("conversation", header.conversation ?? "-"), ("user", header.user), ("author", header.author),
            ("cause", header.cause?.description ?? "-"), ("position", String(stored.position)),
            ("origin", header.dot.origin.description), ("sequence", String(header.dot.seq)),
            ("hlc", header.hlc.description), ("version", String(header.version)), ("leaf", leaf.description),
        ]
        for dependency in header.dependencies { rows.append(("after", dependency.description)) }
        if let first = stored.twinOf {
            rows.append(("twin of", "position \(first), the same id from another origin"))
        }
        for (name, value) in rows {
            try context.output.line(DisplayWidth.pad(name, to: 14) + Sanitizer.line(value))
        }
        try context.output.line()
        let body = stored.event.payload.map { String(decoding: $0, as: UTF8.self) } ?? "(erased)"
        try context.output.line(Sanitizer.lines(body))
    }
}
