internal import CommandLineKit
internal import EventStore
internal import GatewayKit
internal import SillokAPI

/// All that a gateway is started with (docs/operating/gateway.md has every key).
struct GatewayConfiguration: Sendable {
    /// Where it listens.
    struct Address: Equatable, Sendable {
        var host: String
        var port: UInt16

        /// `127.0.0.1:7700`, `[::1]:7700`, `localhost:0`.
        init?(text: String) {
            guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
                return nil
            }
            var host = text[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = host.dropFirst().dropLast()
            } else if host.contains(":") {
                return nil
            }
            guard !host.isEmpty else { return nil }
            (self.host, self.port) = (String(host), port)
        }

        var text: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
    }

    /// The node that keeps what is asked and answered.
    struct Node: Sendable {
        var url = "unix:/run/syncd/api.sock"
        var tokenFile: String?
        var authorities: String?
    }

    var listen = Address(text: "127.0.0.1:7700")
    /// Of the page and its questions; `nil`: none.
    var web: Address?
    var node = Node()
    /// The file with the stations.
    var data = ""
    /// What follows an answer on the wire.
    var replyEnd = ""
    var maxClients = 4_096
    /// Milliseconds without a request after which a client is closed.
    var idle: UInt64 = 600_000
    /// Milliseconds for which a node that does not answer is asked again, before the client is told so.
    var patience: UInt64 = 5_000
    /// Where figures are written for Prometheus.
    var metrics: String?
    var logsJSON = false

    /// Reads a file. Files that it names are looked for beside it.
    static func read(_ path: String) throws(CommandFailure) -> GatewayConfiguration {
        let text = try file(path, hint: "--config FILE")
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        do throws(ConfigurationMistake) {
            let value: JSON5Value
            do throws(JSON5SyntaxError) { value = try JSON5Reader.read(text) } catch {
                throw ConfigurationMistake(error.message, error.position)
            }
            return try GatewayConfiguration(value, folder: path.hasPrefix("/") && folder.isEmpty ? "/" : folder)
        } catch {
            throw CommandFailure(
                code: "E_CONFIG", "\(path):\(error.position): \(error.message)",
                hint: "docs/operating/gateway.md has every key", exitCode: .configuration)
        }
    }

    private init(_ value: JSON5Value, folder: String) throws(ConfigurationMistake) {
        func path(_ name: String) -> String {
            name.hasPrefix("/") || folder.isEmpty ? name : (folder == "/" ? "/" : folder + "/") + name
        }
        var top = try Section(value)
        if let address = try Self.address("listen", &top) { listen = address }
        web = try Self.address("web", &top)
        if var section = try top.section("api") {
            if let url = try section.text("url") { node.url = url }
            node.tokenFile = try section.text("token_file").map(path)
            node.authorities = try section.text("ca_file").map(path)
            try section.end()
        }
        data = path(try top.required("data"))
        if let end = try top.text("reply_end") {
            guard end.utf8.count <= 4 else { throw top.mistake("reply_end", "it has 4 bytes at most") }
            replyEnd = end
        }
        if let count = try top.count("max_clients", in: 1...60_000) { maxClients = count }
        if let span = try top.span("idle", in: 1_000...86_400_000) { idle = span }
        if let span = try top.span("patience", in: 100...60_000) { patience = span }
        metrics = try top.text("metrics_file").map(path)
        if var log = try top.section("log") {
            enum Form: String, CaseIterable { case text, json }
            logsJSON = try log.choice("format", Form.self) == .json
            try log.end()
        }
        try top.end()
    }

    /// A gateway without a configuration file: what the command line says of it is all there is.
    init(data: String) { self.data = data }

    private static func address(_ name: String, _ top: inout Section) throws(ConfigurationMistake) -> Address? {
        guard let text = try top.text(name) else { return nil }
        guard let address = Address(text: text) else {
            throw top.mistake(name, "'\(text)' is no address; write \"127.0.0.1:7700\"")
        }
        return address
    }

    /// The stations. What is wrong with the file is told row by row.
    static func transit(_ path: String) throws(CommandFailure) -> Transit {
        let text = try file(path, hint: "docs/operating/gateway.md says what a data file has")
        do throws(TransitFile.Mistakes) { return try TransitFile.read(text) } catch {
            let told = error.first.map { "\(path):\($0.position): \($0.message)" }
            let more = error.count - told.count
            throw CommandFailure(
                code: "E_CONFIG", (told + (more > 0 ? ["and \(more) more"] : [])).joined(separator: "\n"),
                hint: "docs/operating/gateway.md says what a row has", exitCode: .configuration)
        }
    }

    private static func file(_ path: String, hint: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(path) } catch { throw CommandFailure(error) }
        guard let bytes else {
            throw CommandFailure(code: "E_CONFIG", "there is no file \(path)", hint: hint, exitCode: .inputMissing)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(code: "E_CONFIG", "\(path) is not UTF-8", exitCode: .configuration)
        }
        return text
    }
}
