internal import CommandLineKit
internal import EventStore

enum ReplayCommand {
    static let entry = Subcommand(
        Command(
            "replay", "Events of a scope in display order", group: "Read",
            options: [
                .value("user", short: "u", "USER", "This user's history."),
                .value("conversation", "ID", "This conversation."),
                .flag("all", "Everything."),
                .value("as-of", "TIME", "Only what had happened by then."),
                .value("known-at", "POSITION", "Only what this node's log had at this position."),
                .value("since", "TIME", "From then on."),
                .value("until", "TIME", "Before then."),
                .value("type", "TYPE", "Only events of this type.", repeatable: true),
            ],
            examples: [
                .init("syncctl replay --conversation c-88 --as-of '2026-08-01 11:03'", "what stood there then"),
                .init("syncctl replay --user u-1029 --since 7d --json", "a week as native NDJSON, for an audit"),
                .init("syncctl replay --all --known-at 10412 --json", "everything this node knew at position 10412"),
            ],
            discussion: """
                Display order is the same on every node: by time, then by when it was recorded, then by origin and \
                sequence. --as-of goes by when things happened; --known-at by what had arrived here.

                Reads the log alone, not the views, and keeps 56 bytes in memory for each event of the scope.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let scope = try Scope(session)
        let reader = try StoreLocation.find(for: session).reader()
        let bounds = try Bounds(session, reader)
        let places = try collect(scope, bounds, reader, session)
        var lister = try EventLister(session, reader)
        let native = session.isJSON ? try NativeLines(reader) : nil
        var page: [StoredEvent] = []
        for (index, place) in places.enumerated() {
            guard let event = try stored({ try reader.event(at: place.position) }) else { continue }
            if let native {
                try session.output.write(native.line(event))
                continue
            }
            page.append(event)
            if page.count == 500 || index == places.count - 1 {
                try lister.print(page)
                page.removeAll(keepingCapacity: true)
            }
        }
        try session.end(count: places.count) { line in line.addExact("position", bounds.top) }
        if places.isEmpty { session.say("no event of \(scope.description) matched") }
        return places.isEmpty ? .nothingFound : .success
    }

    private static func collect(
        _ scope: Scope, _ bounds: Bounds, _ reader: LogReader, _ session: Session
    ) throws(CommandFailure) -> [Place] {
        let types = session.arguments.values("type")
        var places: [Place] = []
        var position: UInt64 = 0
        var progress = Progress("replay", unit: "events", style: session.style())
        while position < bounds.top {
            let limit = Int(min(bounds.top - position, 2_000))
            position = try stored {
                try reader.scan(after: position, limit: limit) { event in
                    let key = event.event.header.displayKey
                    if scope.matches(event.event.header), bounds.contains(key.time),
                        types.isEmpty || EventFilter.contains(types, event.event.header.type)
                    {
                        places.append(Place(key: key, position: event.position))
                    }
                    return true
                }
            }
            progress.update(done: position, total: bounds.top)
        }
        progress.finish(done: position, total: bounds.top)
        places.sort { $0.key < $1.key }
        return places
    }
}

/// Whose events.
private enum Scope {
    case user(String)
    case conversation(String)
    case all

    init(_ session: Session) throws(CommandFailure) {
        let arguments = session.arguments
        switch (arguments.value("user"), arguments.value("conversation"), arguments.flag("all")) {
        case (let user?, nil, false): self = .user(user)
        case (nil, let conversation?, false): self = .conversation(conversation)
        case (nil, nil, true): self = .all
        default: throw usageFailure("one of --user, --conversation and --all", hint: "syncctl replay --help")
        }
    }

    func matches(_ header: EventHeader) -> Bool {
        switch self {
        case .user(let user): header.user.utf8.elementsEqual(user.utf8)
        case .conversation(let conversation): header.conversation?.utf8.elementsEqual(conversation.utf8) ?? false
        case .all: true
        }
    }

    var description: String {
        switch self {
        case .user(let user): "user \(user)"
        case .conversation(let conversation): "conversation \(conversation)"
        case .all: "the log"
        }
    }
}

/// Which part of it, in display time and in the log.
private struct Bounds {
    /// The last position that counts.
    let top: UInt64
    private let from: Int64?
    private let to: Int64?
    private let asOf: Int64?

    init(_ session: Session, _ reader: LogReader) throws(CommandFailure) {
        from = try Self.moment("since", session)
        to = try Self.moment("until", session)
        let last = try stored { try reader.top() }
        asOf = try Self.moment("as-of", session)
        top = min(try session.position("known-at") ?? last, last)
    }

    private static func moment(_ option: String, _ session: Session) throws(CommandFailure) -> Int64? {
        switch try session.time(option) {
        case nil: return nil
        case .instant(let milliseconds): return milliseconds
        default: throw usageFailure("--\(option) takes a moment")
        }
    }

    func contains(_ time: Int64) -> Bool {
        if let from, time < from { return false }
        if let to, time >= to { return false }
        if let asOf, time > asOf { return false }
        return true
    }
}

/// An event of the scope: where it stands in display order and in the log.
private struct Place {
    let key: DisplayKey
    let position: UInt64
}
