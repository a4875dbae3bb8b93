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

    func add(_ entry: TimelineEntry, to line: inout JSONLine) {
        guard let history = entry.history else { return }
        if let edit = history.edit {
            line.add("text", edit.text)
            line.add("original", entry.stored.event.payload.flatMap { JSONObject(validated: $0).string("text") })
        }
        let edits = history.amendments.filter(\.isEdit)
        if !edits.isEmpty {
            line.addArray("edits") { array in
                for edit in edits { array.addObject { Self.describe(edit, "author", &$0) } }
            }
        }
        if let retraction = history.retraction {
            line.addObject("retracted") { Self.describe(retraction, "by", &$0, appliedIsKnown: true) }
        }
        let refused = history.amendments.filter { !$0.isEdit && !$0.counts }
        if !refused.isEmpty {
            line.addArray("retractions") { array in
                for retraction in refused { array.addObject { Self.describe(retraction, "by", &$0) } }
            }
        }
        if history.count > history.amendments.count { line.add("amendments", history.count) }
    }

    private static func describe(
        _ amendment: Amendment, _ name: String, _ line: inout JSONLine, appliedIsKnown: Bool = false
    ) {
        line.add("id", amendment.id.description)
        line.add(name, amendment.author)
        line.add("time", Timestamp.text(amendment.time))
        if amendment.isEdit { line.add("text", amendment.text) }
        if let reason = amendment.reason { line.add("reason", reason) }
        if !appliedIsKnown { line.add("applied", amendment.counts) }
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
