internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import Interchange
internal import SillokAPI

/// Imports what other services give out: recognised or named, checked as a whole, then handed in.
struct ImportExport {
    let session: Session
    let path: String
    /// What was asked for: `auto`, the name of a format, or nothing.
    let wanted: String?

    /// What stands for the formats on the command line.
    static let choices = ["auto", "native"] + ExportFormat.allCases.map(\.rawValue)

    /// What is said of exports alone.
    private static let options = ["user", "me", "conversation", "timezone"]

    /// The export to import; `nil`: it is native NDJSON, or is to be refused as such.
    func recognised() throws(CommandFailure) -> ExportImport? {
        let hasOptions = Self.options.contains { session.arguments.value($0) != nil }
        if wanted == "native" { return nil }
        guard !isPipe else {
            if wanted == nil, !hasOptions { return nil }
            throw usageFailure(
                "an export is read twice, so it cannot come from a pipe", hint: "a file, or --format native")
        }
        let files: ExportFiles
        let found: Sniffer.Found?
        do throws(ImportError) {
            files = try ExportFiles(path)
            found = wanted == nil || wanted == "auto" ? try Sniffer.look(at: files) : nil
        } catch {
            // Without the option a pipe, and what is not there, are what they were.
            if wanted == nil, !hasOptions, error.kind != .malformed { return nil }
            throw Self.failure(error, stored: 0)
        }
        if let wanted, let format = ExportFormat(rawValue: wanted) {
            return ExportImport(files, as: format, try options())
        }
        switch found {
        case .format(let format):
            session.say("\(path) is read as \(format.title) (--format \(format.rawValue))")
            return ExportImport(files, as: format, try options())
        case .native: return nil
        case nil:
            if wanted == nil, !hasOptions { return nil }
            throw CommandFailure(
                code: "E_IMPORT_FORMAT", "\(path): no format that is known",
                hint: "--format with one of: "
                    + Self.choices.dropFirst().joined(separator: ", "), exitCode: .badInput)
        }
    }

    /// Whether what it says comes only once: nothing of it may be read to find out what it is.
    private var isPipe: Bool {
        if path == "-" { return true }
        var entry = stat()
        guard stat(path, &entry) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(entry.st_mode & S_IFMT)
    }

    private func options() throws(CommandFailure) -> ImportOptions {
        var zone: Zone?
        if let name = session.arguments.value("timezone") {
            zone = name == "UTC" ? .utc : ZoneDirectory.system.zone(named: name)
            if zone == nil {
                throw usageFailure("--timezone '\(name)': there is no such zone", hint: "a name as Asia/Seoul")
            }
        }
        return ImportOptions(
            me: session.arguments.value("me"), user: session.arguments.value("user"), zone: zone,
            conversation: session.arguments.value("conversation"))
    }

    func run(_ export: ExportImport, batch: Int) throws(CommandFailure) -> ExitCode {
        let place = try ImportPlace(session)
        let isDry = session.arguments.flag("dry-run")
        Interrupt.watch(reading: -1)
        var meter = Progress("check", unit: "events", style: session.style())
        var seen: UInt64 = 0
        let checked: ImportOutput
        do throws(ImportError) {
            checked = try export.check { _ in
                seen += 1
                meter.update(done: seen, total: nil)
                return !Interrupt.isRequested
            }
        } catch {
            if error.kind == .stopped {
                session.say("interrupted; nothing is stored")
                return .interrupted
            }
            throw Self.failure(error, stored: 0)
        }
        meter.finish(done: seen, total: nil)
        let target = try place.open()
        defer { target.close() }
        let intake = ExportIntake(
            target, batch: batch, progress: Progress("import", unit: "events", style: session.style()), total: seen)
        do throws(ImportError) {
            _ = try export.run(intake.take)
        } catch {
            if let failure = intake.failure { throw failure }
            if error.kind != .stopped { throw Self.failure(error, stored: intake.appended) }
        }
        intake.finish()
        if var failure = intake.failure {
            failure.why = failure.why ?? "Until then \(intake.appended) were appended; the same command goes on."
            throw failure
        }
        return try ImportSummary(session: session, export: export, checked: checked, intake: intake, isDry: isDry)
            .print()
    }

    static func failure(_ error: ImportError, stored: Int) -> CommandFailure {
        let nothing =
            stored == 0 ? "Nothing of it was stored." : "Until then \(stored) events were stored; they stay."
        return switch error.kind {
        case .malformed, .stopped:
            CommandFailure(code: "E_IMPORT_MALFORMED", error.description, why: nothing, exitCode: .badInput)
        case .unknownFormat:
            CommandFailure(code: "E_IMPORT_FORMAT", error.description, why: nothing, exitCode: .badInput)
        case .needsOption: CommandFailure(code: "E_IMPORT_OPTION", error.description, why: nothing, exitCode: .usage)
        case .unreadable: CommandFailure(code: "E_IO", error.description, why: nothing, exitCode: .ioError)
        case .missing: CommandFailure(code: "E_IO", error.description, why: nothing, exitCode: .inputMissing)
        }
    }
}

