internal import BotKit
internal import EventStore

/// What an endpoint answers: read whole and in pieces it is the same, and what a bot makes of it is a native line, within bounds.
func fuzzAnswers(_ bytes: [UInt8]) throws {
    let whole = read(bytes, piece: max(1, bytes.count))
    for piece in [1, 3 + bytes.count % 7] {
        let again = read(bytes, piece: piece)
        try promise(again == whole, "\(whole) came as \(again)")
    }
    _ = try? Completion(body: bytes)
    _ = ModelFault(status: 400 + bytes.count % 200, retryAfter: bytes.count, body: bytes, secret: "a")
    for contentType in ["text/event-stream", "application/json"] { try answer(bytes, contentType) }
    try ask(String(decoding: bytes, as: UTF8.self))
}

private func read(_ bytes: [UInt8], piece: Int) -> Result<Completion, ModelFault> {
    var stream = CompletionStream()
    do throws(ModelFault) {
        for start in stride(from: 0, to: bytes.count, by: piece) {
            _ = try stream.take(bytes[start..<min(start + piece, bytes.count)])
        }
        return .success(try stream.end())
    } catch {
        return .failure(error)
    }
}

private func settings() -> BotSettings {
    var settings = BotSettings(bot: "b", name: "B", persona: BotText(["en": "p"]), model: "m")
    settings.longestAnswer = 64
    var items = AnswerGuard("items", .items(units: ["ways"]))
    items.append = BotText(["en": "more"])
    settings.guards = [
        items, AnswerGuard("no", .forbidden(["ab", "가"])), AnswerGuard("short", .longest(20)),
        AnswerGuard("words", .words(groups: [["a"], ["b", "두통"]], least: 1, last: 10)),
    ]
    return settings
}

private func event(_ text: String) -> BotEvent? {
    let object =
        #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","user":"u","#
        + #""subject":"conversation/c","time":"2026-11-24T10:00:00.000Z","data":{"text":"\#(text)"}}"#
    return BotEvent(JSONObject(validated: Array(object.utf8)))
}

private func answer(_ bytes: [UInt8], _ contentType: String) throws {
    guard let event = event("tell me 3 ways") else { return }
    var machine = ReplyMachine(settings(), BotDelivery(token: "t", attempt: 1, event: event), now: 0)
    var effects = machine.begin()
    var now: UInt64 = 0
    func feed(_ input: ReplyMachine.Input) {
        now += 50
        effects += machine.take(input, now: now, chance: 0)
    }
    feed(.dialogue(Dialogue(question: event, rows: [], participants: nil, isAnswered: false, profile: [])))
    feed(.answerBegins(contentType: contentType))
    for start in stride(from: 0, to: bytes.count, by: 5) {
        feed(.piece(Array(bytes[start..<min(start + 5, bytes.count)])))
    }
    feed(.answerEnds)
    var told = ""
    for effect in effects {
        if case .tell(_, let text, _, _) = effect { told += text }
        guard case .append(let lines) = effect else { continue }
        for line in lines.split(separator: UInt8(ascii: "\n")) {
            let draft = try NativeLineParser().parse(Array(line)).draft
            guard draft.type == "bot.replied" else { continue }
            let text = JSONObject(validated: draft.payload).string("text") ?? ""
            try promise(text.count <= 20, "\(text) is longer than its guard lets it be")
        }
    }
    // By characters, as words are compared.
    let characters = Array(told)
    let hasWord =
        zip(characters, characters.dropFirst()).contains { $0 == "a" && $1 == "b" } || characters.contains("가")
    try promise(!hasWord, "a forbidden word was told: \(told)")
}

/// A question of a stranger under all rules.
private func ask(_ text: String) throws {
    for rule in settings().guards where rule.applies(to: text) { _ = rule.passes(text, to: text) }
    let window = ContextWindow().fit(
        system: "s", before: [Turn(.user, text), Turn(.assistant, text)], question: text)
    try promise(window.last?.text == text && window.first?.role == .system, "\(window)")
}
