internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// `sillok-bot check`: each thing that a bot needs, with what is wrong and what helps. Nothing is stored.
struct Check {
    private let arguments: ParsedArguments
    private var steps: CheckSteps

    init(_ arguments: ParsedArguments, _ output: Output) {
        self.arguments = arguments
        steps = CheckSteps(output, isJSON: arguments.flag("json"))
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        var read: Started?
        try steps.step("configuration") { [arguments] () throws(CommandFailure) in
            let started = try Started(arguments)
            read = started
            let settings = started.configuration.settings
            return "\(settings.name) as '\(settings.bot)', languages \(settings.languages.joined(separator: ", "))"
        }
        guard let started = read else { return try steps.end() }
        let checks: [(String, (Started) throws(CommandFailure) -> String)] = [
            ("node", node), ("subscription", subscription),
        ]
        for (name, check) in checks {
            try steps.step(name) { () throws(CommandFailure) in try check(started) }
        }
        var model = ModelCheck(started)
        for (name, check) in model.checks { try steps.step(name) { () throws(CommandFailure) in try check(&model) } }
        return try steps.end()
    }

    /// Asks the node once: what is wrong is to be told now.
    private func ask(_ target: String, _ started: Started) throws(CommandFailure) -> ClientRequest.Answer {
        let stopping = Stopping()
        let api = NodeAPI(
            started.place, subscription: started.configuration.subscription.name, stopping: stopping,
            log: BotLog(isJSON: false))
        return try api.once(ClientRequest(target: target, timeout: 10_000))
    }

    private func node(_ started: Started) throws(CommandFailure) -> String {
        let answer = try ask(Route.me.path, started)
        guard answer.status == 200 else {
            throw ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        }
        let roles = try NodeAPI.roles(answer, answeringAs: started.configuration.settings.bot)
        return "\(started.configuration.node.url), roles \(roles.joined(separator: ", "))"
    }

    private func subscription(_ started: Started) throws(CommandFailure) -> String {
        let name = started.configuration.subscription.name
        let answer = try ask(Route.subscriptions.path(name), started)
        if answer.status == 404 { return "'\(name)' is not there yet: a run makes it" }
        guard answer.status == 200 else {
            throw ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        }
        let line = NodeAPI.lines(of: answer.body).first
        guard let parked = line?.integer("parked") else { return "'\(name)' is at home at another node" }
        let told =
            "'\(name)': \(line?.integer("open") ?? 0) open, \(parked) set aside, \(line?.integer("behind") ?? 0) to look at"
        guard parked == 0 else {
            throw CommandFailure(
                code: "E_PARKED", told, hint: "syncctl subscriptions parked \(name); then retry \(name)",
                exitCode: .degraded)
        }
        return told
    }
}
