internal import CommandLineKit
internal import EventStore

/// In what form a command answers.
enum OutputForm: String, Sendable {
    /// Aligned for eyes.
    case human
    /// Tab-separated, for scripts.
    case plain
    /// NDJSON.
    case json
}

/// One run of a command: what was asked for, and where the answer goes.
struct Session {
    let arguments: ParsedArguments
    let terminal: Terminal
    let output: Output
    let form: OutputForm
    /// Times are shown in this zone.
    let zone: Zone
    /// When the run began, Unix milliseconds.
    let now: Int64

    init(_ arguments: ParsedArguments, terminal: Terminal, output: Output) {
        self.arguments = arguments
        self.terminal = terminal
        self.output = output
        let usual = terminal.environment["SYNCCTL_OUTPUT"].flatMap(OutputForm.init) ?? .human
        form = arguments.flag("json") ? .json : arguments.flag("plain") ? .plain : usual
        zone = arguments.flag("utc") ? .utc : .local
        now = WallClock.now
    }

    var isQuiet: Bool { arguments.flag("quiet") }
    var isJSON: Bool { form == .json }

    var usesColor: Bool {
        form == .human
            && terminal.usesColor(
                .output, choice: arguments.value("color").flatMap(ColorChoice.init) ?? .auto)
    }

    /// The columns to fill, or `nil` when the output is no terminal and nothing is cut.
    var width: Int? { terminal.isTerminal(.output) ? terminal.width : nil }

    /// A message on stderr, in the form of the answer. It may have text from strangers in it.
    func say(_ text: String) { voice.say(text) }

    var voice: Voice { Voice(isQuiet: isQuiet, isJSON: isJSON) }

    /// The last line of all JSON output: a reader that misses it knows that the answer was cut off.
    func end(count: some FixedWidthInteger, _ fill: (inout JSONLine) -> Void = { _ in }) throws(CommandFailure) {
        guard isJSON else { return }
        var line = JSONLine(type: "end")
        line.add("count", count)
        fill(&line)
        try output.line(line)
    }

    /// A line of the answer: `text`, and in JSON an object of this type.
    func line(
        _ text: @autoclosure () -> String, _ type: String, _ fill: (inout JSONLine) -> Void
    ) throws(CommandFailure) {
        guard isJSON else { return try output.line(text()) }
        var line = JSONLine(type: type)
        fill(&line)
        try output.line(line)
    }

    /// A line of JSON output.
    func print(_ line: JSONObject) throws(CommandFailure) {
        try output.write(line.bytes + [UInt8(ascii: "\n")])
    }

    /// A table in the form that was asked for (not JSON).
    func print(_ table: TextTable) throws(CommandFailure) {
        let lines =
            form == .plain
            ? table.plain()
            : terminal.isAccessible ? table.records() : table.aligned(width: width, color: usesColor)
        for line in lines {
            // The last column may be empty.
            let blanks = form == .plain ? 0 : line.reversed().prefix { $0 == " " }.count
            try output.line(String(line.dropLast(blanks)))
        }
    }

    /// The moment a time option names, Unix milliseconds, or `nil` if it was not given.
    func time(_ option: String) throws(CommandFailure) -> Int64? {
        guard let text = arguments.value(option) else { return nil }
        do {
            return try TimeSyntax(now: now, zone: zone).parse(text)
        } catch {
            throw usageFailure("--\(option) '\(text)': \(error.message)")
        }
    }

    /// The value of a position option, or `nil` if it was not given.
    func position(_ option: String) throws(CommandFailure) -> UInt64? {
        try usage { try arguments.integer(option, in: 0...Int.max) }.map { UInt64($0) }
    }

    /// As ``position(_:)``, of a position that the log must have reached.
    func position(_ option: String, upTo top: UInt64) throws(CommandFailure) -> UInt64? {
        guard let position = try position(option) else { return nil }
        guard position <= top else {
            throw CommandFailure(
                code: "E_POSITION", "--\(option) \(position): the log ends at position \(top)",
                hint: "a position up to \(top)", exitCode: .usage)
        }
        return position
    }

    func style() -> ProgressMeter.Style {
        ProgressMeter.style(terminal: terminal, json: isJSON, quiet: isQuiet)
    }

    /// A moment for people, in this session's zone.
    func clock(_ milliseconds: Int64) -> String { TimeFormat.local(milliseconds, in: zone) }

    /// `+09:00`, for the heading over times.
    var offset: String { TimeFormat.offset(zone.offset(now)) }
}

/// How messages reach the user, from any thread.
struct Voice: Sendable {
    let isQuiet: Bool
    let isJSON: Bool

    /// As ``Session/say(_:)``.
    func say(_ text: String) {
        guard !isQuiet else { return }
        guard isJSON else { return Output.message("syncctl: \(Sanitizer.line(text))\n") }
        var line = JSONLine(type: "message")
        line.add("message", text)
        Output.message(line.text + "\n")
    }
}
