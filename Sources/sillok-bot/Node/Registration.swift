internal import BotKit
internal import CommandLineKit
internal import EventStore
internal import SillokAPI
internal import SillokClient

/// What a bot does at its start: its subscription is made, and what it is goes into the record.
struct Registration {
    let api: NodeAPI
    let configuration: BotConfiguration
    /// Of the program.
    let version: String

    /// Whether it may answer at all: before anything is made, for it would take messages from a bot that may.
    func checkRole() throws(CommandFailure) {
        let answer = try api.ask(ClientRequest(target: Route.me.path, timeout: 10_000))
        _ = try NodeAPI.roles(answer, answeringAs: configuration.settings.bot)
    }

    /// Makes the subscription where it is not there; where it is there with other members, gives it these. What was handed out and done
    /// stays done.
    func subscribe() throws(CommandFailure) {
        let made = try api.subscription("", method: "PUT", body: definition(isNew: true), accepting: [409])
        guard made.status == 409 else { return }
        let error = ErrorAnswer(body: made.body, status: made.status)
        guard error.code == ErrorCode.exists.rawValue else { throw error.failure(status: made.status) }
        let changed = try api.subscription("", method: "PATCH", body: definition(isNew: false), accepting: [409])
        if changed.status == 409 {
            let error = ErrorAnswer(body: changed.body, status: changed.status)
            // Another node is its home: what it has there stands until that node is asked.
            guard error.code == ErrorCode.elsewhere.rawValue else { throw error.failure(status: changed.status) }
        }
    }

    /// - Parameter isNew: With what can be said only when it is made.
    private func definition(isNew: Bool) -> JSONLine {
        let wanted = configuration.subscription
        var line = JSONLine()
        if isNew {
            line.add("start", wanted.start)
            if wanted.home == .local { line.add("home", wanted.home.rawValue) }
        }
        line.addObject("filter") { $0.add("type", configuration.settings.types) }
        line.add("late_ms", wanted.late)
        line.add("ack_wait_ms", wanted.wait)
        line.add("attempts", wanted.attempts)
        return line
    }

    /// Appends `bot.configured` where the last one says something else: so each reply can be told what it came of.
    ///
    /// - Returns: Whether there was something to say.
    func record() throws(CommandFailure) -> Bool {
        let settings = configuration.settings
        let user = "bot/" + settings.bot
        let content = settings.configured(version: version).utf8
        let digest = SHA256().digest(content).description
        let last = try api.lines(
            ReadRoute.history(user: user).path(with: [("type", "bot.configured"), ("limit", "1")]))?
            .first?.object("event")
        guard last?.object("data")?.string("sha256") != digest else { return false }
        // After which one it comes is part of the id: a configuration that comes back is told again, and two workers tell it once.
        let before = last?.string("id").flatMap { EventID(text: $0) }
        let id =
            before.map { EventID(replyTo: $0, by: settings.bot, label: "configured " + digest) }
            ?? EventID(record: digest, of: "sillok-bot " + settings.bot)
        var line = JSONLine()
        line.add("id", id.description)
        line.add("type", "bot.configured")
        line.add("user", user)
        line.add("author", settings.bot)
        if let before { line.add("cause", before.description) }
        // The digest goes first, and the rest as it was hashed.
        var data = JSONLine()
        data.add("sha256", digest)
        line.addRaw("data", String(data.text.dropLast()) + "," + String(decoding: content.dropFirst(), as: UTF8.self))
        var bytes: [UInt8] = []
        line.write(to: &bytes)
        switch try api.append(bytes, ack: nil) {
        case .stored, .taken(byBot: true): return true
        case .taken(byBot: false):
            throw CommandFailure(
                code: "E_ID_REUSED", "event \(id) is by someone else: what the bot is cannot be recorded",
                hint: "syncctl show \(id) tells who had it appended", exitCode: .badInput)
        case .refused(let failure): throw failure
        }
    }
}
