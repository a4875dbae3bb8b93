internal import CommandLineKit
internal import EventStore

enum DigestCommand {
    static let entry = Subcommand(
        Command(
            "digest", "Origins, roots and a digest of every view, to compare nodes", group: "Trust",
            options: [.flag("search", "With the search index, which is brought on first.")],
            examples: [
                .init(
                    "diff <(syncctl digest --store a) <(syncctl digest --store b)",
                    "nothing when both hold the same")
            ],
            discussion: """
                Nodes with equal vectors have equal roots and equal views, whatever order events arrived in. All that is told \
                is of one position. Where the views do not come as far as the log in two seconds, the last line says so and \
                the exit code is 2: nothing can be compared yet.
                """
        ),
        run: run)

    private struct Told {
        var origins: [(id: OriginID, size: UInt64, root: Digest)] = []
        var views: [ViewDigest] = []
        /// How many events are in the log that it does not speak of.
        var behind: UInt64 = 0
    }

    /// How often it is looked whether log and views stand at one position, and the pause before the next look: two seconds in all.
    private static let (looks, pause) = (400, 5)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let isIndexed = session.arguments.flag("search")
        let views = try FreshViews.open(session, StoreLocation.find(for: session).files, isIndexed: isIndexed)
        let told = try look(views, isIndexed)
        session.lacking.withLock { $0 = told.behind }
        for origin in told.origins {
            let text = session.shown(.digestOrigin, "\(origin.id)", String(origin.size), "\(origin.root)")
            try session.line(text, "origin") { line in
                line.add("origin", origin.id.description)
                line.add("size", origin.size)
                line.add("root", origin.root.description)
            }
        }
        for digest in told.views {
            try session.line(session.shown(.digestView, "\(digest)"), "view") { line in
                line.add("view", digest.view)
                line.add("rows", digest.rows)
                line.add("digest", digest.digest.description)
            }
        }
        if told.behind > 0, !session.isJSON {
            try session.output.line(session.shown(.digestLacks, session.counted(told.behind, .event)))
        }
        try session.end(count: told.origins.count + told.views.count) { line in
            line.add("complete", told.behind == 0)
        }
        return .success
    }

    /// Reads log and views until both are at one position: events may come meanwhile.
    private static func look(_ views: ViewReader, _ isIndexed: Bool) throws(CommandFailure) -> Told {
        var told = try stored { () throws(StoreError) in try now(views, isIndexed) }
        for _ in 1..<looks where told.behind > 0 {
            sleepMilliseconds(pause)
            told = try stored { () throws(StoreError) in try now(views, isIndexed) }
        }
        return told
    }

    private static func now(_ views: ViewReader, _ isIndexed: Bool) throws(StoreError) -> Told {
        var told = Told()
        let top = try views.log.top()
        for origin in try views.log.origins() where origin.size > 0 {
            told.origins.append((origin.id, origin.size, try views.log.root(of: origin.id, size: origin.size)))
        }
        let digests = try views.digests(isIndexed: isIndexed)
        told.views = digests.views
        told.behind = try views.log.top() - min(top, digests.position)
        return told
    }
}
