internal import CommandLineKit
internal import EventStore

/// `result.json` of Telegram Desktop: one chat, or all of an account under `chats.list`.
///
/// A message's id counts within its chat. A message that was edited is posted as it is now, and edited at the time of its last
/// change: a later export adds the next change and leaves what is there.
final class Telegram: ExportReader {
    private let options: ImportOptions
    private let zone: Zone
    private var me: String?
    /// Where the messages stand.
    private var source: (files: ExportFiles, name: String)?

    init(_ options: ImportOptions) {
        self.options = options
        zone = options.zone ?? .local
    }

    /// What is known of the chat whose messages are read.
    private struct Chat {
        var name: String?
        var type: String?
        var id: String?
        var isStarted = false
        var repeats = Repeats()

        /// Within which ids count.
        func scope(_ fallback: String) -> String { Naming.id("telegram", id ?? name ?? fallback) }
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        guard let name = files.isFile ? files.names.first : files.file(named: "result.json") else {
            throw ImportError(.malformed, files.path, "no result.json in it")
        }
        source = (files, name)
        defer { source = nil }
        let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
        var chat = Chat()
        var hasMessages = false
        try json.openObject()
        while let member = try json.nextName() {
            switch member {
            case "chats", "left_chats":
                hasMessages = true
                try json.openObject()
                while let inner = try json.nextName() {
                    if inner == "list" { try list(json, files, output) } else { try json.skip() }
                }
            case "personal_information":
                let person = try json.value().object
                me = person?.integer("user_id").map { "user\($0)" } ?? me
                if person?.contains(where: { _ in true }) ?? true { Self.leaveOut(member, at: json.place, output) }
            case "messages":
                hasMessages = true
                try messages(json, &chat, files, output)
            case "name", "type", "id": try Self.take(member, try json.value(), &chat)
            default: try passOver(member, json, output)
            }
        }
        try json.finish()
        guard hasMessages else {
            throw ImportError(.malformed, files.path, at: "$", "neither 'chats' nor 'messages'")
        }
    }

    /// Passes over what is no chat: contacts, sessions, stories. Each entry of its lists is counted, and what stands beside them as one.
    /// `about` is what Telegram says of each list, in the same words for all.
    private func passOver(_ member: String, _ json: JSONPull, _ output: ImportOutput) throws(ImportError) {
        switch try json.peek() {
        case UInt8(ascii: "["):
            try json.openArray()
            while try json.nextElement() {
                Self.leaveOut(member, at: json.place, output)
                try json.skip()
            }
        case UInt8(ascii: "{"):
            let place = json.place
            var hasOwn = false
            try json.openObject()
            while let inner = try json.nextName() {
                switch try json.peek() {
                case UInt8(ascii: "["), UInt8(ascii: "{"): try passOver(member, json, output)
                default:
                    hasOwn = hasOwn || !inner.hasPrefix("about")
                    try json.skip()
                }
            }
            if hasOwn { Self.leaveOut(member, at: place, output) }
        default:
            if !member.hasPrefix("about") { Self.leaveOut(member, at: json.place, output) }
            try json.skip()
        }
    }

    private static func leaveOut(_ member: String, at place: String, _ output: ImportOutput) {
        output.skip("what stands under \(member.prefix(60))", at: place)
    }

    private func list(_ json: JSONPull, _ files: ExportFiles, _ output: ImportOutput) throws(ImportError) {
        try json.openArray()
        while try json.nextElement() {
            var chat = Chat()
            try json.openObject()
            while let member = try json.nextName() {
                switch member {
                case "messages": try messages(json, &chat, files, output)
                case "name", "type", "id": try Self.take(member, try json.value(), &chat)
                default: try json.skip()
                }
            }
        }
    }

    private static func take(_ member: String, _ value: JSONValue, _ chat: inout Chat) throws(ImportError) {
        switch member {
        case "name": chat.name = value.string
        case "type": chat.type = value.string
        default: chat.id = value.string ?? value.integer.map { String($0) }
        }
    }

    private func messages(
        _ json: JSONPull, _ chat: inout Chat, _ files: ExportFiles, _ output: ImportOutput
    ) throws(ImportError) {
        var fallback = files.name
        if fallback.hasSuffix(".json") { fallback.removeLast(5) }
        let scope = chat.scope(fallback)
        try json.openArray()
        while try json.nextElement() {
            let value = try json.value()
            guard let message = value.object else { throw json.failure("a message is no object") }
            switch message.string("type") ?? "message" {
            case "message": break
            case "service":
                output.skip("a message of the service: \(message.string("action") ?? "unknown")", at: json.place)
                continue
            case let other: throw json.failure("a message of the unknown type '\(other.prefix(40))'")
            }
            guard let time = time(message, "date") else {
                throw json.failure("a message has neither 'date_unixtime' nor 'date'")
            }
            if !chat.isStarted {
                chat.isStarted = true
                try start(chat, scope, before: time, json.place, output)
            }
            try take(message, time, scope, &chat.repeats, json.place, output)
        }
    }

