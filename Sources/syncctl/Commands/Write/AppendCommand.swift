internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

enum AppendCommand {
    static let entry = Subcommand(
        Command(
            "append", "Appends events from options or NDJSON", group: "Write",
            arguments: [
                .init("input", "'-' reads native NDJSON from stdin.", count: .optional, allowed: ["-"])
            ],
            options: [
                .value("user", short: "u", "USER", "Whose history it belongs to.", names: "users"),
                .value("text", "TEXT", "The payload's 'text'."),
                .value("data", "JSON", "The payload, a JSON object; --text is added to it."),
                .value("conversation", "ID", "The conversation it belongs to.", names: "conversations"),
                .value("author", "USER", "Who did it (default: the user)."),
                .value("type", "TYPE", "The event's type (default: message.posted; of a reply bot.replied)."),
                .value("id", "UUID", "The idempotency key (default: a new one)."),
                .value("cause", "UUID", "The event that led to it."),
                .value(
                    "reply-to", "UUID[:LABEL]",
                    "Reply of --author to this event: its id, user, conversation and cause follow."),
                .value("time", "TIME", "When it happened (default: now)."),
                .value("expect", "N", "Only if the conversation has N events on this node."),
            ],
            examples: [
                .init("syncctl append --user u-1029 --conversation c-88 --text '물을 충분히 드세요'", "one message"),
                .init("jq -c '.[]' dump.json | syncctl append - --json", "one result for each line"),
                .init(
                    "syncctl append --user u-1 --type profile.changed --data '{\"fields\":{\"name\":\"김하늘\"}}'",
                    "any type, any payload"),
                .init(
                    "syncctl append --reply-to 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f --author medibot --text '푹 쉬세요'",
                    "a bot's reply, which is stored once however many workers answer"),
            ],
            discussion: """
                Goes through the daemon when one runs on the store, else directly. An event with an id that is stored \
                already, with the same content, is reported as 'already': repeat the command after any error.

                The id of a reply is made from the message's id, the author and the label (FORMATS.md, 'Reply ids'). \
                Of two workers that answer with different words the second is told E_ID_REUSED. A label tells several \
                replies of one bot to one message apart.

                Exit codes: 4 when some events were rejected, 65 when the only one is malformed.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let isStream = arguments.positional("input") != nil
        let given =
            [
                "user", "text", "data", "id", "cause", "reply-to", "time", "expect", "conversation", "author", "type",
            ]
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
        let appender = try Appender.open(session)
        defer { appender.close() }
        let results: [AppendedLine]
        do throws(CommandFailure) {
            if let expected {
                results = try appender.append(draft, expecting: UInt64(expected))
            } else {
                results = try appender.start([draft])()
            }
        } catch {
            // The daemon may have stored it all the same.
            guard ["E_TIMEOUT", "E_UNREACHABLE"].contains(error.code), let id = draft.id else { throw error }
            var failure = error
            failure.hint = "the same command with --id \(id): nothing is stored twice"
            throw failure
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
        if let text = arguments.value("reply-to") { return try reply(to: text) }
        guard let user = arguments.value("user") else {
            throw usageFailure("no --user: whose history does it belong to?", hint: "syncctl append --help")
        }
        return EventDraft(
            id: try uuid("id") ?? .timeOrdered(session.now), type: arguments.value("type") ?? "message.posted",
            time: try session.time("time"), conversation: arguments.value("conversation"), user: user,
            author: arguments.value("author"), cause: try uuid("cause"), payload: try payload())
    }

    /// What `--author` says in reply to an event of this store.
    private func reply(to text: String) throws(CommandFailure) -> EventDraft {
        let arguments = session.arguments
        if let extra = ["user", "conversation", "id", "cause"].first(where: { arguments.value($0) != nil }) {
            throw usageFailure("--\(extra) and --reply-to do not go together: the message says it")
        }
        guard let author = arguments.value("author") else {
            throw usageFailure("--reply-to needs --author: who replies?")
        }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bits = UUIDBits(text: parts[0]) else {
            throw usageFailure("--reply-to '\(text)': a UUID, or a UUID, a colon and a label")
        }
        let cause = EventID(bits)
        guard let message = try Reads(session).event(cause)?.event.header else {
            throw CommandFailure(
                code: "E_NO_EVENT", "no event \(cause) is there", hint: "syncctl show, with its id",
                exitCode: .nothingFound)
        }
        return EventDraft(
            id: EventID(replyTo: cause, by: author, label: parts.count == 2 ? String(parts[1]) : ""),
            type: arguments.value("type") ?? "bot.replied", time: try session.time("time"),
            conversation: message.conversation,
            user: message.user, author: author, cause: cause, payload: try payload())
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
