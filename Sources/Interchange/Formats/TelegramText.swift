internal import EventStore

/// What a message of Telegram says: its text in each of its forms, or what stands in place of one.
struct TelegramText {
    private(set) var text: String
    /// The parts of the text, if it has any.
    private(set) var entities: JSONValue?
    /// Members that stand in place of a text and are kept as they are.
    private(set) var rest: [(name: String, value: JSONValue)] = []
    /// Whether the buttons are the text.
    private(set) var isOfButtons = false

    /// What always was kept beside the text.
    static let kept = ["sticker_emoji", "poll", "location_information", "contact_information", "via_bot"]
    private static let instead = [
        "todo_list", "invoice_information", "game_title", "game_description", "game_link", "giveaway_information",
        "giveaway_results", "inline_bot_buttons",
    ]
    private static let plain: Set<String> = [
        "id", "type", "date", "date_unixtime", "edited", "edited_unixtime", "from", "from_id", "text",
        "text_entities",
        "reply_to_message_id", "reply_to_peer_id", "forwarded_from", "forwarded_from_id", "reactions", "author",
        "saved_from", "forwarded_date", "forwarded_date_unixtime",
    ]

    init(_ message: JSONObject) {
        text = Self.text(message["text"])
        entities = message["text"]?.kind == .array ? message["text"] : nil
        if text.isEmpty, let parts = message["text_entities"] {
            text = Self.text(parts)
            if !text.isEmpty { entities = parts }
        }
        for name in ["place_name", "address"] { take(name, message) }
        guard text.isEmpty, !Self.isElsewhere(message) else { return }
        for name in Self.instead { take(name, message) }
        text = Self.instead(of: message)
        if text.isEmpty, let rows = message.elements("inline_bot_buttons") {
            let buttons = rows.flatMap { $0.elements ?? [] }.compactMap { $0.object?.string("text") }
            text = buttons.joined(separator: "\n")
            isOfButtons = !text.isEmpty
        }
    }

    /// Whether a message says what it says in members that always were kept, or in files.
    static func isElsewhere(_ message: JSONObject) -> Bool {
        (kept + ["photo", "file"]).contains { message[$0].map { !$0.isNull } ?? false }
    }

    /// The first form of a text alone. A message without an id has its name from that, so that it is recognised.
    static func first(_ message: JSONObject) -> String {
        let value = message["text"]
        if let text = value?.string { return text }
        return (value?.elements ?? []).reduce("") { $0 + ($1.string ?? $1.object?.string("text") ?? "") }
    }

    /// Members of which nothing is known, of a message that says nothing else.
    static func unknown(_ message: JSONObject) -> String {
        message.lazy.map(\.name).filter { !plain.contains($0) }.prefix(5).map { String($0.prefix(40)) }.joined(
            separator: ", ")
    }

    private mutating func take(_ name: String, _ message: JSONObject) {
        if let value = message[name], !value.isNull { rest.append((name, value)) }
    }

    /// A text, a part of one, a number, or a list of such.
    private static func text(_ value: JSONValue?) -> String {
        guard let value else { return "" }
        if let elements = value.elements { return elements.reduce("") { $0 + part($1) } }
        return part(value)
    }

    private static func part(_ value: JSONValue) -> String {
        value.string ?? value.object.map { text(ofPart: $0) } ?? value.numberText ?? ""
    }

    private static func text(ofPart part: JSONObject) -> String {
        part.string("text") ?? (part.elements("text") ?? []).reduce("") { $0 + ($1.string ?? "") }
    }

    private static func instead(of message: JSONObject) -> String {
        var lines: [String] = []
        if let list = message.object("todo_list") {
            lines.append(text(list["title"]))
            for item in list.elements("answers") ?? list.elements("items") ?? [] {
                lines.append("- " + text(item.object?["text"]))
            }
        }
        if let invoice = message.object("invoice_information") {
            lines += [text(invoice["title"]), text(invoice["description"])]
        }
        lines += [text(message["game_title"]), text(message["game_description"])]
        return lines.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
