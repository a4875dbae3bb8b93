internal import EventStore

/// Firestore as node-firestore-import-export writes it: documents by id, `__collections__` below them, and marks for special types.
///
/// Read are the documents of Dr.Bot's `chats`: a question and its answer in one. Others are named and passed over.
final class Firestore: ExportReader {
    private let options: ImportOptions
    private static let fields = ["senderId", "senderName", "messageId", "sentDate", "text", "botResponse"]

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        for name in files.names where files.isFile || name.hasSuffix(".json") {
            let json = try JSONPull(try files.reader(name))
            try json.openObject()
            while let member = try json.nextName() {
                if member == "__collections__" {
                    try collections(json, output)
                } else if try json.peek() == UInt8(ascii: "{") {
                    // The export of one collection: documents by their ids.
                    try document(member, try json.value(), json.place, output)
                } else {
                    try json.skip()
                }
            }
            try json.finish()
        }
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

    private func document(
        _ id: String, _ value: JSONValue, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        guard let document = value.object else { return }
        if let inner = document.object("__collections__") {
            for collection in inner {
                for member in collection.value.object.map(Array.init) ?? [] {
                    try self.document(member.name, member.value, place + ".__collections__", output)
                }
            }
        }
        let present = Self.fields.filter { document[$0].map { !$0.isNull } ?? false }
        guard present.count >= 3 else {
            if document["__collections__"] != nil || present.isEmpty {
                output.skip("a document that is no chat", at: id)
            }
            return
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
        let question =
            document.string("messageId").flatMap { EventID(text: $0) }
            ?? EventID(record: "text", of: source, time: time)
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
