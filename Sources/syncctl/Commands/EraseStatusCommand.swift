internal import CommandLineKit
internal import EventStore
internal import SillokAPI

/// How far erasures have come: here, and at the other nodes as far as their own events tell.
enum EraseStatusCommand {
    static let entry = Subcommand(
        Command(
            "erase status", "Erasures, and which nodes have confirmed them", group: "Administration",
            arguments: [.init("event", "Id of one erasure.", count: .optional)],
            examples: [.init("syncctl erase status", "the latest first")],
            discussion: """
                A node confirms an erasure by an event of its own, and erases from then on: it refuses payloads that come later. The \
                event does not prove that its disk is clean. A node that has not confirmed has not heard of it, is of an earlier \
                release, or is gone.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let wanted = session.arguments.positional("event")
        let (reports, hasViews) = try stored {
            let reader = try LogReader(files)
            // A hand on the files of a node that does not run may have written what the table says of them.
            let isSearched = StoreLock.owner(files) == nil
            return (try reader.erasureReports(isSearched: isSearched), try files.areCleared(reader))
        }
        let found = reports.filter { wanted == nil || $0.stored.event.header.id.description == wanted }
        if session.isJSON {
            for report in found { try session.output.line(ErasureLines.line(report, hasViews: hasViews)) }
        } else if !found.isEmpty {
            try session.print(table(session, found, hasViews))
        }
        if found.isEmpty { session.say(.eraseNone) }
        try session.end(count: found.count)
        return found.isEmpty ? .nothingFound : .success
    }

    private static func table(_ session: Session, _ reports: [ErasureReport], _ hasViews: Bool) -> TextTable {
        var table = TextTable([
            .whole(session.headingOfTimes(.time)), .left(session.heading(.erasePart)), .left(session.heading(.state)),
            .left(session.heading(.eraseConfirmed)), .left(session.heading(.eraseWaiting)),
            .whole(session.heading(.id)),
        ])
        for report in reports {
            table.add(
                [
                    session.clock(report.stored.event.header.hlc.milliseconds), subject(report),
                    session.shown(state(report, hasViews), percent(report)),
                    report.confirmed.map { $0.node.short }.joined(separator: " "),
                    report.waiting.map(\.short).joined(separator: " "), report.stored.event.header.id.description,
                ].map { .init(Sanitizer.line($0)) })
        }
        return table
    }

    private static func subject(_ report: ErasureReport) -> String {
        switch report.stored.erasure?.subject {
        case .user(let name), .conversation(let name): name
        case nil: "\(report.stored.erasure?.events.count ?? 0)"
        }
    }

    private static func state(_ report: ErasureReport, _ hasViews: Bool) -> Wording {
        switch report.standing {
        case .unconfirmed: .eraseUnconfirmed
        case .underWay: .eraseUnderWay
        case .applied: hasViews ? .eraseApplied : .eraseViews
        }
    }

    private static func percent(_ report: ErasureReport) -> String {
        guard case .underWay(let position, let last) = report.standing, last > 0 else { return "" }
        return String(position * 100 / last)
    }
}
