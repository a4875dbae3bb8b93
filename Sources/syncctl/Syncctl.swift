internal import CommandLineKit
internal import Glibc

/// The program: a table of commands and what happens between the command line and the exit code.
enum Syncctl {
    static let subcommands: [Subcommand] = [
        HistoryCommand.entry, ConversationCommand.entry, ConversationsCommand.entry, ProfileCommand.entry,
        RoomsCommand.entry, ContactsCommand.entry, SearchesCommand.entry, UsersCommand.entry, SurveyCommand.entry,
        DialoguesCommand.entry, SearchCommand.entry, TailCommand.entry, ShowCommand.entry,
        WhyCommand.entry,
        DiffCommand.entry,
        ReplayCommand.entry, AppendCommand.entry, ImportCommand.entry, ExportCommand.entry, SubjectCommand.entry,
        VerifyCommand.entry,
        ReceiptCommand.entry, CheckProofCommand.entry, DigestCommand.entry, StatusCommand.entry,
        StatsCommand.entry, TopCommand.entry,
        DoctorCommand.entry, SettleCommand.entry, ClocksCommand.entry, VectorCommand.entry, WaitCommand.entry,
        PeersCommand.all, PeersCommand.list, InviteCommand.entry, JoinCommand.entry, PeersCommand.add,
        PeersCommand.remove, PeerSwitchCommand.pause, PeerSwitchCommand.resume, PeerPingCommand.entry,
        QuarantineCommand.list, QuarantineCommand.retry, ForksCommand.entry, InitCommand.entry,
        AttachmentCommand.put, AttachmentCommand.get, AttachmentCommand.list, AttachmentCommand.verify,
        BackupCreateCommand.entry, BackupListCommand.entry, BackupVerifyCommand.entry, BackupRestoreCommand.entry,
        BackupPruneCommand.entry, BackupDrillCommand.entry, BackupCopyCommand.entry,
        SubscriptionsCommand.list, SubscriptionsCommand.create, SubscriptionsCommand.parked,
        SubscriptionsCommand.change, SubscriptionsCommand.seek, SubscriptionsCommand.retry, SubscriptionsCommand.move,
        SubscriptionsCommand.delete,
        EraseCommand.user, EraseCommand.conversation, EraseCommand.events, EraseStatusCommand.entry,
        TokensCommand.list, TokensCommand.create, TokensCommand.revoke, WhoamiCommand.entry, AccessCommand.entry,
    ]

    static let table: CommandTable = {
        var table = english
        table.korean = KoreanHelp.texts
        return table
    }()

    private static let english = CommandTable(
        program: "syncctl", summary: "reads, writes and checks an event store",
        commands: subcommands.map(\.command),
        globalOptions: [
            .value("url", "URL", "A node to ask: unix:PATH, http:// or https:// (default: SYNCCTL_URL)."),
            .value("token-file", "FILE", "The token to show it (default: SYNCCTL_TOKEN_FILE)."),
            .value("ca-file", "FILE", "Certificates that are believed, as PEM (default: SYNCCTL_CA_FILE)."),
            .value("reason", "TEXT", "Why an auditor reads, or what is erased goes: it is recorded."),
            .value("store", "DIR", "The store's folder (default: SYNCCTL_STORE, ./syncd-dev, /var/lib/syncd)."),
            .flag("human", "For people: aligned, in colour and in their language (default)."),
            .flag("json", "JSON objects, one a line, the last one of type 'end'."),
            .flag("plain", "Tab-separated or undecorated text for scripts."),
            .flag("quiet", short: "q", "No messages and no progress; errors are still told."),
            .flag("utc", "Show times in UTC."),
            .flag("no-pager", "Long output goes to the terminal, too, and not into a pager."),
            .value("lang", "LANGUAGE", "English or Korean.", allowed: Language.allCases.map(\.rawValue)),
            .value("color", "WHEN", "Colour.", allowed: ColorChoice.allCases.map(\.rawValue)),
        ])

    /// What the manual page tells beside the commands.
    private static let chapters = [
        ManualChapter(
            "ENVIRONMENT",
            [
                ("SYNCCTL_URL", "The node to ask, if neither --url nor --store says it."),
                ("SYNCCTL_TOKEN_FILE, SYNCCTL_CA_FILE", "As --token-file and --ca-file."),
                ("SYNCCTL_STORE", "The store's folder, if --store names none."),
                ("SYNCCTL_OUTPUT", "human, plain, json or csv: the form of all answers, if no option says it."),
                (
                    "SILLOK_LANG, LC_ALL, LC_MESSAGES, LANG",
                    "The first of them that is set decides whether people are spoken to in Korean (ko, ko_KR.UTF-8) or in English."
                ),
                (
                    "SILLOK_PAGER, PAGER",
                    "What shows output that is longer than the screen, on terminals; empty or cat: nothing does. Default: less, with "
                        + "LESS=FRX unless LESS is set, and with LESSSECURE=1 for root."
                ),
                ("TZ", "The zone of the times that are shown and read."),
                ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE, TERM, COLUMNS", "As usual, for colour and width."),
                ("ACCESSIBLE", "Records instead of tables, no animation."),
            ]),
        ManualChapter(
            "FILES",
            [
                ("./syncd-dev, /var/lib/syncd", "Where a store is looked for, in this order."),
                (
                    "log.db, views.db, node.key",
                    "In a store: its events, what is read from them (made again from the log where it is missing), its key."
                ),
                (
                    "lock, api.sock",
                    "In a store: who has it open, and the daemon's socket unless api.socket.path names another."
                ),
                ("/etc/localtime, /usr/share/zoneinfo", "The zone where TZ is not set, and zones by name."),
            ]),
        ManualChapter(
            "JSON",
            [
                (
                    "--json",
                    "One object a line. A line with 'specversion' is an event as it was stored; every other has 'type' and 'v', the "
                        + "version of its shape, and the last one is of type 'end'. docs/reference/CLI-JSON.md lists them, ERRORS.md beside it "
                        + "the codes of errors."
                )
            ]),
    ]

