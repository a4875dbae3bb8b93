import EventStore
import Testing

@testable import BotKit

/// What the tests of machines are made of.
enum Sample {
    static let message = "0198e2c4-77aa-7c01-8b1e-0a1b2c3d4e5f"

    static func event(
        _ type: String = "message.posted", id: String = message, author: String = "u1",
        data: String = #"{"text":"두통이 있어요"}"#, more: String = #","subject":"conversation/c1""#
    ) -> BotEvent {
        let text =
            #"{"specversion":"1.0","id":"\#(id)","type":"\#(type)","user":"u1","author":"\#(author)","#
            + #""time":"2026-11-24T10:00:00.000Z","data":\#(data)\#(more)}"#
        guard let event = BotEvent(JSONObject(validated: Array(text.utf8))) else { fatalError("no event: \(text)") }
        return event
    }

    static func settings(_ change: (inout BotSettings) -> Void = { _ in }) -> BotSettings {
        var settings = BotSettings(
            bot: "medibot", name: "Dr.Bot", persona: BotText(["ko": "너는 Dr.Bot이다.", "en": "You are Dr.Bot."]),
            model: "m")
        settings.isStreamed = false
        change(&settings)
        return settings
    }

    static func row(_ event: BotEvent, text: String? = nil, isRetracted: Bool = false) -> SpokenRow {
        SpokenRow(
            id: event.id, isReply: event.type == "bot.replied", author: event.author, cause: event.cause,
            text: text ?? event.payload.string("text"), isRetracted: isRetracted)
    }

    static func dialogue(
        _ question: BotEvent = event(), rows: [SpokenRow]? = nil, participants: [String]? = nil,
        isAnswered: Bool = false, profile: [(name: String, value: String)] = []
    ) -> Dialogue {
        Dialogue(
            question: question, rows: rows ?? [row(question)], participants: participants, isAnswered: isAnswered,
            profile: profile)
    }

    static func stream(_ texts: [String], done: Bool = true) -> [UInt8] {
        let lines =
            texts.map { #"data: {"choices":[{"delta":{"content":"\#($0)"}}]}"# } + (done ? ["data: [DONE]"] : [])
        return Array(lines.map { $0 + "\n\n" }.joined().utf8)
    }
}

/// Feeds a machine from its beginning and gives all effects.
struct MachineRun {
    var machine: ReplyMachine
    var all: [ReplyMachine.Effect]
    var last: [ReplyMachine.Effect] = []
    var now: UInt64 = 1_000

    init(
        _ settings: BotSettings = Sample.settings(), _ event: BotEvent = Sample.event(), refusals: Int = 0
    ) {
        machine = ReplyMachine(
            settings, BotDelivery(token: "t", attempt: 1, event: event), refusals: refusals, now: now)
        last = machine.begin()
        all = last
    }

    @discardableResult
    mutating func feed(_ input: ReplyMachine.Input, after milliseconds: UInt64 = 10, chance: UInt64 = 0)
        -> [ReplyMachine.Effect]
    {
        now += milliseconds
        last = machine.take(input, now: now, chance: chance)
        all += last
        return last
    }

    @discardableResult
    mutating func answer(_ text: String) -> [ReplyMachine.Effect] {
        feed(.answerBegins(contentType: "application/json"))
        feed(
            .piece(
                Array(
                    #"{"model":"m-1","choices":[{"message":{"content":"\#(text)"},"finish_reason":"stop"}]}"#.utf8
                )))
        return feed(.answerEnds)
    }

    var request: CompletionRequest? {
        for case .ask(.chat(let request)) in all.reversed() { return request }
        return nil
    }

    /// Whole answers of other endpoints.
    @discardableResult
    mutating func answer(_ contentType: String?, _ bytes: [UInt8]) -> [ReplyMachine.Effect] {
        feed(.answerBegins(contentType: contentType))
        if !bytes.isEmpty { feed(.piece(bytes)) }
        return feed(.answerEnds)
    }

    @discardableResult
    mutating func json(_ text: String) -> [ReplyMachine.Effect] { answer("application/json", Array(text.utf8)) }

    /// The node has the bytes that it was given.
    @discardableResult
    mutating func kept() -> [ReplyMachine.Effect] {
        guard case .keep(let media) = last.last else { return [] }
        return feed(
            .kept(
                AttachmentItem(
                    digest: SHA256().digest(media.bytes), bytes: UInt64(media.bytes.count), mediaType: media.mediaType
                )
            ))
    }

    /// The request that was made last, of whatever kind.
    var asked: ModelRequest? {
        for case .ask(let request) in last.reversed() { return request }
        return nil
    }

    var recorded: [JSONObject] {
        all.flatMap { effect -> [JSONObject] in
            guard case .record(let bytes) = effect else { return [] }
            return bytes.split(separator: UInt8(ascii: "\n")).map { JSONObject(validated: Array($0)) }
        }
    }

    var appended: [JSONObject] {
        all.flatMap { effect -> [JSONObject] in
            guard case .append(let bytes) = effect else { return [] }
            return bytes.split(separator: UInt8(ascii: "\n")).map { JSONObject(validated: Array($0)) }
        }
    }
}
