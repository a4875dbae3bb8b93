internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Prints events one after the other, as they come. Columns are as wide as their widest cell so far, so that lines that
/// are printed later still stand under the earlier ones.
struct EventLister {
    private let session: Session
    private var widths: [Int]
    private let native: EventLines
    private var hasHeading = false
    private let showsIDs: Bool

    init(_ session: Session, _ reader: LogReader) throws(CommandFailure) {
        self.session = session
        native = try stored { try EventLines(reader) }
        showsIDs = session.arguments.flag("ids")
        widths = showsIDs ? [19, 0, 36, 0, 0, 0, 0] : [19, 0, 0, 0, 0, 0]
    }

    private var columns: [TextTable.Column] {
        var columns: [TextTable.Column] = [
            .whole("TIME (\(session.offset))"), .right("POSITION"), .whole("CONVERSATION"), .whole("WHO"),
            .left("TYPE"), .left("TEXT"),
        ]
        if showsIDs { columns.insert(.whole("ID"), at: 2) }
        return columns
    }

    /// How long the texts are that come later is unknown.
    private var layout: RowLayout { RowLayout(columns, widths: widths.dropLast() + [.max], limit: session.width) }

    /// Prints events that are known together: their widest cells decide before the first line.
    mutating func print(_ events: [StoredEvent]) throws(CommandFailure) {
        if session.isJSON {
            for event in events { try session.output.line(try stored { try native.wrapped(event) }) }
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
        let note = ahead > 60_000 ? "(+\(TimeSpan.text(ahead)) ahead) " : ""
        var cells = [
            session.clock(header.time), String(stored.position), header.conversation ?? "-",
            session.form == .human ? EventText.who(header) : header.author,
            header.type, note + EventText.summary(stored.event),
        ]
        if showsIDs { cells.insert(header.id.description, at: 2) }
        return session.form == .plain ? cells.map(Sanitizer.plain) : cells.map(Sanitizer.line)
    }
}
