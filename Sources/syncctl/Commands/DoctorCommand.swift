internal import CommandLineKit
internal import EventStore
internal import SyncEngine

enum DoctorCommand {
    static let entry = Subcommand(
        Command(
            "doctor", "Finds what is wrong, and says what to do", group: "Administration",
            options: [.flag("all", "Also findings that somebody has settled.")],
            examples: [
                .init("syncctl doctor", "forks, lost memory, doubles, peers that are away, wrong clocks"),
                .init("syncctl doctor --json", "one finding to a line"),
            ],
            discussion: """
                Looks at the store's files, and asks the daemon if one runs. Exit code 0 when nothing has to be done, 2 with \
                warnings, 3 when the record is damaged or has two versions. 'syncctl verify' proves the log itself. What \
                'doctor settle' has settled counts no more.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        var doctor = Doctor(try StoreLocation.find(for: session).files, session)
        try doctor.run()
        let shown = session.arguments.flag("all") ? doctor.findings : doctor.open
        for finding in shown {
            if session.isJSON {
                var line = JSONLine(type: "finding")
                finding.write(to: &line)
                try session.output.line(line)
            } else {
                try text(finding, session)
            }
        }
        let count = shown.count
        let settled = doctor.findings.count - doctor.open.count
        if !session.isJSON, !session.isQuiet {
            if count == 0 { session.say(.noFindings) } else { session.say(session.counted(count, .finding)) }
        }
        try session.end(count: count) { line in line.add("settled", settled) }
        return doctor.findings.exitCode
    }

    private static func text(_ finding: Finding, _ session: Session) throws(CommandFailure) {
        if session.form == .plain {
            let cells = [finding.severity.rawValue, finding.code, finding.subject, finding.text, finding.action]
            return try session.output.line(cells.map { Sanitizer.line($0) }.joined(separator: "\t"))
        }
        try finding.show(session)
    }
}