/// Hands events in batch by batch and counts what became of them. While one batch is written the next is read.
final class ExportIntake {
    private struct Batch {
        let events: [ImportedEvent]
        let results: Appender.Pending
    }

    private let target: ImportTarget
    private let batch: Int
    private var progress: Progress
    private let total: UInt64
    private var waiting: [ImportedEvent] = []
    private var bytes = 0
    private var pending: [Batch] = []
    private static let batchBytes = 8 << 20
    private static let mostShown = 20

    private(set) var appended = 0
    private(set) var already = 0
    /// There already, and told otherwise now: what was imported first stays.
    private(set) var differing = 0
    private(set) var rejected = 0
    /// The first that were not taken, with place and reason.
    private(set) var problems: [(place: String, code: String, message: String)] = []
    private(set) var failure: CommandFailure?

    init(_ target: ImportTarget, batch: Int, progress: Progress, total: UInt64) {
        (self.target, self.batch, self.progress, self.total) = (target, batch, progress, total)
    }

    var count: Int { appended + already + differing + rejected }

    func take(_ event: ImportedEvent) -> Bool {
        guard failure == nil, !Interrupt.isRequested else { return false }
        waiting.append(event)
        bytes += event.draft.payload.count + 256
        if waiting.count >= batch || bytes >= Self.batchBytes { submit() }
        return failure == nil
    }

    func finish() {
        submit()
        while failure == nil, !pending.isEmpty { settle() }
        progress.finish(done: UInt64(count), total: total)
    }

    private func submit() {
        guard failure == nil, !waiting.isEmpty else { return }
        pending.append(Batch(events: waiting, results: target.start(waiting.map(\.draft))))
        (waiting, bytes) = ([], 0)
        while failure == nil, pending.count > 4 { settle() }
        progress.update(done: UInt64(count), total: total)
    }

    private func settle() {
        let first = pending.removeFirst()
        do throws(CommandFailure) {
            for (event, result) in zip(first.events, try first.results()) { count(result, of: event) }
        } catch {
            failure = error
        }
    }

    private func count(_ result: AppendedLine, of event: ImportedEvent) {
        switch result {
        case .appended: appended += 1
        case .already: already += 1
        case .rejected(let code, let message):
            if code == "E_ID_REUSED", event.mayDiffer {
                already += 1
                return
            }
            if code == "E_ID_REUSED" { differing += 1 } else { rejected += 1 }
            if problems.count < Self.mostShown { problems.append((event.place, code, message)) }
        }
    }
}

/// What an import of an export has come to.
struct ImportSummary {
    let session: Session
    let export: ExportImport
    let checked: ImportOutput
    let intake: ExportIntake
    let isDry: Bool

    func print() throws(CommandFailure) -> ExitCode {
        for remark in checked.remarks { session.say(remark) }
        let types = checked.counts.sorted { $0.key < $1.key }
        let skipped = checked.skipped.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        for (type, count) in types {
            try session.line("\(type)  \(count)", "type_count") { line in
                line.add("event_type", type)
                line.add("events", count)
            }
        }
        for (reason, entry) in skipped {
            let places = entry.places.prefix(3).joined(separator: ", ") + (entry.count > 3 ? ", …" : "")
            try session.line(Sanitizer.line("passed over: \(entry.count), \(reason) (\(places))"), "skipped") {
                line in
                line.add("reason", reason)
                line.add("events", entry.count)
                line.add("places", entry.places)
            }
        }
        for problem in intake.problems {
            try session.line(
                Sanitizer.line("not taken: \(problem.place): \(problem.message)   [\(problem.code)]"), "rejected"
            ) { line in
                line.add("place", problem.place)
                line.add("code", problem.code)
                line.add("message", problem.message)
            }
        }
        let passedOver = checked.skipped.values.reduce(0) { $0 + $1.count }
        if !session.isJSON {
            try session.output.line(
                "\(EventText.count(intake.count, "event")): \(intake.appended) \(isDry ? "new" : "appended"), \(intake.already) already there, "
                    + "\(intake.differing) there with other content, \(intake.rejected) rejected; \(passedOver) records passed over"
            )
        }
        try session.end(count: intake.count) { line in
            line.add("format", export.format.rawValue)
            line.add("appended", intake.appended)
            line.add("already", intake.already)
            line.add("differing", intake.differing)
            line.add("rejected", intake.rejected)
            line.add("passed_over", passedOver)
            line.add("dry_run", isDry)
            line.add("interrupted", Interrupt.isRequested)
        }
        if Interrupt.isRequested {
            session.say("interrupted; what is counted is stored. Run the same command again to go on")
            return .interrupted
        }
        return intake.rejected + intake.differing == 0 ? .success : .partlyDone
    }
}
