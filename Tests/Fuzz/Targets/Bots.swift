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
    for step in 0..<4 { try media(bytes, step) }
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

private func event(_ text: String) -> BotEvent? { event(data: #"{"text":"\#(text)"}"#) }

private func event(data: String) -> BotEvent? {
    let object =
        #"{"id":"0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f","type":"message.posted","user":"u","#
        + #""subject":"conversation/c","time":"2026-11-24T10:00:00.000Z","data":\#(data)}"#
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

/// What endpoints answer that draw, hear and speak: what is kept has no more bytes than it may, and what is appended is a native line.
private func media(_ bytes: [UInt8], _ step: Int) throws {
    let longest = 512
    var settings = settings()
    var (picture, hearing) = (BotKind.Picture(), BotKind.Hearing(model: "m"))
    var speech = BotKind.Speech(model: "m", voice: "v")
    (picture.longest, hearing.longest, speech.longest) = (longest, longest, longest)
    settings.kind = step < 2 ? .image(picture) : .voice(.init(hearing: hearing, speech: speech))
    settings.retries.attempts = 1
    let data =
        step < 2
        ? #"{"text":"a"}"#
        : #"{"attachments":[{"sha256":"\#(SHA256().digest(bytes))","bytes":1,"mediaType":"audio/a"}]}"#
    guard let event = event(data: data) else { return }
    var machine = ReplyMachine(settings, BotDelivery(token: "t", attempt: 1, event: event), now: 0)
    var effects = machine.begin()
    func feed(_ input: ReplyMachine.Input) { effects += machine.take(input, now: 50, chance: 0) }
    func answer(_ contentType: String, _ bytes: [UInt8]) {
        feed(.answerBegins(contentType: contentType))
        for start in stride(from: 0, to: bytes.count, by: 100) {
            feed(.piece(Array(bytes[start..<min(start + 100, bytes.count)])))
        }
        feed(.answerEnds)
    }
    var dialogue = Dialogue(question: event, rows: [], participants: nil, isAnswered: false, profile: [])
    if step == 3 { dialogue.transcript = "a" }
    feed(.dialogue(dialogue))
    switch step {
    case 0: answer("application/json", bytes)
    case 1:
        answer("application/json", Array(#"{"data":[{"url":"https://a/"}]}"#.utf8))
        answer("image/png", bytes)
    case 2:
        feed(.loaded(bytes))
        answer("application/json", bytes)
    default:
        answer("application/json", Array(#"{"choices":[{"message":{"content":"a"}}]}"#.utf8))
        answer("audio/mpeg", bytes)
    }
    for case .keep(let media) in effects {
        try promise(media.bytes.count <= longest, "\(media.bytes.count) bytes were taken")
        feed(.kept(AttachmentItem(digest: SHA256().digest(media.bytes), bytes: 1, mediaType: media.mediaType)))
    }
    for effect in effects {
        switch effect {
        case .append(let lines), .record(let lines):
            for line in lines.split(separator: UInt8(ascii: "\n")) { _ = try NativeLineParser().parse(Array(line)) }
        default: break
        }
    }
}

/// A question of a stranger under all rules.
private func ask(_ text: String) throws {
    for rule in settings().guards where rule.applies(to: text) { _ = rule.passes(text, to: text) }
    let window = ContextWindow().fit(
        system: "s", before: [Turn(.user, text), Turn(.assistant, text)], question: text)
    try promise(window.last?.text == text && window.first?.role == .system, "\(window)")
}
