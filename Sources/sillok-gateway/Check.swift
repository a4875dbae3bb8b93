internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SillokAPI
internal import SillokClient

/// `sillok-gateway check`: what a gateway needs, with what is wrong and what helps. Nothing is stored.
struct Check {
    private let arguments: ParsedArguments
    private var steps: CheckSteps

    init(_ arguments: ParsedArguments, _ output: Output) {
        self.arguments = arguments
        steps = CheckSteps(output, isJSON: arguments.flag("json"))
    }

    mutating func run() throws(CommandFailure) -> ExitCode {
        let file = arguments.positional("file")
        guard arguments.value("config") != nil else {
            guard let file = file ?? arguments.value("data") else {
                throw CommandFailure(
                    code: "E_USAGE", "there is nothing to check", hint: "a data file, or --config FILE",
                    exitCode: .usage)
            }
            try steps.step("data") { () throws(CommandFailure) in try Self.data(file) }
            return try steps.end()
        }
        var read: GatewayConfiguration?
        try steps.step("configuration") { [arguments] () throws(CommandFailure) in
            let configuration = try SillokGateway.configuration(arguments)
            read = configuration
            return "listens at \(configuration.listen?.text ?? "")"
        }
        guard let configuration = read else { return try steps.end() }
        try steps.step("data") { () throws(CommandFailure) in try Self.data(file ?? configuration.data) }
        try steps.step("node") { () throws(CommandFailure) in try Self.node(configuration.node) }
        return try steps.end()
    }

    private static func data(_ path: String) throws(CommandFailure) -> String {
        let transit = try GatewayConfiguration.transit(path)
        return "\(transit.cities.count) cities, \(transit.lineCount) lines, \(transit.stationCount) stations"
    }

    private static func node(_ node: GatewayConfiguration.Node) throws(CommandFailure) -> String {
        try node.check()
        let place = try node.place()
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
