internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// The time filters of `history` and `conversation`.
struct TimelineOptions {
    static let options: [Command.Option] = [
        .value("since", "TIME", "From then on."),
        .value("until", "TIME", "Before then."),
        .value("first", "N", "Only the first N."),
        .value("last", short: "n", "N", "Only the last N."),
        .value("type", "TYPE", "Only events of this type.", repeatable: true),
        .value(
            "role", "ROLE", "Only messages: of people, of bots, or both.",
            allowed: DialogueRole.allCases.map(\.rawValue)),
        .value("author", "USER", "Only what this user or bot has written.", repeatable: true),
        .flag("ids", "Show each event's id, which is the same on every node."),
        .flag("original", "What messages said before they were edited."),
        .flag("full", "Messages whole, with their line ends, and who edited them."),
    ]

    let query: TimelineQuery
    /// `2026-08-01 00:00:00 .. now (+09:00)`, for the heading.
    let range: String

    init(_ session: Session) throws(CommandFailure) {
        var query = TimelineQuery()
        query.since = try session.time("since")
        query.until = try session.time("until")
        query.types = session.arguments.values("type")
        query.types += session.arguments.value("role").flatMap(DialogueRole.init)?.types ?? []
        query.authors = session.arguments.values("author")
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
        let from = query.since.map(session.clock) ?? "beginning"
        range = "\(from) .. \(query.until.map(session.clock) ?? "now") (\(session.offset))"
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
    private var rows: [[TextTable.Cell]] = []
    private(set) var count = 0

    init(_ session: Session, showsConversation: Bool) {
        self.session = session
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
            try show(entry)
        case .entry(let entry, let lines):
            guard session.isJSON else { return try show(entry) }
            var line = try stored { try lines.wrapped(entry.stored) }
            line.addHistory(of: entry)
            try session.output.line(line)
        }
    }

    private mutating func show(_ entry: TimelineEntry) throws(CommandFailure) {
        if isFull { return try full(entry) }
        let header = entry.stored.event.header
        let style: TextStyle? = entry.isRetracted ? .dim : nil
        var cells: [TextTable.Cell] = [
            .init(session.clock(header.time)), .init(String(entry.stored.position)), .init(EventText.who(header)),
            .init(header.type), .init(message.summary(entry), style: style),
        ]
        if showsConversation { cells.insert(.init(header.conversation ?? "-"), at: 2) }
        if session.arguments.flag("ids") { cells.insert(.init(header.id.description), at: 2) }
        rows.append(cells)
    }

    func finish(title: String) throws(CommandFailure) {
        guard !session.isJSON, !isFull, count > 0 else { return }
        var columns: [TextTable.Column] = [
            .whole("TIME (\(session.offset))"), .right("POSITION"), .left("WHO"), .left("TYPE"), .left("TEXT"),
        ]
        if showsConversation { columns.insert(.whole("CONVERSATION"), at: 2) }
        if session.arguments.flag("ids") { columns.insert(.whole("ID"), at: 2) }
        var table = TextTable(columns)
        for row in rows { table.add(row) }
        if session.form == .human, session.width != nil {
            try session.output.line(Sanitizer.line(title))
            try session.output.line()
        }
        try session.print(table)
    }

    private func full(_ entry: TimelineEntry) throws(CommandFailure) {
        let header = entry.stored.event.header
        let place = showsConversation ? header.conversation.map { [$0] } ?? [] : []
        let heading =
            ["\(session.clock(header.time)) (\(session.offset))", "position \(entry.stored.position)"] + place
            + [header.author, header.type, header.id.description]
        if count > 1 { try session.output.line() }
        try session.output.line(Sanitizer.line(heading.joined(separator: " · ")))
        for line in message.lines(entry) { try session.output.line(line) }
    }

}
