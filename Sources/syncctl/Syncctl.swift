internal import CommandLineKit
internal import Glibc

/// One command: how it is described and what it does.
struct Subcommand: Sendable {
    let command: Command
    let run: @Sendable (Session) throws(CommandFailure) -> ExitCode

    init(_ command: Command, run: @escaping @Sendable (Session) throws(CommandFailure) -> ExitCode) {
        self.command = command
        self.run = run
    }
}

/// The program: a table of commands and what happens between the command line and the exit code.
enum Syncctl {
    static let subcommands: [Subcommand] = [
        HistoryCommand.entry, ConversationCommand.entry, ConversationsCommand.entry, ProfileCommand.entry,
        SurveyCommand.entry, TailCommand.entry, ShowCommand.entry, ReplayCommand.entry, AppendCommand.entry,
        ImportCommand.entry, ExportCommand.entry, VerifyCommand.entry, DigestCommand.entry, StatusCommand.entry,
        DoctorCommand.entry, ClocksCommand.entry, VectorCommand.entry, WaitCommand.entry,
        PeersCommand.all, PeersCommand.list, InviteCommand.entry, JoinCommand.entry, PeersCommand.add,
        PeersCommand.remove, PeerSwitchCommand.pause, PeerSwitchCommand.resume, PeerPingCommand.entry,
        QuarantineCommand.list, QuarantineCommand.retry, InitCommand.entry,
    ]

    static let table = CommandTable(
        program: "syncctl", summary: "reads, writes and checks an event store",
        commands: subcommands.map(\.command),
        globalOptions: [
            .value("store", "DIR", "The store's folder (default: SYNCCTL_STORE, ./syncd-dev, /var/lib/syncd)."),
            .flag("json", "JSON objects, one a line, the last one of type 'end'."),
            .flag("plain", "Tab-separated or undecorated text for scripts."),
            .flag("quiet", short: "q", "No messages and no progress; errors are still told."),
            .flag("utc", "Show times in UTC."),
            .value("color", "WHEN", "Colour.", allowed: ColorChoice.allCases.map(\.rawValue)),
        ])

    static func main() -> Never {
        Terminal.ignoreBrokenPipes()
        let words = Array(CommandLine.arguments.dropFirst())
        let terminal = Terminal.current()
        let output = Output(.output)
        do throws(CommandFailure) {
            let code = try run(words, terminal, output)
            try output.flush()
            exit(code.rawValue)
        } catch {
            // What was printed before the failure is still true.
            try? output.flush()
            let wantsJSON = words.contains("--json") || terminal.environment["SYNCCTL_OUTPUT"] == "json"
            Output.message(wantsJSON ? error.json : error.text(program: table.program))
            exit(error.exitCode.rawValue)
        }
    }

    private static func run(
        _ words: [String], _ terminal: Terminal, _ output: Output
    ) throws(CommandFailure) -> ExitCode {
        if words == ["--version"] || words == ["version"] {
            try output.line("syncctl \(version)")
            return .success
        }
        if let text = table.generated(by: words, section: 1, version: version, seeAlso: ["syncd(8)"]) {
            try output.write(text)
            return .success
        }
        try requireUTF8()
        let invocation = try usage { try table.parse(words.isEmpty ? ["--help"] : words) }
        switch invocation {
        case .help(let topic):
            try output.write(table.help(for: topic, width: terminal.width))
            return .success
        case .run(let arguments):
            guard let subcommand = subcommands.first(where: { $0.command.name == arguments.command.name }) else {
                throw usageFailure("'\(arguments.command.name)' is no command")
            }
            return try subcommand.run(Session(arguments, terminal: terminal, output: output))
        }
    }

    /// Swift repairs malformed arguments silently; a record must not.
    private static func requireUTF8() throws(CommandFailure) {
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else {
                continue
            }
            throw CommandFailure(code: "E_UTF8", "argument \(index) is not UTF-8", exitCode: .usage)
        }
    }

    static let version = "0.1.0"
}
