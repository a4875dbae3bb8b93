internal import CommandLineKit
internal import EventStore

/// What a message says now and what it said, with the names of those who changed it or tried to (D24).
struct MessageText {
    let session: Session
    /// Whether what stood there first is shown.
    let showsOriginal: Bool

    init(_ session: Session) {
        self.session = session
        showsOriginal = session.arguments.flag("original")
    }

    /// One line: the text, then who did what to it and when.
    func summary(_ entry: TimelineEntry) -> String {
        let text = text(entry)
        guard let history = entry.history else { return text }
        var out = text
        if let retraction = history.retraction { out = "(retracted\(by(retraction))) \(text)" }
        if let edit = history.edit {
            out += history.edits > 1 ? " (edited \(history.edits) times, last\(by(edit)))" : " (edited\(by(edit)))"
        }
        let others = history.amendments.filter { !$0.counts }
        if others.count == 1, let other = others.first {
            out += " [\(other.isEdit ? "an edit" : "a retraction")\(by(other)) does not count]"
        } else if others.count > 1 {
            out += " [\(others.count) edits and retractions by others do not count]"
        }
        return out
    }

    /// The text whole, and below it what was done to it, each with the event that did it.
    func lines(_ entry: TimelineEntry) -> [String] {
        var lines = Self.lines(of: text(entry))
        guard let history = entry.history else { return lines }
        let hidden = history.count - history.amendments.count
        if hidden > 0 { lines.append("  (\(hidden) earlier edits and retractions are not listed)") }
        for amendment in history.amendments {
            let what = amendment.isEdit ? "edited" : "retracted"
            let effect = amendment.counts ? "" : ", does not count"
            lines.append("  (\(what)\(by(amendment)), event \(amendment.id)\(effect))")
            let isShown = amendment.isEdit && (!amendment.counts || showsOriginal)
            if isShown { lines += Self.lines(of: amendment.text ?? "(erased)").map { "    " + $0 } }
        }
        return lines
    }

    private func text(_ entry: TimelineEntry) -> String {
        let edited = showsOriginal ? nil : entry.edited
        return EventText.summary(entry.stored.event, text: edited)
    }

    private func by(_ amendment: Amendment) -> String {
        " by \(amendment.author) at \(session.clock(amendment.time))"
    }

    private static func lines(of text: String) -> [String] {
        Sanitizer.lines(text.replacing("\r\n", with: "\n")).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
