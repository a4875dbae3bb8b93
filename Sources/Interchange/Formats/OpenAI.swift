internal import EventStore

/// Conversations for fine-tuning: a line `{"messages":[{"role":…,"content":…}]}` each.
///
/// They have no ids, no times and no users. So a conversation is named by what it says: the same line twice, in one file or two, is
/// one conversation. It stands at the beginning of 1970, a millisecond a message, and no worker that passes over what is late is handed it.
final class OpenAI: ExportReader {
    static let longestLine = 16 << 20
    private let options: ImportOptions

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        guard let user = options.user else {
            throw ImportError(.needsOption, files.path, "it does not say whose conversations these are: --user UID")
        }
        for name in files.names where files.isFile || ExportFiles.ends(name, ".jsonl") {
            var lines = TextLines(try files.reader(name), longest: Self.longestLine)
            let file = files.isFile ? files.path : files.path + "/" + name
            while let line = try lines.next() {
                if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }) { continue }
                let place = "line \(lines.number)"
                do throws(JSONError) { try JSONScanner.checkObject(line) } catch {
                    throw ImportError(.malformed, file, at: place, error.description)
                }
                let object = JSONObject(validated: line)
                guard let messages = object.elements("messages") else {
                    throw ImportError(.malformed, file, at: place, "no list 'messages'")
                }
                Self.passOver(object, but: ["messages"], at: place, output)
                if object["messages"]?.repeatsMember == true { output.noteRepeated(at: place) }
                if messages.isEmpty { output.skip("a conversation without messages", at: place) }
                try conversation(messages, user, file, place, output)
            }
        }
    }

    private func conversation(
        _ messages: [JSONValue], _ user: String, _ file: String, _ place: String, _ output: ImportOutput
    ) throws(ImportError) {
        // Blanks between the tokens of a line, escapes in its texts and an empty content do not make another conversation of it.
        var said: [UInt8] = []
        for message in messages {
            guard let message = message.object else {
                throw ImportError(.malformed, file, at: place, "a message is no object")
            }
            for name in ["role", "content", "tool_calls", "tool_call_id", "name"] {
                if let value = message[name], !value.isNull, value.string != "" { Self.append(value, to: &said) }
                said.append(0)
            }
        }
        let name = Naming.hash(String(decoding: said, as: UTF8.self))
        let conversation = options.conversation ?? "openai:" + name
        var question: EventID?
        for (index, element) in messages.enumerated() {
            guard let message = element.object, let role = message.string("role") else {
                throw ImportError(.malformed, file, at: place, "message \(index + 1) has no role")
            }
            Self.passOver(
                message, but: ["role", "content", "name", "tool_calls", "tool_call_id", "weight"],
                at: "\(place), message \(index + 1)", output)
            guard let text = Self.text(message["content"]) else {
                throw ImportError(
                    .malformed, file, at: place,
                    "the content of message \(index + 1) is neither text nor a list of parts")
            }
            let id = EventID(record: "\(index)", of: "openai:" + name, time: Int64(index))
            var payload = Payload()
            var draft = EventDraft(
                id: id, type: "message.posted", time: Int64(index), conversation: conversation, user: user,
                payload: [])
            switch role {
            case "user": question = id
            case "assistant":
                draft.type = "bot.replied"
                draft.author = "assistant"
                draft.cause = question
            case "system", "developer":
                draft.type = "bot.configured"
                payload.add("bot", "assistant")
            case "tool", "function":
                draft.type = "tool.returned"
                draft.author = Naming.id("tool", message.string("name") ?? role)
                payload.add("call", message.string("tool_call_id"))
            default:
                throw ImportError(
                    .malformed, file, at: place, "message \(index + 1) has the unknown role '\(role.prefix(40))'")
            }
            payload.add("text", text)
            if role == "developer" || role == "function" { payload.add("role", role) }
            payload.add("name", message.string("name"))
            if message["content"]?.kind == .array { payload.add("content", message["content"]) }
            payload.add("tool_calls", message["tool_calls"])
            payload.add("weight", message["weight"])
            payload.addSource("openai", "\(name)/\(index)")
            draft.payload = payload.json
            try output.emit(draft, at: place)
        }
    }

    /// Counts the members that no event has.
    private static func passOver(_ object: JSONObject, but known: [String], at place: String, _ output: ImportOutput)
    {
        for member in object where !member.value.isNull && !known.contains(member.name) {
            let place = "\(place): \(member.name.prefix(60))"
            output.skip("a member of a line or a message that no event has", at: place)
        }
    }

    /// A value in one spelling: without blanks, texts with the same escapes.
    private static func append(_ value: JSONValue, to out: inout [UInt8]) {
        if let text = value.string {
            JSONText.append(text, to: &out)
        } else if let elements = value.elements {
            out.append(UInt8(ascii: "["))
            for element in elements {
                append(element, to: &out)
                out.append(UInt8(ascii: ","))
            }
            out.append(UInt8(ascii: "]"))
        } else if let object = value.object {
            out.append(UInt8(ascii: "{"))
            for member in object {
                JSONText.append(member.name, to: &out)
                append(member.value, to: &out)
                out.append(UInt8(ascii: ","))
            }
            out.append(UInt8(ascii: "}"))
        } else {
            out += value.raw
        }
    }

    /// The text of what may be a text, a list of parts, or nothing.
    private static func text(_ content: JSONValue?) -> String? {
        guard let content, !content.isNull else { return "" }
        if let text = content.string { return text }
        return content.elements.map { parts in
            parts.compactMap { $0.object?.string("text") }.joined(separator: "\n")
        }
    }
}
