/// What is summed up beside the run of the timeline: each conversation's counts, and who said how much.
enum TimelineSums: CompactionListener {
    static func entered(
        _ rows: ArraySlice<SortedRow>, of conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try ConversationRow.add(ConversationSum(rows), to: conversation, connection)
        try SpeakerCounts(rows).add(to: conversation, connection)
    }

    static func hid(
        _ rows: [SortedRow], of conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try ConversationRow.hid(rows, of: conversation, connection)
        try SpeakerCounts(rows).subtract(from: conversation, connection)
    }
}

/// How many messages each user has among rows of one timeline, by ref.
struct SpeakerCounts {
    private(set) var messages: [Int64: Int64] = [:]

    static let table = """
        CREATE TABLE speaker(
          conversation INTEGER, user INTEGER, messages INTEGER NOT NULL, PRIMARY KEY(conversation, user)
        ) WITHOUT ROWID;
        """

    init(_ rows: some Sequence<SortedRow> = []) { for row in rows { add(row) } }

    mutating func add(_ row: SortedRow) {
        if let speaker = row.speaker { messages[speaker, default: 0] += 1 }
    }

    /// Adds those of the conversation's rows that stand in the run, as of the open transaction.
    mutating func addRun(of conversation: Int64, _ connection: Connection) throws(DatabaseError) {
        let select = "SELECT user, messages FROM speaker WHERE conversation = ?"
        try connection.rows(select, [.integer(conversation)]) { messages[$0.int64(0), default: 0] += $0.int64(1) }
    }

    func add(to conversation: Int64, _ connection: Connection) throws(DatabaseError) {
        guard !messages.isEmpty else { return }
        let add = try connection.statement(
            """
            INSERT INTO speaker VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET messages = messages + ?3
            """)
        for user in messages.keys.sorted() {
            try add.bind(1, conversation)
            try add.bind(2, user)
            try add.bind(3, messages[user] ?? 0)
            try add.run()
        }
    }

    func subtract(from conversation: Int64, _ connection: Connection) throws(DatabaseError) {
        for (user, count) in messages {
            let key: [Binding] = [.integer(conversation), .integer(user)]
            try connection.run(
                "UPDATE speaker SET messages = messages - ?3 WHERE conversation = ?1 AND user = ?2",
                key + [.integer(count)])
            try connection.run("DELETE FROM speaker WHERE conversation = ? AND user = ? AND messages = 0", key)
        }
    }
}