    private func start(
        _ chat: Chat, _ scope: String, before time: Int64, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        let conversation = options.conversation ?? scope
        var payload = Payload()
        payload.add("title", chat.name)
        payload.add("category", "text")
        payload.add("kind", chat.type)
        payload.addSource("telegram", chat.id)
        try output.emit(
            EventDraft(
                id: EventID(record: "start", of: scope), type: "conversation.started", time: time - 1,
                conversation: conversation,
                user: options.user ?? me.map { Naming.id("telegram", $0) } ?? conversation,
                payload: payload.json), at: place, .description)
    }

    private func take(
        _ message: JSONObject, _ time: Int64, _ scope: String, _ repeats: inout Repeats, _ place: String,
        _ output: ImportOutput
    ) throws(ImportError) {
        let conversation = options.conversation ?? scope
        let shown = TelegramText(message)
        let text = shown.text
        let name = message.string("from")
        let sender =
            message.string("from_id") ?? message.integer("from_id").map { "user\($0)" } ?? name ?? "deleted account"
        let isMe = sender == me || name != nil && name == options.me
        let user = isMe ? options.user ?? Naming.id("telegram", sender) : Naming.id("telegram", sender)
        let number = message.integer("id").map { String($0) }
        let record =
            number
            ?? {
                let key = "\(time)\u{0}\(sender)\u{0}\(TelegramText.first(message))"
                return Naming.hash("\(key)\u{0}\(repeats.count(key))")
            }()
        var payload = Payload()
        payload.add("text", text)
        payload.add("name", name)
        payload.add("entities", shown.entities)
        payload.add("forwardedFrom", message.string("forwarded_from"))
        let (attachments, named) = try attachments(message)
        if !attachments.isEmpty { payload.add("attachments", attachments) }
        for _ in named.count..<attachments.count {
            output.skip("the bytes of a file: its name is taken", at: place)
        }
        for member in TelegramText.kept { payload.add(member, message[member]) }
        for (name, value) in shown.rest { payload.add(name, value) }
        if text.isEmpty, attachments.isEmpty, shown.rest.isEmpty, !TelegramText.isElsewhere(message) {
            let unknown = TelegramText.unknown(message)
            output.note(
                "nothing of a message is known: it is stored without a text",
                at: unknown.isEmpty ? place : "\(place): \(unknown)")
        } else if !text.isEmpty, !shown.isOfButtons, message["inline_bot_buttons"] != nil {
            output.skip("the buttons below a bot's message", at: place)
        }
        payload.addSource("telegram", record)
        if message["reactions"] != nil { output.skip("reactions to a message", at: place) }
        let id = EventID(record: record, of: scope)
        // Replies name a message by its id alone, so no id has a time in it.
        let cause =
            message["reply_to_peer_id"] == nil
            ? message.integer("reply_to_message_id").map { EventID(record: String($0), of: scope) } : nil
        let edited = self.time(message, "edited")
        try output.emit(
            EventDraft(
                id: id, type: "message.posted", time: time, conversation: conversation, user: user, cause: cause,
                payload: payload.json), at: place, edited != nil ? .content : .time(within: 1_000), naming: named)
        guard let edited else { return }
        var edit = Payload()
        edit.add("message", id.description)
        edit.add("text", text)
        edit.addSource("telegram", record)
        try output.emit(
            EventDraft(
                id: EventID(record: "\(record)/edited/\(edited)", of: scope), type: "message.edited",
                time: max(edited, time), conversation: conversation, user: user, cause: id, payload: edit.json),
            at: place)
    }

    /// The items of a message's files, and those that lie in the export.
    private func attachments(
        _ message: JSONObject
    ) throws(ImportError) -> (items: [Payload], named: [ImportedAttachment]) {
        var items: [Payload] = []
        var named: [ImportedAttachment] = []
        for member in ["photo", "file"] {
            guard let file = message.string(member) else { continue }
            let type = message.string("mime_type")
            let found = try source?.files.attachment(file, of: source?.name ?? "", claimed: type)
            if let found { named.append(found) }
            var item = Payload()
            item.add("sha256", found?.digest.description)
            item.add("bytes", found.map { Int64($0.count) })
            item.add("name", message.string("file_name") ?? file)
            item.add("mediaType", found?.mediaType ?? type)
            item.add("kind", member == "photo" ? "photo" : message.string("media_type"))
            item.add("width", message.integer("width"))
            item.add("height", message.integer("height"))
            item.add(
                "duration_ms",
                message.integer("duration_seconds").flatMap { $0.magnitude < 1 << 40 ? $0 * 1_000 : nil })
            items.append(item)
        }
        return (items, named)
    }

    /// `<name>_unixtime` where it is there, as text or number; else the time on the exporting machine's clock.
    private func time(_ message: JSONObject, _ name: String) -> Int64? {
        if let value = message[name + "_unixtime"], !value.isNull {
            return Moments.milliseconds(decimal: value.string ?? value.numberText ?? "")
        }
        guard let text = message.string(name), let naive = Timestamp.milliseconds(text + "Z") else { return nil }
        return zone.instant(of: CivilTime(milliseconds: naive))
    }
}
