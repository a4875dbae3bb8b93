internal import CommandLineKit
internal import EventStore

/// Events as people and programs see them.
struct EntryRenderer {
    let context: Context
    let writer: NativeLineWriter
    private(set) var table: TextTable
    private(set) var count = 0
    private(set) var last: DisplayKey?
    private let showsConversation: Bool

    /// Rows kept before the table is printed: its columns fit what is in it, and memory stays bounded.
    private static let page = 2_000

    init(_ context: Context, node: String, showsConversation: Bool) {
        self.context = context
        writer = NativeLineWriter(node: node)
        self.showsConversation = showsConversation
        table = Self.emptyTable(context, showsConversation)
    }

    private static func emptyTable(_ context: Context, _ showsConversation: Bool) -> TextTable {
        let time = "TIME (\(TimeFormat.offset(context.zone.offset(WallClock.now))))"
        return TextTable(
            [.left(time), .right("POSITION")] + (showsConversation ? [.left("CONVERSATION")] : [])
                + [.left("WHO"), .left("TYPE"), .left("TEXT")])
    }

    /// Shows one event. Returns its failure instead of throwing, for use in closures of the store.
    mutating func add(_ entry: TimelineEntry) throws(CommandFailure) {
        count += 1
        last = entry.stored.event.header.displayKey
        if context.form == .json {
            try context.output.line(json(entry))
            return
        }
        let header = entry.stored.event.header
        var cells: [TextTable.Cell] = [
            .init(TimeFormat.local(header.time, in: context.zone)), .init(String(entry.stored.position)),
        ]
        if showsConversation { cells.append(.init(header.conversation ?? "-")) }
        cells += [.init(header.author), .init(header.type), .init(text(entry))]
        table.add(cells)
        if count % Self.page == 0 { try flush() }
    }

    /// Prints what is left.
    mutating func flush() throws(CommandFailure) {
        guard context.form != .json, !table.isEmpty else { return }
        try context.show(table)
        table = Self.emptyTable(context, showsConversation)
    }

    private func text(_ entry: TimelineEntry) -> String {
        let body = EventText.summary(entry.stored.event)
        if entry.isRetracted { return "(retracted) \(body)" }
        if let edited = entry.edited { return "\(edited) (edited\(entry.edits > 1 ? " \(entry.edits) times" : ""))" }
        return body
    }

    private func json(_ entry: TimelineEntry) -> JSONLine {
        var line = JSONLine(type: "event")
        line.addRaw("event", writer.line(entry.stored))
        if let edited = entry.edited {
            line.add("edited", edited)
            line.add("edits", entry.edits)
        }
        if entry.isRetracted { line.add("retracted", true) }
        return line
    }
}

/// What an event says, in one line.
enum EventText {
    static func summary(_ event: Event) -> String {
        guard let payload = event.payload else { return "(erased)" }
        let object = JSONObject(validated: payload)
        switch event.header.type {
        case "message.posted", "bot.replied", "message.edited":
            return object.string("text") ?? raw(payload)
        case "survey.answered":
            let answer =
                object.string("choice") ?? object["rating"]?.numberText
                ?? object.strings("choices")?.joined(separator: ", ") ?? "?"
            let comment = object.string("comment").map { " · \($0)" } ?? ""
            return "\(object.string("survey") ?? "?")/\(object.string("question") ?? "?") = \(answer)\(comment)"
        case "conversation.started", "conversation.renamed":
            return object.string("title") ?? raw(payload)
        case "profile.changed":
            guard let fields = object.object("fields") else { return raw(payload) }
            return fields.map { "\($0.name) = \($0.value.string ?? String(decoding: $0.value.raw, as: UTF8.self))" }
                .joined(separator: ", ")
        default: return raw(payload)
        }
    }

    private static func raw(_ payload: [UInt8]) -> String { String(decoding: payload, as: UTF8.self) }
}

extension Context {
    /// The name of the node whose store this is.
    func nodeName(_ log: LogReader) throws(CommandFailure) -> String {
        try stored { () throws(StoreError) in try log.meta("name") ?? "node" }
    }
}
