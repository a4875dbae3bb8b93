internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SyncEngine

/// The daemon's command line.
enum Syncd {
    static let table = CommandTable(
        program: "syncd", summary: "Keeps an event-sourced chat store and replicates it with its peers.",
        commands: [
            Command(
                "", "Keeps an event-sourced chat store and replicates it with its peers.",
                arguments: [
                    .init("dir", "With --dev: where the store lies. Default: ./syncd-dev.", count: .optional)
                ],
                options: [
                    .value(
                        "config", "FILE", "The configuration, JSON5. Default: /etc/syncd/syncd.json5, if it is there."
                    ),
                    .value("data-dir", "DIR", "Where the store lies; made if there is none."),
                    .value("node-name", "NAME", "What people call this node; used when the store is made."),
                    .value("cluster", "NAME", "Only nodes of the same cluster exchange events."),
                    .value("socket", "PATH", "The Unix socket of the API; 'none' for none."),
                    .value("peer-listen", "ADDR:PORT", "Where peers may call; port 0 lets the system choose."),
                    .value("log-level", "LEVEL", "error, warning, info or debug."),
                    .flag(
                        "dev",
                        "A first try: a store in DIR, its socket inside, no configuration."),
                    .flag("check-config", "Say what is wrong with the configuration, and end."),
                    .flag("print-config", "Print every value with where it comes from, and end."),
                    .flag("version", "Print the version, and end."),
                ],
                examples: [
                    .init("syncd --dev", "a store in ./syncd-dev, ready in a moment"),
                    .init("syncd --config /etc/syncd/syncd.json5", "a server"),
                    .init("syncd --check-config", "what a start would complain about"),
                ])
        ], globalOptions: [])

    static func main() -> Never {
        ProgramStart.reportCrashes(of: "syncd")
        Terminal.ignoreBrokenPipes()
        EventLoop.blockSignals([SIGINT, SIGTERM, SIGHUP])
        do throws(CommandFailure) {
            exit(try run(ProgramStart.arguments()).rawValue)
        } catch {
            Output.message(error.text(program: "syncd"))
            exit(error.exitCode.rawValue)
        }
    }

    private static func run(_ words: [String]) throws(CommandFailure) -> ExitCode {
        if let text = table.generated(by: words, section: 8, version: Software.version, seeAlso: ["syncctl(1)"]) {
            try show(text)
            return .success
        }
        let invocation: CommandTable.Invocation
        do { invocation = try table.parse(words) } catch { throw error.failure(program: "syncd") }
        guard case .run(let arguments) = invocation else {
            try show(table.help(for: .program))
            return .success
        }
        if arguments.flag("version") {
            try show("\(Software.name)\n")
            return .success
        }
        if let extra = arguments.positional("dir"), !arguments.flag("dev") {
            throw CommandFailure(code: "E_USAGE", "'\(extra)' only goes with --dev", exitCode: .usage)
        }
        let settings = try Settings(arguments)
        if arguments.flag("print-config") {
            for value in settings.loaded.effective() {
                try show("\(value.path): \(value.value)  // \(value.origin)\n")
            }
            return .success
        }
        if arguments.flag("check-config") {
            for remark in settings.remarks + (settings.isDevelopment ? [] : settings.surroundings) {
                try show("note: \(remark)\n")
            }
            try show(settings.isDevelopment ? "fine\n" : "\(settings.source): fine\n")
            return .success
        }
        return try Daemon.run(settings)
    }

    private static func show(_ text: String) throws(CommandFailure) {
        let output = Output(.output)
        try output.write(text)
        try output.flush()
    }
}
