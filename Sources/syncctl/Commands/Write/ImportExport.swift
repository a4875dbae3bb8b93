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

    /// The first option that is said of exports alone.
    static func option(of session: Session) -> String? {
        let values = ["user", "me", "conversation", "timezone", "dates"]
        return values.first { session.arguments.value($0) != nil }
            ?? ["partial", "twice"].first(where: session.arguments.flag)
    }

    /// The export to import; `nil`: it is native NDJSON, or is to be refused as such.
    func recognised() throws(CommandFailure) -> ExportImport? {
        let hasOptions = Self.option(of: session) != nil
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
            if wanted == nil, !hasOptions, ![.malformed, .unknownFormat].contains(error.kind) { return nil }
            throw Self.failure(error, stored: 0)
        }
        if let wanted, let format = ExportFormat(rawValue: wanted) {
            return ExportImport(files, as: format, try options(format))
        }
        switch found {
        case .format(let format):
            session.remark(.readAs, path, session.translated(format.title), format.rawValue)
            return ExportImport(files, as: format, try options(format))
        case .native: return nil
        case nil:
            // Of native lines each is an object; a file without any is to be refused once, and not line by line.
            if wanted == nil, !hasOptions, try Self.mayBeNative(files, path) { return nil }
            throw CommandFailure(
                code: "E_IMPORT_FORMAT", "\(path): no format that is known",
                hint: "--format with one of: \(Self.choices.dropFirst().joined(separator: ", "))",
                exitCode: .badInput)
        }
    }

    /// Whether what it says comes only once: nothing of it may be read to find out what it is.
    private var isPipe: Bool {
        if path == "-" { return true }
        var entry = stat()
        guard stat(path, &entry) == 0 else { return false }
        return ![S_IFREG, S_IFDIR].contains(entry.st_mode & S_IFMT)
    }

    private static func mayBeNative(_ files: ExportFiles, _ path: String) throws(CommandFailure) -> Bool {
        guard files.isFile, let name = files.names.first else { return false }
        let head: [UInt8]
        do throws(ImportError) { head = try files.head(name) } catch { throw failure(error, stored: 0) }
        return head.contains(UInt8(ascii: "{")) || head.allSatisfy { $0 <= 0x20 }
    }

    private func options(_ format: ExportFormat) throws(CommandFailure) -> ImportOptions {
        let flags = [
            ("partial", ExportFormat.firestore, "--format firestore"), ("twice", .whatsapp, "--format whatsapp"),
        ]
        for (flag, only, hint) in flags where session.arguments.flag(flag) && format != only {
            throw usageFailure("--\(flag) does not go with --format \(format.rawValue)", hint: hint)
        }
        var zone: Zone?
        if let name = session.arguments.value("timezone") {
            zone = name == "UTC" ? .utc : ZoneDirectory.system.zone(named: name)
            if zone == nil {
                throw usageFailure("--timezone '\(name)': there is no such zone", hint: "a name as Asia/Seoul")
            }
        }
        return ImportOptions(
            me: session.arguments.value("me"), user: session.arguments.value("user"), zone: zone,
            conversation: session.arguments.value("conversation"),
            dates: session.arguments.value("dates").flatMap(DateOrder.init(rawValue:)),
            takesPartial: session.arguments.flag("partial"))
    }

    func run(_ export: ExportImport, batch: Int) throws(CommandFailure) -> ExitCode {
        guard let (export, checked, intake) = try handIn(export, batch: batch) else { return .interrupted }
        try tellOldProfiles(intake)
        let isDry = session.arguments.flag("dry-run")
        return try ImportSummary(session: session, export: export, checked: checked, intake: intake, isDry: isDry)
            .print()
    }

    /// Reads all of it and hands it in; `nil`: the user has interrupted it before anything was stored.
    private func handIn(
        _ given: ExportImport, batch: Int
    ) throws(CommandFailure) -> (ExportImport, ImportOutput, ExportIntake)? {
        let place = try ImportPlace(session)
        Interrupt.watch(reading: -1)
        let before = place.before
        var dates = ImportedDates(isFar: before.isFar)
        var export = given
        guard var checked = try check(export, { dates.add($0) }) else { return nil }
        let target = try place.open()
        defer { target.close() }
        let exchanged = try dates.exchanged(in: before)
        // Where dates are open, and no one has said how to read them, they are read as those that are here.
        let isSaid = session.arguments.value("dates") != nil
        let open = isSaid ? [] : Set(exchanged.keys).intersection(checked.openDates)
        for (conversation, count) in exchanged.sorted(by: { $0.key < $1.key }) where !open.contains(conversation) {
            guard session.arguments.flag("twice") else {
                throw ImportedDates.refusal(conversation, count, of: path)
            }
            session.remark(.hereExchanged, conversation, session.counted(count, .message))
        }
        if !open.isEmpty {
            var options = try options(export.format)
            options.monthFirst = open
            export = ExportImport(export.files, as: export.format, options)
            guard let again = try check(export, { _ in }) else { return nil }
            checked = again
        }
        let intake = ExportIntake(
            target, before, batch: batch, progress: Progress("import", unit: "events", style: session.style()),
            total: UInt64(checked.events), language: session.outputLanguage)
        do throws(ImportError) {
            _ = try export.run(intake.take)
        } catch {
            if intake.failure == nil, error.kind != .stopped {
                intake.settleAll()
                throw Self.failure(error, stored: intake.appended)
            }
        }
        intake.finish()
        if var failure = intake.failure {
            failure.why = failure.why ?? "Until then \(intake.appended) were appended; the same command goes on."
            throw failure
        }
        return (export, checked, intake)
    }

    /// A profile of the Realtime Database has no time, so what it says is one event whenever it is said. What a user went back to is there
    /// already, below what was said in between: that is told.
    private func tellOldProfiles(_ intake: ExportIntake) throws(CommandFailure) {
        guard !intake.untimedProfiles.isEmpty, !Interrupt.isRequested else { return }
        let reads = try Reads(session)
        for draft in intake.untimedProfiles {
            let lines = try reads.profile(of: draft.user)
            for field in JSONObject(validated: draft.payload).object("fields") ?? JSONObject(validated: []) {
                let line = lines.first { $0.string("name")?.hasSameBytes(as: field.name) ?? false }
                let (there, here) = (line?["value"]?.plain, field.value.plain)
                guard there != here else { continue }
                func short(_ value: [UInt8]?) -> String? {
                    value.map { ImportDifference.short(String(decoding: $0, as: UTF8.self)) }
                }
                intake.tell(
                    ImportDifference.Part(name: field.name, isHeader: false, there: short(there), here: short(here)),
                    of: draft)
            }
        }
    }

    /// Reads all of it once; `nil`: the user has interrupted it.
    private func check(
        _ export: ExportImport, _ body: @escaping (ImportedEvent) -> Void
    ) throws(CommandFailure) -> ImportOutput? {
        var meter = Progress("check", unit: "events", style: session.style())
        var seen: UInt64 = 0
        do throws(ImportError) {
            let checked = try export.check { event in
                seen += 1
                meter.update(done: seen, total: nil)
                body(event)
                return !Interrupt.isRequested
            }
            meter.finish(done: seen, total: nil)
            return checked
        } catch {
            guard error.kind == .stopped else { throw Self.failure(error, stored: 0) }
            session.remark(.importUnbegun)
            return nil
        }
    }

    /// - Parameter stored: How many events are; `nil`: who asks says so.
    static func failure(_ error: ImportError, stored: Int? = nil) -> CommandFailure {
        let nothing = stored.map {
            $0 == 0 ? "Nothing of it was stored." : "Until then \($0) events were stored; they stay."
        }
        return switch error.kind {
        case .malformed, .stopped:
            CommandFailure(code: "E_IMPORT_MALFORMED", error.description, why: nothing, exitCode: .badInput)
        case .unknownFormat:
            CommandFailure(
                code: "E_IMPORT_FORMAT", error.description, why: nothing,
                hint: "native NDJSON made of it, each line with type, user, subject, time and data; or --format, "
                    + "where it is something else",
                exitCode: .badInput)
        case .needsOption: CommandFailure(code: "E_IMPORT_OPTION", error.description, why: nothing, exitCode: .usage)
        case .unreadable: CommandFailure(code: "E_IO", error.description, why: nothing, exitCode: .ioError)
        case .missing: CommandFailure(code: "E_IO", error.description, why: nothing, exitCode: .inputMissing)
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
        for remark in checked.remarks { session.say(session.translated(remark)) }
        let types = checked.counts.sorted { $0.key < $1.key }
        let skipped = checked.skipped.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }
        for (type, count) in types {
            try session.line("\(type)  \(count)", "type_count") { line in
                line.add("event_type", type)
                line.add("events", count)
            }
        }
        for (reason, entry) in skipped {
            let places =
                entry.places.prefix(3).map(session.place).joined(separator: ", ")
                + (entry.count > 3 ? ", …" : "")
            let told = session.shown(.recordsPassed, String(entry.count), session.translated(reason), places)
            try session.line(Sanitizer.line(told), "skipped") { line in
                line.add("reason", reason)
                line.add("events", entry.count)
                line.add("places", entry.places)
            }
        }
        for (what, entry) in intake.described.sorted(by: { $0.key < $1.key }) {
            let places = entry.places.prefix(3).joined(separator: "; ") + (entry.count > 3 ? "; …" : "")
            let told = session.shown(.toldOtherwise, String(entry.count), what, places)
            try session.line(Sanitizer.line(told), "described") { line in
                line.add("what", what)
                line.add("events", entry.count)
                line.add("places", entry.places)
            }
        }
        if intake.hasWayOut { session.remark(.wayOutOfDifference) }
        for problem in intake.attachments.problems + intake.problems {
            let told = session.shown(
                .notTaken, session.place(problem.place), session.explained(problem.message, code: problem.code),
                problem.code)
            try session.line(Sanitizer.line(told), "rejected") { line in
                line.add("place", problem.place)
                line.add("code", problem.code)
                line.add("message", problem.message)
            }
        }
        if intake.attachments.rejected > 0 { session.remark(.wayOutOfAttachments) }
        try tellAttachments()
        let passedOver = checked.skipped.values.reduce(0) { $0 + $1.count }
        if !session.isJSON {
            let told = session.shown(
                isDry ? .importableEvents : .importedEvents, session.counted(intake.count, .event),
                String(intake.appended), String(intake.already), String(intake.differing), String(intake.rejected),
                String(passedOver))
            let erased = intake.erased > 0 ? session.shown(.erasedOfThem, String(intake.erased)) : ""
            try session.output.line(told + erased)
        }
        try session.end(count: intake.count) { line in
            line.add("format", export.format.rawValue)
            line.add("appended", intake.appended)
            line.add("already", intake.already)
            line.add("erased", intake.erased)
            line.add("differing", intake.differing)
            line.add("rejected", intake.rejected)
            line.add("passed_over", passedOver)
            line.add("attachments", intake.attachments.count)
            line.add("attachment_bytes", intake.attachments.bytes)
            line.add("attachments_new", intake.attachments.new)
            line.add("attachments_rejected", intake.attachments.rejected)
            line.add("dry_run", isDry)
            line.add("interrupted", Interrupt.isRequested)
        }
        if Interrupt.isRequested {
            session.remark(.importStopped)
            return .interrupted
        }
        return intake.rejected + intake.differing + intake.attachments.rejected == 0 ? .success : .partlyDone
    }

    private func tellAttachments() throws(CommandFailure) {
        let taken = intake.attachments
        guard taken.count > 0, !session.isJSON else { return }
        try session.output.line(
            session.shown(
                .importedAttachments, session.counted(taken.count, .attachment), String(taken.bytes),
                String(taken.new), String(taken.already), String(taken.rejected)))
    }
}
