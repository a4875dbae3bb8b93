internal import Backups
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum BackupCreateCommand {
    static let entry = Subcommand(
        Command(
            "backup create", "Adds a backup to a repository, beside a running daemon, too", group: "Administration",
            arguments: [
                .init("repository", "The folder for the backups; it is made if it is not there.", count: .optional)
            ],
            options: [
                BackupSession.keyOption,
                .flag("anew", "All rows, and not only those behind the newest backup."),
                .flag("without-key", "Leave node.key out: for who is to read and verify, and nothing more."),
                .value("to-command", "COMMAND", "Streams the backup to this command instead, run by the shell."),
                .value(
                    "base", "FILE",
                    "With --to-command: goes on behind the backup in this file, if it is there, and writes the new one there."
                ),
            ],
            examples: [
                .init(
                    "syncctl backup create /backups/seoul", "the first one has everything, the next what came since"),
                .init("syncctl backup create /mnt/away --key-file /etc/sillok/backup.key", "encrypted"),
                .init(
                    "syncctl backup create --to-command 'ssh vault \"cat > seoul.stream\"' --key-file backup.key",
                    "to another machine, with no file here"),
            ],
            discussion: """
                A backup ends where signed heads cover the log: beside a daemon that is what is there when the command begins. Rows are read \
                in short transactions, checked and hashed. What was erased since an earlier backup is taken out of that, too. The backup \
                is on the disk when the command ends. Attachments are in it, each written once. Exit code 2 when events are not covered yet, or \
                attachments not here, and therefore missing. Behind a backup that lacks a segment none is made. Keep the key file, \
                and copies of it, elsewhere: without it the backups cannot be read.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let backup = BackupSession(session)
        let files = try StoreLocation.find(for: session).files
        let command = session.arguments.value("to-command")
        guard (command == nil) != (session.arguments.positional("repository") == nil) else {
            throw usageFailure("a repository, or --to-command: one of them says where to")
        }
        guard command != nil || session.arguments.value("base") == nil else {
            throw usageFailure("--base goes with --to-command: a repository knows its backups")
        }
        let plan = BackupPlan(
            withKey: !session.arguments.flag("without-key"), isFull: session.arguments.flag("anew"))
        Interrupt.watchEnd()
        let start = MonotonicClock.now
        let writer = try backedUp { () throws(BackupError) in
            try BackupWriter(files, progress: backup.progress("backup"))
        }
        let report: BackupReport
        if let command {
            report = try stream(writer, plan, to: command, backup)
        } else {
            let repository = try backup.repository(.making)
            report = try backedUp { () throws(BackupError) in try writer.run(plan, in: repository) }
        }
        try tell(report, Int64((MonotonicClock.now - start) / 1_000_000), session)
        if report.attachmentsMissing > 0 { return .degraded }
        return report.uncovered > 0 && StoreLock.owner(files) == nil ? .degraded : .success
    }

    private static func stream(
        _ writer: BackupWriter, _ plan: BackupPlan, to command: String, _ backup: BackupSession
    ) throws(CommandFailure) -> BackupReport {
        let key = try backup.key()
        let path = backup.session.arguments.value("base")
        return try backedUp { () throws(BackupError) in
            let base =
                try plan.isFull
                ? nil
                : path.flatMap { path throws(BackupError) in
                    try BackupWriter.kept(at: path, key: key)
                }
            let child = try ShellCommand(command, .takes, environment: backup.session.terminal.environment)
            let report: BackupReport
            do throws(BackupError) {
                let stream = try StreamWriter(child.descriptor)
                report = try writer.run(plan, into: stream, behind: base, key: key)
            } catch {
                // Why it has gone says more than that its pipe is broken.
                try child.finish()
                throw error
            }
            try child.finish()
            if let path { try writer.keep(report.manifest, at: path, key: key) }
            return report
        }
    }

    private static func tell(
        _ report: BackupReport, _ milliseconds: Int64, _ session: Session
    ) throws(CommandFailure) {
        let manifest = report.manifest
        let added = manifest.position - report.after
        let pictures =
            report.attachmentsAdded == 0 ? "" : " and \(EventText.count(report.attachmentsAdded, "attachment"))"
        let behind = report.base.map { ", behind \($0)" } ?? ", a full backup"
        for lack in report.broken { session.say("\(lack): this one does not go on behind it") }
        if report.isOtherHistory {
            session.say("the log goes on from none of the backups that are there: this is a full one")
        }
        if !report.unreached.isEmpty {
            session.say(
                "what was erased stays in \(report.unreached.joined(separator: ", ")): they are damaged, of another history, or not signed by this node; take them away"
            )
        }
        if !report.unsigned.isEmpty {
            session.say(
                "\(report.unsigned.joined(separator: ", ")): not signed by this node, so not its word; it does not go on behind that, and signs none of it"
            )
        }
        if !report.putBack.isEmpty {
            session.say(
                "an older copy was put back over \(report.putBack.joined(separator: ", ")): what was erased since is taken out again"
            )
        }
        if !report.cleared.isEmpty {
            session.say(
                "\(EventText.count(report.cleared.count, "file")) with what was erased taken away, that no backup names"
            )
        }
        if report.rewritten > 0 {
            session.say("\(EventText.count(report.rewritten, "segment")) written again without what was erased")
        }
        if report.uncovered > 0 {
            session.say(
                "\(EventText.count(report.uncovered, "event")) not covered by a signed head yet: the next backup has them"
            )
        }
        if report.attachmentsMissing > 0 {
            session.say(
                "\(EventText.count(Int(clamping: report.attachmentsMissing), "attachment")) not here, or damaged, and so not in the backup: 'syncctl attachment list --missing', '--damaged'"
            )
        }
        let size = BackupSession.size(report.bytes)
        try session.line(
            Sanitizer.line(
                "\(manifest.id): \(EventText.count(added, "event"))\(pictures) added\(behind), \(size), up to position \(manifest.position)"
            ),
            "backup"
        ) { line in
            BackupSession.describe(manifest, &line)
            line.add("after", report.after)
            line.add("written", report.bytes)
            line.add("attachments_added", report.attachmentsAdded)
            line.add("attachments_missing", report.attachmentsMissing)
            line.add("base", report.base)
            line.add("uncovered", report.uncovered)
            line.add("rewritten", report.rewritten)
            line.add("unreached", report.unreached)
            line.add("put_back", report.putBack)
            line.add("cleared", report.cleared)
            line.add("unsigned", report.unsigned)
            line.add("broken", report.broken.map(\.description))
            line.add("milliseconds", milliseconds)
        }
        try session.end(count: 1)
    }
}
