internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

enum ImportCommand {
    static let entry = Subcommand(
        Command(
            "import", "Loads native NDJSON, or what other services export", group: "Write",
            arguments: [
                .init("file", "A file, an archive or folder of an export, or '-' for native NDJSON on stdin.")
            ],
            options: [
                .value(
                    "format", "NAME", "What the file is (default: auto, and native where nothing is recognised).",
                    allowed: ImportExport.choices),
                .value("user", short: "u", "USER", "Whose events they are, where the export does not say."),
                .value("me", "NAME", "The exporter's own name in the export: events of USER."),
                .value("conversation", "ID", "The conversation they go to, in place of the export's own."),
                .value("timezone", "ZONE", "Of times without one (KakaoTalk: Asia/Seoul, others: this machine's)."),
                .value(
                    "dates", "ORDER", "Which number of a date comes first, where WhatsApp's file leaves it open.",
                    allowed: DateOrder.allCases.map(\.rawValue)),
                .flag("twice", "WhatsApp: take a chat, too, that is here with day and month exchanged."),
                .flag("partial", "Firestore: take questions, too, whose answer the export lacks."),
                .value("batch", "N", "Events handed in at a time, 1 to 4096 (default: 2000)."),
                .flag("dry-run", "Read and check everything, store nothing."),
                .value("rejects", "FILE", "Write rejected lines there, each with its number and the reason."),
                .flag("evidence", "Take in what 'export --evidence' wrote, with its proofs."),
            ],
            examples: [
                .init("syncctl import dump.ndjson", "a whole dump; again: adds nothing"),
                .init("zstdcat dump.ndjson.zst | syncctl import -", "from a pipe"),
                .init("syncctl import dump.ndjson --dry-run --json", "every line that would be rejected"),
                .init(
                    "syncctl import dump.ndjson --rejects bad.ndjson",
                    "and 'jq -r .text bad.ndjson' has them, to be mended"),
                .init("syncctl import KakaoTalkChats.txt --dry-run", "what a chat of KakaoTalk has in it"),
                .init("syncctl import export.zip --user hana", "all of a ChatGPT export, as hana's"),
                .init("syncctl import --evidence audit.evidence", "events as those of their own origins, proven"),
            ],
            discussion: """
                A line without id gets one from its content, so that importing twice adds nothing. Lines that are no \
                events are reported and passed over. So are lines with 'twinof': another event with the same id counts. \
                Interrupted, it ends in good order: run it again to go on.

                Exports of other services are recognised: KakaoTalk, WhatsApp, Telegram, Slack, Matrix, ChatGPT, OpenAI's \
                fine-tuning lines, Firestore, Realtime Database, Core Data and SwiftData. An export is read twice: \
                when anything of it is malformed, nothing of it is stored. Imported again, or in a later export that \
                overlaps, it adds what is new.

                With --evidence, events stay those of their origins: nothing of them changes, and each piece is proven \
                by its origin's signed head before it is stored. The daemon must be stopped. A line that does not fit \
                ends the import; what was stored before is proven and stays.

                Exit codes: 4 when some lines were rejected, or an export says something else than what is here; 65 when the only line was \
                rejected, or an export is malformed; 66 when there is no such file; \
                3 when evidence is contradicted, 2 when its heads sign more events than it has.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let path = session.arguments.positional("file") ?? "-"
        let arguments = session.arguments
        let batch = try usage { try arguments.integer("batch", in: 1...EventStore.maximumBatch) } ?? 2_000
        let rejectsPath = arguments.value("rejects")
        if arguments.flag("evidence") {
            guard arguments.value("batch") == nil, rejectsPath == nil, !arguments.flag("dry-run") else {
                throw usageFailure("--evidence goes with none of --batch, --dry-run and --rejects")
            }
            if let other = arguments.value("format") != nil ? "format" : ImportExport.option(of: session) {
                throw usageFailure("--evidence does not go with --\(other)")
            }
            return try EvidenceTransfer.import(session, try InputFile(path))
        }
        let export = ImportExport(session: session, path: path, wanted: arguments.value("format"))
        if let found = try export.recognised() {
            guard rejectsPath == nil else {
                throw usageFailure("--rejects is for native lines; what is malformed in an export refuses it")
            }
            return try export.run(found, batch: batch)
        }
        if let other = ImportExport.option(of: session) {
            throw usageFailure("--\(other) does not go with native NDJSON, whose lines say it themselves")
        }
        let place = try ImportPlace(session)
        let input = try InputFile(path)
        let rejects = try rejectsPath.map { path throws(CommandFailure) in
            try RejectsFile(path, reading: input.descriptor)
        }
        Interrupt.watch(reading: input.descriptor)
        let target = try place.open()
        defer { target.close() }
        var run = ImportRun(
            session: session, target: target, batch: batch, size: input.size, rejects: rejects)
        do throws(CommandFailure) {
            try run.read(input.descriptor)
        } catch {
            try? rejects?.flush()
            var failure = error
            let goesOn = failure.exitCode == .badInput ? "" : "; the same command goes on"
            failure.why = failure.why ?? "Until then \(summary(run.tally, isDry: false, in: .english))\(goesOn)."
            throw failure
        }
        return try finish(run, path)
    }

    private static func summary(_ tally: AppendTally, isDry: Bool, in language: Language) -> String {
        func text(_ wording: Wording, _ values: String...) -> String { wording.phrase.text(language, values) }
        var told = text(
            isDry ? .importableLines : .importedLines, CountedNoun.line.text(tally.lines, in: language),
            String(tally.appended), String(tally.already), String(tally.rejected))
        if tally.passedOver > 0 { told += text(.nodesLines, String(tally.passedOver)) }
        if tally.erased > 0 { told += text(.erasedOfThem, String(tally.erased)) }
        if tally.twins > 0 { told += text(.twinLines, CountedNoun.twin.text(tally.twins, in: language)) }
        return told
    }

    private static func finish(_ run: ImportRun, _ path: String) throws(CommandFailure) -> ExitCode {
        let session = run.session
        let tally = run.tally
        let isDry = session.arguments.flag("dry-run")
        try session.end(count: tally.lines) { line in
            line.add("lines", tally.lines)
            line.add("appended", tally.appended)
            line.add("already", tally.already)
            line.add("erased", tally.erased)
            line.add("rejected", tally.rejected)
            line.add("passed_over", tally.passedOver)
            line.add("twins", tally.twins)
            line.add("attachments", tally.attachments)
            line.add("dry_run", isDry)
            line.add("interrupted", Interrupt.isRequested)
        }
        if !session.isJSON {
            if run.unshown > 0 { session.remark(.moreRejected, String(run.unshown)) }
            try session.output.line(summary(tally, isDry: isDry, in: session.outputLanguage))
            if tally.attachments > 0 {
                session.remark(.bytesOfLines, session.counted(tally.attachments, .attachment))
            }
        }
        if Interrupt.isRequested {
            session.remark(path == "-" ? .importStoppedInput : .importStopped)
            return .interrupted
        }
        return tally.rejected == 0 ? .success : tally.lines == 1 ? .badInput : .partlyDone
    }
}

/// Where imported events go.
enum ImportTarget {
    case store(Appender)
    /// Nowhere: they are only looked at.
    case check(ImportCheck)

    /// Whether what is handed in is taken before anyone asks for its results.
    var isAhead: Bool {
        if case .store(.direct) = self { true } else { false }
    }

    func start(_ drafts: [EventDraft]) -> Appender.Pending {
        switch self {
        case .store(let appender): return appender.start(drafts)
        case .check(let check): return { () throws(CommandFailure) in try drafts.map(check.result) }
        }
    }

    /// Puts bytes that an event is about to name: whether they are new.
    func put(_ bytes: AttachmentBytes) throws(CommandFailure) -> Bool {
        guard case .store(let appender) = self else { return true }
        return try appender.put(bytes).bool("new") ?? true
    }

    func close() {
        if case .store(let appender) = self { appender.close() }
    }
}

/// Where an import goes: found before anything is read, opened when all was read once.
struct ImportPlace {
    private let session: Session
    /// `nil`: the node that the user named.
    private let files: StoreFiles?

    init(_ session: Session) throws(CommandFailure) {
        self.session = session
        files = session.url == nil ? try StoreLocation.find(for: session).files : nil
        if files == nil, session.arguments.flag("dry-run") {
            throw usageFailure(
                "--dry-run looks into the files of a store, and --url or SYNCCTL_URL names a node",
                hint: "--store DIR, on that node's machine, or an empty store here")
        }
    }

    /// What is there already.
    var before: ImportedBefore { ImportedBefore(files, session) }

    func open() throws(CommandFailure) -> ImportTarget {
        guard let files else {
            guard let node = try DaemonClient.named(by: session) else { throw usageFailure("no node is named") }
            return .store(.daemon(node, isImport: true))
        }
        guard session.arguments.flag("dry-run") else { return .store(try Appender.open(files, isBulk: true)) }
        return .check(ImportCheck(try stored { try LogReader(files) }))
    }
}

/// What an import would do with each event.
final class ImportCheck {
    private let reader: LogReader
    /// What the file has said so far, by id, as a hash of it: twice ``mostRemembered`` at most (INV-9).
    private var newer: [EventID: Int] = [:]
    private var older: [EventID: Int] = [:]
    private static let mostRemembered = 50_000

    init(_ reader: LogReader) { self.reader = reader }

    func result(_ draft: EventDraft) throws(CommandFailure) -> AppendedLine {
        do throws(InvalidEvent) { try draft.validate() } catch {
            return AppendedLine(.rejected(.invalid(error)))
        }
        let place = AppendedLine.Place.told(AppendedLine.PlaceTexts())
        guard let id = draft.id else { return .appended(place) }
        if let stored = try stored({ try reader.event(id: id) }) {
            return draft.matches(stored.event)
                ? .already(.told(AppendedLine.PlaceTexts(isErased: stored.event.isErased)))
                : AppendedLine(.rejected(.idReused(position: stored.position)))
        }
        let content = Self.hash(draft)
        if let other = newer[id] ?? older[id] {
            guard other != content else { return .already(place) }
            return .rejected(
                code: AppendRejection.idReused(position: 0).code,
                message: "id: used in an earlier line for an event with other content")
        }
        if newer.count == Self.mostRemembered { (older, newer) = (newer, [:]) }
        newer[id] = content
        return .appended(place)
    }

    /// Of its bytes: canonically equivalent texts are two.
    private static func hash(_ draft: EventDraft) -> Int {
        var hasher = Hasher()
        for text in [draft.type, draft.conversation, draft.user, draft.author] {
            hasher.combine(text.map { Array($0.utf8) })
        }
        hasher.combine(draft.time)
        hasher.combine(draft.cause)
        hasher.combine(draft.version)
        hasher.combine(draft.payload)
        return hasher.finalize()
    }
}
