internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// All that a bot is started with.
struct BotConfiguration: Sendable {
    /// Where it was read, for messages; `nil`: built in.
    var path: String?
    var settings: BotSettings
    var node = Node()
    var subscription = Subscription()
    var endpoint: Endpoint?
    /// How many conversations it works on at once.
    var concurrency = 4
    /// Where figures are written for Prometheus.
    var metrics: String?
    var logsJSON = false

    /// The node whose messages it answers.
    struct Node: Sendable {
        var url = "unix:/run/syncd/api.sock"
        var tokenFile: String?
        var authorities: String?
    }

    /// The subscription that hands it messages.
    struct Subscription: Sendable {
        enum Home: String, CaseIterable, Sendable {
            case single, local
        }

        var name = ""
        var start = "now"
        var late: UInt64 = 600_000
        var wait: UInt64 = 30_000
        var attempts = 10
        var home = Home.single
    }

    /// The model's endpoint.
    struct Endpoint: Sendable {
        var url: String
        var keyFile: String?
        var authorities: String?
        /// Milliseconds without a byte after which a request is given up.
        var silence: UInt64
    }

    /// A bot that repeats what it hears, without a model.
    static var echo: BotConfiguration {
        let settings = BotSettings(
            bot: "echo", name: "Echo", persona: BotText(["en": "You repeat what you hear."]), model: "echo")
        var configuration = BotConfiguration(settings: settings)
        configuration.subscription.name = "echo"
        return configuration
    }

    /// Reads a file. Files that it names are looked for beside it.
    ///
    /// - Parameter needsEndpoint: Whether it must say where the model is.
    static func read(_ path: String, needsEndpoint: Bool) throws(CommandFailure) -> BotConfiguration {
        let text = try file(path, "the configuration")
        let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
        do throws(ConfigurationMistake) {
            var reader = ConfigurationReader(folder: path.hasPrefix("/") && folder.isEmpty ? "/" : folder)
            let value: JSON5Value
            do throws(JSON5SyntaxError) { value = try JSON5Reader.read(text) } catch {
                throw ConfigurationMistake(error.message, error.position)
            }
            var configuration = try reader.configuration(value, needsEndpoint: needsEndpoint)
            configuration.path = path
            return configuration
        } catch {
            throw CommandFailure(
                code: "E_CONFIG", "\(path):\(error.position): \(error.message)",
                hint: "docs/operating/bot.md has every key", exitCode: .configuration)
        }
    }

    /// The text of a file.
    static func file(_ path: String, _ what: String) throws(CommandFailure) -> String {
        let bytes: [UInt8]?
        do throws(StoreError) { bytes = try SmallFile.read(path) } catch { throw CommandFailure(error) }
        guard let bytes else {
            throw CommandFailure(
                code: "E_CONFIG", "there is no file \(path): \(what)",
                hint: "--config FILE, or --echo for a first try",
                exitCode: .configuration)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandFailure(code: "E_CONFIG", "\(path) is not UTF-8", exitCode: .configuration)
        }
        return text
    }
}
