internal import EventStore

/// Tells what a file is by its first bytes, and an archive or folder by its names.
package enum Sniffer {
    /// What is recognised.
    package enum Found: Hashable, Sendable {
        /// The lines that Sillok writes itself.
        case native
        case format(ExportFormat)
    }

    /// An export that is known and that no importer reads is refused by its name, so that none takes it for another one.
    package static func look(at files: ExportFiles) throws(ImportError) -> Found? {
        guard files.isFile else { return try names(files).map { .format($0) } }
        let name = files.names[0]
        let head = try Self.head(files, name)
        if StoreLength.isStore(head) { return try tables(files).map { .format($0) } }
        var start = head[...]
        if start.starts(with: [0xef, 0xbb, 0xbf]) { start = start.dropFirst(3) }
        start = start.drop { $0 == 0x20 || $0 == 0x0a || $0 == 0x0d || $0 == 0x09 }
        guard let first = start.first else { return nil }
        if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
            if let found = lines(start) { return found }
            let members = MemberScan.names(start)
            if let found = json(members) { return .format(found) }
            if let stranger = stranger(members) { throw refusal(stranger, files) }
        }
        if let found = try text(start, name, files) { return .format(found) }
        if let line = otherText(head) {
            throw ImportError(.malformed, files.path, at: "line \(line)", TextLines.notUTF8)
        }
        return nil
    }

    /// The first bytes of a file. What may end in the middle of a letter is cut before it.
    private static func head(_ files: ExportFiles, _ name: String) throws(ImportError) -> [UInt8] {
        let most = 64 << 10
        let head = try files.head(name, most)
        guard head.count == most else { return head }
        // At most three bytes of a letter are there without its last.
        for cut in 1...3 {
            let byte = head[most - cut]
            if byte & 0xC0 == 0x80 { continue }
            let length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1
            return length > cut ? Array(head.dropLast(cut)) : head
        }
        return head
    }

    /// The first line that is no UTF-8 of what is text of people otherwise: without controls.
    private static func otherText(_ head: [UInt8]) -> Int? {
        guard head.allSatisfy({ $0 >= 0x20 || [0x09, 0x0a, 0x0d].contains($0) }) else { return nil }
        // The last line may be cut off.
        let whole = head.lastIndex(of: 0x0a).map { head[..<$0] } ?? head[...]
        let lines = whole.split(separator: 0x0a, omittingEmptySubsequences: false)
        return lines.firstIndex { String(validating: $0, as: UTF8.self) == nil }.map { $0 + 1 }
    }

    private static func names(_ files: ExportFiles) throws(ImportError) -> ExportFormat? {
        if files.names.contains(where: ChatGPT.isList) { return .chatgpt }
        if files.file(named: "channels.json") != nil || files.file(named: "dms.json") != nil { return .slack }
        if files.file(named: "result.json") != nil { return .telegram }
        // LibreChat calls its exports so, too.
        if let name = files.file(named: "export.json") {
            let members = MemberScan.names(try files.head(name)[...])
            if json(members) == nil, let stranger = stranger(members) { throw refusal(stranger, files) }
            return .matrix
        }
        for name in files.names.prefix(100) where name.hasSuffix(".txt") || name.hasSuffix(".csv") {
            if let found = try text(try head(files, name)[...], name, files) { return found }
        }
        for name in files.names.prefix(100) where ExportFiles.ends(name, ".jsonl") {
            if lines(try files.head(name)[...]) == .format(.openai) { return .openai }
        }
        return try single(files)
    }

    /// The format of the one file that is an export by itself, whatever its name.
    private static func single(_ files: ExportFiles) throws(ImportError) -> ExportFormat? {
        var found: [(name: String, format: ExportFormat)] = []
        if let name = try AppleStore.name(in: files), let format = try tables(files) { found.append((name, format)) }
        found += try files.json(Firestore.isKnown).map { ($0, .firestore) }
        found += try files.json(RealtimeDatabase.isKnown).map { ($0, .firebase) }
        if found.count > 1 { throw ImportError(severalIn: files, found[0].name, found[1].name) }
        if let found = found.first { return found.format }
        var other: String?
        _ = try files.json { members in
            other = other ?? stranger(members)
            return false
        }
        if let other { throw refusal(other, files) }
        return nil
    }

    private static func tables(_ files: ExportFiles) throws(ImportError) -> ExportFormat? {
        let store = try AppleStore(files)
        if store.columns("ZSEARCHRESULT").contains("ZNAME") { return .coredata }
        if store.columns("ZMESSAGE").contains("ZCONTENT"), !store.columns("ZCONVERSATION").isEmpty {
            return .swiftdata
        }
        // A damaged one has no tables that can be read.
        if files.isFile { try store.check() }
        return nil
    }

    /// What a first line that is a whole JSON object says. Of one that is cut off only the beginning is known.
    private static func lines(_ head: ArraySlice<UInt8>) -> Found? {
        let line = Array(head.prefix { $0 != 0x0a })
        let text = String(decoding: line.prefix(4_096), as: UTF8.self)
        if text.hasPrefix("{\"messages\":"), text.contains("\"role\"") { return .format(.openai) }
        do throws(JSONError) { try JSONScanner.checkObject(line) } catch { return nil }
        let object = JSONObject(validated: line)
        if object["specversion"] != nil || object["type"] != nil && object["user"] != nil && object["data"] != nil {
            return .native
        }
        guard let messages = object.elements("messages") else { return nil }
        return messages.first?.object?["role"] != nil ? .format(.openai) : nil
    }

    /// What names of members say, however deep they stand, as far as the head goes.
    private static func json(_ seen: Set<String>) -> ExportFormat? {
        func has(_ names: String...) -> Bool { names.allSatisfy(seen.contains) }
        if has("mapping", "current_node") || has("mapping", "conversation_id") || has("mapping", "parent", "children")
        {
            return .chatgpt
        }
        if Firestore.isKnown(seen) { return .firestore }
        if RealtimeDatabase.isKnown(seen) { return .firebase }
        if has("room_name", "messages") || has("event_id", "origin_server_ts") { return .matrix }
        if has("chats", "list") || has("date_unixtime") || has("messages", "from_id")
            || has("messages", "date", "from")
        {
            return .telegram
        }
        if has("ts", "text") { return .slack }
        return nil
    }

    /// Whose export it is that no importer reads.
    private static func stranger(_ seen: Set<String>) -> String? {
        func has(_ names: String...) -> Bool { names.allSatisfy(seen.contains) }
        if has("exportAt", "conversationId", "recursive") { return "LibreChat" }
        if has("version", "history", "messages", "role") { return "chatbot-ui" }
        if has("messages", "sender_name", "timestamp_ms") { return "Instagram or Facebook Messenger" }
        return nil
    }

    private static func refusal(_ stranger: String, _ files: ExportFiles) -> ImportError {
        ImportError(.unknownFormat, files.path, "an export of \(stranger), which import does not read")
    }

    private static func text(
        _ head: ArraySlice<UInt8>, _ name: String, _ files: ExportFiles
    ) throws(ImportError) -> ExportFormat? {
        var lines = TextLines(MemoryReader(Array(head)))
        var first: [String] = []
        while first.count < 8, let line = try? lines.text() { first.append(line) }
        guard let top = first.first else { return nil }
        if KakaoLine.isHeader(ofTable: top) { return .kakaotalk }
        if first.count > 1, KakaoLine.title(top, first[1]) != nil { return .kakaotalk }
        guard let front = WhatsAppHead(top) else { return nil }
        if front.isOfSignal { throw refusal("Signal", files) }
        return .whatsapp
    }
}
