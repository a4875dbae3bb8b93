/// Who takes part in a conversation: named when it started, joined, left, or simply said something.
///
/// Membership is a last-writer register, of which a batch gathers the last writes. Who said how much is summed up beside the run of the timeline, once for each generation
/// (``SpeakerCounts``); readers add the rows that still are in the tail.
final class ParticipantsView: View {
    static let name = "participants"
    static let version: Int64 = 3
    static let tables = ["member", "speaker", "people"]
    static let schema =
        SpeakerCounts.table + PeopleChange.table + """
            CREATE TABLE member(
              conversation INTEGER, user TEXT, joined INTEGER NOT NULL, stamp BLOB NOT NULL,
              PRIMARY KEY(conversation, user)
            ) WITHOUT ROWID;
            """
    /// The counts are those of the timeline's run.
    static var foundation: (any View.Type)? { TimelineView.self }

    /// By name: a user that a payload names may never have had an event, and then has no ref.
    fileprivate struct Member: Hashable, Comparable {
        let conversation: Int64
        let user: ByteText
        static func < (a: Member, b: Member) -> Bool { (a.conversation, a.user) < (b.conversation, b.user) }
    }

    var digest = DigestSum()
    /// Whether the last writer said joined or left.
    private var written: [Member: Membership] = [:]

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        guard let conversation = event.conversation, change != .remove, let payload = event.payload else {
            return nil
        }
        let users: [String]
        switch event.type {
        case .conversationStarted:
            guard let value = payload["participants"], !value.isNull else { return nil }
            guard let names = value.elements.flatMap(Self.texts) else {
                return Self.refusal(.conversationStarted, payload)
            }
            users = names
        case .participantJoined, .participantLeft:
            if let refusal = Self.refusal(.participantJoined, payload) { return refusal }
            let named = try payload.string("user").orLoad { () throws(DatabaseError) in try store.text(event.user) }
            users = named.map { [$0] } ?? []
        default: return nil
        }
        let stamp = Stamp(event.key)
        for user in users {
            let member = Member(conversation: conversation, user: ByteText(user))
            if written[member].map({ $0.stamp < stamp }) ?? true {
                written[member] = Membership(joined: event.type != .participantLeft, stamp: stamp)
            }
        }
        return nil
    }

    /// Why what is said of those who take part is not of the form that is read; `nil` if it is.
    static func refusal(_ type: EventType, _ payload: JSONObject) -> String? {
        switch type {
        case .conversationStarted:
            guard let value = payload["participants"], !value.isNull else { return nil }
            return value.elements.flatMap(texts) == nil ? "participants is not a list of texts" : nil
        case .participantJoined, .participantLeft:
            return payload["user"].map { $0.string == nil } == true ? "user is not text" : nil
        default: return nil
        }
    }

    /// What the events of a batch say of a conversation's members.
    func said(of conversation: Int64) -> [(user: String, membership: Membership)] {
        written.lazy.filter { $0.key.conversation == conversation }.map { ($0.key.user.text, $0.value) }
    }

    private static func texts(_ values: [JSONValue]) -> [String]? {
        let texts = values.compactMap(\.string)
        return texts.count == values.count ? texts : nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        var people: PeopleChange?
        var last: Int64?
        for (member, write) in written.sorted(by: { $0.key < $1.key }) {
            let row: [Binding] = [
                .integer(member.conversation), .text(member.user.text), .integer(write.joined ? 1 : 0),
                .blob(write.stamp.bytes),
            ]
            let conversation = try store.text(member.conversation)
            if member.conversation != last {
                try people?.save(store.connection)
                (last, people) = (member.conversation, PeopleChange(of: member.conversation))
            }
            // Most are new.
            try store.connection.run("INSERT OR IGNORE INTO member VALUES(?, ?, ?, ?)", row)
            if store.connection.changes == 0 {
                let before =
                    try store.connection.first(
                        "SELECT joined, stamp FROM member WHERE conversation = ? AND user = ?", Array(row[..<2])
                    ) { row in row.stamp(1).map { Membership(joined: row.int64(0) != 0, stamp: $0) } } ?? nil
                if let before, before.stamp >= write.stamp { continue }
                try store.connection.run("INSERT OR REPLACE INTO member VALUES(?, ?, ?, ?)", row)
                if let before { digest.remove(before.fields(member, conversation)) }
            } else {
                try people?.isNamed(member.user.text, store.connection)
            }
            digest.add(write.fields(member, conversation))
        }
        try people?.save(store.connection)
        written = [:]
    }

    /// The timeline stands as it did: what its run comes to is summed up again.
    func begin(_ store: ViewStore) throws(DatabaseError) {
        var (conversation, counts) = (Int64(0), SpeakerCounts())
        try SortedTable.timeline.run(store.connection) { row throws(DatabaseError) in
            if row.owner != conversation {
                try counts.add(to: conversation, store)
                (conversation, counts) = (row.owner, SpeakerCounts())
            }
            counts.add(row)
        }
        try counts.add(to: conversation, store)
    }

    /// What the last event about it says of a user in a conversation.
    struct Membership {
        let joined: Bool
        let stamp: Stamp

        fileprivate func fields(_ member: Member, _ conversation: String) -> [DigestSum.Field] {
            [.text(conversation), .text(member.user.text), .text(joined ? "1" : "0"), .dot(stamp.key.dot)]
        }
    }

    /// What the last event about it says of one user; `nil` if none speaks of them.
    static func membership(
        of user: String, in conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) -> Membership? {
        try connection.first(
            "SELECT joined, stamp FROM member WHERE conversation = ? AND user = ?",
            [.integer(conversation), .text(user)]
        ) { row in row.stamp(1).map { Membership(joined: row.int64(0) != 0, stamp: $0) } } ?? nil
    }

    /// The names of those who take part in the run, by their bytes: at most `limit`, after `last`.
    static func names(
        in conversation: Int64, after last: String?, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [String] {
        let range = "conversation = ?1 AND user \(last == nil ? ">=" : ">") ?2"
        return try connection.all(
            """
            SELECT user FROM member WHERE \(range) UNION SELECT user FROM speaker WHERE \(range) ORDER BY user LIMIT ?3
            """, [.integer(conversation), .text(last ?? ""), .integer(Int64(limit))]
        ) { $0.text(0) }
    }

    struct Row {
        let user: String
        var messages = Int64(0)
        /// `nil` if no event said whether the user joined or left.
        var membership: Membership?
    }

    /// Who takes part in a conversation, in order of the names' bytes.
    ///
    /// - Parameters:
    ///   - pending: The rows of its timeline that are not in the run.
    ///   - name: The text behind a ref.
    static func rows(
        _ conversation: Int64, _ pending: [SortedRow], _ connection: Connection,
        name: (Int64) throws(DatabaseError) -> String
    ) throws(DatabaseError) -> [Row] {
        var said = try SpeakerCounts(pending).named(name)
        try connection.rows("SELECT user, messages FROM speaker WHERE conversation = ?", [.integer(conversation)]) {
            said[ByteText($0.text(0)), default: 0] += $0.int64(1)
        }
        let members = try connection.all(
            "SELECT user, joined, stamp FROM member WHERE conversation = ?", [.integer(conversation)]
        ) { row in row.stamp(2).map { (row.text(0), Membership(joined: row.int64(1) != 0, stamp: $0)) } }
        return rows(said, members.compactMap { $0 })
    }

    /// Those who have said something, and those of whom events say that they joined or left.
    static func rows(
        _ said: [ByteText: Int64], _ members: [(user: String, membership: Membership)]
    ) -> [Row] {
        var rows: [ByteText: Row] = [:]
        for (speaker, messages) in said { rows[speaker] = Row(user: speaker.text, messages: messages) }
        for (user, membership) in members {
            rows[ByteText(user), default: Row(user: user)].membership = membership
        }
        return rows.values.sorted { ByteText($0.user) < ByteText($1.user) }
    }
}
