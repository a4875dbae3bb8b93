internal import Backups
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum BackupCopyCommand {
    static let entry = Subcommand(
        Command(
            "backup copy", "Copies a store, beside a running daemon, too", group: "Administration",
            arguments: [.init("folder", "Where to: a folder that is not there yet.")],
            options: [
                .flag("without-key", "Leave node.key out: for who is to read and verify, and nothing more."),
                .flag("without-attachments", "Leave the bytes of attachments out."),
            ],
            examples: [
                .init("syncctl backup copy /copies/seoul-$(date +%F)", "log, key, peers and attachments"),
                .init("syncctl backup copy --without-key audit", "for an auditor"),
            ],
            discussion: """
                The copy has the log as it is when the copying begins, whatever is appended meanwhile, and is on the \
                disk when the command ends, with the attachments that are here whole. Only then the folder gets its name; what an interrupted run has left \
                as FOLDER.copying goes with the next one. Views are built anew from it. 'syncctl verify --store FOLDER' proves it. \
                Keep node.key as you keep the store: anyone who has it can write in the node's name. \
                Exit code 2 when attachments are damaged here, and therefore not in the copy.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let folder = session.arguments.positional("folder") ?? ""
        guard !folder.isEmpty else { throw usageFailure("folder: the empty text names none") }
        try StoreLocation.requireOutside(folder)
        var progress = Progress("backup", unit: "pages", style: session.style())
        var pages = 0
        var isLogCopied = false
        let copy = try backedUp { () throws(BackupError) in
            try PlainCopy.make(
                of: files, in: folder, withKey: !session.arguments.flag("without-key"),
                withAttachments: !session.arguments.flag("without-attachments")
            ) { done, total in
                pages = total
                progress.update(done: UInt64(done), total: UInt64(total))
            } goesOn: {
                if !isLogCopied {
                    progress.finish(done: UInt64(pages), total: UInt64(pages))
                    Interrupt.watchEnd()
                    isLogCopied = true
                }
                return !Interrupt.isRequested
            }
        }
        let (report, attachments, damaged) = (copy.log, copy.attachments, copy.damaged)
        if damaged > 0 {
            session.remark(.backupCopyLacks, session.counted(damaged, .attachment))
        }
        let range =
            report.position == 0 ? session.shown(.emptyLog) : session.shown(.positionsTo, String(report.position))
        let pictures =
            attachments == 0 ? "" : session.shown(.alsoAttachments, session.counted(attachments, .attachment))
        let without = report.hasKey ? "" : session.shown(.withoutKey)
        let told = session.shown(.backupCopied, range, pictures, folder, without)
        try session.line(Sanitizer.line(told), "copy") { line in
            line.add("folder", folder)
            line.add("position", report.position)
            line.add("bytes", report.bytes)
            line.add("key", report.hasKey)
            line.add("attachments", attachments)
        }
        try session.end(count: 1)
        return damaged > 0 ? .degraded : .success
    }
}
