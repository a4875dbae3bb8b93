internal import CommandLineKit
internal import EventStore

enum DigestCommand {
    static let entry = Subcommand(
        Command(
            "digest", "Origins, roots and a digest of every view, to compare nodes", group: "Trust",
            examples: [
                .init(
                    "diff <(syncctl digest --store a) <(syncctl digest --store b)",
                    "nothing when both hold the same")
            ],
            discussion: """
                Nodes with equal vectors have equal roots and equal views, whatever order events arrived in. While the views \
                lack events that the log has, the last line says so and the exit code is 2: nothing can be compared yet.
                """
        ),
        run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let views = try FreshViews.open(session, files, isIndexed: true)
        let top = try stored { try views.log.top() }
        let behind = top - min(top, try stored { try views.indexed() })
        session.lacking.withLock { $0 = behind }
        let origins = try stored { try views.log.origins() }.filter { $0.size > 0 }
        let digests = try stored { try views.digests() }
        for origin in origins {
            let root = try stored { try views.log.root(of: origin.id, size: origin.size) }
            let told = session.shown(.digestOrigin, "\(origin.id)", String(origin.size), "\(root)")
            try session.line(told, "origin") { line in
                line.add("origin", origin.id.description)
                line.add("size", origin.size)
                line.add("root", root.description)
            }
        }
        for digest in digests {
            try session.line(session.shown(.digestView, "\(digest)"), "view") { line in
                line.add("view", digest.view)
                line.add("rows", digest.rows)
                line.add("digest", digest.digest.description)
            }
        }
        if behind > 0, !session.isJSON {
            try session.output.line(session.shown(.digestLacks, session.counted(behind, .event)))
        }
        try session.end(count: origins.count + digests.count) { line in line.add("complete", behind == 0) }
        return .success
    }
}
