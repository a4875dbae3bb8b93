internal import CommandLineKit
internal import EventStore

enum TailCommand {
    static let entry = Subcommand(
        Command(
            "tail", "Newest events in the order of the log", group: "Read",
            options: [
                .value(
                    "last", short: "n", "N",
                    "How many (default: 10; with --since, or a place in --cursor-file, all of them)."),
                .flag("follow", short: "f", "Wait for more and print them as they come."),
            ] + EventSelection.options + [
                .value("conversation", "ID", "Only this conversation.", repeatable: true, names: "conversations"),
                .value("user", short: "u", "USER", "Only this user's history.", repeatable: true, names: "users"),
                .value(
                    "cursor-file", "FILE",
                    "Go on after the place kept in FILE, and keep the new one there; without FILE begin now."),
                .flag("from-start", "Begin at the first event of the log, where --cursor-file keeps no place yet."),
                EventSelection.ids, MessageText.fullOption, OutputForm.csvOption,
            ],
            examples: [
                .init("syncctl tail -n 20", "the last 20 events"),
                .init("syncctl tail -f --conversation c-88 --json", "one JSON object for each event as it comes"),
                .init("syncctl tail -f --url https://busan:7461", "what another node stores, as it comes"),
                .init("syncctl tail --since 2h --role assistant", "what bots have said in the last two hours"),
                .init(
                    "syncctl tail --cursor-file ~/.cache/bot.cursor --json", "only what is new since the last call"),
            ],
            discussion: """
                Given several times, a filter means any of them; different filters must all match.

                The place in FILE moves when events are printed, not when their reader has done its work: what waits in a pipe \
                when the reader dies is not printed again. A program that must lose nothing keeps the position of the last \
                event it has dealt with, and goes on with 'syncctl export --after POSITION'.

                With --url it follows a node's feed, and goes on where it was when the node has been started anew. The place in FILE is of \
                use at every node of the cluster then: some events may come again at another one, none is missed. The newest events are \
                looked for among the last 20,000 of the log.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        if let named = try DaemonClient.named(by: session) {
            var tail = try RemoteTail(session, named)
            return try tail.run()
        }
        var tail = try Tail(session, StoreLocation.find(for: session))
        return try tail.run()
    }
}

private struct Tail {
    let session: Session
    let location: StoreLocation
    /// The files that the reader has open.
    var held: HeldFiles
    var reader: LogReader
    let filter: EventSelection
    var lister: EventLister
    var count = 0
    private static let chunk: UInt64 = 500
    /// How far back the log itself is searched.
    private static let nearby: UInt64 = 4 * chunk
    /// How often a follower looks for more, in milliseconds.
    private static let interval = 50

    init(_ session: Session, _ location: StoreLocation) throws(CommandFailure) {
        self.session = session
        self.location = location
        filter = try EventSelection(session)
        held = Self.held(location.files)
        reader = try location.reader()
        lister = try EventLister(session, reader)
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        let cursor = session.arguments.value("cursor-file").map(CursorFile.init)
        let wanted = try usage { try session.arguments.integer("last", in: 0...10_000_000) }
        var position = try stored { try reader.top() }
        filter.range.tell(session)
        try lister.begin()
        if let cursor, let place = try cursor.load(reader) {
            position = try forward(from: place, to: position, atMost: wanted ?? .max)
        } else if session.arguments.flag("from-start") {
            // A file that cannot be written is told before anything is printed.
            try cursor?.save(0, reader)
            position = try forward(from: 0, to: position, atMost: wanted ?? .max)
        } else if cursor == nil || wanted != nil {
            // A new place is here and now: a reader that has never asked has missed nothing.
            if wanted == nil, filter.range.since != nil {
                try printAll(upTo: position)
            } else {
                try print(try newest(wanted ?? 10, upTo: position))
            }
        }
        try cursor?.save(position, reader)
        var place = try stored { try reader.place(at: position) }
        while session.arguments.flag("follow") {
            sleep(milliseconds: Self.interval)
            try reopen()
            guard try stored({ try reader.has(place) }) else { throw CursorFile.lost("what was followed") }
            let top = try stored { try reader.top() }
            guard top > position else { continue }
            position = try forward(from: position, to: top, atMost: .max)
            place = try stored { try reader.place(at: position) }
            try cursor?.save(position, reader)
        }
        try session.end(count: count, filter.range) { line in line.add("position", position) }
        if count == 0, cursor == nil { session.say(.noEventsMatched) }
        return count > 0 || cursor != nil ? .success : .nothingFound
    }

    /// Without the index of its WAL that others use a reader sees nothing of what they commit.
    private static func held(_ files: StoreFiles) -> HeldFiles { HeldFiles([files.log, files.log + "-shm"]) }

    /// A snapshot or a restored copy takes the place of the log that was opened. Waits while there is none.
    private mutating func reopen() throws(CommandFailure) {
        guard held.loss != nil, location.files.exists else { return }
        held = Self.held(location.files)
        reader = try location.reader()
        lister = try EventLister(session, reader)
    }

    /// Prints what follows `position`; returns the last position looked at.
    private mutating func forward(
        from position: UInt64, to top: UInt64, atMost limit: Int
    ) throws(CommandFailure) -> UInt64 {
        var position = position
        while position < top, count < limit {
            var found: [StoredEvent] = []
            let room = limit - count
            let size = Int(min(Self.chunk, top - position))
            position = try stored {
                try reader.scan(after: position, limit: size) { event in
                    if filter.matches(event.event.header) { found.append(event) }
                    return found.count < room
                }
            }
            try print(found)
        }
        return position
    }

    private mutating func print(_ events: [StoredEvent]) throws(CommandFailure) {
        try lister.print(events)
        try session.output.flush()
        count += events.count
    }

    /// The last `wanted` matching events up to `top`, found from the end of the log backwards; those of users and conversations, where
    /// they are not among its last ones, by the views.
    private func newest(_ wanted: Int, upTo top: UInt64) throws(CommandFailure) -> [StoredEvent] {
        var chunks: [[StoredEvent]] = []
        var missing = wanted
        var end = top
        while missing > 0, end > 0 {
            if top - end >= Self.nearby, filter.hasScope {
                return try indexed(upTo: end, missing) + chunks.reversed().flatMap { $0 }
            }
            let start = end - min(end, Self.chunk)
            var found: [StoredEvent] = []
            _ = try stored {
                try reader.scan(after: start, limit: Int(end - start)) { event in
                    if filter.matches(event.event.header) { found.append(event) }
                    return true
                }
            }
            chunks.append(found.suffix(missing))
            missing -= min(missing, found.count)
            end = start
        }
        return chunks.reversed().flatMap { $0 }
    }
}

extension Tail {
    /// The last `count` matching events up to `end`, by the views.
    private func indexed(upTo end: UInt64, _ count: Int) throws(CommandFailure) -> [StoredEvent] {
        var events: [StoredEvent] = []
        let replay = LogReplay(location.files, at: try positions(upTo: end).suffix(count))
        try stored {
            try replay.forEach { event in
                events.append(event)
                return true
            }
        }
        return events
    }

    /// Prints all that matches up to `end`: of users and conversations by the views, else by all headers of the log.
    private mutating func printAll(upTo end: UInt64) throws(CommandFailure) {
        guard filter.hasScope else {
            _ = try forward(from: 0, to: end, atMost: .max)
            return
        }
        let replay = LogReplay(location.files, at: try positions(upTo: end))
        let parts = try stored { try replay.parts() }
        while let part = try stored({ try parts.next() }) { try print(part) }
    }

    /// The positions of the matching events of users and conversations, up to `end`.
    private func positions(upTo end: UInt64) throws(CommandFailure) -> [UInt64] {
        let views = try FreshViews.open(session, location.files)
        var query = filter.query
        query.knownAt = end
        query.withTwins = true
        query.conversations = filter.users.isEmpty ? [] : filter.conversations
        var positions: Set<UInt64> = []
        for user in filter.users {
            positions.formUnion(try stored { try views.positions(user: user, query) })
        }
        for conversation in filter.conversations where filter.users.isEmpty {
            positions.formUnion(try stored { try views.positions(conversation: conversation, query) })
        }
        return positions.sorted()
    }
}

/// The place of a reader in one log (``LogPlace``). Another log's place, or one that this log has lost, is refused, never used.
private struct CursorFile {
    let path: String

    func load(_ reader: LogReader) throws(CommandFailure) -> UInt64? {
        guard let bytes = try stored({ try SmallFile.read(path) }) else { return nil }
        let text = String(decoding: bytes.prefix(200), as: UTF8.self)
        guard let place = LogPlace(text: text) ?? FeedCursor(text: text.filter { !$0.isWhitespace })?.place else {
            throw CommandFailure(
                code: "E_CURSOR", "\(path) is no cursor", hint: "another file, or remove this one",
                exitCode: .badInput)
        }
        guard try stored({ try reader.has(place) }) else {
            throw Self.lost(path)
        }
        return place.position
    }

    static func lost(_ place: String) -> CommandFailure {
        CommandFailure(
            code: "E_CURSOR", "\(place) is a place in another log, or in what this log has lost",
            why: "The store was restored or cut, or is another one; positions do not carry over.",
            hint: "remove the file of the cursor, if there is one, and begin anew", exitCode: .badInput)
    }

    func save(_ position: UInt64, _ reader: LogReader) throws(CommandFailure) {
        try stored {
            let text = try reader.place(at: position).text
            try SmallFile.replace(path, with: Array("\(text)\n".utf8), mode: 0o600)
        }
    }
}
