internal import EventStore

/// ChatGPT_App's SwiftData store: `ZCONVERSATION` and `ZMESSAGE`.
///
/// The relation has no inverse: which column or table leads from a message to its conversation is looked for. A content is a text
/// or a picture, by its own first bytes; a long one is read where it lies. Numbers of rows are those of one store, so they name nothing.
final class SwiftDataStore: ExportReader {
    private let options: ImportOptions
    /// Longest content that is taken from its row as a whole.
    private static let longest = 64 << 10

    init(_ options: ImportOptions) { self.options = options }

    func read(_ files: ExportFiles, into output: ImportOutput) throws(ImportError) {
        guard let user = options.user else {
            throw ImportError(.needsOption, files.path, "it does not say whose conversations these are: --user UID")
        }
        let store = try AppleStore(files, isChecked: output.isCheck)
        let conversations = try conversations(store, files, user, output)
        let columns = store.columns("ZMESSAGE")
        guard columns.contains("Z_PK"), columns.contains("ZCONTENT"), columns.contains("ZID") else {
            throw ImportError(.malformed, files.path, "no table ZMESSAGE with ZID and ZCONTENT")
        }
        guard let time = ["ZCREATEDAT", "ZTIMESTAMP", "ZCREATED", "ZDATE"].first(where: columns.contains),
            let role = ["ZROLE", "ZISUSER"].first(where: columns.contains)
        else { throw ImportError(.malformed, files.path, "ZMESSAGE has no column of times or no column of roles") }
        let relation = try relation(store, columns, files)
        let isLong = "typeof(m.ZCONTENT) = 'blob' AND length(m.ZCONTENT) > \(Self.longest)"
        let content = "CASE WHEN \(isLong) THEN NULL ELSE m.ZCONTENT END, CASE WHEN \(isLong) THEN m.rowid END"
        try store.rows(
            "SELECT m.Z_PK, m.ZID, m.\(time), m.\(role), \(relation.column), \(content) FROM ZMESSAGE m \(relation.join) "
                + "ORDER BY m.\(time), m.Z_PK",
            7
        ) { row throws(ImportError) in
            try message(row, conversations, user, store, output)
        }
    }

    /// Conversations by the numbers of their rows.
    private func conversations(
        _ store: AppleStore, _ files: ExportFiles, _ user: String, _ output: ImportOutput
    ) throws(ImportError) -> [Int64: String] {
        let columns = store.columns("ZCONVERSATION")
        guard columns.contains("Z_PK"), columns.contains("ZID") else {
            throw ImportError(.malformed, files.path, "no table ZCONVERSATION with ZID")
        }
        let time = ["ZCREATED", "ZCREATEDAT"].first(where: columns.contains) ?? "NULL"
        let category = columns.contains("ZCATEGORY") ? "ZCATEGORY" : "NULL"
        let title = columns.contains("ZTITLE") ? "ZTITLE" : "NULL"
        var found: [Int64: String] = [:]
        try store.rows(
            "SELECT Z_PK, ZID, \(time), \(category), \(title) FROM ZCONVERSATION ORDER BY Z_PK", 5
        ) { row throws(ImportError) in
            guard case .integer(let key) = row[0], let id = AppleStore.identifier(row[1]) else {
                return output.skip("a conversation without an id", at: "ZCONVERSATION")
            }
            let conversation = options.conversation ?? Naming.id("swiftdata", id)
            found[key] = conversation
            let started = AppleStore.time(row[2])
            var payload = Payload()
            payload.add("title", AppleStore.text(row[4]))
            let categories: [AppleStore.Value: String] = [.integer(0): "text", .integer(1): "image"]
            payload.add("category", categories[row[3]])
            payload.addSource("swiftdata", id)
            try output.emit(
                EventDraft(
                    id: EventID(record: "start", of: "swiftdata:" + id, time: started ?? 0),
                    type: "conversation.started",
                    time: started ?? 0, conversation: conversation, user: user, payload: payload.json),
                at: "ZCONVERSATION \(key)",
                .description)
        }
        return found
    }

    /// What leads from a message `m` to its conversation's row.
    private func relation(
        _ store: AppleStore, _ columns: [String], _ files: ExportFiles
    ) throws(ImportError) -> (column: String, join: String) {
        let names = ["Z1MESSAGES", "Z_1MESSAGES", "ZCONVERSATION", "ZCONVERSATIONS"]
        let isOneWay: (String) -> Bool = { name in
            name.hasSuffix("MESSAGES") && name.dropFirst().dropLast(8).allSatisfy { $0 == "_" || $0.isNumber }
                && name.hasPrefix("Z")
        }
        if let column = names.first(where: columns.contains) ?? columns.first(where: isOneWay) {
            return ("m." + AppleStore.quoted(column), "")
        }
        for table in try store.tables(like: "MESSAGES") where table.hasPrefix("Z_") {
            let own = store.columns(table)
            guard let message = own.first(where: { $0.hasSuffix("MESSAGES") || $0.hasSuffix("MESSAGES1") }),
                let conversation = own.first(where: { $0.hasSuffix("CONVERSATIONS") || $0.hasSuffix("CONVERSATION") })
            else { continue }
            return (
                "j." + AppleStore.quoted(conversation),
                "LEFT JOIN \(AppleStore.quoted(table)) j ON j.\(AppleStore.quoted(message)) = m.Z_PK"
            )
        }
        throw ImportError(.malformed, files.path, "nothing in ZMESSAGE leads to a conversation")
    }

