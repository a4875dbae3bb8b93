internal import CommandLineKit
internal import EventStore
internal import Glibc

/// A command: its line in the table, and what it does. One file each under Commands/.
protocol Subcommand {
    static var command: Command { get }
    static func run(_ context: Context) throws(CommandFailure) -> ExitCode
}

/// The command line of Sillok.
enum Syncctl {
    static let version = "0.1.0"

    static var commands: [any Subcommand.Type] {
        [
            HistoryCommand.self, ConversationCommand.self, ConversationsCommand.self, ProfileCommand.self,
            SurveyCommand.self, TailCommand.self, ShowCommand.self, ReplayCommand.self, InitCommand.self,
            AppendCommand.self, ImportCommand.self, ExportCommand.self, VerifyCommand.self, DigestCommand.self,
            StatusCommand.self, PeersListCommand.self, PeersAddCommand.self, PeersRemoveCommand.self,
        ]
    }

    static let table = CommandTable(
        program: "syncctl", summary: "Reads, writes, audits and replicates a Sillok store.",
        commands: commands.map { $0.command },
        globalOptions: [
            .value("store", "DIR", "The store. Default: SYNCCTL_STORE, ./syncd-dev, /var/lib/syncd."),
            .flag("json", "One JSON object to a line, and a last line of type end."),
            .flag("plain", "Tab-separated, nothing cut."),
            .flag("quiet", "No progress and no remarks."),
            .value("color", "WHEN", "Colours.", allowed: ["auto", "always", "never"]),
            .flag("utc", "Times in UTC."),
            .flag("version", "Print the version, and end."),
        ])

    static func main() -> Never {
        Terminal.ignoreBrokenPipes()
        let words = Array(CommandLine.arguments.dropFirst())
        do throws(CommandFailure) {
            exit(try run(words).rawValue)
        } catch {
            Output.message(words.contains("--json") ? error.json : error.text(program: "syncctl"))
            exit(error.exitCode.rawValue)
        }
    }

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        // Swift repairs malformed arguments silently; a record must not.
        for index in 1..<max(Int(CommandLine.argc), 1) {
            guard let argument = CommandLine.unsafeArgv[index], String(validatingCString: argument) == nil else {
                continue
            }
            throw CommandFailure(code: "E_UTF8", "argument \(index) is not UTF-8", exitCode: .usage)
        }
        if words == ["--version"] || words == ["version"] {
            try show("syncctl \(version)\n")
            return .success
        }
        if words.isEmpty || words == ["help"] {
            try show(table.help(for: nil))
            return .success
        }
        let invocation: CommandTable.Invocation
        do { invocation = try table.parse(words) } catch { throw error.failure(program: "syncctl") }
        switch invocation {
        case .help(let command):
            try show(table.help(for: command))
            return .success
        case .run(let arguments):
            guard let found = commands.first(where: { $0.command.name == arguments.command.name }) else {
                throw CommandFailure(code: "E_USAGE", "no such command", exitCode: .usage)
            }
            let context = try Context(arguments)
            let code = try found.run(context)
            try context.output.flush()
            return code
        }
    }

    private static func show(_ text: String) throws(CommandFailure) {
        let output = Output(.output)
        try output.write(text)
        try output.flush()
    }
}
