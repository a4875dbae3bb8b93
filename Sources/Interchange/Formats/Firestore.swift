internal import EventStore

/// Firestore as node-firestore-import-export writes it: documents by id, `__collections__` below them, and marks for special types. Or as
/// its REST interface answers: `documents`, each with its `name` and `fields`; or one such document.
///
/// Read are the documents of Dr.Bot's `chats`: a question and its answer in one. Others are named and passed over.
final class Firestore: ExportReader {
    private let options: ImportOptions
    /// Which messageId came, and with which document first.
    private var repeats = Repeats()
    private static let fields = ["senderId", "senderName", "messageId", "sentDate", "text", "botResponse"]

    init(_ options: ImportOptions) { self.options = options }

    /// Whether these are names of its members.
    static func isKnown(_ members: Set<String>) -> Bool {
        members.contains("__collections__") || members.isSuperset(of: ["senderId", "messageId", "botResponse"])
            || members.contains("fields") && !members.isDisjoint(with: FirestoreValue.types)
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        repeats = Repeats()
        for name in try files.json(Self.isKnown) {
            try read(try JSONPull(try files.reader(name), repeats: output.noteRepeated), output)
        }
    }

    private func read(_ json: JSONPull, _ output: ImportOutput) throws(ImportError) {
        var name: String?
        var fields: JSONValue?
        try json.openObject()
        while let member = try json.nextName() {
            switch (member, try json.peek()) {
            case ("__collections__", _): try collections(json, output)
            case ("documents", UInt8(ascii: "[")):
                try json.openArray()
                while try json.nextElement() {
                    let value = try json.value().object
                    try answer(value?.string("name"), value?["fields"], json.place, output)
                }
            case ("name", UInt8(ascii: "\"")): name = try json.value().string
            case ("fields", UInt8(ascii: "{")): fields = try json.value()
            case ("createTime", _), ("updateTime", _): try json.skip()
            case ("nextPageToken", _):
                output.skip("the documents of the next page: this is an answer in pages", at: json.place)
                try json.skip()
            case (_, UInt8(ascii: "{")):
                // The export of one collection: documents by their ids.
                try document(member, try json.value(), json.place, output)
            default:
                output.skip("a field of a document whose id is not there", at: json.place)
                try json.skip()
            }
        }
        try json.finish()
        if name != nil {
            try answer(name, fields, "$", output)
        } else if let fields {
            try document("fields", fields, "$.fields", output)
        }
    }

    /// A document as REST has it. An empty one has no fields.
    private func answer(
        _ name: String?, _ fields: JSONValue?, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        guard let id = name?.split(separator: "/").last.map(String.init) else {
            return output.skip("a document without a name", at: place)
        }
        guard let object = fields.map(\.object) ?? JSONObject(validated: []) else {
            return output.skip("a document whose fields are no object", at: "\(place) (\(id))")
        }
        let plain = FirestoreValue.plain(object) { field in
            output.skip("a field without a value that names its type", at: "\(id).\(field)")
        }
        try document(id, JSONValue(bytes: plain.bytes, range: plain.range), place, output)
    }

    private func collections(_ json: JSONPull, _ output: ImportOutput) throws(ImportError) {
        try json.openObject()
        while try json.nextName() != nil {
            try json.openObject()
            while let id = try json.nextName() {
                let value = try json.value()
                guard value.kind == .object else { throw json.failure("a document is no object") }
                try document(id, value, json.place, output)
            }
        }
    }

    /// What stands below a document.
    private func collections(_ value: JSONValue, _ place: String, _ output: ImportOutput) throws(ImportError) {
        guard let collections = value.object else {
            return output.skip("collections that are no object", at: place)
        }
        for collection in collections {
            let place = "\(place).\(collection.name)"
            guard let documents = collection.value.object else {
                output.skip("a collection that is no object", at: place)
                continue
            }
            for member in documents { try document(member.name, member.value, "\(place).\(member.name)", output) }
        }
    }

    private func document(
        _ id: String, _ value: JSONValue, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        guard let document = value.object else { return output.skip("a document that is no object", at: place) }
        if let inner = document["__collections__"] { try collections(inner, place + ".__collections__", output) }
        let present = Self.fields.filter { document[$0].map { !$0.isNull } ?? false }
        guard present.count >= 3 else { return output.skip("a document that is no chat", at: id) }
        for member in document where member.name != "__collections__" && !Self.fields.contains(member.name) {
            output.skip("a field of a chat that no event has", at: "\(id).\(member.name)")
        }
        let missing = Self.fields.filter { !present.contains($0) }
        let isPartial = missing == ["botResponse"]
        if isPartial, !options.takesPartial {
            return output.skip("a question without its botResponse; --partial takes it", at: id)
        }
        if let first = missing.first, !isPartial {
            return output.skip("a document of a chat without \(first)", at: id)
        }
        let answer = document.string("botResponse")
        guard var sender = document.string("senderId"), let text = document.string("text"),
            let time = Self.time(document["sentDate"]), !sender.isEmpty, isPartial || answer != nil
        else { return output.skip("a document of a chat with a field of another type", at: id) }
        if sender == "user_id" {
            // Early versions wrote this for every user.
            guard let user = options.user else {
                return output.skip(
                    "a document of nobody: senderId is the word 'user_id'; --user UID says who it is", at: id)
            }
            sender = user
        }
        let conversation = options.conversation ?? "drbot-" + sender
        let source = "chats/" + id
        let named = document.string("messageId").flatMap { EventID(text: $0) }
        var isOfAnother = false
        if let named {
            if repeats.count("\(named)") == 0 { _ = repeats.count("\(named) \(id)") }
            isOfAnother = !repeats.has("\(named) \(id)")
        }
        if isOfAnother {
            output.note("a document with the messageId of another one: its question has an id of its own", at: id)
        }
        let question = (isOfAnother ? nil : named) ?? EventID(record: "text", of: source, time: time)
        var asked = Payload()
        asked.add("text", text)
        asked.addSource("firestore", source)
        try output.emit(
            EventDraft(
                id: question, type: "message.posted", time: time, conversation: conversation, user: sender,
                payload: asked.json),
            at: id)
        guard let answer else { return }
        var said = Payload()
        said.add("text", answer)
        said.addSource("firestore", source)
        try output.emit(
            EventDraft(
                id: EventID(record: "botResponse", of: source, time: time), type: "bot.replied", time: time + 1,
                conversation: conversation, user: sender, author: "drbot", cause: question, payload: said.json),
            at: id)
    }

    /// Seconds, or a timestamp as exporters write it.
    private static func time(_ value: JSONValue?) -> Int64? {
        guard let value else { return nil }
        if let seconds = value.double { return Moments.milliseconds(seconds: seconds) }
        if let text = value.string { return Timestamp.milliseconds(text) }
        guard var object = value.object else { return nil }
        if let text = object.string("value") { return Timestamp.milliseconds(text) }
        object = object.object("value") ?? object
        guard let seconds = object.integer("_seconds") ?? object.integer("seconds"), seconds.magnitude < 1 << 40
        else { return nil }
        let nanoseconds = object.integer("_nanoseconds") ?? object.integer("nanoseconds") ?? 0
        return seconds * 1_000 + min(max(nanoseconds, 0), 999_999_999) / 1_000_000
    }
}