    private func message(
        _ row: [AppleStore.Value], _ conversations: [Int64: String], _ user: String, _ store: AppleStore,
        _ output: ImportOutput
    ) throws(ImportError) {
        let place = "ZMESSAGE \(AppleStore.identifier(row[0]) ?? "")"
        guard let name = AppleStore.identifier(row[1]), let time = AppleStore.time(row[2]) else {
            return output.skip("a message without id or time", at: place)
        }
        guard case .integer(let key) = row[4], let conversation = conversations[key] else {
            return output.skip("a message of no conversation", at: place)
        }
        guard let role = Self.role(row[3]) else { return output.skip("a message of an unknown role", at: place) }
        var payload = Payload()
        var named: [ImportedAttachment] = []
        switch try Self.content(row, place, store) {
        case .text(let text): payload.add("text", text)
        case .file(let file):
            payload.add("attachments", [file.item(name: nil)])
            named = [file]
        case .absent(let name):
            var item = Payload()
            item.add("name", name)
            payload.add("attachments", [item])
            output.note(
                "a content whose file is not in \(store.support) beside the store, or cannot be read: its name is taken",
                at: place)
        case .passed(let reason): return output.skip(reason, at: place)
        }
        payload.addSource("swiftdata", name)
        // What the app made has a UUID; what was streamed has the provider's name, chatcmpl-….
        let id = EventID(record: name, of: "swiftdata:Message", time: time)
        var draft = EventDraft(
            id: id, type: "message.posted", time: time, conversation: conversation, user: user, payload: payload.json)
        if role != "user" {
            draft.type = role == "assistant" ? "bot.replied" : "bot.configured"
            draft.author = "chatgpt"
        }
        try output.emit(draft, at: place, naming: named)
    }

    private enum Content {
        case text(String)
        case file(ImportedAttachment)
        /// It stands in a file of this name, which is not there.
        case absent(String)
        case passed(String)
    }

    private static func content(
        _ row: [AppleStore.Value], _ place: String, _ store: AppleStore
    ) throws(ImportError) -> Content {
        switch (row[5], row[6]) {
        case (.text(let bytes), _): return .text(String(decoding: bytes, as: UTF8.self))
        case (.blob(let bytes), _):
            guard let name = AppleStore.external(bytes) else {
                return try content { MemoryReader(bytes, name: place) }
            }
            guard (try? store.external(named: name)) != nil else { return .absent(name) }
            return try content { () throws(ImportError) in
                guard let outside = try store.external(named: name) else {
                    throw ImportError(.missing, name, "it was taken away while it was read")
                }
                return outside
            }
        case (_, .integer(let number)):
            return try content { () throws(ImportError) in
                try store.value("ZCONTENT", of: "ZMESSAGE", row: number, at: place)
            }
        default: return .passed("a message without content")
        }
    }

    /// A text, or a file where the first bytes say so. Where the store could have put a value outside, and has not, a 1 stands before it.
    private static func content(_ stored: @escaping ImportedAttachment.Source) throws(ImportError) -> Content {
        let isMarked = try stored().next(1) == [1]
        let source = { () throws(ImportError) in
            let reader = try stored()
            if isMarked { _ = try reader.next(1) }
            return reader
        }
        let first = try source().next(Limits.payload + 1)
        let type = MediaType.found(in: first)
        if let type, type.hasPrefix("image/"), type != "image/svg+xml" {
            return .file(try ImportedAttachment(source))
        }
        let isShort = first.count <= Limits.payload
        if isShort, let text = String(validating: first, as: UTF8.self) { return .text(text) }
        guard type == nil else { return .file(try ImportedAttachment(source)) }
        return .passed(
            isShort ? "a content that is neither text nor a picture" : "larger than \(Limits.payload) bytes")
    }

    /// A word, a property list with that word in it, or whether it is the user.
    private static func role(_ value: AppleStore.Value) -> String? {
        switch value {
        case .integer(let isUser): return isUser == 0 ? "assistant" : "user"
        case .text(let bytes), .blob(let bytes):
            let text = String(decoding: bytes.prefix(1_024), as: UTF8.self)
            return ["assistant", "user", "system", "tool"].first { text.contains($0) }
        default: return nil
        }
    }
}
