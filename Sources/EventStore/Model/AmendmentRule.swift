/// Edits and retractions of messages (docs/reference/FORMATS.md, section 5).
enum AmendmentRule {
    static let edited = "message.edited"
    static let retracted = "message.retracted"

    /// Which message one is about: the one that its payload names, or else its cause; `nil` where what it names is no id.
    static func target(_ payload: JSONObject, cause: EventID?) -> EventID? {
        guard let value = payload["message"] else { return cause }
        return value.string.flatMap { EventID(text: $0) }
    }
}