    static func main() -> Never {
        ProgramStart.reportCrashes(of: "syncctl")
        Terminal.ignoreBrokenPipes()
        let terminal = Terminal.current()
        let output = Output(.output)
        var words: [String] = []
        do throws(CommandFailure) {
            words = try ProgramStart.arguments()
            let code = try run(words, terminal, output)
            try output.finish()
            exit(output.lacksPager ? ExitCode.cannotCreate.rawValue : code.rawValue)
        } catch {
            // What was printed before the failure is still true.
            try? output.finish()
            // Who leaves a pager has seen enough.
            if output.isPaged, error.exitCode == .brokenPipe {
                exit(output.lacksPager ? ExitCode.cannotCreate.rawValue : ExitCode.success.rawValue)
            }
            let wantsJSON = words.contains("--json") || terminal.environment["SYNCCTL_OUTPUT"] == "json"
            Output.message(wantsJSON ? error.json : text(of: error, in: language(words, terminal)))
            exit(error.exitCode.rawValue)
        }
    }

    private static func text(of error: CommandFailure, in language: Language) -> String {
        guard language == .korean else { return error.text(program: table.program) }
        var told = error
        told.why = error.why.map { KoreanTexts.text(of: $0) ?? $0 }
        told.hint = error.hint.map { KoreanTexts.hint(of: $0) ?? $0 }
        let meaning = error.korean ?? KoreanErrors.meanings[error.code]
        return told.text(program: table.program, in: .korean, meaning: meaning)
    }

    /// Also of a command line that cannot be read.
    private static func language(_ words: [String], _ terminal: Terminal) -> Language {
        for (index, word) in words.enumerated() {
            if word.hasPrefix("--lang=") { return Language(rawValue: String(word.dropFirst(7))) ?? .english }
            if word == "--lang", index + 1 < words.count { return Language(rawValue: words[index + 1]) ?? .english }
        }
        return Language(environment: terminal.environment)
    }

    private static func run(
        _ words: [String], _ terminal: Terminal, _ output: Output
    ) throws(CommandFailure) -> ExitCode {
        if words == ["--version"] || words == ["version"] {
            try output.line("syncctl \(version)")
            return .success
        }
        if let names = NameCompletion.answer(words, terminal) {
            try output.write(names)
            return .success
        }
        if let text = table.generated(
            by: words, section: 1, version: version, seeAlso: ["syncd(8)"], chapters: chapters)
        {
            try output.write(text)
            return .success
        }
        let invocation = try usage { try table.parse(words.isEmpty ? ["--help"] : words) }
        switch invocation {
        case .help(let topic):
            try output.write(table.help(for: topic, width: terminal.width, in: language(words, terminal)))
            return .success
        case .run(let arguments):
            guard let subcommand = subcommands.first(where: { $0.command.name == arguments.command.name }) else {
                throw usageFailure("'\(arguments.command.name)' is no command")
            }
            if let form = terminal.environment["SYNCCTL_OUTPUT"], !form.isEmpty, OutputForm(rawValue: form) == nil {
                throw usageFailure("SYNCCTL_OUTPUT=\(form): it is human, plain, json or csv")
            }
            let forms = ["human", "plain", "json", "csv"].filter { arguments.declares($0) && arguments.flag($0) }
            if forms.count > 1 { throw usageFailure("--\(forms[0]) and --\(forms[1]) do not go together") }
            let session = Session(arguments, terminal: terminal, output: output)
            if let zone = terminal.environment["TZ"], !arguments.flag("utc"), !Zone.isKnown(zone) {
                session.say(.unknownZone, zone)
            }
            page(session, output)
            return session.exitCode(try subcommand.run(session))
        }
    }

    /// Long output of commands that read goes into a pager, unless it comes bit by bit or a program reads it.
    private static func page(_ session: Session, _ output: Output) {
        let isRead = session.arguments.command.group == "Read" && [.human, .plain].contains(session.form)
        let follows = session.has("follow") && session.arguments.flag("follow")
        let terminal = session.terminal
        guard isRead, !follows, !session.arguments.flag("no-pager"), let rows = terminal.rows, rows > 0,
            terminal.isTerminal(.output), let pager = Pager(environment: terminal.environment)
        else { return }
        output.page(through: pager, rows: rows, columns: terminal.width)
    }

    static let version = "0.1.0"
}
