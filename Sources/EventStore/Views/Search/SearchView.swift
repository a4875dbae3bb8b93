/// What people wrote, by the characters in it: messages and replies, edits of them, what machines heard in recordings, comments of surveys,
/// titles of conversations and names of users.
///
/// Every event has its own entry, under its position, from the moment it is taken in. Which of several texts stands, of a message that
/// was edited or a title that was changed, is decided when the index is asked, as everywhere (D24). So no entry depends on another, and
/// it does not matter what came first. The index has no copy of the texts; they are read from the log.
final class SearchView: View {
    static let name = "search"
    static let version: Int64 = 3
    static let tables =
        [index, SearchZones.table] + ["data", "idx", "config", "docsize"].map { "\(index)_\($0)" }
    static let readsMessages = true
    static let isDeferred = true
    static let schema = """
        CREATE VIRTUAL TABLE \(index) USING fts5(
          text, content='', detail=full, tokenize='\(SearchTokenizer.name)'
        );
        INSERT INTO \(index)(\(index), rank) VALUES('hashsize', \(hashBytes));
        INSERT INTO \(index)(\(index), rank) VALUES('automerge', 0);
        \(SearchZones.schema)
        """

    static let index = "search"
    /// What FTS5 gathers in memory before it writes a segment (INV-9).
    private static let hashBytes = 8 << 20
    /// Pages of segments that are merged at a time: a millisecond. FTS5 on its own merges in bursts of up to 40 ms within a commit.
    private static let mergedPages = 4
    private static let merging = "INSERT INTO \(index)(\(index), rank) VALUES('merge', \(mergedPages))"
    private static let insertion = "INSERT INTO \(index)(rowid, text) VALUES(?, ?)"
    private static let removal = "INSERT INTO \(index)(\(index), rowid, text) VALUES('delete', ?, ?)"

    var digest = DigestSum()
    private var zones = SearchZones()
    /// Entries that a batch takes out.
    private var removed: [UInt64: [UInt8]] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let text = SearchedText(event) else { return nil }
        switch change {
        case .insert: try insert(event, text, store)
        // A title or a name may be taken from the twin that does not count.
        case .shadow where text.isRegister: try insert(event, text, store)
        case .shadow: break
        case .remove where text.isRegister: break
        case .remove: remove(event, text, store)
        }
        return nil
    }

    private func insert(_ event: ProjectedEvent, _ text: SearchedText, _ store: ViewStore) throws(DatabaseError) {
        zones.add(event.position, time: event.key.time)
        let statement = try store.connection.statement(Self.insertion)
        try statement.bind(1, event.position)
        try statement.bind(2, text: SearchTokenizer.indexed(text.text.utf8, tags: SearchTag.all(of: event)))
        try statement.run()
        digest.add(store.summand(event))
    }

    /// Merges segments: the fewer there are, the sooner a word is found.
    func tidy(_ store: ViewStore) throws(DatabaseError) -> Bool {
        func changes() throws(DatabaseError) -> Int64 {
            try store.connection.integer("SELECT total_changes()") ?? 0
        }
        let before = try changes()
        try store.connection.run(Self.merging)
        // Fewer changes: there was nothing to merge (https://sqlite.org/fts5.html#the_merge_command).
        return try changes() - before >= 2
    }

    private func remove(_ event: ProjectedEvent, _ text: SearchedText, _ store: ViewStore) {
        removed[event.position] = SearchTokenizer.indexed(text.text.utf8, tags: SearchTag.all(of: event))
        digest.remove(store.summand(event))
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        for position in removed.keys.sorted() {
            guard let bytes = removed[position] else { continue }
            let statement = try store.connection.statement(Self.removal)
            try statement.bind(1, position)
            try statement.bind(2, text: bytes)
            try statement.run()
        }
        removed = [:]
        try zones.flush(store.connection)
    }
}

/// The text of an event that can be searched.
struct SearchedText {
    let kind: Kind
    let text: String

    /// What the text is.
    enum Kind: String, CaseIterable {
        case message, reply, edit, transcript, comment, title, name
    }

    /// Whether it is one of several that a register may have, of which one stands.
    var isRegister: Bool { kind == .title || kind == .name }

    init?(_ event: ProjectedEvent) {
        guard let type = event.type, event.malformed == nil, let payload = event.payload else { return nil }
        self.init(type, payload, hasConversation: event.conversation != nil)
    }

    init?(_ type: EventType, _ payload: JSONObject, hasConversation: Bool) {
        let found: (Kind, String?)
        switch type {
        case .messagePosted: found = (.message, payload.string("text"))
        case .botReplied: found = (.reply, payload.string("text"))
        case .messageEdited: found = (.edit, payload.string("text"))
        case .botTranscribed: found = (.transcript, payload.string("text"))
        case .surveyAnswered: found = (.comment, payload.string("comment"))
        case .conversationStarted, .conversationRenamed:
            found = (.title, hasConversation ? payload.string("title") : nil)
        case .profileChanged: found = (.name, payload.object("fields")?.string("name"))
        case .messageRetracted, .messageRead, .participantJoined, .participantLeft, .conversationHidden,
            .conversationShown, .contactAdded, .contactRemoved, .searchRemembered, .searchForgotten:
            return nil
        }
        guard let text = found.1, !text.isEmpty else { return nil }
        (kind, self.text) = (found.0, text)
    }
}

/// Words of the index that are the store's own: whose text it is.
enum SearchTag {
    case user(Int64)
    case conversation(Int64)
    case author(Int64)
    case type(Int64)

    var text: String {
        switch self {
        case .user(let ref): "u\(ref)"
        case .conversation(let ref): "c\(ref)"
        case .author(let ref): "a\(ref)"
        case .type(let ref): "t\(ref)"
        }
    }

    /// The tag that is a word of the index; `nil` if people wrote it.
    init?(_ word: [UInt8]) {
        guard word.first == SearchTokenizer.tagsBegin, word.count > 2,
            let ref = Int64(String(decoding: word[2...], as: UTF8.self))
        else { return nil }
        switch word[1] {
        case UInt8(ascii: "u"): self = .user(ref)
        case UInt8(ascii: "c"): self = .conversation(ref)
        case UInt8(ascii: "a"): self = .author(ref)
        case UInt8(ascii: "t"): self = .type(ref)
        default: return nil
        }
    }

    /// Those of an event. An author who is the user, and the type of a message, are what most events have, and stand nowhere.
    static func all(of event: ProjectedEvent) -> [String] {
        var tags = [SearchTag.user(event.user)]
        if let conversation = event.conversation { tags.append(.conversation(conversation)) }
        if event.author != event.user { tags.append(.author(event.author)) }
        if !event.isMessage { tags.append(.type(event.typeRef)) }
        return tags.map(\.text)
    }
}
