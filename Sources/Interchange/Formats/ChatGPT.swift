internal import EventStore

/// What ChatGPT gives out of its data: `conversations.json`, alone or in the archive or folder it comes in.
///
/// A conversation is a tree: a question that was changed and an answer that was made anew stand beside each other. All of it is
/// imported; a message's cause is the one before it. Which branch is shown is said by `currentMessage` of the conversation's beginning.
final class ChatGPT: ExportReader {
    private let options: ImportOptions
    private var user: String?
    private static let absent = "a picture or file that is not in what was given: its name is taken"

    init(_ options: ImportOptions) {
        self.options = options
        user = options.user
    }

    /// Whether a file has conversations by its name: `conversations.json`, and of large exports `conversations-000.json`, `-001` and so on.
    static func isList(_ path: String) -> Bool {
        var name = ExportFiles.lastPart(path)[...]
        guard name.hasPrefix("conversations"), name.hasSuffix(".json") else { return false }
        name = name.dropFirst("conversations".count).dropLast(".json".count)
        return name.isEmpty || name.first == "-" && name.count > 1 && name.dropFirst().allSatisfy(\.isNumber)
    }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        if user == nil, !files.isFile, let name = files.file(named: "user.json") {
            let json = try JSONPull(try files.reader(name))
            user = try json.value().object?.string("id").map { Naming.id("chatgpt", $0) }
        }
        guard let user else {
            throw ImportError(.needsOption, files.path, "it does not say whose conversations these are: --user UID")
        }
        let names = files.names.filter { files.isFile || Self.isList($0) }
        guard !names.isEmpty else { throw ImportError(.malformed, files.path, "no conversations.json in it") }
        for name in names {
            let json = try JSONPull(try files.reader(name), repeats: output.noteRepeated)
            switch try json.peek() {
            case UInt8(ascii: "["): try list(json, user, files, output)
            default:
                try json.openObject()
                var hasList = false
                while let member = try json.nextName() {
                    if member == "conversations" {
                        hasList = true
                        try list(json, user, files, output)
                    } else {
                        try json.skip()
                    }
                }
                guard hasList else { throw ImportError(.malformed, files.path, at: "$", "no list 'conversations'") }
            }
            try json.finish()
        }
    }

    private func list(
        _ json: JSONPull, _ user: String, _ files: ExportFiles, _ output: ImportOutput
    ) throws(ImportError) {
        try json.openArray()
        while try json.nextElement() {
            guard let conversation = try json.value().object else {
                throw json.failure("a conversation is no object")
            }
            guard let mapping = conversation.object("mapping") else {
                throw json.failure("a conversation has no 'mapping'")
            }
            var tree = ChatGPTTree(mapping, started: ChatGPTTree.seconds(conversation["create_time"]) ?? 0)
            guard let name = conversation.string("conversation_id") ?? conversation.string("id") ?? tree.root else {
                throw json.failure("a conversation has no id")
            }
            try take(conversation, name, &tree, user, files, json.place, output)
        }
    }

    private func take(
        _ object: JSONObject, _ name: String, _ tree: inout ChatGPTTree, _ user: String, _ files: ExportFiles,
        _ place: String,
        _ output: ImportOutput
    ) throws(ImportError) {
        let source = "chatgpt:" + name
        let conversation = options.conversation ?? Naming.id("chatgpt", name)
        var ids: [String: EventID] = [:]
        var drafts: [(EventDraft, String, [ImportedAttachment])] = []
        for node in tree.broken {
            output.skip("what is no node, or has a message that is no object", at: place + ".mapping." + node)
        }
        for node in tree.repeated { output.skip("a node whose name another one has", at: place + ".mapping." + node) }
        for node in tree.order {
            guard let message = tree.messages[node] else { continue }
            let nodePlace = place + ".mapping." + node
            let reading = ChatGPTMessage(message)
            guard case .said(let text, let attachments, let role) = reading.content else {
                if case .passed(let reason) = reading.content { output.skip(reason, at: nodePlace) }
                continue
            }
            if tree.untimed.contains(node) {
                output.note(
                    "its create_time is no time: it comes a millisecond after what is before it", at: nodePlace)
            }
            let time = tree.times[node] ?? tree.started
            let id = EventID(record: node, of: source, time: time)
            ids[node] = id
            var payload = Payload()
            payload.add("text", text)
            var items: [Payload] = []
            var named: [ImportedAttachment] = []
            for attachment in attachments {
                let (item, bytes) = try attachment.take(files)
                items.append(item)
                if let bytes { named.append(bytes) } else { output.note(Self.absent, at: nodePlace) }
            }
            if !items.isEmpty { payload.add("attachments", items) }
            let metadata = message.object("metadata")
            if role != .user { payload.add("model", metadata?.string("model_slug")) }
            if message.string("status") == "in_progress" { payload.add("finish", "interrupted") }
            payload.add("rating", metadata?.string("rating"))
            payload.addSource("chatgpt", node)
            drafts.append(
                (
                    EventDraft(
                        id: id, type: role == .user ? "message.posted" : "bot.replied", time: time,
                        conversation: conversation,
                        user: user, author: role == .user ? nil : "chatgpt",
                        cause: tree.ancestor(of: node) { ids[$0] },
                        payload: payload.json), nodePlace, named
                ))
        }
        var begin = min(tree.started, drafts.first?.0.time ?? tree.started)
        if ChatGPTTree.isNoTime(object["create_time"]) {
            begin = drafts.first?.0.time ?? begin
            output.note("the create_time of a conversation is no time: it begins with its first message", at: place)
        }
        var payload = Payload()
        payload.add("title", object.string("title"))
        payload.add("category", "text")
        payload.add(
            "currentMessage", object.string("current_node").flatMap { tree.visible($0) { ids[$0] }?.description })
        payload.add("model", object.string("default_model_slug"))
        payload.addSource("chatgpt", name)
        try output.emit(
            EventDraft(
                id: EventID(record: "start", of: source), type: "conversation.started",
                time: begin - (drafts.isEmpty ? 0 : 1),
                conversation: conversation,
                user: user, payload: payload.json), at: place, .description)
        for (draft, place, named) in drafts { try output.emit(draft, at: place, naming: named) }
    }
}
