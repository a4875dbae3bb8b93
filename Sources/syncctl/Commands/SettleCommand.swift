internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SyncEngine

enum SettleCommand {
    static let entry = Subcommand(
        Command(
            "doctor settle", "Says that a finding was seen and dealt with", group: "Administration",
            arguments: [
                .init("code", "The finding's code, as 'syncctl doctor' prints it."),
                .init("subject", "What it is about, if several findings have this code.", count: .optional),
            ],
            options: [.value("note", "TEXT", "What was done about it.")],
            examples: [
                .init("syncctl doctor settle FORK --note 'both branches brought together'", "the only fork there is"),
                .init("syncctl doctor --all --json | jq -r 'select(.settled).subject'", "what was settled"),
            ],
            discussion: """
                Appends an event of type finding.settled: the finding no longer decides the exit code of 'doctor' and 'status' \
                here, and is listed by 'doctor --all'. A FORK or CLOCK of another node's origin is settled on all nodes by it; what \
                a node has found of its own store, and a FORK of its own origin, only here. The same about another origin, and \
                what happens again later, is a finding of its own. Findings that tell of a state, such as a peer that is away, end \
                when the state does.
                """), run: run)

    private static func run(_ session: Session) throws(CommandFailure) -> ExitCode {
        let files = try StoreLocation.find(for: session).files
        let code = session.arguments.positional("code") ?? ""
        var doctor = Doctor(files, session)
        try doctor.run()
        let subject = session.arguments.positional("subject")
        guard let finding = try find(code, subject, doctor.open) else {
            let settled = doctor.findings.filter { $0.code == code && (subject == nil || $0.subject == subject) }
            for finding in settled {
                // What another node has settled `verify` learns here.
                try stored {
                    try Settlement.keep(code: code, subject: finding.subject, at: session.now, files)
                }
                session.remark(.settledSince, code, finding.subject, finding.settled?.at ?? "")
            }
            if settled.isEmpty { session.remark(.noOpenFinding, code) }
            try session.end(count: 0)
            return .nothingFound
        }
        let position = try settle(finding, session.arguments.value("note") ?? "", files)
        let told = session.shown(.settledNow, finding.code, finding.subject)
        try session.line(Sanitizer.line(told), "settled") { line in
            line.add("code", finding.code)
            line.add("subject", finding.subject)
            line.add("position", position)
        }
        try session.end(count: 1)
        return .success
    }

    private static func find(
        _ code: String, _ subject: String?, _ open: [Finding]
    ) throws(CommandFailure) -> Finding? {
        let found = open.filter { $0.code == code && (subject == nil || $0.subject == subject) }
        guard let first = found.first else { return nil }
        guard first.of != nil else {
            throw usageFailure("\(code) tells of a state: it ends when that does", hint: first.action)
        }
        guard found.count == 1 else {
            throw usageFailure(
                "\(found.count) findings have the code \(code)",
                hint: "one of the subjects \(found.map(\.subject).joined(separator: ", "))")
        }
        return first
    }

    /// Appends the event; where it stands.
    private static func settle(
        _ finding: Finding, _ note: String, _ files: StoreFiles
    ) throws(CommandFailure) -> UInt64 {
        if let daemon = try DaemonClient.running(files) {
            var body = JSONLine()
            body.add("code", finding.code)
            body.add("subject", finding.subject)
            body.add("note", note)
            return UInt64(clamping: try daemon.post(Route.findings.path, body).integer("position") ?? 0)
        }
        return try stored {
            let store = try EventStore(opening: files.folder, owner: "syncctl pid \(getpid())")
            defer { store.close() }
            var draft = Settlement.draft(
                code: finding.code, subject: finding.subject, of: finding.of ?? "", note: note,
                at: store.identity.node)
            draft.actor = Appender.actor
            guard let receipt = try store.recordBlocking([draft]).first?.receipt else { return 0 }
            try Settlement.keep(
                code: finding.code, subject: finding.subject, at: receipt.hlc.milliseconds, files)
            return receipt.position
        }
    }
}
