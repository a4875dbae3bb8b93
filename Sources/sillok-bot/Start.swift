internal import BotKit
internal import CommandLineKit
internal import SillokClient

extension BotConfiguration {
    /// The configuration's file, and what the command line says beyond it. With `--echo` no endpoint is asked.
    init(_ arguments: ParsedArguments) throws(CommandFailure) {
        let isEcho = arguments.flag("echo")
        if let path = arguments.value("config") {
            self = try .read(path, needsEndpoint: !isEcho)
        } else {
            guard isEcho else {
                throw CommandFailure(
                    code: "E_USAGE", "--config is missing", hint: "--config FILE, or --echo for a first try",
                    exitCode: .usage)
            }
            self = .echo
        }
        if let socket = arguments.value("socket") { node.url = "unix:" + socket }
        if let url = arguments.value("url") { node.url = url }
        if let file = arguments.value("token-file") { node.tokenFile = file }
        if isEcho { (endpoint, settings.model) = (nil, "echo") }
    }

    /// What a start refuses of the addresses and files that are named, by key. What the persona's files have was read with the rest.
    var refused: [(key: String, failure: CommandFailure)] {
        var found: [(key: String, failure: CommandFailure)] = []
        func look(_ key: String, _ body: () throws(CommandFailure) -> Void) {
            do throws(CommandFailure) { try body() } catch { found.append((key, error)) }
        }
        let hasAddress = NodePlace.Address(text: node.url) != nil
        look(hasAddress ? "api.token_file" : "api.url") { () throws(CommandFailure) in _ = try node.place() }
        if let file = node.authorities {
            look("api.ca_file", AuthoritiesFile(file).requireCertificate)
        }
        guard let endpoint else { return found }
        look("endpoint.key_file") { () throws(CommandFailure) in
            guard try HTTPModel(endpoint: endpoint).key() != nil, NodePlace.Address.url(endpoint.url).isOpenToOthers
            else { return }
            throw CommandFailure(
                code: "E_CONFIG", "the key would go to \(endpoint.url) without encryption",
                hint: "https://, or a proxy on this machine", exitCode: .configuration)
        }
        if let file = endpoint.authorities {
            look("endpoint.ca_file", AuthoritiesFile(file).requireCertificate)
        }
        return found
    }
}

extension BotConfiguration.Node {
    func place() throws(CommandFailure) -> NodePlace {
        try NodePlace.configured(url: url, tokenFile: tokenFile, authorities: authorities)
    }
}
