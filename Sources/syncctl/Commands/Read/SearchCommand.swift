internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum SearchCommand {
    static let entry = Subcommand(
        Command(
            "search", "What was written, by the words in it", group: "Read",
            arguments: [
                .init(
                    "words", "Words that a text has; a phrase in quotation marks; -word for one that it has not.",
                    count: .repeating(atLeast: 1), mayBeNegated: true)
            ],
            options: [
                .value("user", short: "u", "USER", "Only this user's history.", repeatable: true, names: "users"),
                .value("conversation", "ID", "Only this conversation.", repeatable: true, names: "conversations"),
            ] + EventSelection.options + [
                .flag("bot", "Only replies of bots."),
                .value("language", "CODE", "Only messages that say they are in this language.", repeatable: true),
                .value("last", short: "n", "N", "How many (default: 20)."),
                .flag("all", "All of them."),
                .flag("rank", "What the words fill most comes first, not the newest."),
                .flag("total", "Only how many texts the index has, with those since changed or taken back."),
                .value("around", short: "C", "N", "The N messages before and behind each, too."),
                EventSelection.ids, OutputForm.csvOption,
            ],
            examples: [
                .init("syncctl search 두통", "the newest 20 texts with these two syllables, also within words"),
                .init("syncctl search 두통 -감기", "the same without those that have the second word"),
                .init(#"syncctl search '"두통이 심해요" -감기'"#, "a phrase, and a word that must not be there"),
                .init("syncctl search 두통 --user u-1029 -C 2", "one user's, with what was said around it"),
            ],
            discussion: """
                The newest first, as texts stand now: of an edited message the last edit, and nothing that was taken back. \
                Korean, Chinese and Japanese are found by characters, other scripts by whole words. A phrase stands in one \
                argument with its quotation marks. A -word stands behind the first word; where its first letter is \
                an option, as in -nose, put '--' before the words.

                --language finds messages that say they are in a language; --lang is the language of the headings, \
                as in every command. Exit code 1 when nothing matched.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let arguments = session.arguments
        let text = arguments.positionals("words").joined(separator: " ")
        let selection = try EventSelection(session)
        var query = SearchQuery(try words(text))
        query.users = selection.users
        query.conversations = selection.conversations
        query.authors = selection.authors
        query.types =
            arguments.flag("bot") ? DialogueRole.assistant.types(among: selection.types) : selection.types
        query.languages = arguments.values("language")
        if query.languages.isEmpty, let language = arguments.value("lang") { session.say(.languageOfWords, language) }
        (query.since, query.until) = (selection.range.since, selection.range.until)
        if arguments.flag("total") { return try count(query, text, session) }
        let limit = try limit(session)
        let context = try usage { try arguments.integer("around", in: 0...100) } ?? 0
        if session.isCSV, context > 0 { throw usageFailure("--around and --csv do not go together", hint: "--json") }
        selection.range.tell(session)
        let reads = try Reads(session)
        var printer = SearchPrinter(session, reads, context: context)
        func take(_ line: JSONObject) throws(CommandFailure) { try printer.add(line) }
        let end =
            arguments.flag("rank")
            ? try reads.ranked(query, text, limit: limit, take) : try reads.search(query, text, limit: limit, take)
        try printer.finish()
        try session.end(count: printer.lines, selection.range) { line in
            line.add("hits", printer.count)
            line.add("complete", end.isWhole && end.unindexed == 0)
            if end.unindexed > 0 { line.add("unindexed", end.unindexed) }
        }
        tell(end, session)
        if printer.count == 0 {
            session.say(.nothingFound, text)
        } else if !session.isJSON, !end.isWhole {
            session.say(arguments.flag("rank") ? .moreRanked : .moreFound, String(printer.count))
        }
        return exitCode(isFound: printer.count > 0, end.unindexed)
    }

    /// As of any answer that lacks the newest events: it says neither that something was found, nor nothing.
    static func exitCode(isFound: Bool, _ unindexed: UInt64) -> ExitCode {
        unindexed > 0 ? .degraded : isFound ? .success : .nothingFound
    }

    private static let mostRanked = 500

    private static func limit(_ session: Session) throws(CommandFailure) -> Int {
        let arguments = session.arguments
        let isRanked = arguments.flag("rank")
        let most = isRanked ? mostRanked : 100_000_000
        let wanted = try usage { try arguments.integer("last", in: 1...most) }
        guard arguments.flag("all") else { return wanted ?? 20 }
        if wanted != nil { throw usageFailure("--last and --all do not go together") }
        if isRanked {
            throw usageFailure("--rank and --all do not go together", hint: "--rank --last \(mostRanked)")
        }
        return .max
    }

    /// Prints how many there are.
    private static func count(
        _ query: SearchQuery, _ text: String, _ session: Session
    ) throws(CommandFailure) -> ExitCode {
        if session.isCSV { throw usageFailure("--total prints no table") }
        for name in ["rank", "all", "ids"] where session.arguments.flag(name) {
            throw usageFailure("--total and --\(name) do not go together")
        }
        for name in ["last", "around"] where session.arguments.value(name) != nil {
            throw usageFailure("--total and --\(name) do not go together")
        }
        guard query.isCountable else {
            throw usageFailure(
                "--total goes by what the index has: beside words only --user and --conversation",
                hint: "--all --json, whose last line counts")
        }
        let (count, end) = try Reads(session).searchCount(query, text)
        if session.isJSON {
            try session.output.line(JSONLine(texts: count))
        } else {
            try session.output.write(Array("\(count)\n".utf8))
        }
        try session.end(count: 1) { line in
            if end.unindexed > 0 { line.add("unindexed", end.unindexed) }
        }
        tell(end, session)
        return exitCode(isFound: count > 0, end.unindexed)
    }

    private static func tell(_ end: SearchEnd, _ session: Session) {
        guard end.unindexed > 0, !session.isJSON else { return }
        session.say(.unindexed, String(end.unindexed))
    }

    private static func words(_ text: String) throws(CommandFailure) -> SearchWords {
        do throws(SearchWords.Refusal) {
            return try SearchWords(text)
        } catch {
            throw usageFailure(error.description, hint: error.hint)
        }
    }
}

/// Prints what was found.
private struct SearchPrinter {
    private let session: Session
    private let reads: Reads
    private let context: Int
    private var table: TextTable
    /// What was found.
    private(set) var count = 0
    /// That, and messages around it.
    private(set) var lines = 0

    /// What of a long text is shown around its first word, in characters.
    private static let lead = 24

    init(_ session: Session, _ reads: Reads, context: Int) {
        (self.session, self.reads, self.context) = (session, reads, context)
        var columns: [TextTable.Column] = [
            .whole(session.headingOfTimes(.time)), .right(session.heading(.position)),
            .whole(session.heading(.conversation)), .left(session.heading(.who)), .left(session.heading(.text)),
        ]
        if session.arguments.flag("ids") { columns.insert(.whole(session.heading(.id)), at: 2) }
        table = TextTable(columns)
    }

    mutating func add(_ line: JSONObject) throws(CommandFailure) {
        (count, lines) = (count + 1, lines + 1)
        if session.isJSON, context == 0 { return try session.print(line) }
        guard let found = FoundLine(line) else { throw DaemonClient.misunderstood("no hit") }
        if session.isCSV { return try writeCSV(found) }
        let around = context > 0 ? try around(found) : ([], [])
        try add(around.0, "before")
        if session.isJSON { try session.print(line) } else { table.add(cells(found)) }
        try add(around.1, "behind")
        if context > 0, !session.isJSON {
            table.add(Array(repeating: "", count: session.arguments.flag("ids") ? 6 : 5))
        }
    }

    private mutating func add(_ rows: [ContextRow], _ side: String) throws(CommandFailure) {
        lines += rows.count
        for row in rows {
            guard session.isJSON else {
                table.add(cells(row.entry))
                continue
            }
            var line = row.line
            line.add("context", side)
            try session.output.line(line)
        }
    }

    func finish() throws(CommandFailure) {
        if session.isCSV {
            if count == 0 { try session.output.write(Self.csvHeader) }
        } else if !session.isJSON, !table.isEmpty {
            try session.print(table)
        }
    }

    /// Messages around one: the last before it and the first behind it in its conversation.
    private func around(_ found: FoundLine) throws(CommandFailure) -> ([ContextRow], [ContextRow]) {
        guard let conversation = found.stored.event.header.conversation else { return ([], []) }
        let key = found.stored.event.header.displayKey
        var query = TimelineQuery()
        query.types = DialogueRole.all.types
        // A few more, for those of the same millisecond stand on either side.
        query.until = key.time + 1
        query.limit = .last(context + 16)
        let before = try rows(conversation, query).filter { $0.entry.key < key }.suffix(context)
        (query.since, query.until, query.limit) = (key.time, nil, .first(context + 16))
        let behind = try rows(conversation, query).filter { $0.entry.key > key }.prefix(context)
        return (Array(before), Array(behind))
    }

    private struct ContextRow {
        let entry: TimelineEntry
        let line: JSONLine
    }

    private func rows(_ conversation: String, _ query: TimelineQuery) throws(CommandFailure) -> [ContextRow] {
        var rows: [ContextRow] = []
        try reads.timeline(.conversation(conversation), query) { row throws(CommandFailure) in
            switch row {
            case .line(let object):
                guard let entry = TimelineEntry(object) else { throw DaemonClient.misunderstood("no event") }
                var line = JSONLine()
                for member in object { line.addRaw(member.name, member.value.raw) }
                rows.append(ContextRow(entry: entry, line: line))
            case .entry(let entry, let lines):
                var line = try wrapped(entry, lines)
                line.addHistory(of: entry)
                rows.append(ContextRow(entry: entry, line: line))
            }
        }
        return rows
    }

    private func wrapped(_ entry: TimelineEntry, _ lines: EventLines) throws(CommandFailure) -> JSONLine {
        try stored { try lines.wrapped(entry.stored) }
    }

    private static let csvHeader = CSVLine.record(
        ["time", "position", "id", "kind", "user", "author", "conversation", "text"].map { .text($0) })

    private func writeCSV(_ found: FoundLine) throws(CommandFailure) {
        if count == 1 { try session.output.write(Self.csvHeader) }
        let header = found.stored.event.header
        try session.output.write(
            CSVLine.record([
                .text(Timestamp.text(found.time)), .number(String(found.stored.position)),
                .text(header.id.description), .text(found.kind), .text(header.user), .text(header.author),
                header.conversation.map { .text($0) } ?? .none, .text(found.text),
            ]))
    }

    private func cells(_ found: FoundLine) -> [TextTable.Cell] {
        cells(found.stored, found.time, found.excerpt(lead: Self.lead), nil)
    }

    private func cells(_ entry: TimelineEntry) -> [TextTable.Cell] {
        let text = MessageText(session).summary(entry)
        return cells(entry.stored, entry.stored.event.header.time, text, .dim)
    }

    private func cells(_ stored: StoredEvent, _ time: Int64, _ text: String, _ style: TextStyle?) -> [TextTable.Cell]
    {
        let header = stored.event.header
        var cells: [TextTable.Cell] = [
            .init(session.clock(time)), .init(String(stored.position)), .init(header.conversation ?? "-"),
            .init(EventText.who(header)), .init(text, style: style),
        ]
        if session.arguments.flag("ids") { cells.insert(.init(header.id.description), at: 2) }
        return cells
    }
}

extension FoundLine {
    /// The text with its words in brackets, from a little before the first of them.
    fileprivate func excerpt(lead: Int) -> String {
        let bytes = Array(text.utf8)
        func part(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
        var out = ""
        var last = 0
        if let first = ranges.first {
            let before = part(0..<first.lowerBound)
            out = before.count > 2 * lead ? "…" + before.suffix(lead) : before
            last = first.lowerBound
        }
        for range in ranges {
            out += part(last..<range.lowerBound) + "[" + part(range) + "]"
            last = range.upperBound
        }
        return out + part(last..<bytes.count)
    }
}
