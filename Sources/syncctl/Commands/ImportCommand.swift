internal import CommandLineKit
internal import EventStore
internal import Glibc

enum ImportCommand: Subcommand {
    static let command = Command(
        "import", "Takes in native NDJSON. Importing twice adds nothing.", group: "WRITE",
        arguments: [.init("file", "The file, or '-' for standard input.")],
        examples: [
            .init("syncctl import dialogues.ndjson", "with progress, and a summary at the end"),
            .init("zstd -dc dump.ndjson.zst | syncctl import -", "from another program"),
        ],
        discussion: """
            Each line stands for itself: a malformed or rejected line is reported with its number and reason, the others \
            are imported, and the exit code is 4. An import that was interrupted is resumed by running it again. Lines \
            without an id get one from source and recordid, or from their content.
            """)

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let path = context.arguments.positional("file") ?? "-"
        guard path != "-" else {
            return try run(context, descriptor: 0, total: nil, atomicity: .each, derivesIDs: true)
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw .system("cannot read \(path)", errno: errno, exitCode: .inputMissing)
        }
        defer { close(descriptor) }
        var status = stat()
        let size = fstat(descriptor, &status) == 0 && status.st_size > 0 ? UInt64(status.st_size) : nil
        return try run(context, descriptor: descriptor, total: size, atomicity: .each, derivesIDs: true)
    }

    static func run(
        _ context: Context, descriptor: Int32, total: UInt64?, atomicity: Atomicity, derivesIDs: Bool
    ) throws(CommandFailure) -> ExitCode {
        var importer = try Importer(context, atomicity: atomicity, derivesIDs: derivesIDs)
        try importer.read(descriptor, total: total)
        return try importer.summary()
    }
}

/// Reads native lines and appends them in batches.
struct Importer {
    private let context: Context
    private let appender: Appender
    private let atomicity: Atomicity
    private let derivesIDs: Bool
    private let parser = NativeLineParser()
    private var progress: Progress
    private var batch: [(line: Int, draft: EventDraft)] = []
    private var batchBytes = 0
    private var lines = 0
    private var appended = 0
    private var already = 0
    private var skipped = 0
    private var rejected = 0
    private var isInterrupted = false

    /// Lines in one commit, and bytes in one request.
    private static let batchLines = 2_000
    private static let batchSize = 4 << 20
    /// Rejected lines told to people; programs hear of all.
    private static let reported = 20

    init(_ context: Context, atomicity: Atomicity, derivesIDs: Bool) throws(CommandFailure) {
        self.context = context
        self.atomicity = atomicity
        self.derivesIDs = derivesIDs
        appender = try Appender(context)
        progress = Progress("Importing", unit: "bytes", style: context.progressStyle)
    }

    mutating func read(_ descriptor: Int32, total: UInt64?) throws(CommandFailure) {
        Interruption.watch()
        var reader = LineReader(descriptor: descriptor)
        while !Interruption.hasCome {
            let line: Line?
            do { line = try reader.next() } catch {
                throw CommandFailure(code: "E_READ", error.description, exitCode: .ioError)
            }
            guard let line else { break }
            lines += 1
            try take(line)
            let isFull = batch.count >= Self.batchLines || batchBytes >= Self.batchSize
            if isFull, atomicity == .each {
                try send()
                progress.update(done: UInt64(line.offset), total: total)
            }
        }
        isInterrupted = Interruption.hasCome
        if !(isInterrupted && atomicity == .whole) { try send() }
        try appender.finish()
        if let total { progress.finish(done: isInterrupted ? 0 : total, total: total) }
    }

    private mutating func take(_ line: Line) throws(CommandFailure) {
        switch line.content {
        case .tooLong(let bytes):
            try reject(line.number, "E_LINE_LENGTH", "\(bytes) bytes, at most \(LineReader.longestLine) are taken")
        case .text(let bytes, let range):
            do throws(InvalidLine) {
                var native = try parser.parse(bytes, range)
                // Every store has events of its own of this type; another's are history, not ours to repeat.
                if native.draft.type == OriginStart.type {
                    skipped += 1
                    return
                }
                if native.isDerivedID, native.recordID == nil, !derivesIDs { native.draft.id = nil }
                batch.append((line.number, native.draft))
                batchBytes += range.count
            } catch {
                try reject(line.number, error.code, error.description)
            }
        }
    }

    private mutating func send() throws(CommandFailure) {
        guard !batch.isEmpty else { return }
        if atomicity == .whole, rejected > 0 {
            rejected += batch.count
            batch = []
            return
        }
        let outcomes = try appender.append(batch.map(\.draft), atomicity: atomicity)
        for (item, outcome) in zip(batch, outcomes) {
            switch outcome.kind {
            case .appended: appended += 1
            case .already: already += 1
            case .rejected: try reject(item.line, outcome.code, outcome.message)
            }
            if context.form == .json, outcome.kind != .rejected, atomicity == .whole {
                try context.output.line(outcome.json(line: item.line))
            }
        }
        batch.removeAll(keepingCapacity: true)
        batchBytes = 0
    }

    private mutating func reject(_ number: Int, _ code: String, _ message: String) throws(CommandFailure) {
        rejected += 1
        if context.form == .json {
            var line = JSONLine(type: "rejected")
            line.add("line", number)
            line.add("code", code)
            line.add("message", message)
            try context.output.line(line)
        } else if rejected <= Self.reported {
            Output.message("syncctl: line \(number): \(Sanitizer.line(message))   [\(code)]\n")
        } else if rejected == Self.reported + 1 {
            Output.message("syncctl: more rejected lines are only counted; --json reports all\n")
        }
    }

    func summary() throws(CommandFailure) -> ExitCode {
        if context.form == .json {
            try context.end(lines) { line in
                line.add("appended", appended)
                line.add("already", already)
                line.add("skipped", skipped)
                line.add("rejected", rejected)
                line.add("interrupted", isInterrupted)
            }
        } else {
            let passed = skipped > 0 ? ", \(skipped) of other stores passed over" : ""
            try context.output.line(
                "\(lines) lines: \(appended) appended, \(already) already there\(passed), \(rejected) rejected")
            if isInterrupted { context.remark("interrupted; run the same command again to go on") }
        }
        if isInterrupted { return .interrupted }
        guard rejected > 0 else { return .success }
        return appended + already + skipped > 0 ? .partlyDone : .badInput
    }
}

/// Remembers SIGINT and SIGTERM, so that an import ends between two batches.
private enum Interruption {
    static func watch() {
        for signal in [SIGINT, SIGTERM] {
            var set = sigset_t()
            sigemptyset(&set)
            sigaddset(&set, signal)
            pthread_sigmask(SIG_BLOCK, &set, nil)
        }
    }

    static var hasCome: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return sigismember(&pending, SIGINT) == 1 || sigismember(&pending, SIGTERM) == 1
    }
}
