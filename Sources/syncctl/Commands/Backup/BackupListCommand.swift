internal import Backups
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum BackupListCommand {
    static let entry = Subcommand(
        Command(
            "backup list", "Shows the backups of a repository", group: "Administration",
            arguments: [BackupSession.repositoryArgument], options: [BackupSession.keyOption],
            examples: [.init("syncctl backup list /backups/seoul", "the oldest first")],
            discussion: """
                Only whole backups are listed. What an interrupted run has left is counted; 'backup prune' takes it away. SIZE is that of \
                all segments of a backup; those that backups share are in the folder once.
                """), run: list)

    private static func list(_ session: Session) throws(CommandFailure) -> ExitCode {
        let repository = try BackupSession(session).repository(.reading)
        let (found, leftovers) = try backedUp { () throws(BackupError) in
            let found = try repository.manifests()
            return (found, try repository.leftovers(besides: found.good))
        }
        for bad in found.bad { session.say(session.explained(bad)) }
        if !leftovers.isEmpty {
            session.remark(.backupLeftovers, session.counted(leftovers.count, .file))
        }
        if session.isJSON {
            for manifest in found.good {
                try session.line("", "backup") { BackupSession.describe(manifest, &$0) }
            }
        } else {
            var table = TextTable([
                .left(session.heading(.backup)), .left(session.headingOfTimes(.time)), .left(session.heading(.node)),
                .right(session.heading(.position)), .right(session.heading(.segments)),
                .right(session.heading(.size)),
            ])
            for manifest in found.good {
                table.add([
                    .init(manifest.id), .init(session.clock(manifest.time)), .init(Sanitizer.line(manifest.name)),
                    .init(String(manifest.position)), .init(String(manifest.segments.count)),
                    .init(BackupSession.size(manifest.segments.saturatedSum(of: \.bytes))),
                ])
            }
            try session.print(table)
        }
        try session.end(count: found.good.count)
        if !found.bad.isEmpty { return .integrityFailure }
        return found.good.isEmpty ? .nothingFound : .success
    }
}

enum BackupPruneCommand {
    static let entry = Subcommand(
        Command(
            "backup prune", "Takes old backups and leftovers out of a repository", group: "Administration",
            arguments: [BackupSession.repositoryArgument],
            options: [
                BackupSession.keyOption,
                .value("keep", "N", "Keeps the newest N backups of each node."),
                .value("keep-days", "D", "Keeps those of the last D days."),
            ],
            examples: [
                .init(
                    "syncctl backup prune /backups/seoul --keep 7 --keep-days 30", "what either of them keeps, stays"),
                .init("syncctl backup prune /backups/seoul", "only what interrupted runs have left"),
            ],
            discussion: """
                The newest backup of each node always stays, and so do the segments and attachments that a kept backup needs, whichever backup has written \
                them. Where a manifest cannot be read, or another file lies beside the manifests, nothing is taken away.
                """), run: prune)

    private static let day: Int64 = 86_400_000

    private static func prune(_ session: Session) throws(CommandFailure) -> ExitCode {
        let count = try usage { try session.arguments.integer("keep", in: 1...1_000_000) }
        let days = try usage { try session.arguments.integer("keep-days", in: 0...100_000) }
        let repository = try BackupSession(session).repository(.writing)
        let retention = Retention(count: count, since: days.map { session.now - Int64($0) * day })
        let report = try backedUp { () throws(BackupError) in try repository.prune(retention) }
        if session.isJSON {
            for manifest in report.removed {
                try session.line("", "pruned") { line in
                    line.add("id", manifest.id)
                    line.add("position", manifest.position)
                }
            }
        } else {
            for manifest in report.removed { try session.output.line(session.shown(.backupRemoved, manifest.id)) }
            let told = session.shown(
                .backupPruned, session.counted(report.kept.count, .backup),
                session.counted(report.files.count, .file),
                BackupSession.size(report.bytes))
            try session.output.line(told)
        }
        try session.end(count: report.removed.count) { line in
            line.add("kept", report.kept.count)
            line.add("files", report.files.count)
            line.add("bytes", report.bytes)
        }
        return .success
    }
}
