internal import BotKit
internal import CommandLineKit

/// Reads a configuration into values (docs/operating/bot.md has every key).
struct ConfigurationReader {
    /// Where files with relative names lie; empty: here.
    let folder: String

    private static let longestPersona = 32 << 10

    init(folder: String) { self.folder = folder }

    mutating func configuration(
        _ value: JSON5Value, needsEndpoint: Bool
    ) throws(ConfigurationMistake) -> BotConfiguration {
        var top = try Section(value)
        let bot = try top.required("bot")
        let name = try top.text("name") ?? bot
        let kind = try top.choice("kind", Kind.self) ?? .chat
        try kind.check(top)
        let persona = kind == .image ? (text: BotText([:]), version: "1") : try persona(&top)
        var settings = BotSettings(bot: bot, name: name, persona: persona.text, model: "echo")
        settings.personaVersion = persona.version
        settings.kind = try self.kind(kind, &top)
        let endpoint = try endpoint(&top, &settings)
        if needsEndpoint, endpoint == nil { throw top.mistake("endpoint", "it is missing; --echo needs none") }
        try speech(&top, &settings)
        let rules = Set(["guards", "emergencies", "greeting", "intake", "farewell", "survey"])
        if case .object(let members) = value.content {
            let said = members.filter { rules.contains($0.name) }
            settings.rules = JSON5Value(content: .object(said), position: value.position).json ?? "{}"
        }
        var configuration = BotConfiguration(settings: settings)
        configuration.endpoint = endpoint
        try node(&top, &configuration)
        try subscription(&top, &configuration)
        if let count = try top.count("concurrency", in: 1...64) { configuration.concurrency = count }
        configuration.metrics = try top.text("metrics_file").map(path)
        if var log = try top.section("log") {
            enum Form: String, CaseIterable { case text, json }
            configuration.logsJSON = try log.choice("format", Form.self) == .json
            try log.end()
        }
        try top.end()
        return configuration
    }

    private func path(_ name: String) -> String {
        name.hasPrefix("/") || folder.isEmpty ? name : (folder == "/" ? "/" : folder + "/") + name
    }

    private func persona(_ top: inout Section) throws(ConfigurationMistake) -> (text: BotText, version: String) {
        guard var section = try top.section("persona") else { throw top.mistake("persona", "it is missing") }
        let version = try section.text("version") ?? "1"
        var texts: [(language: String, text: String)] = []
        for language in section.names where language != "version" {
            guard let file = try section.text(language) else { continue }
            do throws(CommandFailure) {
                texts.append((language, try BotConfiguration.file(path(file), "the persona").trimmedLines))
            } catch {
                throw section.mistake(language, error.what)
            }
            let text = texts.last?.text ?? ""
            if text.isEmpty { throw section.mistake(language, "\(file) has no text") }
            if text.utf8.count > Self.longestPersona {
                throw section.mistake(language, "\(file) has more than \(Self.longestPersona) bytes")
            }
        }
        if texts.isEmpty { throw top.mistake("persona", "it names no file; write en: \"persona.en.md\"") }
        return (BotText(inOrder: texts), version)
    }

    private func endpoint(
        _ top: inout Section, _ settings: inout BotSettings
    ) throws(ConfigurationMistake) -> BotConfiguration.Endpoint? {
        guard var section = try top.section("endpoint") else { return nil }
        var url = try section.required("url")
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw section.mistake("url", "it begins with https:// or http://")
        }
        while url.hasSuffix("/") { url.removeLast() }
        settings.model = try section.required("model")
        settings.models = try section.texts("models") ?? []
        if !settings.models.isEmpty, !settings.models.contains(settings.model) {
            throw section.mistake("models", "'\(settings.model)' of endpoint.model is one of them")
        }
        let isImage = settings.kind.name == Kind.image.rawValue
        if isImage, section.value("stream") != nil {
            throw section.mistake("stream", "a picture comes whole: leave it out")
        }
        if let answer = try section.bool("stream") { settings.isStreamed = answer }
        if let span = try section.span("timeout", in: 1_000...3_600_000) { settings.timeout = span }
        let silence = try section.span("silence", in: 1_000...3_600_000) ?? 60_000
        settings.parameters = try section.parameters(
            without: isImage ? ImageRequest.own : ["model", "stream", "messages"])
        let endpoint = BotConfiguration.Endpoint(
            url: url, keyFile: try section.text("key_file").map(path),
            authorities: try section.text("ca_file").map(path), silence: silence)
        try section.end()
        return endpoint
    }

    private func node(_ top: inout Section, _ configuration: inout BotConfiguration) throws(ConfigurationMistake) {
        guard var section = try top.section("api") else { return }
        if let url = try section.text("url") { configuration.node.url = url }
        configuration.node.tokenFile = try section.text("token_file").map(path)
        configuration.node.authorities = try section.text("ca_file").map(path)
        try section.end()
    }

    private func subscription(
        _ top: inout Section, _ configuration: inout BotConfiguration
    ) throws(ConfigurationMistake) {
        let bot = configuration.settings.bot
        configuration.subscription.name = bot
        if var section = try top.section("subscription") {
            if let name = try section.text("name") { configuration.subscription.name = name }
            if let start = try section.text("start") { configuration.subscription.start = start }
            if let span = try section.span("late", in: 0...31_536_000_000) { configuration.subscription.late = span }
            if let span = try section.span("ack_wait", in: 1_000...3_600_000) {
                configuration.subscription.wait = span
            }
            if let count = try section.count("attempts", in: 1...100) { configuration.subscription.attempts = count }
            if let home = try section.choice("home", BotConfiguration.Subscription.Home.self) {
                configuration.subscription.home = home
            }
            try section.end()
        }
        let name = configuration.subscription.name
        let isName =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789._-".utf8.contains($0) }
        guard isName, name != ".", name != ".." else {
            throw top.mistake(
                "subscription", "'\(name)' is no name of one: 1 to 64 of a-z 0-9 . _ -; say it with subscription.name"
            )
        }
        configuration.settings.patience = configuration.subscription.wait
    }
}

extension String {
    /// Without blank lines at its ends: a file's last line has an end that belongs to no text.
    fileprivate var trimmedLines: String {
        var rest = self[...].drop { $0.isNewline }
        while rest.last?.isWhitespace ?? false { rest.removeLast() }
        return String(rest)
    }
}
