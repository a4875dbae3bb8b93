internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ExportCommand {
    static let entry = Subcommand(
        Command(
            "export", "Prints the log as native NDJSON", group: "Take out",
            options: [
                .value("after", "POSITION", "Only what stands after this position."),
                .value("through", "POSITION", "Up to this position."),
                .value("origin", "ORIGIN", "Only events of this origin.", repeatable: true),
                .value("user", short: "u", "USER", "Only this user's history.", names: "users"),
                .value("conversation", "ID", "Only this conversation.", names: "conversations"),
            ] + EventSelection.options + [
                .flag("evidence", "With all that proves the events, to be checked or taken in elsewhere.")
            ] + FormatExport.options + [
                OutputForm.csvOption
            ],
            examples: [
                .init("syncctl export > log.ndjson", "everything, in the order of this node's log"),
                .init("syncctl export | zstd > log.ndjson.zst", "the same, small"),
                .init("syncctl export --after 10412", "what came after position 10412"),
                .init("syncctl export --user u-1029", "all events of one user"),
                .init(
                    "syncctl export --since 2026-08-01 --until 2026-09-01 --csv > august.csv",
                    "a month, for a spreadsheet"),
                .init(
                    "syncctl export --evidence > audit.evidence", "headers, salts, payloads, keys and signed heads"),
                .init(
                    "syncctl export --format html --conversation c-88 > c-88.html",
                    "a conversation to be read in a browser and on paper"),
                .init(
                    "syncctl export --format html --conversation c-88 --out c-88.html --proof",
                    "the page, and c-88.proof with what proves it"),
                .init(
                    "syncctl export --format openai --survey satisfaction=dissatisfied",
                    "conversations that did not help, as lines for fine-tuning"),
                .init(
                    "syncctl export --format dialogues > pairs.csv",
                    "questions and answers, with what users thought of them"),
            ],
            discussion: """
                Each line is a CloudEvents 1.0 object with the event's Merkle leaf; 'syncctl import' reads it back with \
                the same ids. With --json a last line of type 'end' tells that nothing was cut off. What proves an event \
                (salt, dependencies, signed heads) is not in it, and imported events are new ones of the importing node.

                --evidence writes another form, described in FORMATS.md: every event as it was hashed, and each \
                origin's key and signed head; the file ends with a line that tells whether it is whole. Nodes that have \
                the same events and heads write the same bytes. 'syncctl import --evidence' takes it in without loss. \
                Exit code 2 when events were left out because no head covers them yet, 3 where one is not what was stored.

                --format writes what was said, as it stands now: csv a record for each message, openai a line for each \
                conversation (with --context N for each answer), dialogues a record for each question and its answer, html \
                one conversation as a page. These forms lose what no reader of theirs asks for; cloudevents loses nothing. \
                Exit code 1 when nothing was written.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        if let format = try FormatExport.asked(session) { return try format.run() }
        let wanted = try origins(session)
        if session.arguments.flag("evidence") {
            for option in ["after", "through", "user", "conversation", "since", "until", "type", "role", "author"]
            where !session.arguments.values(option).isEmpty {
                throw usageFailure("--evidence does not go with --\(option): origins are whole")
            }
            if session.isCSV { throw usageFailure("--evidence is a form of its own and has no CSV") }
            return try EvidenceTransfer.export(session, origins: wanted)
        }
        let location = try StoreLocation.find(for: session)
        let reader = try location.reader()
        let top = try stored { try reader.top() }
        let start = try session.position("after", upTo: top) ?? 0
        let last = min(try session.position("through") ?? top, top)
        var count: UInt64 = 0
        var erased: UInt64 = 0
        var progress = Progress("export", unit: "events", style: session.style())
        let selection = try EventSelection(session)
        selection.range.tell(session)
        let replay = try part(of: location.files, selection, session, after: start, through: last)
        let parts = try stored { try replay.parts(adder(reader, session, selection, origins: wanted, upTo: top)) }
        if session.isCSV { try session.output.write(EventCSV.header) }
        while let part = try stored({ try parts.next() }) {
            try session.output.write(part.bytes)
            count += part.count
            erased += part.erased
            parts.giveBack(part)
            progress.update(done: count, total: replay.count)
        }
        progress.finish(done: count, total: count)
        try session.end(count: count, selection.range) { line in
            line.add("position", last)
            line.add("erased", erased)
        }
        if erased > 0 { session.say(.erasedEvents, String(erased)) }
        return .success
    }

    /// Makes what writes the events that were asked for, as lines or as records, for each thread.
    private static func adder(
        _ reader: LogReader, _ session: Session, _ selection: EventSelection, origins: Set<OriginID>?,
        upTo top: UInt64
    ) throws(StoreError) -> @Sendable () -> (inout LinePart, StoredEvent) -> Void {
        let native = try EventLines(reader).adder(upTo: top, of: origins)
        let (isCSV, all) = (session.isCSV, selection.isEverything)
        return {
            let add = native()
            return { part, event in
                let header = event.event.header
                guard all || selection.matches(header) else { return }
                guard isCSV else { return add(&part, event) }
                if let origins, !origins.contains(header.dot.origin) { return }
                part.bytes += EventCSV.record(event).utf8
                part.count += 1
                if event.event.isErased { part.erased += 1 }
            }
        }
    }

    /// The part of the log that was asked for, in its order: of a user or a conversation what the views say they have.
    private static func part(
        of files: StoreFiles, _ selection: EventSelection, _ session: Session, after start: UInt64,
        through last: UInt64
    ) throws(CommandFailure) -> LogReplay {
        let (user, conversation) = (selection.users.first, selection.conversations.first)
        if user == nil, conversation == nil { return LogReplay(files, after: start, through: last) }
        let views = try FreshViews.open(session, files)
        var query = selection.query
        query.withTwins = true
        query.knownAt = last
        let positions = try stored {
            if let user {
                query.conversations = conversation.map { [$0] } ?? []
                return try views.positions(user: user, query)
            }
            return try views.positions(conversation: conversation ?? "", query)
        }
        return LogReplay(files, at: positions.filter { $0 > start }.sorted())
    }

    /// The origins that were asked for; `nil`: all.
    private static func origins(_ session: Session) throws(CommandFailure) -> Set<OriginID>? {
        var origins: Set<OriginID> = []
        for text in session.arguments.values("origin") {
            guard let origin = OriginID(text: text) else {
                throw usageFailure("--origin '\(text)': not a UUID", hint: "syncctl status names the origins")
            }
            origins.insert(origin)
        }
        return origins.isEmpty ? nil : origins
    }
}
