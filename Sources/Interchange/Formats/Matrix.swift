internal import EventStore

/// A room that Element has exported as JSON (`export.json` where it is an archive): Matrix events, decrypted where they could be.
///
/// Replies, edits and redactions name an event by its id alone, so no id has a time in it.
final class Matrix: ExportReader {
    private let options: ImportOptions
    private var title: String?
    /// Who may redact, by the last that a room says of it.
    private var powers = MatrixPowers()

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        guard let name = files.isFile ? files.names.first : files.file(named: "export.json") else {
            throw ImportError(.malformed, files.path, "no export.json in it")
        }
        let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
        var hasMessages = false
        try json.openObject()
        while let member = try json.nextName() {
            switch member {
            case "room_name": title = try json.value().string
            case "messages":
                hasMessages = true
                try json.openArray()
                while try json.nextElement() {
                    guard let event = try json.value().object else { throw json.failure("an event is no object") }
                    try take(event, json, output)
                }
            default: try json.skip()
            }
        }
        try json.finish()
        guard hasMessages else { throw ImportError(.malformed, files.path, at: "$", "no list 'messages'") }
    }

    private func take(_ event: JSONObject, _ json: JSONPull, _ output: ImportOutput) throws(ImportError) {
        guard let type = event.string("type"), let sender = event.string("sender"), let id = event.string("event_id"),
            let time = event.integer("origin_server_ts")
        else { throw json.failure("an event lacks type, sender, event_id or origin_server_ts") }
        guard let room = event.string("room_id") else { throw json.failure("an event lacks room_id") }
        let conversation = options.conversation ?? Naming.id("matrix", room)
        var draft = EventDraft(
            id: Self.id(id), type: "message.posted", time: time, conversation: conversation, user: user(sender),
            payload: [])
        var payload = Payload()
        if let redaction = event.object("unsigned")?.object("redacted_because") {
            return try retract(id, redaction, draft, json, output)
        }
        let content = event.object("content")
        powers.take(type, content, of: sender, at: time)
        switch type {
        case "m.room.create":
            draft.type = "conversation.started"
            payload.add("title", title)
            payload.add("category", "text")
            // The first reading has seen the levels, which stand behind it.
            let moderators = powers.moderators.map(user)
            if !moderators.isEmpty { payload.add("moderators", moderators) }
        case "m.room.name":
            guard let name = content?.string("name") else {
                return output.skip("an event of the type \(type)", at: json.place)
            }
            draft.type = "conversation.renamed"
            payload.add("title", name)
        case "m.room.member":
            let kinds = ["join": "participant.joined", "leave": "participant.left", "ban": "participant.left"]
            guard let kind = kinds[content?.string("membership") ?? ""] else {
                return output.skip("an event of the type \(type)", at: json.place)
            }
            draft.type = kind
            payload.add("user", event.string("state_key").map(user))
        case "m.room.message", "m.sticker":
            guard let content, let body = content.string("body") else {
                return output.skip("a message without a text", at: json.place)
            }
            let relation = content.object("m.relates_to")
            if relation?.string("rel_type") == "m.replace", let target = relation?.string("event_id") {
                draft.type = "message.edited"
                draft.cause = Self.id(target)
                payload.add("message", Self.id(target).description)
                payload.add("text", content.object("m.new_content")?.string("body") ?? body)
            } else {
                let thread = relation?.string("rel_type") == "m.thread" ? relation?.string("event_id") : nil
                draft.cause = (relation?.object("m.in_reply_to")?.string("event_id") ?? thread).map(Self.id)
                payload.add("text", body)
                if let kind = content.string("msgtype"), kind != "m.text" { payload.add("kind", kind) }
                if content.string("msgtype") == "m.location" {
                    let uri = content.string("geo_uri")
                    payload.add("geo_uri", uri)
                    if uri == nil { output.note("a place without its geo_uri: its text is taken", at: json.place) }
                }
                if let item = Self.attachment(content) { payload.add("attachments", [item]) }
            }
        case "m.room.encrypted": return output.skip("a message that Element could not decrypt", at: json.place)
        default: return output.skip("an event of the type \(type.prefix(60))", at: json.place)
        }
        payload.addSource("matrix", id)
        draft.payload = payload.json
        try output.emit(draft, at: json.place, draft.type == "conversation.started" ? .description : .none)
    }

    /// What the export lacks, its server has taken out: that counts here, too, by anyone. Who moderates here, an opening that was
    /// imported before may not say. So a redaction by another is the author's retraction, and says whose it was.
    private func retract(
        _ id: String, _ redaction: JSONObject, _ event: EventDraft, _ json: JSONPull, _ output: ImportOutput
    ) throws(ImportError) {
        guard let name = redaction.string("event_id") else {
            return output.skip("a message that was taken back", at: json.place)
        }
        let sender = redaction.string("sender").map(user) ?? event.user
        let isOwn = sender.hasSameBytes(as: event.user)
        let reason = redaction.object("content")?.string("reason")
        var payload = Payload()
        payload.add("message", Self.id(id).description)
        payload.add("reason", isOwn ? reason : "by \(sender)" + (reason.map { ": \($0)" } ?? ""))
        payload.add("retractedBy", isOwn ? nil : sender)
        payload.addSource("matrix", name)
        // Releases before took one by another under its own id, and it did not count.
        try output.emit(
            EventDraft(
                id: Self.id(isOwn ? name : name + "/moderated"), type: "message.retracted",
                time: redaction.integer("origin_server_ts") ?? event.time,
                conversation: event.conversation, user: event.user, cause: Self.id(id), payload: payload.json),
            at: json.place)
    }

    private static func attachment(_ content: JSONObject) -> Payload? {
        guard let url = content.string("url") ?? content.object("file")?.string("url") else { return nil }
        let info = content.object("info")
        var item = Payload()
        item.add("name", content.string("filename") ?? content.string("body"))
        item.add("url", url)
        item.add("mediaType", info?.string("mimetype"))
        item.add("bytes", info?.integer("size"))
        item.add("width", info?.integer("w"))
        item.add("height", info?.integer("h"))
        return item
    }

    /// Event ids are unique everywhere.
    private static func id(_ event: String) -> EventID { EventID(record: event, of: "matrix") }

    /// Users are, too.
    private func user(_ name: String) -> String {
        if name == options.me, let user = options.user { return user }
        return name.hasPrefix("@") && name.utf8.count <= 255 ? name : Naming.id("matrix", name)
    }
}

