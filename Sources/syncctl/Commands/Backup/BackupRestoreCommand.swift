internal import Backups
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI

enum BackupRestoreCommand {
    static let entry = Subcommand(
        Command(
            "backup restore", "Makes a store of a backup", group: "Administration",
            arguments: [
                .init("repository", "The folder with the backups; -: streams on standard input.", count: .optional)
            ],
            options: [
                .value("into", "DIR", "Where the store is to lie: a folder that is not there yet."),
                BackupSession.keyOption, BackupSession.backupOption,
                .value("to", "TIME", "With what had come by then, as 2026-11-01T12:00 or seq:10412."),
                .flag("without-key", "Leave node.key out: the store can be read, and no node be started on it."),
                .value("from-command", "COMMAND", "Reads streams that this command writes, run by the shell."),
            ],
            examples: [
                .init("syncctl backup restore /backups/seoul --into /var/lib/syncd", "the newest one"),
                .init(
                    "syncctl backup restore /backups/seoul --into then --to '2026-11-01 12:00'", "as it was at noon"),
                .init(
                    "syncctl backup restore --from-command 'ssh vault cat full.stream monday.stream' --into seoul",
                    "one behind the other"),
            ],
            discussion: """
                The log is built anew, proven by the signed heads, and on the disk when the command ends; only then the folder gets its name. \
                The node that starts on it goes on in a new origin and takes back from its peers what it has lost. What was erased since \
                the backup is not there, and the node records that once more. Exit code 2 when attachments did not come back, when its \
                node has not signed the backup, or when something came back that was erased since. Never start it while another \
                node has the same key.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        guard let folder = session.arguments.value("into"), !folder.isEmpty else {
            throw usageFailure("--into says where the store is to lie")
        }
        let backup = BackupSession(session)
        let place = session.arguments.positional("repository")
        let command = session.arguments.value("from-command")
        guard (place == nil) != (command == nil) else {
            throw usageFailure("a repository, or --from-command: one of them says where from")
        }
        let end = try end(session)
        try StoreLocation.requireOutside(folder)
        Interrupt.watchEnd()
        let start = MonotonicClock.now
        let restore = try backedUp { () throws(BackupError) in
            try BackupRestore(
                into: folder, end: end, withKey: !session.arguments.flag("without-key"),
                progress: backup.progress("restore"))
        }
        let report: RestoreReport
        var failed: BackupError?
        if let command {
            (report, failed) = try stream(restore, from: command, backup)
        } else if place == "-" {
            let key = try backup.key()
            report = try backedUp { () throws(BackupError) in try restore.run(StreamReader(STDIN_FILENO, key: key)) }
        } else {
            let repository = try backup.repository(.reading)
            let manifest = try backup.manifest(in: repository)
            report = try backedUp { () throws(BackupError) in try restore.run(manifest, of: repository) }
        }
        try tell(report, folder, Int64((MonotonicClock.now - start) / 1_000_000), session)
        if !report.manifest.isSigned {
            let names = report.unproven.joined(separator: ", ")
            session.remark(.restoreUnsigned, names.isEmpty ? "" : session.shown(.restoreNotPutBack, names))
        }
        // What the command gave is proven and in its place; that it was all is what the command denies.
        if let failed { throw CommandFailure(failed) }
        return lacks(report) == 0 && report.notErased == 0 && report.manifest.isSigned ? .success : .degraded
    }

    /// Attachments that the restored store does not have.
    private static func lacks(_ report: RestoreReport) -> Int { report.missing.count + report.lacking }

    /// Attachments that are named one by one.
    private static let mostNamed = 20

    /// Where the log is to end.
    private static func end(_ session: Session) throws(CommandFailure) -> RestoreEnd {
        guard let text = session.arguments.value("to") else { return .all }
        // Times of digits alone have an '@' before them.
        let digits = text.hasPrefix(Session.positionMark) ? text.dropFirst(Session.positionMark.count) : text[...]
        if digits.count < text.count || UInt64(text) != nil {
            guard let position = UInt64(digits), position > 0 else {
                throw usageFailure("--to '\(text)' names no position")
            }
            return .position(position)
        }
        return try session.time("to").map(RestoreEnd.time) ?? .all
    }

    private static func stream(
        _ restore: BackupRestore, from command: String, _ backup: BackupSession
    ) throws(CommandFailure) -> (report: RestoreReport, failed: BackupError?) {
        let key = try backup.key()
        return try backedUp { () throws(BackupError) in
            let child = try ShellCommand(command, .gives, environment: backup.session.terminal.environment)
            let stream = StreamReader(child.descriptor, key: key)
            let report: RestoreReport
            do throws(BackupError) { report = try restore.run(stream) } catch {
                // A command that failed is why the stream is cut. One that had more to give fails because no one reads it.
                if case .damaged = error, stream.hasEnded { try child.finish() }
                throw error
            }
            do throws(BackupError) { try child.finish() } catch { return (report, error) }
            return (report, nil)
        }
    }

    private static func tell(
        _ report: RestoreReport, _ folder: String, _ milliseconds: Int64, _ session: Session
    ) throws(CommandFailure) {
        for finding in report.missing.prefix(Self.mostNamed) { session.say(session.explained(finding)) }
        if lacks(report) > 0 {
            session.remark(.restoreLacks, session.counted(lacks(report), .attachment))
        }
        if report.erasedLater > 0 {
            session.remark(.restoreErased, session.counted(report.erasedLater, .event))
        }
        if report.notErased > 0 {
            session.remark(.restoreNotErased, session.counted(report.notErased, .event))
        }
        let without = report.hasKey ? "" : session.shown(.withoutKey)
        let told = session.shown(.restored, report.manifest.id, String(report.position), folder, without)
        try session.line(Sanitizer.line(told), "restored") { line in
            line.add("id", report.manifest.id)
            line.add("folder", folder)
            line.add("position", report.position)
            line.add("key", report.hasKey)
            line.add("attachments", report.attachments)
            line.add("attachments_missing", lacks(report))
            line.add("erased_later", report.erasedLater)
            line.add("not_erased", report.notErased)
            line.add("milliseconds", milliseconds)
        }
        try session.end(count: 1)
    }
}
