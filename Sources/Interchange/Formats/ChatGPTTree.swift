internal import EventStore

/// The messages of one conversation of ChatGPT, parents before children. Nothing is taken for granted: a parent may be missing, and
/// a chain of parents a circle.
struct ChatGPTTree {
    private(set) var messages: [String: JSONObject] = [:]
    /// Nodes with a message, a parent before its children, and otherwise by time.
    private(set) var order: [String] = []
    private(set) var times: [String: Int64] = [:]
    let started: Int64
    private(set) var root: String?
    /// Nodes whose message has something for a time that is none.
    private(set) var untimed: Set<String> = []
    /// Names whose value is no node, and nodes whose message is no object.
    private(set) var broken: [String] = []
    /// Names of nodes that stand behind another one of that name, which is the one that is taken.
    private(set) var repeated: [String] = []
    private var parents: [String: String] = [:]

    init(_ mapping: JSONObject, started: Int64) {
        self.started = started
        var place: [String: Int] = [:]
        var names: [String] = []
        for member in mapping {
            let name = member.name
            let node = member.value.object
            let isNode = ["message", "parent", "children"].contains { node?[$0] != nil }
            if !isNode || ![nil, .null, .object].contains(node?["message"]?.kind) { broken.append(name) }
            guard let node else { continue }
            guard place[name] == nil else {
                repeated.append(name)
                continue
            }
            place[name] = names.count
            names.append(name)
            parents[name] = node.string("parent")
            messages[name] = node.object("message")
            if node.string("parent") == nil, root == nil { root = name }
        }
        // Each node once, after what stands above it; the walk up ends at a node that is missing or was met.
        var done: Set<String> = []
        var sorted: [String] = []
        for name in names {
            var chain: [String] = []
            var met: Set<String> = []
            var next: String? = name
            while let node = next, place[node] != nil, !done.contains(node), met.insert(node).inserted {
                chain.append(node)
                next = parents[node]
            }
            for node in chain.reversed() where done.insert(node).inserted { sorted.append(node) }
        }
        for node in sorted {
            let above = parents[node].flatMap { times[$0] } ?? started
            // What has no time of its own comes a millisecond after what it follows.
            if Self.isNoTime(messages[node]?["create_time"]) { untimed.insert(node) }
            times[node] = Self.seconds(messages[node]?["create_time"]) ?? above + (messages[node] == nil ? 0 : 1)
        }
        let rank = Dictionary(uniqueKeysWithValues: sorted.enumerated().map { ($1, $0) })
        // A child never stands before its parent, whatever their times say.
        var keys: [String: Int64] = [:]
        for node in sorted { keys[node] = max(times[node] ?? started, parents[node].flatMap { keys[$0] } ?? .min) }
        order = sorted.filter { messages[$0] != nil }.sorted {
            (keys[$0] ?? 0, rank[$0] ?? 0) < (keys[$1] ?? 0, rank[$1] ?? 0)
        }
    }

    /// What `find` gives for the nearest node above.
    func ancestor<Found>(of node: String, _ find: (String) -> Found?) -> Found? {
        var met: Set<String> = [node]
        var next = parents[node]
        while let node = next, met.insert(node).inserted {
            if let found = find(node) { return found }
            next = parents[node]
        }
        return nil
    }

    /// As ``ancestor(of:_:)``, of the node itself first.
    func visible<Found>(_ node: String, _ find: (String) -> Found?) -> Found? {
        find(node) ?? ancestor(of: node, find)
    }

    /// Whether something stands there that cannot be read as a time.
    static func isNoTime(_ value: JSONValue?) -> Bool {
        guard let value, !value.raw.elementsEqual("null".utf8) else { return false }
        return seconds(value) == nil
    }

    static func seconds(_ value: JSONValue?) -> Int64? { value?.double.flatMap { Moments.milliseconds(seconds: $0) } }
}

/// What of a message is said to people.
struct ChatGPTMessage {
    enum Role { case user, assistant }
    enum Content {
        case said(String, [Attachment], Role)
        case passed(String)
    }

    /// A picture or file that a message points to.
    struct Attachment {
        /// The file's name begins with that.
        let id: String
        /// Its name where it was uploaded; `nil`: of what a part of the content points to.
        let name: String?
        let mediaType: String?
        let width: Int64?
        let height: Int64?
        let bytes: Int64?

