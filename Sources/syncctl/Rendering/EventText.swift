internal import CommandLineKit
internal import EventStore

/// What an event says, in one line for people. Not yet safe for a terminal: tables sanitize their cells.
enum EventText {
    /// - Parameter text: What an edit has put where a message's text stood.
    static func summary(_ event: Event, text: String? = nil, in language: Language) -> String {
        func note(_ wording: Wording, _ values: String...) -> String {
            "(\(wording.phrase.text(language, values)))"
        }
        guard !event.header.isOpaque else { return note(.opaque) }
        guard let payload = event.payload else { return note(event.isErased ? .erased : .unreadable) }
        let data = JSONObject(validated: payload)
        switch event.header.type {
        case "message.posted", "bot.replied", "message.edited":
            return said(data, text, language) ?? compact(payload)
        case "message.retracted":
            return data.string("reason").map { note(.retractedForReason, $0) } ?? note(.retractedAlone)
        case "survey.answered": return answer(data) ?? compact(payload)
        case "profile.changed":
            return data.object("fields").map(fields) ?? compact(payload)
        case "conversation.started", "conversation.renamed": return data.string("title") ?? compact(payload)
        case "bot.failed": return data.string("reason").map { note(.failed, $0) } ?? compact(payload)
        default: return data.string("text") ?? compact(payload)
        }
    }

    /// The author; a node, which is named by 64 digits, in short.
    static func who(_ header: EventHeader) -> String {
        header.author.hasPrefix("node/") ? String(header.author.prefix(17)) : header.author
    }

    /// The text, and how many attachments stand beside it.
    private static func said(_ data: JSONObject, _ edited: String?, _ language: Language) -> String? {
        let text = edited ?? data.string("text")
        let count = data.elements("attachments")?.count ?? 0
        if count == 0 { return text }
        let wording = count == 1 ? Wording.attachment : .attachments
        let note = "[\(wording.phrase.text(language, [String(count)]))]"
        return text.map { $0.isEmpty ? note : "\($0) \(note)" } ?? note
    }

    /// `pain / score: 7 "since yesterday"`.
    private static func answer(_ data: JSONObject) -> String? {
        guard let question = data.string("question") else { return nil }
        let survey = data.string("survey").map { $0 + " / " } ?? ""
        let value =
            data["rating"]?.numberText ?? data.string("choice")
            ?? data.strings("choices")?.joined(separator: ", ")
        guard let value else { return nil }
        return "\(survey)\(question): \(value)" + (data.string("comment").map { " \"\($0)\"" } ?? "")
    }

    private static func fields(_ object: JSONObject) -> String {
        object.map { member in "\(member.name) = \(text(of: member.value))" }.joined(separator: ", ")
    }

    /// A value as people write it: strings without their quotes.
    static func text(of value: JSONValue) -> String {
        value.string ?? String(decoding: value.raw, as: UTF8.self)
    }

    /// The payload as it is, for types that this release does not know.
    private static func compact(_ payload: [UInt8]) -> String {
        let shown = String(decoding: payload.prefix(2_000), as: UTF8.self)
        return payload.count > 2_000 ? shown + "..." : shown
    }
}
