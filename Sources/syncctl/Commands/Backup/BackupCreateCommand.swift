internal import Backups
internal import CommandLineKit
internal import EventStore
internal import Glibc
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
                is on the disk when the command ends. Attachments are in it, each written once. Exit code 2 when something is missing: \
                attachments that are not here or, where no daemon runs, events that no signed head covers yet. Behind a backup that \
                lacks a segment none is made. Keep the key file, \
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
            try StoreLocation.requireOutside(session.arguments.positional("repository") ?? "")
            let repository = try backup.repository(.making)
            report = try backedUp { () throws(BackupError) in try writer.run(plan, in: repository) }
        }
        do throws(StoreError) {
            let place = command == nil ? session.arguments.positional("repository") : nil
            let (id, position) = (report.manifest.id, report.manifest.position)
            try BackupRecord(id, to: position, in: place.map(Self.absolute), at: WallClock.now).keep(files)
        } catch {
            session.remark(.backupUnnoted, "\(error)")
        }
        try tell(report, Int64((MonotonicClock.now - start) / 1_000_000), session)
        if report.attachmentsMissing > 0 { return .degraded }
        return report.uncovered > 0 && StoreLock.owner(files) == nil ? .degraded : .success
    }

    /// As the daemon, which runs elsewhere, can name it.
    private static func absolute(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
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
        for lack in report.broken { session.remark(.backupBroken, session.explained(lack)) }
        if report.isOtherHistory { session.remark(.backupOtherHistory) }
        if !report.unreached.isEmpty {
            session.remark(.backupUnreached, report.unreached.joined(separator: ", "))
        }
        if !report.unread.isEmpty {
            session.remark(.backupUnread, report.unread.joined(separator: ", "))
        }
        if !report.unsigned.isEmpty {
            session.remark(.backupOfStranger, report.unsigned.joined(separator: ", "))
        }
        if !report.putBack.isEmpty {
            session.remark(.backupPutBack, report.putBack.joined(separator: ", "))
        }
        if !report.cleared.isEmpty {
            session.remark(.backupCleared, session.counted(report.cleared.count, .file))
        }
        if report.rewritten > 0 {
            session.remark(.backupRewritten, session.counted(report.rewritten, .segment))
        }
        if report.uncovered > 0 {
            session.remark(.backupUncovered, session.counted(report.uncovered, .event))
        }
        if report.attachmentsMissing > 0 {
            session.remark(.backupLacksAttachments, session.counted(report.attachmentsMissing, .attachment))
        }
        if report.attachmentsUnnamed > 0 {
            session.remark(.backupLeavesAttachments, session.counted(report.attachmentsUnnamed, .attachment))
        }
        let pictures =
            report.attachmentsAdded == 0
            ? "" : session.shown(.alsoAttachments, session.counted(report.attachmentsAdded, .attachment))
        let behind = report.base.map { session.shown(.behindBackup, "\($0)") } ?? session.shown(.fullBackup)
        let told = session.shown(
            .backupAdded, manifest.id, session.counted(added, .event), pictures, behind,
            BackupSession.size(report.bytes), String(manifest.position))
        try session.line(Sanitizer.line(told), "backup") { line in
            BackupSession.describe(manifest, &line)
            line.add("after", report.after)
            line.add("written", report.bytes)
            line.add("attachments_added", report.attachmentsAdded)
            line.add("attachments_missing", report.attachmentsMissing)
            line.add("attachments_unnamed", report.attachmentsUnnamed)
            line.add("base", report.base)
            line.add("uncovered", report.uncovered)
            line.add("rewritten", report.rewritten)
            line.add("unreached", report.unreached)
            line.add("unread", report.unread)
            line.add("put_back", report.putBack)
            line.add("cleared", report.cleared)
            line.add("unsigned", report.unsigned)
            line.add("broken", report.broken.map(\.description))
            line.add("milliseconds", milliseconds)
        }
        try session.end(count: 1)
    }
}
