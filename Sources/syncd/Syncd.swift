internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
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
                    .flag("openapi", "Print the OpenAPI document of the API, and end."),
                    .flag("json", "With --check-config and --print-config: one JSON object on each line."),
                    .flag("version", "Print the version, and end."),
                ],
                examples: [
                    .init("syncd --dev", "a store in ./syncd-dev, ready in a moment"),
                    .init("syncd --config /etc/syncd/syncd.json5", "a server"),
                    .init("syncd --check-config", "what a start would complain about"),
                    .init("kill -HUP $(pidof syncd)", "read the configuration again"),
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
        if arguments.flag("openapi") {
            try show(OpenAPI.document(version: Software.version).text + "\n")
            return .success
        }
        if let extra = arguments.positional("dir"), !arguments.flag("dev") {
            throw CommandFailure(code: "E_USAGE", "'\(extra)' only goes with --dev", exitCode: .usage)
        }
        let look: (DaemonConfiguration) -> Settings.Refused = { configuration in
            guard arguments.flag("check-config") else { return [] }
            return ConfigurationCheck.refused(by: configuration, isDevelopment: arguments.flag("dev"))
        }
        let isJSON = arguments.flag("json")
        if isJSON, arguments.flag("check-config") || arguments.flag("print-config") {
            let problems = try Settings.load(arguments, looking: look).loaded.problems
            if !problems.isEmpty {
                try show(problems.map(\.json))
                return .configuration
            }
        }
        let settings = try Settings(arguments, looking: look)
        if arguments.flag("print-config") {
            let values = settings.loaded.effective()
            if isJSON { try show(values.map(\.json)) } else { try show(values.map { $0.text + "\n" }.joined()) }
            return .success
        }
        if arguments.flag("check-config") {
            // A store that cannot be read says itself at the start what is wrong with it.
            let files = StoreFiles(settings.configuration.storage.dir)
            if files.exists, let reader = try? LogReader(files),
                let other = (try? settings.mismatch(with: reader)).flatMap({ $0 })
            {
                throw other
            }
            let remarks = settings.remarks + (settings.isDevelopment ? [] : settings.surroundings)
            if isJSON {
                try show(
                    remarks.map { remark in
                        var line = JSONLine(type: "note")
                        line.add("message", remark)
                        return line
                    })
            } else {
                for remark in remarks { try show("note: \(remark)\n") }
                let isFile = !settings.isDevelopment && access(settings.source, F_OK) == 0
                try show(isFile ? "\(settings.source): fine\n" : "fine\n")
            }
            return .success
        }
        do throws(CommandFailure) {
            return try Daemon.run(settings) { () throws(CommandFailure) in try Settings(arguments) }
        } catch {
            guard settings.configuration.log.format == .json else { throw error }
            let fields = error.hint.map { [LogLine.Field("hint", $0)] } ?? []
            Logger(settings.configuration.log).write(
                LogLine(level: .error, code: error.code, text: error.what, fields: fields))
            return error.exitCode
        }
    }

    /// The lines, and one that says that these were all.
    private static func show(_ lines: [JSONLine]) throws(CommandFailure) {
        var end = JSONLine(type: "end")
        end.add("count", lines.count)
        try show((lines + [end]).map { $0.text + "\n" }.joined())
    }

    private static func show(_ text: String) throws(CommandFailure) {
        let output = Output(.output)
        try output.write(text)
        try output.flush()
    }
}
