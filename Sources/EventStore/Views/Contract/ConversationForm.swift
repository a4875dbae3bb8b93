/// Whether what begins or renames a conversation is of the form that FORMATS.md, section 5, gives.
enum ConversationForm {
    private static let categories = ["text", "image", "voice"]

    /// Why the payload cannot be read, if so. Such an event does not count in its conversation at all.
    static func refusal(_ event: ProjectedEvent) -> String? {
        guard let payload = event.payload else { return nil }
        switch event.type {
        case .conversationStarted:
            if let title = payload["title"], !title.isNull, title.string == nil { return "title is not text" }
            if let category = payload["category"], !category.isNull {
                guard let text = category.string else { return "category is not text" }
                guard categories.contains(where: text.hasSameBytes) else {
                    return "category is none of those there are"
                }
            }
            if let moderators = payload["moderators"], !moderators.isNull {
                let users = moderators.elements
                guard users?.allSatisfy({ $0.string != nil }) == true else {
                    return "moderators is not a list of texts"
                }
            }
        case .conversationRenamed:
            if payload.string("title") == nil { return "title is missing or not text" }
        default: break
        }
        return nil
    }
}
