/// A room in a user's list: a conversation, and what of it is theirs.
package struct UserRoom: Sendable {
    package let summary: ConversationSummary
    /// The last message that counts; `nil` if there is none, or if who asks for the list is not in the conversation any more.
    package var last: RoomMessage?
    /// The first message of a person, else the first; `nil` if there is none, or it was not asked for.
    package var first: RoomMessage?
    /// How many messages of others came after what they have read: at most ``mostUnread``.
    package let unread: Int
    /// Whether there are more than those.
    package let hasMoreUnread: Bool
    package let isHidden: Bool
    /// What the last event says of whether they take part; `nil` if none does.
    package let joined: Bool?
    /// The first of the others, by the bytes of their ids, with their names.
    package let others: [RoomPerson]
    /// How many take part in it, or have.
    package let people: UInt64
    /// Where it stands in the list.
    package let place: RoomPlace

    /// Unread messages are counted up to here.
    package static let mostUnread = 1_000
    /// Others that are told.
    static let mostOthers = 5
}

/// One of those who take part.
package struct RoomPerson: Hashable, Sendable {
    package let user: String
    /// The name that they have now.
    package let name: String?
}

/// Where a room stands in a user's list: those of the latest hour first, within an hour the latest first.
package struct RoomPlace: Hashable, Sendable {
    let hour: Int64
    let key: DisplayKey

    init(hour: Int64, key: DisplayKey) { (self.hour, self.key) = (hour, key) }

    /// Behind all rooms of the hours after `hour`, before all others.
    init(before hour: Int64) {
        self.init(
            hour: hour,
            key: DisplayKey(
                time: .max, hlc: HybridTime(rawValue: .max),
                dot: Dot(origin: OriginID(UUIDBits(high: .max, low: .max)), seq: Limits.number)))
    }

    /// As a cursor holds it.
    package var names: [String] { [String(hour), hexText(Stamp(key).bytes)] }

    package init?(names: [String]) {
        guard names.count == 2, let hour = Int64(names[0]), let stamp = hexBytes(names[1]).flatMap(Stamp.init) else {
            return nil
        }
        self.init(hour: hour, key: stamp.key)
    }

    /// Whether it stands behind another in the list.
    func isBehind(_ other: RoomPlace) -> Bool { hour != other.hour ? hour < other.hour : key < other.key }
}

/// The last message of a room, as a list shows it.
package struct RoomMessage: Sendable {
    /// What it is, where it is no text.
    package enum Kind: String, Sendable, CaseIterable {
        case text, image, audio, video, file, retracted, erased
    }

    package let header: EventHeader
    package let kind: Kind
    /// Of a text its first 80 characters.
    package let text: String?

    /// Characters of a text, and bytes: a character may have any number of marks.
    private static let (characters, bytes) = (80, 1_024)

    init(_ entry: TimelineEntry) {
        header = entry.stored.event.header
        guard let bytes = entry.stored.event.payload else {
            (kind, text) = (.erased, nil)
            return
        }
        if entry.isRetracted {
            (kind, text) = (.retracted, nil)
            return
        }
        let payload = JSONObject(validated: bytes)
        if let said = entry.edited ?? payload.string("text"), !said.isEmpty {
            (kind, text) = (.text, Self.cut(said))
            return
        }
        let media = payload["attachments"]?.elements?.first?.object?.string("mediaType") ?? ""
        kind =
            switch media.prefix(6).lowercased() {
            case "image/": .image
            case "audio/": .audio
            case "video/": .video
            default: .file
            }
        text = nil
    }

    /// The beginning of a text: whole characters alone.
    static func cut(_ text: String) -> String {
        var (end, count, size) = (text.startIndex, 0, 0)
        while end < text.endIndex, count < characters {
            let next = text.index(after: end)
            size += text.utf8.distance(from: end, to: next)
            if size > bytes { break }
            (end, count) = (next, count + 1)
        }
        return String(text[..<end])
    }
}

/// Which of a user's rooms are wanted.
package struct RoomQuery: Hashable, Sendable {
    /// Those, too, that they have hidden or left.
    package var isAll = false
    /// Only of this category.
    package var category: String?
    /// Only whose titles have these words.
    package var match: TitleWords?
    /// With the words with which they began.
    package var withFirst = false

    package init() {}

    /// Whether a conversation is of the category, with a title, that is wanted.
    package func wants(_ summary: ConversationSummary) -> Bool {
        if let category, !category.hasSameBytes(as: summary.category ?? "") { return false }
        return match?.isIn(summary.title) ?? true
    }
}

/// Words of a title, folded as the search has them: one begins where a word of the title begins.
package struct TitleWords: Hashable, Sendable {
    private let folded: String

    /// `nil` if `text` has no letter and no digit.
    package init?(_ text: String) {
        folded = UserNames.folded(text)
        if folded.isEmpty { return nil }
    }

    func isIn(_ title: String?) -> Bool {
        guard let title else { return false }
        return Array(UserNames.folded(title).utf8).contains(Array(folded.utf8))
    }
}

/// Some of a user's rooms.
package struct RoomPage: Sendable {
    package var rooms: [UserRoom] = []
    /// Behind it more may come; `nil`: that was all.
    package var next: RoomPlace?
    /// Why it has fewer than were asked for, where more may come.
    package var cut: PageCut?
}
