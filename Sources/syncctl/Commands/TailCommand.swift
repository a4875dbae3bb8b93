internal import CommandLineKit
internal import EventStore

enum TailCommand: Subcommand {
    static let command = Command(
        "tail", "The newest events in the order in which this node got them.", group: "READ",
        options: [
            .value("last", short: "n", "N", "The last N to begin with. Default: 20."),
            .flag("follow", short: "f", "Go on as events arrive, until interrupted."),
            .value("type", "TYPE", "Only events of this type; may be repeated.", repeatable: true),
            .value("conversation", "ID", "Only this conversation."),
            .value("user", short: "u", "UID", "Only this user."),
        ],
        examples: [
            .init("syncctl tail -f", "what happens now"),
            .init("syncctl tail -f --json --conversation c-88", "one conversation, for programs"),
        ])

    static func run(_ context: Context) throws(CommandFailure) -> ExitCode {
        let log = try context.log()
        let filter = Filter(context)
        let wanted = try context.integer("last", in: 0...1_000_000) ?? 20
        let node = try context.nodeName(log)
        var renderer = EntryRenderer(context, node: node, showsConversation: true)
        let top = try stored { () throws(StoreError) in try log.top() }
        for event in try newest(log, top, wanted, filter) { try renderer.add(event.entry) }
        try renderer.flush()
        guard context.arguments.flag("follow") else {
            try context.end(renderer.count)
            return renderer.count == 0 ? .nothingFound : .success
        }
        var position = top
        while true {
            try context.output.flush()
            var events: [StoredEvent] = []
            position = try stored { () throws(StoreError) in
                try log.scan(after: position, limit: 1_000) { event in
                    if filter.matches(event) { events.append(event) }
                    return true
                }
            }
            for event in events { try renderer.add(event.entry) }
            try renderer.flush()
            if events.isEmpty { sleepMilliseconds(50) }
        }
    }

    private struct Filter {
        let types: Set<String>
        let conversation: String?
        let user: String?

        init(_ context: Context) {
            types = Set(context.arguments.values("type"))
            conversation = context.arguments.value("conversation")
            user = context.arguments.value("user")
        }

        func matches(_ stored: StoredEvent) -> Bool {
            let header = stored.event.header
            if !types.isEmpty, !types.contains(header.type) { return false }
            if let conversation, header.conversation != conversation { return false }
            return user.map { header.user == $0 } ?? true
        }
    }

    /// Looks back from the log's end in growing steps until enough events match.
    private static func newest(
        _ log: LogReader, _ top: UInt64, _ wanted: Int, _ filter: Filter
    ) throws(CommandFailure) -> [StoredEvent] {
        var window = UInt64(max(wanted, 100))
        while true {
            let start = top - min(top, window)
            var found: [StoredEvent] = []
            var position = start
            while position < top {
                position = try stored { () throws(StoreError) in
                    try log.scan(after: position, limit: 5_000) { event in
                        if event.position <= top, filter.matches(event) { found.append(event) }
                        if found.count > wanted { found.removeFirst(found.count - wanted) }
                        return event.position < top
                    }
                }
            }
            if found.count >= wanted || start == 0 { return found }
            window *= 8
        }
    }
}

extension StoredEvent {
    /// The event as it arrived, without what became of it later.
    var entry: TimelineEntry { TimelineEntry(stored: self, edited: nil, edits: 0, isRetracted: false) }
}
