internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum WhyCommand {
    static let entry = Subcommand(
        Command(
            "why", "What led to an event, and what followed from it", group: "Read",
            arguments: [.init("event", "An event id, a position (10412 or seq:10412), or <origin>/<sequence>.")],
            options: [
                .value("rows", "N", "At most so many events (default: 200, at most 500)."),
                .value("depth", "N", "At most so many steps from the event (default: 50, at most 500)."),
                EventSelection.ids,
            ],
            examples: [
                .init("syncctl why 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "from the first question to the last edit"),
                .init("syncctl why 10412 --depth 1", "what it follows from, and what came of it at once"),
                .init("syncctl why 10412 --json", "a line for each event"),
            ],
            discussion: """
                First what led to it, from the farthest cause on, then the event itself with a mark, then what followed: \
                replies, answers of surveys, edits. An event follows from what its header names as its cause, an edit or \
                retraction also from its message, a bot's reply also from the bot's last 'bot.configured' before it. \
                What is named and has not come to this node is pending. Where more is left out than told, 'cut here' \
                says so: ask again for that event. Of many edits the newest are told; all of them are in \
                'syncctl conversation ID --type message.edited'. Exit code 1 when there is no such event.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("event") ?? ""
        let limits = CauseLimits(
            rows: try usage { try session.arguments.integer("rows", in: CauseLimits.rows) } ?? CauseLimits.usual.rows,
            depth: try usage { try session.arguments.integer("depth", in: CauseLimits.depths) }
                ?? CauseLimits.usual.depth)
        let reads = try Reads(session)
        guard let id = try identifier(name, session, reads), case let lines = try reads.why(id, limits),
            !lines.isEmpty
        else {
            session.say(.noEvent, name)
            try session.end(count: 0)
            return .nothingFound
        }
        if session.isJSON {
            for line in lines { try session.print(line) }
        } else {
            try session.print(try CauseTable(lines, session).table)
        }
        try session.end(count: lines.count) { line in
            line.add("id", id.description)
            line.add("whole", !lines.contains { $0.string("cut") != nil })
        }
        return .success
    }

    /// The id of an event that is named by it, or by its place.
    private static func identifier(
        _ name: String, _ session: Session, _ reads: Reads
    ) throws(CommandFailure) -> EventID? {
        if let id = EventID(text: name) { return id }
        guard session.url == nil else {
            throw usageFailure("'\(name)' is no id of an event", hint: "with --url an event is named by its id")
        }
        return try ShowCommand.find(name, try reads.log())?.event.header.id
    }
}

/// A tree as a table: who follows from whom is told by blanks in front of the type.
private struct CauseTable {
    private let session: Session
    private let text: MessageText
    private(set) var table: TextTable
    private let showsNodes: Bool
    private let showsIDs: Bool

    init(_ lines: [JSONObject], _ session: Session) throws(CommandFailure) {
        (self.session, text) = (session, MessageText(session))
        showsNodes = Set(lines.compactMap { $0.object("event").flatMap(Self.node) }).count > 1
        showsIDs = session.arguments.flag("ids") || session.form == .plain
        var columns: [TextTable.Column] = [
            .whole(session.headingOfTimes(.time)), .whole(session.heading(.event)),
            .left(session.heading(.who)), .left(session.heading(.text)),
        ]
        if showsNodes { columns.insert(.whole(session.heading(.node)), at: 2) }
        if showsIDs { columns.insert(.whole(session.heading(.id)), at: 1) }
        table = TextTable(columns)
        let first = lines.compactMap { $0.integer("depth") }.min() ?? 0
        for line in lines { try add(line, from: first) }
    }

    private mutating func add(_ line: JSONObject, from first: Int64) throws(CommandFailure) {
        let depth = line.integer("depth") ?? 0
        let place = String(repeating: " ", count: Int(clamping: depth - first) * 2) + (depth == 0 ? "> " : "  ")
        var cells: [TextTable.Cell]
        var node = ""
        if let entry = TimelineEntry(line), let event = line.object("event") {
            let header = entry.stored.event.header
            node = Self.node(event) ?? ""
            let notes = Self.making(entry.stored.event, session) + refusals(line) + cut(line)
            let said = text.summary(entry) + notes.map { " [\($0)]" }.joined()
            cells = [
                .init(session.clock(header.time)), .init(place + header.type, style: depth == 0 ? .bold : nil),
                .init(EventText.who(header)), .init(said),
            ]
        } else if line.string("state") != nil {
            let isPending = line.string("state") == "pending"
            let note = session.shown(isPending ? .pendingCause : .hiddenCause)
            cells = ["", .init(place + "?"), "", .init("(\(note)) \(line.string("id") ?? "")", style: .yellow)]
        } else {
            throw DaemonClient.misunderstood("no event")
        }
        if showsNodes { cells.insert(.init(node), at: 2) }
        if showsIDs { cells.insert(.init(line.string("id") ?? ""), at: 1) }
        table.add(cells)
    }

    /// The node whose log the event is from, in short.
    private static func node(_ event: JSONObject) -> String? {
        let parts = event.string("source")?.split(separator: "/") ?? []
        return parts.count == 3 ? String(parts[1].prefix(12)) : nil
    }

    private func refusals(_ line: JSONObject) -> [String] {
        (line.elements("quarantined") ?? []).compactMap(\.object).map {
            session.shown(.quarantinedBy, $0.string("view") ?? "", $0.string("reason") ?? "")
        }
    }

    private func cut(_ line: JSONObject) -> [String] { line.string("cut") == nil ? [] : [session.shown(.cutHere)] }

    /// What a reply was made with: model, persona and prompt, as far as the payload says.
    private static func making(_ event: Event, _ session: Session) -> [String] {
        guard let payload = event.payload else { return [] }
        let data = JSONObject(validated: payload)
        var parts: [String] = []
        for (member, wording) in [
            ("model", Wording.madeByModel), ("persona", .madeByPersona), ("prompt", .madeByPrompt),
        ] {
            guard let value = data[member] else { continue }
            let version = data[member + "_version"] ?? data[member + "Version"]
            guard let told = told(value, version) else { continue }
            parts.append(session.shown(wording, told))
        }
        return parts
    }

    /// `drbot 3`: a name, and the version that stands in it or beside it.
    private static func told(_ value: JSONValue, _ version: JSONValue?) -> String? {
        func text(_ value: JSONValue?) -> String? { value?.string ?? value?.numberText }
        let inner = value.object
        let name = inner.map { text($0["name"]) ?? text($0["id"]) } ?? text(value)
        let number = inner.flatMap { text($0["version"]) ?? text($0["sha256"]).map { String($0.prefix(12)) } }
        let parts = [name, number ?? text(version)].compactMap { $0 }.filter { !$0.isEmpty }
        // A prompt may stand there whole.
        return parts.isEmpty ? nil : String(parts.joined(separator: " ").prefix(60))
    }
}
