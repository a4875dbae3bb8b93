internal import CommandLineKit
internal import EventStore
internal import Glibc

/// What every command has at hand.
struct Context {
    let arguments: ParsedArguments
    let terminal = Terminal.current()
    let output = Output(.output)
    /// How results are shown.
    let form: Form
    let isQuiet: Bool
    let zone: Zone

    enum Form {
        /// For people.
        case human
        /// Tab-separated.
        case plain
        /// NDJSON with a final line of type `end`.
        case json
    }

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        self.arguments = arguments
        form = arguments.flag("json") ? .json : arguments.flag("plain") ? .plain : .human
        isQuiet = arguments.flag("quiet")
        zone = arguments.flag("utc") ? .utc : .local
    }

    /// A remark for people, on standard error.
    func remark(_ text: String) {
        if !isQuiet, form != .json { Output.message("syncctl: \(Sanitizer.line(text))\n") }
    }

    var usesColor: Bool {
        terminal.usesColor(.output, choice: arguments.value("color").flatMap(ColorChoice.init) ?? .auto)
    }

    /// The terminal's width; `nil` when the output is no terminal.
    var width: Int? { terminal.isTerminal(.output) ? terminal.width : nil }

    func show(_ table: TextTable) throws(CommandFailure) {
        let lines: [String] =
            if form == .plain {
                table.plain()
            } else if terminal.isAccessible {
                table.records()
            } else {
                table.aligned(width: width, color: usesColor)
            }
        for line in lines { try output.line(line) }
    }

    /// The last line of every NDJSON answer: a reader that does not see it knows that something is missing.
    func end(_ count: Int, _ fill: (inout JSONLine) -> Void = { _ in }) throws(CommandFailure) {
        guard form == .json else { return }
        var line = JSONLine(type: "end")
        line.add("count", count)
        fill(&line)
        try output.line(line)
    }

    /// Reads a time as people type it.
    func instant(_ option: String) throws(CommandFailure) -> Int64? {
        guard let text = arguments.value(option) else { return nil }
        let point: TimePoint
        do { point = try TimeSyntax(now: WallClock.now, zone: zone).parse(text) } catch {
            throw CommandFailure(
                code: "E_TIME", "--\(option): \(error.message)", hint: TimeSyntaxError.forms, exitCode: .usage)
        }
        guard case .instant(let milliseconds) = point else {
            throw CommandFailure(code: "E_TIME", "--\(option) takes a time, not '\(text)'", exitCode: .usage)
        }
        return milliseconds
    }

    func integer(_ option: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
        do { return try arguments.integer(option, in: range) } catch { throw error.failure(program: "syncctl") }
    }

    /// Which part of a timeline the options ask for.
    func timelineQuery() throws(CommandFailure) -> TimelineQuery {
        var query = TimelineQuery()
        query.since = try instant("since")
        query.until = try instant("until")
        query.types = Set(arguments.values("type"))
        let first = try integer("first", in: 1...Int.max)
        let last = try integer("last", in: 1...Int.max)
        switch (first, last) {
        case (nil, nil): query.limit = .all
        case (let count?, nil): query.limit = .first(count)
        case (nil, let count?): query.limit = .last(count)
        case (_?, _?):
            throw CommandFailure(code: "E_USAGE", "--first and --last exclude each other", exitCode: .usage)
        }
        return query
    }

    /// Options of ``timelineQuery()``.
    static let timelineOptions: [Command.Option] = [
        .value("since", "TIME", "From this time on: 2h, yesterday, 2026-08-01 09:00, 어제, RFC 3339 …"),
        .value("until", "TIME", "Up to this time, which is not included."),
        .value("first", "N", "The first N."),
        .value("last", short: "n", "N", "The last N."),
        .value("type", "TYPE", "Only events of this type; may be repeated.", repeatable: true),
    ]
}

extension StoreError {
    /// The error as a program tells it.
    var failure: CommandFailure {
        switch self {
        case .notFound:
            CommandFailure(
                code: code, description, hint: "syncctl init --store DIR makes one; --store names another.",
                exitCode: .inputMissing)
        case .exists: CommandFailure(code: code, description, exitCode: .cannotCreate)
        case .locked, .busy, .closed, .batchTooLarge: CommandFailure(code: code, description, exitCode: .tryAgain)
        case .corrupt: CommandFailure(code: code, description, hint: "syncctl verify", exitCode: .badInput)
        case .unknownFormat: CommandFailure(code: code, description, exitCode: .versionMismatch)
        case .diskFull: CommandFailure(code: code, description, exitCode: .cannotCreate)
        case .io: CommandFailure(code: code, description, exitCode: .ioError)
        }
    }
}

/// Turns the store's errors into the program's.
func stored<Result>(_ body: () throws(StoreError) -> Result) throws(CommandFailure) -> Result {
    do { return try body() } catch { throw error.failure }
}
