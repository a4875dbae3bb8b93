internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import Glibc
internal import SillokAPI
internal import SillokClient

/// The bot's command line.
enum SillokBot {
    static let version = "0.1.0"

    private static let common: [Command.Option] = [
        .value("config", "FILE", "The configuration, JSON5: docs/operating/bot.md has every key."),
        .value("url", "URL", "The node: unix:PATH, http:// or https:// (default: api.url of the configuration)."),
        .value("socket", "PATH", "The node's Unix socket: short for --url unix:PATH."),
        .value("token-file", "FILE", "The token to show it (default: api.token_file of the configuration)."),
        .flag("echo", "No model: what was asked is the answer. Without --config, a bot named 'echo'."),
    ]

    static let table = CommandTable(
        program: "sillok-bot", summary: "answers messages of an event store with a language model",
        commands: [
            Command(
                "run", "answer messages until SIGTERM or SIGINT",
                options: common + [
                    .flag(
                        "check-config",
                        "Read the configuration and the files it names, and end: 0, or 78 with what is wrong.")
                ],
                examples: [
                    .init("sillok-bot run --echo --url unix:syncd-dev/api.sock", "a first try without a model"),
                    .init("sillok-bot run --config /etc/sillok-bot/medibot.json5", "a bot"),
                ]),
            Command(
                "check", "say what is wrong with configuration, node, token and model",
                options: common + [.flag("json", "One JSON object a line, the last one of type 'end'.")],
                examples: [
                    .init(
                        "sillok-bot check --config medibot.json5",
                        "each step with 'ok', or what is wrong and what helps")
                ],
                discussion:
                    "One short question goes to the model; a voice bot speaks a word, and hears it. No picture is asked for. Nothing is stored."
            ),
        ] + KeyCommand.commands, globalOptions: [.flag("version", "Print the version, and end.")])

    private static let chapters = [
        ManualChapter(
            "FILES",
            [
                ("/etc/sillok-bot/NAME.json5", "The configuration of the unit sillok-bot@NAME."),
                (
                    "endpoint.key_file",
                    "The key of the model's endpoint, which its owner alone may read. It is read anew for each request."
                ),
            ])
    ]

    static func main() -> Never {
        ProgramStart.main("sillok-bot", version: version, table, chapters: chapters) {
            arguments, output throws(CommandFailure) in
            let name = arguments.command.name
            if name == "check" {
                var check = Check(arguments, output)
                return try check.run()
            }
            if name != "run" { return try KeyCommand(arguments, output).run(name) }
            guard !arguments.flag("check-config") else {
                try Started.check(BotConfiguration(arguments))
                return .success
            }
            return try run(Started(arguments))
        }
    }

    /// Answers until a signal comes, or the node wants no more of it.
    private static func run(_ started: Started) throws(CommandFailure) -> ExitCode {
        // Before any thread: all of them have these blocked, and the first one waits for them.
        var signals = sigset_t()
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let log = BotLog(isJSON: started.configuration.logsJSON)
        let stopping = Stopping()
        let api = NodeAPI(
            started.place, subscription: started.configuration.subscription.name, stopping: stopping, log: log)
        // A node that is not there yet is waited for; a signal meanwhile ends the program as it ends any.
        let watch = SignalWatch(signals, stopping)
        do throws(CommandFailure) {
            let registration = Registration(
                api: api, configuration: started.configuration, version: version)
            try registration.checkRole()
            try registration.subscribe()
            do throws(CommandFailure) {
                if try registration.record() { log.info("what it is has changed, and is recorded", "configured") }
            } catch {
                log.warning("what it is cannot be recorded: \(error.what)", error.code)
            }
        } catch {
            if stopping.isAsked { return .success }
            throw error
        }
        let settings = started.configuration.settings
        log.info("\(settings.name) answers as '\(settings.bot)' with \(settings.model)", "started")
        let crew = Crew(started.configuration, started.place, started.model, stopping, log)
        let threads = crew.start()
        while !stopping.rest(10_000) { write(crew.figures, started.configuration, log) }
        for thread in threads { thread.join() }
        write(crew.figures, started.configuration, log)
        log.info("ended", "ended")
        _ = watch
        if let failure = stopping.failure { throw failure }
        return .success
    }

    private static func write(_ figures: Figures, _ configuration: BotConfiguration, _ log: BotLog) {
        guard let path = configuration.metrics, !figures.text.write(to: path) else { return }
        log.warning("the figures cannot be written to \(path)", "E_IO")
    }
}

/// Waits for the signals that end the program, on a thread of its own.
private struct SignalWatch {
    init(_ signals: sigset_t, _ stopping: Stopping) {
        _ = WorkerThread(name: "bot-signals") {
            var signals = signals
            var signal: Int32 = 0
            while sigwait(&signals, &signal) == 0 {
                // The configuration is not read again: a bot is started anew in a moment, and its messages wait.
                if signal != SIGHUP { stopping.ask() }
            }
        }
    }
}

/// What both commands begin with: configuration, node, model.
struct Started: Sendable {
    let configuration: BotConfiguration
    let place: NodePlace
    let model: any Model

    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        configuration = try BotConfiguration(arguments)
        if let refused = configuration.refused.first { throw refused.failure }
        place = try configuration.node.place()
        if let endpoint = configuration.endpoint {
            model = HTTPModel(endpoint: endpoint)
        } else {
            model = EchoModel()
        }
    }

    /// Tells all that a start would refuse at once, each with its key.
    static func check(_ configuration: BotConfiguration) throws(CommandFailure) {
        let lines = configuration.refused.map { key, failure in
            "'\(key)': \(failure.what)" + (failure.hint.map { ": \($0)" } ?? "")
        }
        guard !lines.isEmpty else { return }
        let path = configuration.path.map { $0 + ": " } ?? ""
        throw CommandFailure(
            code: "E_CONFIG", lines.map { path + $0 }.joined(separator: "\n"),
            hint: "docs/operating/bot.md has every key", exitCode: .configuration)
    }
}
