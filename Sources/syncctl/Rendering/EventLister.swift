internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Prints events one after the other, as they come. Columns are as wide as their widest cell so far, so that lines that
/// are printed later still stand under the earlier ones.
struct EventLister {
    private let session: Session
    private var widths: [Int]
    /// Makes lines of JSON; `nil` where the events are another node's, whose lines are there already.
    private let native: EventLines?
    private var hasHeading = false
    private let showsIDs: Bool
    /// Whether messages are shown whole, one after the other and not in a table.
    private let isFull: Bool

    init(_ session: Session, _ reader: LogReader) throws(CommandFailure) {
        self.init(session, try stored { try EventLines(reader) })
    }

    /// Of events that come from another node.
    init(_ session: Session) { self.init(session, nil) }

    private init(_ session: Session, _ native: EventLines?) {
        self.session = session
        self.native = native
        showsIDs = session.arguments.flag("ids")
        isFull = session.form == .human && session.arguments.flag("full")
        widths = showsIDs ? [19, 0, 36, 0, 0, 0, 0] : [19, 0, 0, 0, 0, 0]
    }

    /// What stands before the first event in CSV, also where there is none. Call once.
    func begin() throws(CommandFailure) {
        if session.isCSV { try session.output.write(EventCSV.header) }
    }

    private var columns: [TextTable.Column] {
        var columns: [TextTable.Column] = [
            .whole(session.headingOfTimes(.time)), .right(session.heading(.position)),
            .whole(session.heading(.conversation)), .whole(session.heading(.who)), .left(session.heading(.type)),
            .left(session.heading(.text)),
        ]
        if showsIDs { columns.insert(.whole(session.heading(.id)), at: 2) }
        return columns
    }

    /// How long the texts are that come later is unknown.
    private var layout: RowLayout { RowLayout(columns, widths: widths.dropLast() + [.max], limit: session.width) }

    /// Prints events that are known together: their widest cells decide before the first line.
    mutating func print(_ events: [StoredEvent]) throws(CommandFailure) {
        if session.isJSON {
            guard let native else { return }
            for event in events { try session.output.line(try stored { try native.wrapped(event) }) }
            return
        }
        if session.isCSV {
            for event in events { try session.output.write(EventCSV.record(event)) }
            return
        }
        if isFull {
            for event in events { try full(event) }
            return
        }
        let rows = events.map(cells)
        guard session.form == .human else {
            if !hasHeading, !rows.isEmpty { try line(columns.map(\.title)) }
            for row in rows { try line(row) }
            hasHeading = hasHeading || !rows.isEmpty
            return
        }
        for row in rows { widen(row) }
        if !hasHeading, !rows.isEmpty {
            widen(columns.map(\.title))
            for line in layout.headings(color: session.usesColor) { try session.output.line(line) }
            hasHeading = true
        }
        let layout = layout
        for row in rows {
            for line in layout.lines(row) { try session.output.line(line) }
        }
    }

    private mutating func full(_ stored: StoredEvent) throws(CommandFailure) {
        if hasHeading { try session.output.line() }
        hasHeading = true
        let message = MessageText(session)
        try session.output.line(message.heading(stored, showsConversation: true))
        for line in message.lines(TimelineEntry(stored: stored, history: nil)) { try session.output.line(line) }
    }

    /// Tab-separated.
    private func line(_ cells: [String]) throws(CommandFailure) {
        try session.output.line(cells.joined(separator: "\t"))
    }

    private mutating func widen(_ row: [String]) {
        for (index, cell) in row.dropLast().enumerated() {
            // One hostile name must not push everything off the screen; an id is of no use cut.
            let most = columns[index].isFlexible ? 40 : 256
            widths[index] = max(widths[index], min(DisplayWidth.of(cell), most))
        }
    }

    private func cells(_ stored: StoredEvent) -> [String] {
        let header = stored.event.header
        let ahead = header.time - session.now
        let note = ahead > 60_000 ? "(\(session.shown(.ahead, session.span(ahead)))) " : ""
        var cells = [
            session.clock(header.time), String(stored.position), header.conversation ?? "-",
            session.form == .human ? EventText.who(header) : header.author,
            header.type, note + EventText.summary(stored.event, in: session.outputLanguage),
        ]
        if showsIDs { cells.insert(header.id.description, at: 2) }
        return session.form == .plain ? cells.map(Sanitizer.plain) : cells.map(Sanitizer.line)
    }
}
