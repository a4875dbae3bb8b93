package import EventStore

// What a line of a history or of a conversation says (docs/reference/CLI-JSON.md), read back into values.

extension StoredEvent {
    /// The event in its native form, as far as that tells of it: without salt, dependencies and the position of the event that counts in
    /// its place. `nil` if the object is no event.
    package init?(native line: JSONObject) {
        guard let id = line.identifier("id"), let type = line.string("type"), let user = line.string("user"),
            let time = line.moment("time"), let hlc = line.string("hlc").flatMap({ HybridTime(text: $0) }),
            let position = line.string("position").flatMap({ UInt64($0) }),
            let seq = line.string("sequence").flatMap({ UInt64($0) }),
            let origin = line.string("source")?.split(separator: "/").last.flatMap({ UUIDBits(text: $0) })
        else { return nil }
        let header = EventHeader(
            dot: Dot(origin: OriginID(origin), seq: seq), hlc: hlc, time: time, id: EventID(id), type: type,
            conversation: line.string("subject").flatMap { String($0.utf8.dropFirst("conversation/".utf8.count)) },
            user: user,
            author: line.string("author"), cause: line.identifier("cause").map(EventID.init),
            version: UInt32(clamping: line.integer("dataversion") ?? 1),
            actor: line.string("actor").flatMap(EventActor.init(text:)),
            unknownFields: line.string("headerbytes").flatMap(base64Bytes) ?? [])
        self.init(position: position, event: Event(header: header, body: EventBody(native: line)))
    }
}

extension EventBody {
    fileprivate init(native line: JSONObject) {
        let noSalt = UUIDBits(high: 0, low: 0)
        if let data = line.raw("data") {
            self = .present(salt: noSalt, payload: Array(data))
        } else if line.bool("erased") == true {
            self = .erased(payloadDigest: .zero)
        } else {
            self = .unreadable(salt: noSalt, bytes: line.string("data_base64").flatMap(base64Bytes) ?? [])
        }
    }
}

extension TimelineEntry {
    /// The event of a line, and what became of the message; `nil` if the object is no such line.
    package init?(_ line: JSONObject) {
        guard let stored = line.object("event").flatMap(StoredEvent.init(native:)) else { return nil }
        self.init(stored: stored, history: MessageHistory(line, of: stored.event.header))
    }
}

extension MessageHistory {
    /// What ``JSONLine/addHistory(of:)`` has written; `nil` if nothing was done to the message.
    fileprivate init?(_ line: JSONObject, of message: EventHeader) {
        let all = { (name: String, isEdit: Bool) in
            (line.elements(name) ?? []).compactMap(\.object).compactMap { Amendment($0, isEdit: isEdit, of: message) }
        }
        let edits = all("edits", true)
        let retraction = line.object("retracted").flatMap { Amendment($0, isEdit: false, of: message) }
        let listed = edits + all("retractions", false) + (retraction.map { [$0] } ?? [])
        guard !listed.isEmpty else { return nil }
        self.init()
        amendments = listed.sorted { ($0.displayTime, $0.hlc, $0.id) < ($1.displayTime, $1.hlc, $1.id) }
        count = line.integer("amendments").map { Int(clamping: $0) } ?? listed.count
        self.edits = edits.count(where: \.counts)
        edit = edits.last(where: \.counts)
        self.retraction = retraction
    }
}

extension Amendment {
    /// - Parameter message: What it amends. Those that count are of its conversation; of others a line does not say.
    fileprivate init?(_ object: JSONObject, isEdit: Bool, of message: EventHeader) {
        guard let id = object.identifier("id"), let author = object.string(isEdit ? "author" : "by"),
            let time = object.moment("time"), let hlc = object.string("hlc").flatMap({ HybridTime(text: $0) })
        else { return nil }
        self.init(
            id: EventID(id), author: author, time: time, hlc: hlc, conversation: message.conversation, isEdit: isEdit,
            text: object.string("text"), reason: object.string("reason"), counts: object.bool("applied") ?? true)
    }
}

extension Amendment {
    /// As ``DisplayKey/time``.
    fileprivate var displayTime: Int64 { min(time, hlc.milliseconds) }
}

extension JSONObject {
    fileprivate func identifier(_ name: String) -> UUIDBits? { string(name).flatMap { UUIDBits(text: $0) } }
    fileprivate func moment(_ name: String) -> Int64? { string(name).flatMap(Timestamp.milliseconds) }
}
