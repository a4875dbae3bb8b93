internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SillokAPI
internal import SillokClient

/// `sillok-gateway check`: what a gateway needs, with what is wrong and what helps. Nothing is stored.
struct Check {
    private let arguments: ParsedArguments
    private let output: Output
    private let isJSON: Bool

    init(_ arguments: ParsedArguments, _ output: Output) {
        (self.arguments, self.output) = (arguments, output)
        isJSON = arguments.flag("json")
    }

    func run() throws(CommandFailure) -> ExitCode {
        let file = arguments.positional("file")
        guard arguments.value("config") != nil else {
            guard let file = file ?? arguments.value("data") else {
                throw CommandFailure(
                    code: "E_USAGE", "there is nothing to check", hint: "a data file, or --config FILE",
                    exitCode: .usage)
            }
            return try steps([("data", { () throws(CommandFailure) in try Self.data(file) })])
        }
        var configuration: GatewayConfiguration
        do throws(CommandFailure) { configuration = try SillokGateway.configuration(arguments) } catch {
            return try steps([("configuration", { () throws(CommandFailure) in throw error })])
        }
        if let file { configuration.data = file }
        let found = configuration
        return try steps([
            ("configuration", { () throws(CommandFailure) in "listens at \(found.listen?.text ?? "")" }),
            ("data", { () throws(CommandFailure) in try Self.data(found.data) }),
            ("node", { () throws(CommandFailure) in try Self.node(found.node) }),
        ])
    }

    /// Tells what came of each step; ends with the code of the first that failed.
    private func steps(
        _ steps: [(name: String, step: () throws(CommandFailure) -> String)]
    ) throws(CommandFailure) -> ExitCode {
        var worst: CommandFailure?
        for (name, step) in steps {
            let found: String
            do throws(CommandFailure) { found = try step() } catch {
                try tell(name, "", error)
                if worst == nil { worst = error }
                continue
            }
            try tell(name, found, nil)
        }
        if isJSON { try output.line(JSONLine(type: "end")) }
        return worst?.exitCode ?? .success
    }

    private func tell(_ step: String, _ found: String, _ failure: CommandFailure?) throws(CommandFailure) {
        guard isJSON else {
            let text = failure.map {
                $0.what + ($0.hint.map { "\n" + String(repeating: " ", count: 19) + "Try: " + $0 } ?? "")
            }
            let name = step + String(repeating: " ", count: max(1, 14 - step.count))
            return try output.line("\(name)\(failure == nil ? "ok  " : "!!  ") \(Sanitizer.lines(text ?? found))")
        }
        var line = JSONLine(type: "check")
        line.add("step", step)
        line.add("ok", failure == nil)
        line.add("message", failure?.what ?? found)
        if let failure {
            line.add("code", failure.code)
            line.add("hint", failure.hint)
        }
        try output.line(line)
    }

    private static func data(_ path: String) throws(CommandFailure) -> String {
        let transit = try GatewayConfiguration.transit(path)
        return "\(transit.cities.count) cities, \(transit.lineCount) lines, \(transit.stationCount) stations"
    }

    private static func node(_ node: GatewayConfiguration.Node) throws(CommandFailure) -> String {
        let place = try NodePlace.configured(
            url: node.url, tokenFile: node.tokenFile, authorities: node.authorities)
        let answer: ClientRequest.Answer
        do throws(ClientRequest.Failure) {
            answer = try ClientRequest(target: Route.me.path, timeout: 10_000).send(to: place)
        } catch {
            throw CommandFailure(
                code: "E_UNREACHABLE", "the node does not answer: \(error.reason)",
                hint: "is syncd running, and is api.url right?", exitCode: .unreachable)
        }
        guard answer.status == 200 else {
            throw ErrorAnswer(body: answer.body, status: answer.status).failure(status: answer.status)
        }
        let roles = (try? JSONObject(validating: answer.body))?.strings("roles") ?? []
        guard roles.contains("app") else {
            throw CommandFailure(
                code: ErrorCode.role.rawValue,
                "the node takes it for someone with the roles \(roles.joined(separator: ", ")), who may not append for riders",
                hint: "syncctl tokens create gateway/arrive --role app --out arrive.token", exitCode: .notPermitted)
        }
        return "\(node.url), roles \(roles.joined(separator: ", "))"
    }
}
