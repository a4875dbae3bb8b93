internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// Events that are stored and relayed but hidden from views, because this release cannot read them (D13).
enum QuarantineCommand {
    static let list = Subcommand(
        Command(
            "quarantine list", "Events that views cannot read, with the reasons", group: "Administration",
            options: [
                .value("last", short: "n", "COUNT", "At most so many (default: 50)."),
                .value("after", "POSITION", "Only what stands after this position."),
            ],
            examples: [
                .init("syncctl quarantine list", "the first fifty"),
                .init("syncctl quarantine list --json --after 10412", "more of them, for a program"),
            ],
            discussion: """
                Quarantined events are in the log, are proved by 'syncctl verify' and reach all peers. VIEW says where \
                they do not show; * stands for all views that would interpret them. 'syncctl show POSITION --json' has \
                their bytes. They come from newer releases (an upgrade of this node drains them) or from faulty \
                programs.
                """), run: runList)

    static let retry = Subcommand(
        Command(
            "quarantine retry", "Reads them again, by building the views anew", group: "Administration",
            examples: [.init("syncctl quarantine retry", "what an upgrade also does by itself")],
            discussion: """
                The present views answer queries until the new ones are complete. Exit code 4 when events are still \
                quarantined afterwards.
                """), run: runRetry)

    // MARK: List

    private static func runList(_ session: Session) throws(CommandFailure) -> ExitCode {
        let limit = try usage { try session.arguments.integer("last", in: 1...1_000_000) } ?? 50
        let start = try session.position("after") ?? 0
        let views = try FreshViews.open(session)
        let total = try stored { try views.quarantined() }
        let entries = try stored { try views.quarantine(after: start, limit: limit) }
        var table = TextTable([
            .right(session.heading(.position)), .left(session.heading(.event)), .left(session.heading(.type)),
            .left(session.heading(.view)), .left(session.heading(.reason)),
        ])
        for entry in entries {
            guard let event = try stored({ try views.log.event(at: entry.position) }) else { continue }
            let header = event.event.header
            if session.isJSON {
                try session.output.line(json(entry, header))
            } else {
                table.add([
                    .init(String(entry.position)), .init(header.dot.description),
                    .init(header.isOpaque ? "-" : header.type), .init(entry.view),
                    .init(session.translated(entry.reason)),
                ])
            }
        }
        if !session.isJSON, !entries.isEmpty { try session.print(table) }
        try session.end(count: entries.count) { $0.add("quarantined", total) }
        if entries.isEmpty {
            session.say(total == 0 ? .nothingQuarantined : .nothingMoreQuarantined)
        } else if let last = entries.last, Set(entries.map(\.position)).count == limit {
            session.say(.moreQuarantined, String(total), String(last.position))
        }
        return .success
    }

    private static func json(_ entry: QuarantinedEvent, _ header: EventHeader) -> JSONLine {
        var line = JSONLine(type: "quarantined")
        line.add("position", entry.position)
        line.add("origin", header.dot.origin.description)
        line.add("sequence", header.dot.seq)
        line.add("id", header.isOpaque ? nil : header.id.description)
        line.add("event_type", header.isOpaque ? nil : header.type)
        line.add("user", header.isOpaque ? nil : header.user)
        line.add("view", entry.view)
        line.add("reason", entry.reason)
        return line
    }

    // MARK: Retry

    private static func runRetry(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let before = try stored { try FreshViews.open(session, files).quarantined() }
        if let daemon = try DaemonClient.running(files) {
            try rebuild(with: daemon)
        } else {
            try rebuild(files, session)
        }
        let after = try stored { try FreshViews.open(session, files).quarantined() }
        let told = session.shown(.quarantineRetried, String(before), String(after))
        try session.line(told, "retried") { line in
            line.add("before", before)
            line.add("after", after)
        }
        try session.end(count: 1)
        return after == 0 ? .success : .partlyDone
    }

    /// The daemon builds; it is asked until it has.
    private static func rebuild(with daemon: DaemonClient) throws(CommandFailure) {
        try daemon.post(Route.quarantine.path("retry"))
        while try daemon.get(Route.status.path).bool("rebuilding") == true { sleep(milliseconds: 100) }
    }

    private static func rebuild(_ files: StoreFiles, _ session: Session) throws(CommandFailure) {
        // Opening for writing reads again what an earlier release could not.
        try stored { try EventStore(opening: files.folder, owner: "syncctl quarantine").close() }
        var progress = Progress("views", unit: "events", style: session.isJSON ? .off : session.style())
        var last: UInt64 = 0
        try stored {
            let lock = try StoreLock(files, owner: "syncctl quarantine")
            defer { withExtendedLifetime(lock) {} }
            try Projector.catchUp(files, isIndexed: true, anew: true) { done, total in
                last = done
                progress.update(done: done, total: total)
            }
        }
        progress.finish(done: last, total: nil)
    }
}
