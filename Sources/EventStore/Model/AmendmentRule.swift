/// Edits and retractions of messages (docs/reference/FORMATS.md, section 5).
package enum AmendmentRule {
    static let edited = "message.edited"
    static let retracted = "message.retracted"
    /// What was heard in a recording: the words of its message, in another event.
    static let transcribed = "bot.transcribed"

    /// Whether events of a type amend a message at all.
    package static func isAmendment(_ type: String) -> Bool { type == edited || type == retracted }

    /// Whether events of a type have words of the message that they are about, or a reason beside it.
    static func hasWordsOfAnother(_ type: String) -> Bool { isAmendment(type) || type == transcribed }

    /// Which message one is about: the one that its payload names, or else its cause; `nil` where what it names is no id.
    static func target(_ payload: JSONObject, cause: EventID?) -> EventID? {
        guard let value = payload["message"] else { return cause }
        return value.string.flatMap { EventID(text: $0) }
    }
}

extension Event {
    /// The message that it edits or retracts; `nil` where it is erased, or does neither.
    var amended: EventID? {
        guard AmendmentRule.isAmendment(header.type), let payload else { return nil }
        return AmendmentRule.target(JSONObject(validated: payload), cause: header.cause)
    }
}
