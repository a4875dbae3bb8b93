internal import EventStore
internal import Glibc

/// Messages of real dialogues, in their order.
struct Dialogue {
    var messages: [EventDraft] = []
}

enum Dialogues {
    /// The messages in files of native NDJSON, by conversation.
    static func read(_ files: [String]) throws -> [Dialogue] {
        var order: [String] = []
        var found: [String: Dialogue] = [:]
        let parser = NativeLineParser()
        for path in files {
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { throw FleetError("cannot read \(path)") }
            defer { close(file) }
            var lines = LineReader(descriptor: file)
            while let line = try lines.next() {
                guard let bytes = line.bytes else { continue }
                let draft = try parser.parse(Array(bytes)).draft
                guard draft.type == "message.posted" || draft.type == "bot.replied",
                    let conversation = draft.conversation
                else { continue }
                if found[conversation] == nil { order.append(conversation) }
                found[conversation, default: Dialogue()].messages.append(draft)
            }
        }
        return order.compactMap { found[$0] }
    }
}
