internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// `--proof` of commands that read: the events with all that proves them (FORMATS.md §10).
enum ProofOutput {
    static let option = Command.Option.flag("proof", "With what proves the events, for 'syncctl check-proof'.")

    static func isWanted(_ session: Session) throws(CommandFailure) -> Bool {
        guard session.arguments.flag("proof") else { return false }
        if session.isCSV { throw usageFailure("--proof is a form of its own and has no CSV") }
        return true
    }

    /// What the query finds of an owner's events.
    ///
    /// - Parameters:
    ///   - others: More of the owner's events, found or not.
    ///   - put: Takes the bytes; `nil`: they go to the output.
    static func run(
        _ session: Session, _ owner: TimelineOwner, _ query: TimelineQuery, with others: Set<EventID> = [],
        to put: (([UInt8]) throws(CommandFailure) -> Void)? = nil
    ) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        var positions = try Self.positions(session, files, owner, query)
        let scope: AnswerScope =
            switch owner {
            case .user(let user): .user(user)
            case .conversation(let id): .conversation(id)
            }
        let log = try stored { try LogReader(files) }
        for id in others {
            let events = try stored { try log.events(id: id) }
            positions += events.filter { scope.contains($0.event.header) }.map(\.position)
        }
        return try write(session, files, scope, positions, isFiltered: query != TimelineQuery(), put)
    }

    /// Where the events that the query finds stand in the log, twins too.
    static func positions(
        _ session: Session, _ files: StoreFiles, _ owner: TimelineOwner, _ query: TimelineQuery
    ) throws(CommandFailure) -> [UInt64] {
        try ProofExport.awaitProvenViews(files)
        let views = try FreshViews.open(session, files)
        var all = query
        (all.withTwins, all.limit) = (true, .all)
        let found = try stored { [all] in
            switch owner {
            case .user(let user): try views.positions(user: user, all)
            case .conversation(let id): try views.positions(conversation: id, all)
            }
        }
        return switch query.limit {
        case .all: found
        case .first(let count): Array(found.prefix(count))
        case .last(let count): Array(found.suffix(count))
        }
    }

    /// One event, and those with the same id.
    static func run(_ session: Session, _ event: StoredEvent) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let id = event.event.header.id
        let positions = try stored { try LogReader(files).events(id: id).map(\.position) }
        return try write(session, files, .event(id), positions, isFiltered: false)
    }

    private static func write(
        _ session: Session, _ files: StoreFiles, _ scope: AnswerScope, _ positions: [UInt64], isFiltered: Bool,
        _ put: (([UInt8]) throws(CommandFailure) -> Void)? = nil
    ) throws(CommandFailure) -> ExitCode {
        let export = try ProofExport.make(session, files, scope, positions, isFiltered: isFiltered)
        var progress = Progress("proof", unit: "events", style: session.style())
        while let piece = try stored({ try export.next() }) {
            if let put { try put(piece) } else { try session.output.write(piece) }
            progress.update(done: export.written, total: export.count)
        }
        progress.finish(done: export.written, total: export.count)
        if !export.isSigned { session.say(.proofNotSigned) }
        if export.count == 0 { return .nothingFound }
        return export.isSigned ? .success : .degraded
    }
}
