internal import CommandLineKit
internal import EventStore
internal import Glibc

enum ImportCommand {
    static let entry = Subcommand(
        Command(
            "import", "Loads native NDJSON from a file or stdin", group: "Write",
            arguments: [.init("file", "A file of native NDJSON, or '-' for stdin.")],
            options: [
                .value("batch", "N", "Events handed in at a time, 1 to 4096 (default: 2000)."),
                .flag("dry-run", "Read and check everything, store nothing."),
            ],
            examples: [
                .init("syncctl import dump.ndjson", "a whole dump; again: adds nothing"),
                .init("zstdcat dump.ndjson.zst | syncctl import -", "from a pipe"),
                .init("syncctl import dump.ndjson --dry-run --json", "every line that would be rejected"),
            ],
            discussion: """
                A line without id gets one from its content, so that importing twice adds nothing. Lines that are no \
                events are reported and passed over. Interrupted, it ends in good order: run it again to go on.

                Exit codes: 4 when some lines were rejected, 65 when the only one was, 66 when there is no such file.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let path = session.arguments.positional("file") ?? "-"
        let batch = try usage { try session.arguments.integer("batch", in: 1...EventStore.maximumBatch) } ?? 2_000
        let location = try StoreLocation.find(for: session)
        let descriptor = path == "-" ? StandardStream.input.rawValue : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw CommandFailure.system("cannot read \(path)", errno: errno, exitCode: .inputMissing)
        }
        defer { if path != "-" { close(descriptor) } }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if status.st_mode & S_IFMT == S_IFDIR {
            throw CommandFailure.system("cannot read \(path)", errno: EISDIR, exitCode: .inputMissing)
        }
        Interrupt.watch(reading: descriptor)
        let target: ImportTarget =
            session.arguments.flag("dry-run")
            ? .check(try location.reader()) : .store(try Appender.open(location.files, isBulk: true))
        defer { target.close() }
        var run = ImportRun(
            session: session, target: target, batch: batch, size: isFile ? UInt64(clamping: status.st_size) : nil)
        do throws(CommandFailure) {
            try run.read(descriptor)
        } catch {
            var failure = error
            failure.why = failure.why ?? "Until then \(summary(run.tally, isDry: false)); the same command goes on."
            throw failure
        }
        return try finish(run, path)
    }

    private static func summary(_ tally: AppendTally, isDry: Bool) -> String {
        "\(EventText.count(tally.lines, "line")): \(tally.appended) \(isDry ? "new" : "appended"), "
            + "\(tally.already) already there, \(tally.rejected) rejected"
            + (tally.passedOver > 0 ? ", \(tally.passedOver) of other stores' origins passed over" : "")
    }

    private static func finish(_ run: ImportRun, _ path: String) throws(CommandFailure) -> ExitCode {
        let session = run.session
        let tally = run.tally
        let isDry = session.arguments.flag("dry-run")
        try session.end(count: tally.lines) { line in
            line.add("lines", tally.lines)
            line.add("appended", tally.appended)
            line.add("already", tally.already)
            line.add("rejected", tally.rejected)
            line.add("passed_over", tally.passedOver)
            line.add("dry_run", isDry)
            line.add("interrupted", Interrupt.isRequested)
        }
        if !session.isJSON {
            if run.unshown > 0 { session.say("and \(run.unshown) more rejected lines; --json names them all") }
            try session.output.line(summary(tally, isDry: isDry))
        }
        if Interrupt.isRequested {
            session.say(
                "interrupted; what is counted is stored. "
                    + (path == "-" ? "Give the same input again to go on" : "Run the same command again to go on"))
            return .interrupted
        }
        return tally.rejected == 0 ? .success : tally.lines == 1 ? .badInput : .partlyDone
    }
}

/// Where imported events go.
enum ImportTarget {
    case store(Appender)
    /// Nowhere: they are only looked up.
    case check(LogReader)

    func start(_ drafts: [EventDraft]) -> Appender.Pending {
        switch self {
        case .store(let appender): return appender.start(drafts)
        case .check(let reader):
            return { () throws(CommandFailure) in
                let place = AppendResult.Place.told(PlaceTexts())
                var results: [AppendResult] = []
                for draft in drafts {
                    let isThere = try stored {
                        try draft.id.flatMap { id throws(StoreError) in try reader.event(id: id) } != nil
                    }
                    results.append(isThere ? .already(place) : .appended(place))
                }
                return results
            }
        }
    }

    func close() {
        if case .store(let appender) = self { appender.close() }
    }
}
