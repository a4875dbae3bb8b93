internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// What `history` and `conversation` are asked for.
struct TimelineOptions {
    static let options: [Command.Option] =
        EventSelection.options + [
            EventSelection.asOf, EventSelection.knownAt,
            .value("first", "N", "Only the first N."),
            .value("last", short: "n", "N", "Only the last N."),
            EventSelection.ids,
            .flag("original", "What messages said before they were edited."),
            MessageText.fullOption, OutputForm.csvOption,
        ]

    let query: TimelineQuery
    let range: TimeRange

    init(_ session: Session) throws(CommandFailure) {
        let selection = try EventSelection(session)
        range = selection.range
        var query = selection.query
        query.conversations = selection.conversations
        let most = 1...100_000_000
        let first = try usage { try session.arguments.integer("first", in: most) }
        let last = try usage { try session.arguments.integer("last", in: most) }
        switch (first, last) {
        case (let count?, nil): query.limit = .first(count)
        case (nil, let count?): query.limit = .last(count)
        case (nil, nil): query.limit = .all
        default: throw usageFailure("--first and --last do not go together")
        }
        self.query = query
        range.tell(session)
    }
}

/// Prints entries of a timeline: edits are shown, and what was taken back is marked.
struct TimelinePrinter {
    private let session: Session
    /// Shows the conversation of each event.
    private let showsConversation: Bool
    private let message: MessageText
    /// Whether messages are shown whole, one after the other and not in a table.
    private let isFull: Bool
    /// Above the table, with the count where that is known by then.
    private let title: String
    private var rows: [[TextTable.Cell]] = []
    /// Whether rows were printed before.
    private var isContinued = false
    private(set) var count = 0

    /// How many rows are held for their widths: a longer table goes on with widths of its own.
    private static let piece = 2_000

    init(_ session: Session, showsConversation: Bool, title: String) {
        (self.session, self.title) = (session, title)
        message = MessageText(session)
        isFull = session.form == .human && session.arguments.flag("full")
        self.showsConversation = showsConversation
    }

    /// Takes a row. What is no row of a table is printed at once, so that memory stays bounded.
    mutating func add(_ row: TimelineRow) throws(CommandFailure) {
        count += 1
        switch row {
        case .line(let line):
            if session.isJSON { return try session.print(line) }
            guard let entry = TimelineEntry(line) else { throw DaemonClient.misunderstood("no event") }
            try show(entry, twins: line.integer("twins").map { Int($0) } ?? 0)
        case .entry(let entry, let lines):
            guard session.isJSON else {
                return try show(entry, twins: try stored { try lines.twins(of: entry.stored) })
            }
            var line = try stored { try lines.wrapped(entry.stored) }
            line.addHistory(of: entry)
            try session.output.line(line)
        }
    }

    private mutating func show(_ entry: TimelineEntry, twins: Int) throws(CommandFailure) {
        if session.isCSV {
            if count == 1 { try session.output.write(EventCSV.header) }
            return try session.output.write(EventCSV.record(entry.stored, entry.history))
        }
        if isFull { return try full(entry, twins) }
        let header = entry.stored.event.header
        let style: TextStyle? = entry.isRetracted ? .dim : nil
        var cells: [TextTable.Cell] = [
            .init(session.clock(header.time)), .init(String(entry.stored.position)), .init(EventText.who(header)),
            .init(header.type), .init(marked(message.summary(entry), twins), style: style),
        ]
        if showsConversation { cells.insert(.init(header.conversation ?? "-"), at: 2) }
        if session.arguments.flag("ids") { cells.insert(.init(header.id.description), at: 2) }
        if rows.count == Self.piece { try printRows(title) }
        rows.append(cells)
    }

    mutating func finish() throws(CommandFailure) {
        if session.isCSV, count == 0 { try session.output.write(EventCSV.header) }
        guard !rows.isEmpty else { return }
        let isWhole = count == rows.count
        try printRows(isWhole ? "\(title) · \(session.eventCount(count))" : title)
        guard !isWhole, isTitled else { return }
        try session.output.line()
        try session.output.line(session.eventCount(count))
    }

    private var isTitled: Bool { session.form == .human && session.width != nil }

    private mutating func printRows(_ title: String) throws(CommandFailure) {
        defer { (rows, isContinued) = ([], true) }
        var columns: [TextTable.Column] = [
            .whole(session.headingOfTimes(.time)), .right(session.heading(.position)),
            .left(session.heading(.who)), .left(session.heading(.type)), .left(session.heading(.text)),
        ]
        if showsConversation { columns.insert(.whole(session.heading(.conversation)), at: 2) }
        if session.arguments.flag("ids") { columns.insert(.whole(session.heading(.id)), at: 2) }
        var table = TextTable(columns, isContinued: isContinued)
        for row in rows { table.add(row) }
        if !isContinued, isTitled {
            try session.output.line(Sanitizer.line(title))
            try session.output.line()
        }
        try session.print(table)
    }

    /// With a word that other nodes have recorded it with another content.
    private func marked(_ text: String, _ twins: Int) -> String {
        twins > 0 ? "\(text) [\(session.shown(.otherContents, String(twins)))]" : text
    }

    private func full(_ entry: TimelineEntry, _ twins: Int) throws(CommandFailure) {
        if count > 1 { try session.output.line() }
        try session.output.line(message.heading(entry.stored, showsConversation: showsConversation))
        for line in message.lines(entry) { try session.output.line(line) }
        if twins > 0 { try session.output.line(session.shown(.otherContents, String(twins))) }
    }

}
