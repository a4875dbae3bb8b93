internal import EventStore
internal import Glibc

/// A Slack export: an archive or folder of `channels.json`, `users.json` and a folder a channel with a file a day; or one such day.
///
/// `ts` names a message within its channel and is its time; it is never read as a binary fraction.
final class Slack: ExportReader {
    private let options: ImportOptions
    /// Ids of channels by the names of their folders.
    private var channels: [String: String] = [:]
    private static let lists = ["channels.json", "groups.json", "dms.json", "mpims.json"]

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        if files.isFile {
            return try day(files, files.names[0], try folder(of: files.path), output)
        }
        for list in Self.lists {
            if let name = files.file(named: list) { try self.list(files, name, output) }
        }
        for list in ["users.json", "org_users.json"] {
            if let name = files.file(named: list) { try users(files, name, output) }
        }
        var days = 0
        for name in files.names {
            let parts = name.split(separator: "/")
            guard name.hasSuffix(".json"), parts.count > 1, Self.isDay(parts[parts.count - 1]) else { continue }
            days += 1
            try day(files, name, String(parts[parts.count - 2]), output)
        }
        guard days > 0 || !channels.isEmpty else {
            throw ImportError(.malformed, files.path, "neither channels.json nor a day of a channel in it")
        }
    }

    /// The folder of a day that was given alone. It has the channel's name, and the whole export goes by the channel's id: that stands
    /// in the lists beside the folder.
    private func folder(of path: String) throws(ImportError) -> String? {
        guard let real = realpath(path, nil) else { return nil }
        defer { free(real) }
        let parts = String(cString: real).split(separator: "/")
        guard parts.count > 1 else { return nil }
        let export = "/" + parts.dropLast(2).joined(separator: "/")
        for list in Self.lists {
            let path = "\(export)/\(list)"
            guard access(path, F_OK) == 0 else { continue }
            let file = try OpenFile(path, followsLink: false, name: path)
            let json = try JSONPull(FileReader(file, range: 0..<file.size, name: path))
            try eachChannel(json) { _, _ in }
        }
        return String(parts[parts.count - 2])
    }

    /// `2018-01-20.json`
    private static func isDay(_ name: Substring) -> Bool {
        let digits = name.dropLast(5)
        return digits.utf8.count == 10
            && digits.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    private func list(_ files: ExportFiles, _ name: String, _ output: ImportOutput) throws(ImportError) {
        let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
        try eachChannel(json) { channel, id throws(ImportError) in
            let scope = Naming.id("slack", id)
            let conversation = options.conversation ?? scope
            var participants: [String] = []
            for member in channel.strings("members") ?? [] {
                let user = user(member)
                if !participants.contains(user) { participants.append(user) }
            }
            var payload = Payload()
            payload.add("title", channel.string("name"))
            payload.add("category", "text")
            payload.add("participants", participants)
            payload.addSource("slack", id)
            for member in ["topic", "purpose"] {
                guard let text = channel.object(member)?.string("value"), !text.isEmpty else { continue }
                output.skip("the \(member) of a channel", at: "\(name) \(json.place)")
            }
            // A number in one file, a text in another.
            let created = channel["created"].flatMap {
                Moments.milliseconds(decimal: $0.string ?? $0.numberText ?? "")
            }
            let creator = channel.string("creator").map(user) ?? participants.first
            try output.emit(
                EventDraft(
                    id: EventID(record: "start", of: scope), type: "conversation.started", time: created ?? 0,
                    conversation: conversation, user: creator ?? conversation, payload: payload.json),
                at: "\(name) \(json.place)", .description)
        }
    }

    /// Learns the channels of a list.
    private func eachChannel(
        _ json: JSONPull, _ body: (JSONObject, String) throws(ImportError) -> Void
    ) throws(ImportError) {
        try json.openArray()
        while try json.nextElement() {
            guard let channel = try json.value().object, let id = channel.string("id") else {
                throw json.failure("a channel has no id")
            }
            channels[channel.string("name") ?? id] = id
            channels[id] = id
            try body(channel, id)
        }
        try json.finish()
    }

    private func users(_ files: ExportFiles, _ name: String, _ output: ImportOutput) throws(ImportError) {
        let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
        try json.openArray()
        while try json.nextElement() {
            guard let person = try json.value().object, let id = person.string("id") else {
                throw json.failure("a user has no id")
            }
            let profile = person.object("profile")
            var fields = Payload()
            // What Slack shows, and what lists and the search go by here.
            let shown = profile?.string("display_name").flatMap { $0.isEmpty ? nil : $0 }
            let real = person.string("real_name") ?? profile?.string("real_name")
            fields.add("name", shown ?? real)
            if shown != nil { fields.add("realName", real) }
            fields.add("handle", person.string("name"))
            fields.add("timezone", person.string("tz"))
            let updated = person.integer("updated") ?? 0
            var payload = Payload()
            payload.add("fields", fields)
            payload.addSource("slack", id)
            let time = updated.magnitude < 1 << 40 ? updated * 1_000 : 0
            try output.emit(
                EventDraft(
                    id: EventID(record: "profile/\(updated)", of: Naming.id("slack", id), time: time),
                    type: "profile.changed",
                    time: time, user: user(id), payload: payload.json), at: "\(name) \(json.place)", .description)
        }
        try json.finish()
    }

    private func user(_ id: String) -> String {
        if id == options.me, let user = options.user { return user }
        return Naming.id("slack", id)
    }

    private func day(_ files: ExportFiles, _ name: String, _ folder: String?, _ output: ImportOutput)
        throws(ImportError)
    {
        let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
        try json.openArray()
        while try json.nextElement() {
            guard let message = try json.value().object else { throw json.failure("a message is no object") }
            let channel = message.string("channel") ?? message.string("channel_name") ?? folder
            guard let channel else {
                throw json.failure("neither the file's folder nor the message says which channel it is")
            }
            let place = files.isFile ? json.place : "\(name) \(json.place)"
            guard message.string("type") ?? "message" == "message" else {
                output.skip("a record of the type \(message.string("type") ?? "")", at: place)
                continue
            }
            guard let ts = message.string("ts"), let time = Moments.milliseconds(decimal: ts) else {
                throw json.failure("a message has no 'ts' of seconds as text")
            }
            if files.isFile, message.string("channel") == nil, channels[channel] == nil {
                output.remark(
                    "the id of the channel '\(channel)' is not known: channels.json is not beside its folder. "
                        + "With the whole export these messages would be there once more")
            }
            let scope = Naming.id("slack", channels[channel] ?? channel)
            try take(message, ts, time, scope, place, output)
        }
        try json.finish()
    }

    private static let messages: Set<String> = [
        "", "bot_message", "file_share", "file_comment", "me_message", "thread_broadcast", "reply_broadcast",
        "slackbot_response",
    ]

    private func take(
        _ message: JSONObject, _ ts: String, _ time: Int64, _ scope: String, _ place: String,
        _ output: ImportOutput
    ) throws(ImportError) {
        let conversation = options.conversation ?? scope
        let subtype = message.string("subtype") ?? ""
        let sender = message.string("user") ?? message.string("bot_id") ?? message.string("username") ?? "unknown"
        let user = user(sender)
        let id = EventID(record: ts, of: scope, time: time)
        var payload = Payload()
        var draft = EventDraft(
            id: id, type: "message.posted", time: time, conversation: conversation, user: user, payload: [])
        if let type = [
            "channel_join": "participant.joined", "group_join": "participant.joined",
            "channel_leave": "participant.left",
            "group_leave": "participant.left",
        ][subtype] {
            draft.type = type
            payload.addSource("slack", ts)
            draft.payload = payload.json
            return try output.emit(draft, at: place)
        }
        guard Self.messages.contains(subtype) else {
            output.skip("a message of the subtype \(subtype.prefix(60))", at: place)
            return
        }
        var text = Self.unescaped(message.string("text") ?? "")
        let isBare = text.isEmpty
        // Its id is its 'ts': where a release before has stored it with an empty text, it is told as there with other content.
        if isBare { text = SlackText.shown(message) }
        payload.add("text", text)
        payload.add("name", message.string("username"))
        let files = (message.elements("files") ?? []) + [message["file"]].compactMap(\.self)
        var items = files.compactMap(\.object).map { file in
            var item = Payload()
            item.add("name", file.string("name"))
            item.add("mediaType", file.string("mimetype"))
            item.add("bytes", file.integer("size"))
            item.add("id", file.string("id"))
            return item
        }
        if isBare {
            items += SlackText.pictures(message)
            if text.isEmpty, items.isEmpty {
                output.note("a message without text, blocks, attachments and files: it is empty", at: place)
            }
        } else if !(message.elements("attachments") ?? []).isEmpty {
            output.skip("what is shown below the text of a message (its attachments)", at: place)
        } else if SlackText.hasBlocksOfApps(message) {
            output.skip("what an app shows in place of the text of a message (its blocks)", at: place)
        }
        if !items.isEmpty { payload.add("attachments", items) }
        payload.addSource("slack", ts)
        draft.payload = payload.json
        if let root = message.string("thread_ts"), root != ts, let rootTime = Moments.milliseconds(decimal: root) {
            draft.cause = EventID(record: root, of: scope, time: rootTime)
        }
        if message["reactions"] != nil { output.skip("reactions to a message", at: place) }
        let edited = message.object("edited")?.string("ts")
        try output.emit(draft, at: place, edited != nil ? .content : .none)
        guard let edited, let editedTime = Moments.milliseconds(decimal: edited) else { return }
        var edit = Payload()
        edit.add("message", id.description)
        edit.add("text", text)
        edit.addSource("slack", ts)
        try output.emit(
            EventDraft(
                id: EventID(record: "\(ts)/edited/\(edited)", of: scope, time: editedTime),
                type: "message.edited",
                time: max(editedTime, time), conversation: conversation, user: user, cause: id, payload: edit.json),
            at: place)
    }

    /// The three characters that Slack escapes. Mentions and links stay as they are written.
    static func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var out: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            var found: (StaticString, UInt8)?
            if byte == UInt8(ascii: "&") {
                for (name, character) in [
                    ("amp;", UInt8(ascii: "&")), ("lt;", UInt8(ascii: "<")), ("gt;", UInt8(ascii: ">")),
                ]
                    as [(StaticString, UInt8)] where rest.starts(with: name.description.utf8)
                {
                    found = (name, character)
                }
            }
            if let found { rest = rest.dropFirst(found.0.utf8CodeUnitCount) }
            out.append(found?.1 ?? byte)
        }
        return String(decoding: out, as: UTF8.self)
    }
}
