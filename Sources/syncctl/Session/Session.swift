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
    /// Comma-separated, for spreadsheets; of the commands that print records.
    case csv

    /// The option of commands that have it.
    static let csvOption = Command.Option.flag(
        "csv", "Comma-separated values (RFC 4180) under a line of column names.")
}

/// One run of a command: what was asked for, and where the answer goes.
struct Session {
    let arguments: ParsedArguments
    let terminal: Terminal
    let output: Output
    let form: OutputForm
    /// People are spoken to in this language.
    let language: Language
    /// Times are shown in this zone.
    let zone: Zone
    /// When the run began, Unix milliseconds.
    let now: Int64
    /// How many of the newest events the answer lacks, for the views that it was read from do.
    let lacking = Lock(UInt64(0))

    init(_ arguments: ParsedArguments, terminal: Terminal, output: Output) {
        self.arguments = arguments
        self.terminal = terminal
        self.output = output
        form = Self.form(arguments, terminal)
        let wanted = arguments.value("lang").flatMap(Language.init) ?? Language(environment: terminal.environment)
        language = form == .json ? .english : wanted
        zone = arguments.flag("utc") ? .utc : .local
        now = WallClock.now
    }

    /// What an option says, else the environment. A command without records, which has no CSV, is plain then.
    private static func form(_ arguments: ParsedArguments, _ terminal: Terminal) -> OutputForm {
        let hasCSV = arguments.declares("csv")
        for form in [OutputForm.human, .plain, .json] where arguments.flag(form.rawValue) { return form }
        if hasCSV, arguments.flag("csv") { return .csv }
        let usual = terminal.environment["SYNCCTL_OUTPUT"].flatMap(OutputForm.init) ?? .human
        return usual == .csv && !hasCSV ? .plain : usual
    }

    /// The node that the user names: `--url`, or else `SYNCCTL_URL` where no store is named.
    var url: String? {
        if let url = arguments.value("url") { return url }
        guard arguments.value("store") == nil, let url = terminal.environment["SYNCCTL_URL"], !url.isEmpty else {
            return nil
        }
        return url
    }

    var isQuiet: Bool { arguments.flag("quiet") }
    var isJSON: Bool { form == .json }
    var isCSV: Bool { form == .csv }

    /// The language of the answer: programs read English.
    var outputLanguage: Language { form == .human ? language : .english }

    /// Whether the command has this option.
    func has(_ option: String) -> Bool { arguments.declares(option) }

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

    /// How it ends with `code`: that something was found, or nothing, cannot be said of an answer that lacks events.
    func exitCode(_ code: ExitCode) -> ExitCode {
        let isWhole = lacking.withLock { $0 == 0 }
        return isWhole || ![.success, .nothingFound].contains(code) ? code : .degraded
    }

    /// The last line of all JSON output: a reader that misses it knows that the answer was cut off.
    /// One that lacks events says how many.
    func end(
        count: some FixedWidthInteger, _ range: TimeRange? = nil, _ fill: (inout JSONLine) -> Void = { _ in }
    ) throws(CommandFailure) {
        guard isJSON else { return }
        var line = JSONLine(type: "end")
        line.add("count", count)
        range?.add(to: &line)
        fill(&line)
        let lacking = lacking.withLock(\.self)
        if lacking > 0 { line.add("behind", lacking) }
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
    /// - Parameter start: A time of day without its day is not before this, where it can be.
    func time(_ option: String, from start: Int64? = nil) throws(CommandFailure) -> Int64? {
        guard let text = arguments.value(option) else { return nil }
        return text.hasPrefix(Self.positionMark) ? try timeOfEvent(option) : try time(option, text, from: start)
    }

    /// The moment that `text` of a time option names.
    func time(_ option: String, _ text: String, from start: Int64? = nil) throws(CommandFailure) -> Int64 {
        let particle = Self.particles[option]?.first { text.hasSuffix($0) && text.count > $0.count }
        let text = String(text.dropLast(particle?.count ?? 0))
        // A place of the log is one more of the forms, where these are listed.
        return try time(named: "--\(option)", text, from: start, more: ", \(Self.positionMark)10412")
    }

    /// What people put behind a time that say the same as the option. `어제까지` takes yesterday in, which --until does not: it is no form.
    private static let particles = ["since": ["부터", "이후"], "until": ["이전"]]

    /// The moment that `text` names, given as `name`.
    func time(
        named name: String, _ text: String, from start: Int64? = nil, more: String = ""
    ) throws(CommandFailure) -> Int64 {
        do {
            let moment = try TimeSyntax(now: now, zone: zone, start: start ?? .min).parse(text)
            tellIfTwice(name, text, moment, from: start)
            return moment
        } catch {
            throw usageFailure("\(name) '\(text)': \(error.message(language))\(error == .unknownForm ? more : "")")
        }
    }

    /// Says which of two moments was taken, where clocks show the text twice and it names neither.
    private func tellIfTwice(_ name: String, _ text: String, _ moment: Int64, from start: Int64?) {
        guard let later = zone.again(moment) else { return }
        let shifted = Zone.fixed(seconds: zone.offset(later))
        guard (try? TimeSyntax(now: now, zone: shifted, start: start ?? .min).parse(text)) == later else { return }
        let offsets = [moment, later].map { TimeFormat.offset(zone.offset($0)) }
        say(.shownTwice, "\(name) '\(text)'", offsets[0], offsets[1])
    }

    /// What stands before a position where a time may be given, too.
    static let positionMark = "seq:"

    /// The time of the event at the position that the option names. Readers go by the time of display.
    private func timeOfEvent(_ option: String) throws(CommandFailure) -> Int64? {
        let reader = try StoreLocation.find(for: self).reader()
        let top = try stored { try reader.top() }
        guard let position = try position(option, upTo: top) else { return nil }
        guard let event = try stored({ try reader.event(at: position) }) else {
            throw CommandFailure(
                code: "E_POSITION", "--\(option) \(position): there is no event at this position",
                hint: "a position from 1 to \(top)", exitCode: .usage)
        }
        return event.event.header.displayKey.time
    }

    /// The value of a position option, or `nil` if it was not given.
    func position(_ option: String) throws(CommandFailure) -> UInt64? {
        try usage { try arguments.integer(option, in: 0...Int.max, after: Self.positionMark) }.map { UInt64($0) }
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

    /// A moment for people, in this session's zone; where its clocks were set otherwise than now, with the offset.
    func clock(_ milliseconds: Int64) -> String {
        let isAsNow = zone.offset(milliseconds) == zone.offset(now)
        return isAsNow ? TimeFormat.local(milliseconds, in: zone) : clockWithOffset(milliseconds)
    }

    /// The same, always with the offset.
    func clockWithOffset(_ milliseconds: Int64) -> String {
        "\(TimeFormat.local(milliseconds, in: zone)) \(TimeFormat.offset(zone.offset(milliseconds)))"
    }

    /// The same as briefly as it can be read back.
    func moment(_ milliseconds: Int64) -> String { TimeFormat.brief(milliseconds, in: zone) }

    /// `Asia/Seoul`, or the offset of a zone without a name.
    var zoneName: String { arguments.flag("utc") ? "UTC" : SystemZone.name(terminal.environment) ?? offset }

    /// `+09:00`, of now.
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
