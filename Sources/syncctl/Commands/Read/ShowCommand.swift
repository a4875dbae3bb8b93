internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ShowCommand {
    static let entry = Subcommand(
        Command(
            "show", "One event in full", group: "Read",
            arguments: [.init("event", "An event id, a position (10412 or seq:10412), or <origin>/<sequence>.")],
            options: [OutputForm.csvOption, ProofOutput.option],
            examples: [
                .init("syncctl show 10412", "the event at a position of this log"),
                .init("syncctl show 0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f", "by its id; twins are listed"),
                .init("syncctl show 10412 --json", "its native line, with its Merkle leaf"),
            ],
            discussion: "Exit code 1 when there is no such event."), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let name = session.arguments.positional("event") ?? ""
        if session.url != nil {
            guard try !ProofOutput.isWanted(session) else {
                throw usageFailure("--proof is made on the node's own machine", hint: "the same there, with --store")
            }
            return try showRemote(name, session)
        }
        let reader = try StoreLocation.find(for: session).reader()
        guard let event = try find(name, reader) else {
            session.say(.noEvent, name)
            if session.isCSV { try session.output.write(EventCSV.header) }
            try session.end(count: 0)
            return .nothingFound
        }
        if try ProofOutput.isWanted(session) { return try ProofOutput.run(session, event) }
        if session.isJSON {
            try session.output.write(try stored { try EventLines(reader).line(event) })
            try session.end(count: 1)
            return .success
        }
        if session.isCSV {
            try session.output.write(EventCSV.header + EventCSV.record(event))
            return .success
        }
        try show(try describe(event, session, reader), session)
        return .success
    }

    private static func show(_ lines: [String], _ session: Session) throws(CommandFailure) {
        for line in lines {
            try session.output.line(session.form == .plain ? Sanitizer.plain(line) : Sanitizer.line(line))
        }
    }

    /// An event of another node. It is asked for by its id: positions are the node's own.
    private static func showRemote(_ name: String, _ session: Session) throws(CommandFailure) -> ExitCode {
        guard let bits = UUIDBits(text: name) else {
            throw usageFailure("'\(name)' is no id of an event", hint: "with --url an event is named by its id")
        }
        var found: JSONObject?
        let pages = DaemonPages(client: try DaemonClient.required(by: session, to: "show it"))
        let take = { (line: JSONObject) throws(CommandFailure) in found = line }
        guard try pages.lines(.event(bits.description), [], limit: 1, take), let line = found else {
            session.say(.noEvent, name)
            if session.isCSV { try session.output.write(EventCSV.header) }
            try session.end(count: 0)
            return .nothingFound
        }
        if session.isJSON {
            try session.print(line)
            try session.end(count: 1)
            return .success
        }
        guard let event = StoredEvent(native: line) else { throw DaemonClient.misunderstood("no event") }
        if session.isCSV {
            try session.output.write(EventCSV.header + EventCSV.record(event))
        } else {
            try show(try describe(event, session, nil), session)
        }
        return .success
    }

    /// The event that is named by its id or its place.
    static func find(_ name: String, _ reader: LogReader) throws(CommandFailure) -> StoredEvent? {
        if let bits = UUIDBits(text: name) { return try stored { try reader.countingEvent(id: EventID(bits)) } }
        let digits = name.hasPrefix(Session.positionMark) ? String(name.dropFirst(Session.positionMark.count)) : name
        if let position = UInt64(digits) { return try stored { try reader.event(at: position) } }
        let parts = name.split(separator: "/")
        if parts.count == 2, let bits = UUIDBits(text: parts[0]), let seq = UInt64(parts[1]) {
            return try stored { try reader.event(Dot(origin: OriginID(bits), seq: seq)) }
        }
        throw usageFailure("'\(name)' is no event", hint: "an event id, a position, or <origin>/<sequence>")
    }

    private static func describe(
        _ event: StoredEvent, _ session: Session, _ reader: LogReader?
    ) throws(CommandFailure) -> [String] {
        let header = event.event.header
        var lines: [String] = []
        func add(_ label: Wording?, _ value: String?) {
            // Further lines of one label have none.
            let name = label.map { session.shown($0) } ?? ""
            if let value { lines.append(DisplayWidth.pad(name, to: 14) + value) }
        }
        add(.labelUnreadable, header.obstacle.map { session.shown(.itsBytes, session.translated("\($0)")) })
        add(.labelID, header.id.description)
        add(.labelType, header.type)
        func moment(_ milliseconds: Int64) -> String {
            "\(session.clockWithOffset(milliseconds)) = \(Timestamp.text(milliseconds))"
        }
        add(.labelTime, moment(header.time))
        add(.labelRecorded, moment(header.hlc.milliseconds))
        add(.labelUser, header.user)
        if !header.author.hasSameBytes(as: header.user) { add(.labelAuthor, header.author) }
        add(.labelActor, header.actor?.text)
        add(.labelConversation, header.conversation)
        add(.labelCause, header.cause?.description)
        add(.labelPosition, String(event.position))
        let origins = try stored { try reader?.origins() }
        let origin = origins?.first { $0.id == header.dot.origin }
        add(.labelOrigin, header.dot.description + (origin.map { session.shown(.ofNode, $0.node.short) } ?? ""))
        add(.labelHLC, header.hlc.description)
        if header.version != 1 { add(.labelVersion, String(header.version)) }
        for (index, dot) in header.dependencies.enumerated() {
            add(index == 0 ? .labelDependsOn : nil, dot.description)
        }
        if let reader { try addTwins(of: event, session, reader, add) }
        add(.labelLeaf, SHA256().leaf(of: event.event).description)
        if let payload = event.event.payload {
            let value = PrettyJSON.lines(JSONObject(validated: payload))
            add(.labelData, value.first)
            lines += value.dropFirst()
        } else {
            add(.labelData, session.shown(event.event.isErased ? .headerRemains : .noObject))
        }
        return lines
    }

    /// The same id, appended on more than one node: who recorded it first counts.
    private static func addTwins(
        of event: StoredEvent, _ session: Session, _ reader: LogReader, _ add: (Wording?, String?) -> Void
    ) throws(CommandFailure) {
        let all = try stored { try reader.events(id: event.event.header.id) }
        guard all.count > 1 else { return }
        let first = all.min { a, b in
            let (a, b) = (a.event.header, b.event.header)
            return a.hlc != b.hlc ? a.hlc < b.hlc : a.dot < b.dot
        }
        for twin in all {
            let isOther = twin.event.payload.map { $0 != event.event.payload } ?? false
            let note =
                (twin == first ? session.shown(.twinCounts) : "") + (isOther ? session.shown(.twinDiffers) : "")
            add(.labelSameID, session.shown(.twinAt, "\(twin.position)", "\(twin.event.header.dot)") + note)
        }
    }
}