        /// What a part of the content points to: `sediment://file_…` now, `file-service://file-…` before. Of a call it is the user's voice, the
        /// film and its pictures, each by a part of its own or by the address alone.
        static func all(of part: JSONObject) -> [Attachment] {
            let inner = ["audio_asset_pointer", "video_container_asset_pointer"].compactMap { part[$0] }
            return [Attachment(pointer: part.string("asset_pointer"), part)].compactMap(\.self)
                + (inner + (part.elements("frames_asset_pointers") ?? [])).compactMap { value in
                    Attachment(pointer: value.string ?? value.object?.string("asset_pointer"), value.object)
                }
        }

        private init?(pointer: String?, _ part: JSONObject?) {
            guard let pointer else { return nil }
            id = pointer.split(separator: "/").last.map(String.init) ?? pointer
            (name, mediaType, bytes) = (nil, nil, part?.integer("size_bytes"))
            (width, height) = (part?.integer("width"), part?.integer("height"))
        }

        /// What was uploaded with a message, as its `metadata` says.
        init?(uploaded file: JSONObject) {
            guard let id = file.string("id") ?? file.string("name") else { return nil }
            (self.id, name, bytes) = (id, file.string("name"), file.integer("size"))
            mediaType = file.string("mime_type").flatMap { AttachmentItem.isMediaType($0) ? $0 : nil }
            (width, height) = (file.integer("width"), file.integer("height"))
        }

        /// Its item of `attachments`, and its bytes if the export has them.
        func take(_ files: ExportFiles) throws(ImportError) -> (item: Payload, bytes: ImportedAttachment?) {
            let isNamed = !files.isFile && !id.isEmpty
            let file = isNamed ? files.names.first { ExportFiles.lastPart($0).hasPrefix(id) } : nil
            if let file, let found = try files.attachment(file, claimed: mediaType) {
                return (found.item(name: name ?? ExportFiles.lastPart(file), width: width, height: height), found)
            }
            var item = Payload()
            item.add("name", name ?? id)
            item.add("mediaType", mediaType)
            item.add("bytes", bytes)
            item.add("width", width)
            item.add("height", height)
            return (item, nil)
        }
    }

    let content: Content

    init(_ message: JSONObject) {
        let metadata = message.object("metadata")
        let content = message.object("content")
        let kind = content?.string("content_type") ?? "text"
        let role = message.object("author")?.string("role") ?? ""
        if metadata?.bool("is_visually_hidden_from_conversation") == true {
            self.content = .passed("a message that ChatGPT does not show")
            return
        }
        if role == "system", metadata?.bool("is_user_system_message") != true {
            self.content = .passed("a message that ChatGPT does not show")
            return
        }
        if let recipient = message.string("recipient"), recipient != "all" {
            self.content = .passed("what the model says to a tool")
            return
        }
        var parts: [JSONValue] = []
        switch kind {
        case "text", "multimodal_text": parts = content?.elements("parts") ?? []
        case "code", "system_error":
            self.content = .said(content?.string("text") ?? "", [], role == "user" ? .user : .assistant)
            return
        case "thoughts", "reasoning_recap":
            self.content = .passed("what the model thought")
            return
        case "execution_output", "tether_quote", "tether_browsing_display", "tether_browsing_code", "sonic_webpage":
            self.content = .passed("what a tool answers")
            return
        case "user_editable_context", "model_editable_context":
            self.content = .passed("a message that ChatGPT does not show")
            return
        default:
            self.content = .passed("content of the type \(kind.prefix(60))")
            return
        }
        let texts = parts.compactMap { $0.string ?? $0.object?.string("text") }.filter { !$0.isEmpty }
        var attachments = parts.compactMap(\.object).flatMap(Attachment.all)
        if role != "tool" {
            // Pictures stand in both lists.
            let shown = Set(attachments.map(\.id))
            let uploaded = metadata?.elements("attachments")?.compactMap(\.object) ?? []
            attachments += uploaded.compactMap(Attachment.init(uploaded:)).filter { !shown.contains($0.id) }
        }
        if role == "tool", attachments.isEmpty {
            self.content = .passed("what a tool answers")
        } else if texts.isEmpty, attachments.isEmpty {
            self.content = .passed("a message without content")
        } else {
            self.content = .said(
                texts.joined(separator: "\n"), attachments, role == "user" || role == "system" ? .user : .assistant)
        }
    }
}