/// Who may redact what others have said (https://spec.matrix.org/v1.11/rooms/v11/#redactions).
private struct MatrixPowers {
    private var creators: [String] = []
    /// Whether creators have all powers, whatever the levels say: from version 12 of rooms on.
    private var isOfCreators = false
    private var levels: (time: Int64, redact: Int64, users: [(name: String, level: Int64)])?
    private static let most = 1_000

    mutating func take(_ type: String, _ content: JSONObject?, of sender: String, at time: Int64) {
        guard let content else { return }
        switch type {
        case "m.room.create":
            let version = content.string("room_version").flatMap { Int($0) } ?? 1
            isOfCreators = version >= 12
            creators = [sender] + (isOfCreators ? content.strings("additional_creators") ?? [] : [])
        case "m.room.power_levels" where time >= levels?.time ?? .min:
            // Rooms of old have levels as texts.
            func level(_ value: JSONValue?) -> Int64? { value?.integer ?? value?.string.flatMap { Int64($0) } }
            let redact = level(content["redact"]) ?? 50
            let users = (content.object("users") ?? JSONObject(validated: [])).compactMap { member in
                level(member.value).map { (name: member.name, level: $0) }
            }
            levels = (time, redact, users.filter { $0.level >= redact })
        default: break
        }
    }

    /// Without levels the creator has all powers.
    var moderators: [String] {
        var names = Set(levels?.users.map(\.name) ?? [])
        if levels == nil || isOfCreators { names.formUnion(creators) }
        return Array(names.sorted().prefix(Self.most))
    }
}
