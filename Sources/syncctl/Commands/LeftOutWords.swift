internal import CommandLineKit
internal import EventStore

/// What a package leaves out of an entry: the words of others, in the event itself and in what was done to it.
struct LeftOutWords {
    /// Events whose words are left out.
    let events: Set<EventID>
    /// Whose package it is: that an event names this user is told all the same.
    let user: String

    /// The same entry with `words` where those of the events were.
    func masking(_ entry: TimelineEntry, with words: String) -> TimelineEntry {
        guard !events.isEmpty else { return entry }
        let history = entry.history.map { whole in
            var told = whole
            told.amendments = whole.amendments.map { masking($0, words) }
            (told.edit, told.retraction) = (
                whole.edit.map { masking($0, words) }, whole.retraction.map { masking($0, words) }
            )
            return told
        }
        return TimelineEntry(stored: masking(entry.stored, words), history: history)
    }

    private func masking(_ stored: StoredEvent, _ words: String) -> StoredEvent {
        let event = stored.event
        guard events.contains(event.header.id), event.payload != nil else { return stored }
        var line = JSONLine()
        line.add("text", words)
        if event.names(user) { line.add("user", user) }
        let body = EventBody.present(salt: UUIDBits(high: 0, low: 0), payload: line.utf8)
        return StoredEvent(position: stored.position, event: Event(header: event.header, body: body))
    }

    /// That there was a reason is not told, either.
    private func masking(_ amendment: Amendment, _ words: String) -> Amendment {
        guard events.contains(amendment.id) else { return amendment }
        return Amendment(
            id: amendment.id, author: amendment.author, time: amendment.time, hlc: amendment.hlc,
            conversation: amendment.conversation, isEdit: amendment.isEdit, text: amendment.text == nil ? nil : words,
            reason: nil, counts: amendment.counts)
    }
}

extension MessageHistory {
    /// What was done to the message.
    var events: Set<EventID> { Set((amendments + [edit, retraction].compactMap(\.self)).map(\.id)) }
}

extension Event {
    /// Whether it speaks of this user: who takes part, who joins and leaves, whom another keeps.
    func names(_ user: String) -> Bool {
        guard let payload else { return false }
        let data = JSONObject(validated: payload)
        switch header.type {
        case "conversation.started":
            return data.strings("participants")?.contains { $0.hasSameBytes(as: user) } ?? false
        case "participant.joined", "participant.left": return data.string("user")?.hasSameBytes(as: user) ?? false
        case "contact.added": return data.string("contact")?.hasSameBytes(as: user) ?? false
        default: return false
        }
    }
}
