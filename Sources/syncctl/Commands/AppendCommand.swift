internal import CommandLineKit
internal import EventStore

enum AppendCommand: Subcommand {
    static let command = Command(
        "append", "Appends one event, or native NDJSON from standard input.", group: "WRITE",
        arguments: [
            .init(
                "input", "'-': native NDJSON from standard input, all or nothing.", count: .optional, allowed: ["-"])
        ],
        options: [
            .value("user", short: "u", "UID", "Whose history it belongs to."),
            .value("text", "TEXT", "The message; short for --data '{\"text\":…}'."),
            .value("data", "JSON", "The payload, a JSON object."),
            .value("type", "TYPE", "The event type. Default: message.posted."),
            .value("conversation", "ID", "The conversation."),
            .value("author", "UID", "Who did it. Default: the user."),
            .value("id", "UUID", "The idempotency key. Default: a new one."),
            .value("cause", "UUID", "The event that led to it."),
            .value("time", "TIME", "When it happened. Default: now."),
            .value("expect", "N", "Only if the conversation has N events on this node."),
        ],
        examples: [
            .init("syncctl append -u u-1029 --conversation c-88 --text '물을 충분히 드세요'", "a message"),
            .init(
                "syncctl append -u u-1 --type profile.changed --data '{\"fields\":{\"name\":\"김하늘\"}}'",
                "a profile change"),
            .init("syncctl append - < events.ndjson", "several, in one commit"),
        ],
        discussion: "With an --id the command may be repeated after any failure: the event is stored once.")

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        if context.arguments.positional("input") != nil {
            return try ImportCommand.run(context, descriptor: 0, total: nil, atomicity: .whole, derivesIDs: false)
        }
        let draft = try draft(context)
        var expected: ExpectedVersion?
        if let version = try context.integer("expect", in: 0...Int.max) {
            guard let conversation = draft.conversation else {
                throw CommandFailure(code: "E_USAGE", "--expect needs a --conversation", exitCode: .usage)
            }
            expected = ExpectedVersion(conversation: conversation, version: UInt64(version))
        }
        let appender = try Appender(context)
        let outcome = try appender.append([draft], atomicity: .whole, expected: expected)[0]
        try appender.finish()
        if outcome.kind == .rejected {
            throw CommandFailure(
                code: outcome.code, outcome.message, exitCode: outcome.code == "E_VERSION" ? .partlyDone : .badInput)
        }
        if context.form == .json {
            try context.output.line(outcome.json(line: nil))
            try context.end(1)
        } else {
            let word = outcome.kind == .appended ? "appended" : "already there:"
            try context.output.line("\(word) position \(outcome.position) id \(outcome.id)")
        }
        return .success
    }

    private static func draft(_ context: Context) throws(CommandFailure) -> EventDraft {
        let arguments = context.arguments
        guard let user = arguments.value("user") else {
            throw CommandFailure(
                code: "E_USAGE", "--user is missing: whose history does the event belong to?", exitCode: .usage)
        }
        func uuid(_ option: String) throws(CommandFailure) -> EventID? {
            guard let text = arguments.value(option) else { return nil }
            guard let id = EventID(text: text) else {
                throw CommandFailure(code: "E_USAGE", "--\(option): '\(text)' is no UUID", exitCode: .usage)
            }
            return id
        }
        let payload: [UInt8]
        switch (arguments.value("text"), arguments.value("data")) {
        case (let text?, nil):
            var bytes = Array("{\"text\":".utf8)
            JSONText.append(text, to: &bytes)
            payload = bytes + [UInt8(ascii: "}")]
        case (nil, let data?): payload = Array(data.utf8)
        default: throw CommandFailure(code: "E_USAGE", "give one of --text and --data", exitCode: .usage)
        }
        return EventDraft(
            id: try uuid("id"), type: arguments.value("type") ?? "message.posted", time: try context.instant("time"),
            conversation: arguments.value("conversation"), user: user, author: arguments.value("author"),
            cause: try uuid("cause"), payload: payload)
    }
}
