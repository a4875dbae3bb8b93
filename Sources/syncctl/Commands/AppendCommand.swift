internal import CommandLineKit
internal import EventStore
internal import Glibc

enum AppendCommand {
    static let entry = Subcommand(
        Command(
            "append", "Appends events from options or NDJSON", group: "Write",
            arguments: [
                .init("input", "'-' reads native NDJSON from stdin.", count: .optional, allowed: ["-"])
            ],
            options: [
                .value("user", short: "u", "USER", "Whose history it belongs to."),
                .value("text", "TEXT", "The payload's 'text'."),
                .value("data", "JSON", "The payload, a JSON object; --text is added to it."),
                .value("conversation", "ID", "The conversation it belongs to."),
                .value("author", "USER", "Who did it (default: the user)."),
                .value("type", "TYPE", "The event's type (default: message.posted)."),
                .value("id", "UUID", "The idempotency key (default: a new one)."),
                .value("cause", "UUID", "The event that led to it."),
                .value("time", "TIME", "When it happened (default: now)."),
                .value("expect", "N", "Only if the conversation has N events on this node."),
            ],
            examples: [
                .init("syncctl append --user u-1029 --conversation c-88 --text '물을 충분히 드세요'", "one message"),
                .init("jq -c '.[]' dump.json | syncctl append - --json", "one result for each line"),
                .init(
                    "syncctl append --user u-1 --type profile.changed --data '{\"fields\":{\"name\":\"김하늘\"}}'",
                    "any type, any payload"),
            ],
            discussion: """
                Goes through the daemon when one runs on the store, else directly. An event with an id that is stored \
                already, with the same content, is reported as 'already': repeat the command after any error.

                Exit codes: 4 when some events were rejected, 65 when the only one is malformed.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let isStream = arguments.positional("input") != nil
        let given =
            ["user", "text", "data", "id", "cause", "time", "expect", "conversation", "author", "type"]
            .filter { arguments.value($0) != nil }
        if isStream, let extra = given.first {
            throw usageFailure("--\(extra) and '-' do not go together: the lines say it all")
        }
        if isStream {
            var stream = AppendStream(session)
            return try stream.run()
        }
        let draft = try Draft(session).draft()
        let expected = try usage { try arguments.integer("expect", in: 0...Int.max) }
        if expected != nil, draft.conversation == nil { throw usageFailure("--expect needs --conversation") }
        let appender = try Appender.open(StoreLocation.find(for: session).files)
        defer { appender.close() }
        let results: [AppendResult]
        if let expected {
            results = try appender.append(draft, expecting: UInt64(expected))
        } else {
            results = try appender.start([draft])()
        }
        var tally = AppendTally()
        for result in results { try tally.add(result, line: nil, session) }
        return try tally.finish(session)
    }
}

/// The event that the options describe.
private struct Draft {
    let session: Session

    init(_ session: Session) { self.session = session }

    func draft() throws(CommandFailure) -> EventDraft {
        let arguments = session.arguments
        guard let user = arguments.value("user") else {
            throw usageFailure("no --user: whose history does it belong to?", hint: "syncctl append --help")
        }
        return EventDraft(
            id: try uuid("id") ?? .timeOrdered(session.now), type: arguments.value("type") ?? "message.posted",
            time: try session.time("time"), conversation: arguments.value("conversation"), user: user,
            author: arguments.value("author"), cause: try uuid("cause"), payload: try payload())
    }

    private func uuid(_ option: String) throws(CommandFailure) -> EventID? {
        guard let text = session.arguments.value(option) else { return nil }
        guard let bits = UUIDBits(text: text) else {
            throw usageFailure("--\(option) '\(text)': not a UUID such as 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f")
        }
        return EventID(bits)
    }

    /// `--data`, with `--text` as its first member.
    private func payload() throws(CommandFailure) -> [UInt8] {
        let text = session.arguments.value("text")
        guard let data = session.arguments.value("data") else {
            guard let text else { throw usageFailure("no --text and no --data: what is to be appended?") }
            var line = JSONLine()
            line.add("text", text)
            return line.utf8
        }
        let object: JSONObject
        do {
            object = try JSONObject(validating: Array(data.utf8))
        } catch {
            throw CommandFailure(code: error.code, "--data: \(error)", exitCode: .badInput)
        }
        guard let text else { return Array(data.utf8.map { $0 == 0x0a || $0 == 0x0d ? 0x20 : $0 }) }
        if object["text"] != nil { throw usageFailure("--data has a 'text' and --text gives another") }
        var line = JSONLine()
        line.add("text", text)
        for member in object { line.addRaw(member.name, member.value.raw) }
        return line.utf8
    }
}

extension EventID {
    /// A new UUIDv7 (RFC 9562 §5.7).
    static func timeOrdered(_ milliseconds: Int64) -> EventID {
        var random = SystemRandomNumberGenerator()
        let high = UInt64(clamping: milliseconds) << 16 | 0x7000 | random.next() & 0x0fff
        return EventID(UUIDBits(high: high, low: random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000))
    }
}
