internal import Backups
internal import CommandLineKit
internal import EventStore
internal import SillokAPI

enum BackupVerifyCommand {
    static let entry = Subcommand(
        Command(
            "backup verify", "Proves the backups of a repository, with no store", group: "Administration",
            arguments: [BackupSession.repositoryArgument],
            options: [
                BackupSession.keyOption, .value("backup", "ID", "Only this one (default: all of them)."),
            ],
            examples: [.init("syncctl backup verify /backups/seoul", "each file, each event, each signature")],
            discussion: """
                Segments that backups share are read once. Every file must have its SHA-256, every event must hash to the root of its \
                origin, and the heads over the roots must be signed. Attachments are read, too. Exit code 3 when a backup is not whole, or \
                has an event whose payload is gone without an erasure, or is there though it was erased; each such file is named. Exit \
                code 2 when one is not signed by its node, when they are of several nodes, when one has files or cosignatures that are none of \
                a store's, or when there are rows that no backup names: a run was broken off, or a manifest is gone. Whose signature a backup has \
                is told; compare the node with the one you know.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let backup = BackupSession(session)
        let repository = try backup.repository(.reading)
        Interrupt.watchEnd()
        let start = MonotonicClock.now
        let report = try backedUp { () throws(BackupError) in
            try RepositoryCheck(repository, progress: backup.progress("verify"))
                .run(only: session.arguments.value("backup"))
        }
        let milliseconds = Int64((MonotonicClock.now - start) / 1_000_000)
        if session.isJSON {
            try json(report, session)
        } else {
            try text(report, session)
        }
        try session.end(count: report.proven.count + report.findings.count + report.broken.count) { line in
            line.add("events", report.events)
            line.add("attachments", report.attachments)
            line.add("bytes", report.bytes)
            line.add("findings", report.findings.count)
            line.add("leftovers", report.leftovers)
            line.add("unnamed", report.unnamed)
            line.add("strange", report.strange)
            line.add("milliseconds", milliseconds)
        }
        if !report.findings.isEmpty || !report.broken.isEmpty { return .integrityFailure }
        guard !report.proven.isEmpty else { return .nothingFound }
        if report.nodes.count > 1 {
            let nodes = report.nodes.map(\.description).joined(separator: ", ")
            session.remark(.backupsOfNodes, String(report.nodes.count), nodes)
        }
        if report.unnamed > 0 {
            session.remark(.backupUnnamed, session.counted(report.unnamed, .segment))
        }
        if !report.strange.isEmpty { session.remark(.backupStrange, report.strange.joined(separator: "; ")) }
        let isWhole = report.proven.allSatisfy(\.isSigned) && report.nodes.count == 1 && report.unnamed == 0
        return isWhole && report.strange.isEmpty ? .success : .degraded
    }

    private static func json(_ report: RepositoryReport, _ session: Session) throws(CommandFailure) {
        for finding in report.findings {
            try session.line("", "finding") { line in
                line.add("code", finding.code)
                line.add("message", finding.description)
            }
        }
        for manifest in report.proven {
            try session.line("", "proven") { BackupSession.describe(manifest, &$0) }
        }
        for id in report.broken { try session.line("", "broken") { $0.add("id", id) } }
    }

    private static func text(_ report: RepositoryReport, _ session: Session) throws(CommandFailure) {
        for finding in report.findings {
            try session.output.line(Sanitizer.line("  ! \(session.explained(finding))"))
        }
        for id in report.broken { try session.output.line(session.shown(.backupIsBroken, id)) }
        for manifest in report.proven {
            let remark =
                manifest.isSigned
                ? session.shown(.backupSigned, Sanitizer.line(manifest.name), manifest.node.short)
                : session.shown(.backupUnsigned)
            let told = session.shown(
                .backupVerified, manifest.id, session.counted(manifest.position, .event), remark)
            try session.output.line(told)
        }
        if !report.leftovers.isEmpty {
            session.remark(.backupLeftovers, session.counted(report.leftovers.count, .file))
        }
    }
}

enum BackupDrillCommand {
    static let entry = Subcommand(
        Command(
            "backup drill", "Restores a backup for a trial, proves it and takes it away", group: "Administration",
            arguments: [BackupSession.repositoryArgument],
            options: [
                BackupSession.keyOption, BackupSession.backupOption,
                .value("scratch", "DIR", "Where there is room for the log (default: TMPDIR, /var/tmp)."),
            ],
            examples: [
                .init("syncctl backup drill /backups/seoul", "how long a restore takes, and that it succeeds")
            ],
            discussion: """
                The restored store is verified as 'syncctl verify' does it, and compared with what the backup says of itself. Attachments are read \
                and not written. Exit code 0 only if all is as it should be; 2 where only the node's signature is missing, else 3. The node's key \
                is not put there. What a drill that was killed has left there, the next one takes away.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let backup = BackupSession(session)
        let repository = try backup.repository(.reading)
        Interrupt.watchEnd()
        let usual = session.terminal.environment["TMPDIR"] ?? "/var/tmp"
        let scratch = session.arguments.value("scratch") ?? usual
        var progress = Progress("verify", unit: "events", style: session.style())
        let manifest = try backup.manifest(in: repository)
        let report = try backedUp { () throws(BackupError) in
            let drill = BackupDrill(repository, in: scratch, restoring: backup.progress("restore")) {
                progress.update(done: $0, total: $1)
            }
            return try drill.run(manifest)
        }
        for finding in report.findings where !session.isJSON {
            try session.output.line(Sanitizer.line("  ! \(told(finding, session))"))
        }
        if report.erasedLater > 0 {
            session.remark(.drillErased, session.counted(report.erasedLater, .event))
        }
        if !report.manifest.isSigned { session.say("\(report.manifest.id): \(session.shown(.backupUnsigned))") }
        let told = session.shown(
            .drillDone, session.shown(report.isGood ? .drillGood : .drillBad), report.manifest.id,
            session.counted(report.events, .event),
            BackupSession.size(report.bytes), seconds(report.restoring), seconds(report.verifying))
        try session.line(told, "drill") { line in
            line.add("id", report.manifest.id)
            line.add("good", report.isGood)
            line.add("signed", report.manifest.isSigned)
            line.add("events", report.events)
            line.add("bytes", report.bytes)
            line.add("restore_ms", report.restoring)
            line.add("verify_ms", report.verifying)
            line.add("attachments", report.attachments)
            line.add("erased_later", report.erasedLater)
            line.add("findings", report.findings.map(\.description))
        }
        try session.end(count: 1)
        guard report.isGood else { return .integrityFailure }
        return report.manifest.isSigned ? .success : .degraded
    }

    private static func told(_ finding: DrillFinding, _ session: Session) -> String {
        if case .lost(let error) = finding { return session.explained(error) }
        return session.translated("\(finding)")
    }

    private static func seconds(_ milliseconds: Int64) -> String {
        "\(milliseconds / 1_000).\(milliseconds % 1_000 / 100) s"
    }
}
