internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum ReplayCommand {
    static let entry = Subcommand(
        Command(
            "replay", "Events of a scope in display order", group: "Read",
            options: [
                .value("user", short: "u", "USER", "This user's history.", names: "users"),
                .value("conversation", "ID", "This conversation.", names: "conversations"),
                .flag("all", "Everything."),
                EventSelection.asOf, EventSelection.knownAt,
            ] + EventSelection.options + [
                .flag("scan", "Search the whole log, and trust no index."),
                .value(
                    "order", "ORDER", "In display order (default), or in that of this node's log.",
                    allowed: ["time", "log"]),
                .value("speed", "N", "As it happened, N times as fast; 'max' (default) waits for nothing."),
                .value("into", "DIR", "Makes a store anew of the events, and compares it; of all of them."),
                EventSelection.ids, MessageText.fullOption, OutputForm.csvOption,
            ],
            examples: [
                .init("syncctl replay --conversation c-88 --as-of '2026-08-01 11:03'", "what stood there then"),
                .init("syncctl replay --user u-1029 --since 7d --json", "a week as native NDJSON, for an audit"),
                .init("syncctl replay --all --known-at 10412 --json", "everything this node knew at position 10412"),
                .init("syncctl replay --conversation c-88 --speed 60", "a minute of it in a second"),
                .init("syncctl replay --all --into /tmp/again", "a store made anew, with equal roots and views"),
            ],
            discussion: """
                Display order is the same on every node: by time, then by when it was recorded, then by origin and \
                sequence. --as-of goes by when things happened; --known-at by what had arrived here. An event that was \
                recorded by several nodes comes as often; the lines that do not count say in 'twinof' which one does.

                A user's or a conversation's events are found by the indexes that 'syncctl verify --views' proves to be \
                complete. --scan and --all read the log alone, and keep 56 bytes in memory for each event of the scope.

                --speed waits between two events as long as there was between them, divided by N: by when they happened, and \
                with --order log by when they were recorded. --into appends each event to a new store, hashed again, in the \
                order of the log, and says whether the trees and the views of the new store are those of this one (exit code 3 \
                where they differ). The folder must be empty or not there. The node's key stays here: no node can be started on it.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let scope = try Scope(session)
        if session.arguments.value("into") != nil { return try StoreMaking.run(session, isAll: scope.name == nil) }
        let pace = try ReplayPace(session)
        let location = try StoreLocation.find(for: session)
        let reader = try location.reader()
        let last = try stored { try reader.top() }
        let selection = try EventSelection(session)
        let top: UInt64 =
            switch selection.range.known {
            case .position?: try session.position("known-at", upTo: last) ?? last
            case .time(let time)?: try stored { try reader.known(at: time).position }
            case nil: last
            }
        selection.range.tell(session)
        let positions = try find(scope, selection, upTo: top, location, session)
        let replay = LogReplay(location.files, at: positions)
        if let pace {
            try paced(replay, pace, reader, session)
        } else if session.isJSON {
            let adder = try stored { try EventLines(reader).adder(upTo: top) }
            let parts = try stored { try replay.parts(adder) }
            while let part = try stored({ try parts.next() }) {
                try session.output.write(part.bytes)
                parts.giveBack(part)
            }
        } else {
            var lister = try EventLister(session, reader)
            try lister.begin()
            let parts = try stored { try replay.parts() }
            while let part = try stored({ try parts.next() }) { try lister.print(part) }
        }
        try session.end(count: positions.count, selection.range) { line in line.add("position", top) }
        if positions.isEmpty {
            if let name = scope.name { session.say(.noEventOf, name) } else { session.say(.noEventsMatched) }
        }
        return positions.isEmpty ? .nothingFound : .success
    }

    /// Prints each event when its time has come.
    private static func paced(
        _ replay: LogReplay, _ pace: ReplayPace, _ reader: LogReader, _ session: Session
    ) throws(CommandFailure) {
        var pace = pace
        let lines = try stored { try EventLines(reader) }
        var lister = try EventLister(session, reader)
        if !session.isJSON { try lister.begin() }
        let parts = try stored { try replay.parts() }
        while let part = try stored({ try parts.next() }) {
            for event in part {
                pace.wait(for: event.event.header)
                if session.isJSON {
                    try session.output.write(try stored { try lines.line(event) })
                } else {
                    try lister.print([event])
                }
                try session.output.flush()
            }
        }
    }

    /// The positions of the scope's events, in the order that is asked for.
    private static func find(
        _ scope: Scope, _ selection: EventSelection, upTo top: UInt64, _ location: StoreLocation, _ session: Session
    ) throws(CommandFailure) -> [UInt64] {
        let isByLog = session.arguments.value("order") == "log"
        if session.arguments.flag("scan") || scope.name == nil {
            return try scan(selection, upTo: top, isByLog, location, session)
        }
        var query = selection.query
        query.knownAt = top
        // Twins are of the record, too.
        query.withTwins = true
        switch scope {
        case .user(let user):
            let views = try FreshViews.open(session, location.files)
            let positions = try stored { try views.positions(user: user, query) }
            return isByLog ? positions.sorted() : positions
        case .conversation(let conversation):
            let views = try FreshViews.open(session, location.files)
            let positions = try stored { try views.positions(conversation: conversation, query) }
            return isByLog ? positions.sorted() : positions
        case .all: return []
        }
    }

    /// The same by looking at every event of the log.
    private static func scan(
        _ selection: EventSelection, upTo top: UInt64, _ isByLog: Bool, _ location: StoreLocation, _ session: Session
    ) throws(CommandFailure) -> [UInt64] {
        let replay = LogReplay(location.files, through: top)
        var places: [Place] = []
        var progress = Progress("replay", unit: "events", style: session.style())
        let parts = try stored {
            try replay.parts {
                { (part: inout PlacePart, stored) in
                    part.last = stored.position
                    let header = stored.event.header
                    if selection.matches(header) {
                        part.places.append(Place(key: header.displayKey, position: stored.position))
                    }
                }
            }
        }
        while let part = try stored({ try parts.next() }) {
            places += part.places
            progress.update(done: part.last, total: top)
            parts.giveBack(part)
        }
        progress.finish(done: top, total: top)
        if !isByLog { places.sort { $0.key < $1.key } }
        return places.map(\.position)
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

    /// Whose; `nil` for all.
    var name: String? {
        switch self {
        case .user(let name), .conversation(let name): name
        case .all: nil
        }
    }
}

/// An event of the scope: where it stands in display order and in the log.
private struct Place {
    let key: DisplayKey
    let position: UInt64
}

/// Places found in a part of the log.
private struct PlacePart: ReplayPart {
    var places: [Place] = []
    /// The part's last position.
    var last: UInt64 = 0

    mutating func removeAll(keepingCapacity: Bool) { places.removeAll(keepingCapacity: keepingCapacity) }
}
