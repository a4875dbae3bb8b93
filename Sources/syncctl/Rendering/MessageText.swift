internal import CommandLineKit
internal import EventStore

/// What a message says now and what it said, with the names of those who changed it or tried to (D24).
struct MessageText {
    static let fullOption = Command.Option.flag("full", "Messages whole, with their line ends, and who edited them.")

    let session: Session
    /// Whether what stood there first is shown.
    let showsOriginal: Bool

    init(_ session: Session) {
        self.session = session
        showsOriginal = session.has("original") && session.arguments.flag("original")
    }

    /// When, where and by whom, over a message that is shown whole.
    func heading(_ stored: StoredEvent, showsConversation: Bool) -> String {
        let header = stored.event.header
        let place = showsConversation ? header.conversation.map { [$0] } ?? [] : []
        let parts =
            [
                "\(TimeFormat.local(header.time, in: session.zone)) (\(TimeFormat.offset(session.zone.offset(header.time))))",
                "\(session.shown(.place)) \(stored.position)",
            ] + place + [header.author, header.type, header.id.description]
        return Sanitizer.line(parts.joined(separator: " · "))
    }

    /// One line: the text, then who did what to it and when.
    func summary(_ entry: TimelineEntry) -> String {
        let text = text(entry)
        guard let history = entry.history else { return text }
        var out = text
        if let retraction = history.retraction { out = "(\(said(.retracted, retraction))) \(text)" }
        if let edit = history.edit {
            out +=
                history.edits > 1
                ? " (\(said(.editedTimes, edit, String(history.edits))))" : " (\(said(.edited, edit)))"
        }
        let others = history.amendments.filter { !$0.counts }
        if others.count == 1, let other = others.first {
            out += " [\(said(other.isEdit ? .otherEdit : .otherRetraction, other))]"
        } else if others.count > 1 {
            out += " [\(session.shown(.otherAmendments, String(others.count)))]"
        }
        return out
    }

    /// The text whole, and below it what was done to it, each with the event that did it.
    func lines(_ entry: TimelineEntry) -> [String] {
        var lines = Self.lines(of: text(entry))
        guard let history = entry.history else { return lines }
        let hidden = history.count - history.amendments.count
        if hidden > 0 { lines.append("  (\(session.shown(.hiddenAmendments, String(hidden))))") }
        for amendment in history.amendments {
            let what = said(amendment.isEdit ? .fullEdit : .fullRetraction, amendment, amendment.id.description)
            lines.append("  (\(what)\(amendment.counts ? "" : ", " + session.shown(.doesNotCount)))")
            let isShown = amendment.isEdit && (!amendment.counts || showsOriginal)
            if isShown {
                lines += Self.lines(of: amendment.text ?? "(\(session.shown(.erased)))").map { "    " + $0 }
            }
        }
        return lines
    }

    private func text(_ entry: TimelineEntry) -> String {
        let edited = showsOriginal ? nil : entry.edited
        return EventText.summary(entry.stored.event, text: edited, in: session.outputLanguage)
    }

    /// By whom and when.
    private func said(_ wording: Wording, _ amendment: Amendment, _ more: String = "") -> String {
        session.shown(wording, amendment.author, session.clock(amendment.time), more)
    }

    private static func lines(of text: String) -> [String] {
        Sanitizer.lines(text.replacing("\r\n", with: "\n")).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
    }
}
