/// What is summed up beside the run of the timeline: each conversation's counts, and who said how much.
struct TimelineSums: CompactionListener {
    /// Knows the names of those who speak.
    private let store: ViewStore

    init(_ store: ViewStore) { self.store = store }

    func entered(
        _ rows: ArraySlice<SortedRow>, of conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try ConversationRow.add(ConversationSum(rows), to: conversation, connection)
        try SpeakerCounts(rows).add(to: conversation, store)
    }

    func hid(
        _ rows: [SortedRow], of conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try ConversationRow.hid(rows, of: conversation, connection)
        try SpeakerCounts(rows).subtract(from: conversation, store)
    }
}

/// How many messages each user has among rows of one timeline, by ref.
struct SpeakerCounts {
    private(set) var messages: [Int64: Int64] = [:]

    /// By name, as pages of those who take part are.
    static let table = """
        CREATE TABLE speaker(
          conversation INTEGER, user TEXT, messages INTEGER NOT NULL, PRIMARY KEY(conversation, user)
        ) WITHOUT ROWID;
        """

    init(_ rows: some Sequence<SortedRow> = []) { for row in rows { add(row) } }

    mutating func add(_ row: SortedRow) {
        if let speaker = row.speaker { messages[speaker, default: 0] += 1 }
    }

    /// By name.
    func named(_ name: (Int64) throws(DatabaseError) -> String) throws(DatabaseError) -> [ByteText: Int64] {
        var named: [ByteText: Int64] = [:]
        for (user, count) in messages { named[ByteText(try name(user))] = count }
        return named
    }

    /// How many messages a user has in the run, as of the open transaction.
    static func run(
        of user: String, in conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) -> Int64? {
        try connection.integer(
            "SELECT messages FROM speaker WHERE conversation = ? AND user = ?", .integer(conversation), .text(user))
    }

    /// Adds them to those of the run.
    func add(to conversation: Int64, _ store: ViewStore) throws(DatabaseError) {
        guard !messages.isEmpty else { return }
        let connection = store.connection
        let insert = try connection.statement("INSERT OR IGNORE INTO speaker VALUES(?1, ?2, ?3)")
        let update = try connection.statement(
            "UPDATE speaker SET messages = messages + ?3 WHERE conversation = ?1 AND user = ?2")
        var people = PeopleChange(of: conversation)
        for user in messages.keys.sorted() {
            let name = try store.text(user)
            // Where most are not new, they are few.
            for statement in [insert, update] {
                try statement.bind(1, conversation)
                try statement.bind(2, text: Array(name.utf8))
                try statement.bind(3, messages[user] ?? 0)
                try statement.run()
                if connection.changes > 0 {
                    if statement === insert { try people.speaks(name, connection) }
                    break
                }
            }
        }
        try people.save(connection)
    }

    func subtract(from conversation: Int64, _ store: ViewStore) throws(DatabaseError) {
        let connection = store.connection
        var people = PeopleChange(of: conversation)
        for (user, count) in messages {
            let name = try store.text(user)
            let key: [Binding] = [.integer(conversation), .text(name)]
            try connection.run(
                "UPDATE speaker SET messages = messages - ?3 WHERE conversation = ?1 AND user = ?2",
                key + [.integer(count)])
            try connection.run("DELETE FROM speaker WHERE conversation = ? AND user = ? AND messages = 0", key)
            if connection.changes > 0 { try people.isSilent(name, connection) }
        }
        try people.save(connection)
    }
}

/// How many take part in a conversation, or have: those who are named, and those who speak.
struct PeopleChange {
    private let conversation: Int64
    private(set) var change = Int64(0)
    private var hasMembers: Bool?

    static let table = "CREATE TABLE people(conversation INTEGER PRIMARY KEY, number INTEGER NOT NULL);"

    init(of conversation: Int64) { self.conversation = conversation }

    /// How many there are in the run, as of the open transaction.
    static func number(in conversation: Int64, _ connection: Connection) throws(DatabaseError) -> Int64 {
        try connection.integer("SELECT number FROM people WHERE conversation = ?", .integer(conversation)) ?? 0
    }

    /// One speaks who did not.
    mutating func speaks(_ user: String, _ connection: Connection) throws(DatabaseError) {
        if try !isMember(user, connection) { change += 1 }
    }

    /// One speaks in rows that are not in the run.
    mutating func speaksSince(_ user: String, _ connection: Connection) throws(DatabaseError) {
        guard try SpeakerCounts.run(of: user, in: conversation, connection) == nil else { return }
        try speaks(user, connection)
    }

    /// One who spoke did not after all.
    mutating func isSilent(_ user: String, _ connection: Connection) throws(DatabaseError) {
        if try !isMember(user, connection) { change -= 1 }
    }

    /// One is named who was not.
    mutating func isNamed(_ user: String, _ connection: Connection) throws(DatabaseError) {
        if try SpeakerCounts.run(of: user, in: conversation, connection) == nil { change += 1 }
    }

    private mutating func isMember(_ user: String, _ connection: Connection) throws(DatabaseError) -> Bool {
        // Where no one is named, there is nothing to look for.
        if hasMembers == nil {
            hasMembers =
                try connection.integer("SELECT 1 FROM member WHERE conversation = ? LIMIT 1", .integer(conversation))
                != nil
        }
        guard hasMembers == true else { return false }
        return try connection.integer(
            "SELECT 1 FROM member WHERE conversation = ? AND user = ?", .integer(conversation), .text(user)) != nil
    }

    func save(_ connection: Connection) throws(DatabaseError) {
        guard change != 0 else { return }
        let save = try connection.statement(
            "INSERT INTO people VALUES(?1, ?2) ON CONFLICT DO UPDATE SET number = number + ?2")
        try save.bind(1, conversation)
        try save.bind(2, change)
        try save.run()
    }
}
