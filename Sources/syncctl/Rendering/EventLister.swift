internal import CommandLineKit
internal import EventStore

/// Prints events one after the other, as they come. Columns are as wide as their widest cell so far, so that lines that
/// are printed later still stand under the earlier ones.
struct EventLister {
    private let session: Session
    private var widths: [Int]
    private let native: NativeLines
    private var hasHeading = false

    init(_ session: Session, _ reader: LogReader) throws(CommandFailure) {
        self.session = session
        native = try NativeLines(reader)
        widths = [19, 0, 0, 0, 0, 0]
    }

    private var headings: [String] {
        ["TIME (\(session.offset))", "POSITION", "CONVERSATION", "WHO", "TYPE", "TEXT"]
    }

    /// Prints events that are known together: their widest cells decide before the first line.
    mutating func print(_ events: [StoredEvent]) throws(CommandFailure) {
        if session.isJSON {
            for event in events { try session.output.line(native.wrapped(event)) }
            return
        }
        let rows = events.map(cells)
        if session.form == .human {
            for row in rows { widen(row) }
        }
        if !hasHeading, !events.isEmpty {
            widen(headings)
            try line(headings, style: .bold)
            hasHeading = true
        }
        for row in rows { try line(row, style: nil) }
    }

    private mutating func widen(_ row: [String]) {
        for (index, cell) in row.dropLast().enumerated() {
            // One hostile name must not push everything off the screen.
            widths[index] = max(widths[index], min(DisplayWidth.of(cell), 40))
        }
    }

    private func cells(_ stored: StoredEvent) -> [String] {
        let header = stored.event.header
        let ahead = header.time - session.now
        let note = ahead > 60_000 ? "(+\(TimeSpan.text(ahead)) ahead) " : ""
        let cells = [
            session.clock(header.time), String(stored.position), header.conversation ?? "-",
            session.form == .human ? EventText.who(header) : header.author,
            header.type, note + EventText.summary(stored.event),
        ]
        return session.form == .plain ? cells.map(Sanitizer.plain) : cells.map(Sanitizer.line)
    }

    private func line(_ cells: [String], style: TextStyle?) throws(CommandFailure) {
        if session.form == .plain {
            try session.output.line(cells.joined(separator: "\t"))
            return
        }
        var text = ""
        for (index, cell) in cells.dropLast().enumerated() {
            text += DisplayWidth.pad(
                DisplayWidth.truncate(cell, to: widths[index]), to: widths[index],
                alignment: index == 1 ? .right : .left)
            text += "  "
        }
        text += cells.last ?? ""
        if let width = session.width { text = DisplayWidth.truncate(text, to: max(20, width)) }
        if session.usesColor, let style { text = style.applied(to: text) }
        try session.output.line(text)
    }
}
