/// Whether a payload is that of a message: with a text, or without one beside attachments. Read in place and only as far as needed,
/// for every message passes here.
enum MessageForm {
    /// Why it is none, if so.
    static func refusal(_ payload: UnsafeRawBufferPointer) -> String? {
        var scanner = JSONTextScanner<ByteView>(ByteView(payload))
        var hasAttachments = false
        do throws(JSONError) {
            try scanner.start()
            try scanner.openObject()
            var isFirst = true
            while let name = try scanner.nextName(isFirst: isFirst) {
                isFirst = false
                let first = scanner.peek()
                if JSONText.equal(name, "text", of: scanner.bytes) {
                    return first == UInt8(ascii: "\"") ? nil : "text is not text"
                }
                let value = try scanner.value()
                if JSONText.equal(name, "attachments", of: scanner.bytes) {
                    hasAttachments = first == UInt8(ascii: "[") && !scanner.isEmptyList(value)
                }
            }
        } catch {}
        return hasAttachments ? nil : "text is missing"
    }
}

extension JSONTextScanner {
    /// Whether the list in `range`, which was passed before, has no elements.
    fileprivate func isEmptyList(_ range: Range<Int>) -> Bool {
        bytes[(range.lowerBound + 1)..<(range.upperBound - 1)].allSatisfy(isBlank)
    }
}

/// Whether what begins or renames a conversation is of the form that FORMATS.md, section 5, gives.
enum ConversationForm {
    private static let categories = ["text", "image", "voice"]

    /// Why the payload cannot be read, if so. Such an event does not count in its conversation at all.
    static func refusal(_ event: ProjectedEvent) -> String? {
        guard let type = event.type, let payload = event.payload else { return nil }
        return refusal(type, payload)
    }

    static func refusal(_ type: EventType, _ payload: JSONObject) -> String? {
        switch type {
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
