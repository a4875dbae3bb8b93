internal import CommandLineKit
internal import EventStore
internal import Interchange
internal import SillokAPI

/// What the place of an import has of records already. It is asked only where the answer decides something.
final class ImportedBefore {
    private let files: StoreFiles?
    private let session: Session
    private var reader: LogReader?
    private var pages: DaemonPages?
    private var attachments: AttachmentCopy?
    private var conversations: [String: Bool] = [:]

    /// - Parameter files: `nil`: of the node that the user named.
    init(_ files: StoreFiles?, _ session: Session) { (self.files, self.session) = (files, session) }

    /// Whether an answer comes over a network.
    var isFar: Bool { files == nil }

    func event(_ id: EventID) throws(CommandFailure) -> Event? {
        if let files {
            if reader == nil { reader = try stored { try LogReader(files) } }
            return try stored { try reader?.event(id: id)?.event }
        }
        if pages == nil { pages = try DaemonClient.named(by: session).map(DaemonPages.init) }
        var found: StoredEvent?
        let take = { (line: JSONObject) throws(CommandFailure) in found = StoredEvent(native: line) }
        _ = try pages?.lines(.event(id.description), [], limit: 1, take)
        return found?.event
    }

    /// An event of an export under the name that it has here.
    func known(_ event: ImportedEvent) throws(CommandFailure) -> EventDraft {
        guard !event.others.isEmpty, try mayHave(event.draft.conversation) else { return event.draft }
        for other in event.others {
            if let id = other.id, try self.event(id) != nil { return other }
        }
        return event.draft
    }

    /// Whether events of a conversation may be here: a node that lies far is asked once, before the first of them comes.
    private func mayHave(_ conversation: String?) throws(CommandFailure) -> Bool {
        guard isFar, let conversation else { return true }
        if let known = conversations[conversation] { return known }
        if pages == nil { pages = try DaemonClient.named(by: session).map(DaemonPages.init) }
        var isHere = false
        let take = { (_: JSONObject) throws(CommandFailure) in isHere = true }
        _ = try pages?.lines(.rows(conversation: conversation), [], limit: 1, take)
        conversations[conversation] = isHere
        return isHere
    }

    /// Whether bytes are here that an event names. A node that was named by its address is not asked: it finds that out when they come.
    func has(_ digest: Digest) throws(CommandFailure) -> Bool {
        guard let files else { return false }
        return try stored { () throws(StoreError) in
            let copy = if let attachments { attachments } else { try AttachmentCopy(files) }
            attachments = copy
            let isNamed = try copy.isNamed(digest)
            return isNamed && (try? copy.file(digest)) != nil
        }
    }
}

/// In what an event of an export differs from the one that is there under its id.
struct ImportDifference {
    /// A part, or a member of the payload, with both values where they are short.
    struct Part: Equatable {
        let name: String
        let isHeader: Bool
        /// `nil`: the payload there has no such member.
        let there: String?
        let here: String?
    }

    private(set) var parts: [Part] = []
    /// Of what is there.
    let time: Int64
    private let distance: Int64
    private static let longest = 60

    init(_ draft: EventDraft, _ there: Event) {
        let header = there.header
        time = header.time
        distance = draft.time.map { abs($0 - header.time) } ?? 0
        if distance != 0, let time = draft.time {
            let texts = (Timestamp.text(header.time), Timestamp.text(time))
            parts.append(Part(name: "time", isHeader: true, there: texts.0, here: texts.1))
        }
        for (name, one, other) in [
            ("type", header.type, draft.type), ("user", header.user, draft.user),
            ("conversation", header.conversation ?? "", draft.conversation ?? ""),
            // An author who is the user counts as none.
            ("author", header.author == header.user ? "" : header.author, draft.author ?? ""),
            ("cause", header.cause?.description ?? "", draft.cause?.description ?? ""),
        ] where !one.hasSameBytes(as: other) {
            parts.append(Part(name: name, isHeader: true, there: one, here: other))
        }
        guard let payload = there.payload, payload != draft.payload else { return }
        let (old, new) = (JSONObject(validated: payload), JSONObject(validated: draft.payload))
        // Releases before kept blanks and escapes of the file.
        for member in new where old[member.name]?.plain != member.value.plain {
            if member.name == "attachments", Self.nameSameBytes(old[member.name], member.value) { continue }
            parts.append(Self.member(member.name, old, new))
        }
        for member in old where new[member.name] == nil { parts.append(Self.member(member.name, old, new)) }
    }

    /// Whether two lists of attachments name the same bytes: earlier builds put those of small pictures into the item.
    private static func nameSameBytes(_ one: JSONValue?, _ other: JSONValue) -> Bool {
        guard let old = try? AttachmentItem.items(one), let new = try? AttachmentItem.items(other) else {
            return false
        }
        return !new.isEmpty && old.map(\.digest) == new.map(\.digest)
            && one?.elements?.count == other.elements?.count
    }

    static func short(_ text: String) -> String { text.count > longest ? text.prefix(longest) + "…" : text }

    private static func member(_ name: String, _ old: JSONObject, _ new: JSONObject) -> Part {
        func short(_ object: JSONObject) -> String? {
            guard let raw = object.raw(name) else { return nil }
            return Self.short(String(decoding: raw.prefix(longest * 4), as: UTF8.self))
        }
        return Part(name: name, isHeader: false, there: short(old), here: short(new))
    }

    var names: String { parts.map(\.name).joined(separator: ", ") }

    /// What it is to the one who imports.
    enum Meaning {
        /// What was to be expected: it is there.
        case same
        /// It is there, and described otherwise.
        case told([Part])
        /// It is there with other content.
        case other
    }

    /// An event that came without its pictures, from an export that lacked them or with an earlier build, stays so.
    private var attachments: [Part] { members(["attachments"]) }

    private func members(_ names: [String]) -> [Part] { parts.filter { !$0.isHeader && names.contains($0.name) } }

    func meaning(_ variance: Variance) -> Meaning {
        switch variance {
        case .none, .time:
            var rest = parts
            if case .time(let within) = variance, distance < within {
                rest.removeAll { $0.isHeader && $0.name == "time" }
            }
            let told = variance == .none ? attachments : members(["attachments", "name"])
            return rest.isEmpty ? .same : rest == told ? .told(rest) : .other
        case .content:
            return parts.contains(where: \.isHeader) ? .other : attachments.isEmpty ? .same : .told(attachments)
        case .value, .description:
            // When it began, an export tells by its first message, which may be another.
            let told = parts.filter { !$0.isHeader || $0.name != "time" }
            if told.contains(where: { $0.isHeader && !["user", "author"].contains($0.name) }) { return .other }
            return told.isEmpty ? .same : .told(told)
        }
    }
}
