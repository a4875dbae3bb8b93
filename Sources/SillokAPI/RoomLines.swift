package import CommandLineKit
package import EventStore

extension RoomMessage.Kind {
    /// What a list shows where there is no text.
    package func words(in language: Language) -> String? {
        let phrases: (english: String, korean: String)? =
            switch self {
            case .text: nil
            case .image: ("Photo", "사진")
            case .audio: ("Voice message", "음성 메시지")
            case .video: ("Video", "동영상")
            case .file: ("File", "파일")
            case .retracted: ("Deleted message", "삭제된 메시지")
            case .erased: ("Erased message", "지워진 메시지")
            }
        return phrases.map { language == .korean ? $0.korean : $0.english }
    }
}

extension RoomMessage {
    /// What a list shows of it.
    package func words(in language: Language) -> String { text ?? kind.words(in: language) ?? "" }
}

extension JSONLine {
    /// `{"type":"conversation",…}` with how many take part.
    package init(_ summary: ConversationSummary, people: UInt64) {
        self.init(summary)
        add("participants", people)
    }

    /// `{"type":"room",…}`: a conversation in a user's list.
    package init(_ room: UserRoom, in language: Language) {
        self.init(type: "room")
        add(room.summary, last: room.last?.header.displayKey.time ?? room.summary.lastTime)
        if let first = room.first { add("first_text", first.words(in: language)) }
        add("last_text", room.last?.words(in: language))
        if let last = room.last {
            addObject("last") { line in
                line.add("id", last.header.id.description)
                line.add("author", last.header.author)
                line.add("kind", last.kind.rawValue)
            }
        }
        add("unread", room.unread)
        if room.hasMoreUnread { add("unread_more", true) }
        add("hidden", room.isHidden)
        if let joined = room.joined { add("joined", joined) }
        add("participants", room.people)
        addArray("others") { array in
            for person in room.others {
                array.addObject { line in
                    line.add("user", person.user)
                    if let name = person.name { line.add("name", name) }
                }
            }
        }
    }

    /// `{"type":"contact",…}`.
    package init(_ contact: UserContact) {
        self.init(type: "contact")
        add("contact", contact.contact)
        add("name", contact.name)
        add("profile_name", contact.profileName)
        add("phone_number", contact.phoneNumber)
        add("source", contact.source)
        add("time", Timestamp.text(contact.time))
    }

    /// `{"type":"search",…}`: something that a user looked for.
    package init(_ search: RecentSearch) {
        self.init(type: "search")
        add("query", search.query)
        add("scope", search.scope)
        add("time", Timestamp.text(search.time))
    }
}
