/// What ties a user to a conversation.
struct Ties: OptionSet, Hashable {
    let rawValue: Int64

    /// They are one of those who take part, or have: an event named them so, or they are the author of a message.
    static let participant = Ties(rawValue: 1)
    /// It is one of their rooms: so are conversations, too, in which a message stands in their history, and those they began.
    static let room = Ties(rawValue: 2)
    static let all: Ties = [.participant, .room]
}

/// A conversation as a room: when its last message was, and how many have to do with it.
struct Room: Equatable {
    let conversation: Int64
    /// The greatest hour of its messages and of what began it.
    var hour = Int64.min
    /// How many rows of ``Occupant`` it has; never fewer than before.
    var occupants = Int64(0)
    /// How many of them take part, or have.
    var people = Int64(0)

    /// Where the rooms of a large conversation stand: before all others.
    static let apart = Int64.max

    /// The step of 2^22 ms, some 70 minutes, in which a time lies.
    static func hour(of time: Int64) -> Int64 { time >> 22 }

    /// Where its rooms stand in their users' lists.
    var place: Int64 { occupants > RoomsView.mostInOrder ? Self.apart : hour }

    static func load(_ conversation: Int64, _ connection: Connection) throws(DatabaseError) -> Room? {
        let select = try connection.statement("SELECT hour, occupants, people FROM room WHERE conversation = ?")
        defer { select.reset() }
        try select.bind(1, conversation)
        guard try select.step() else { return nil }
        return Room(
            conversation: conversation, hour: select.int64(0), occupants: select.int64(1), people: select.int64(2))
    }

    func save(_ connection: Connection) throws(DatabaseError) {
        let save = try connection.statement("INSERT OR REPLACE INTO room VALUES(?, ?, ?, ?)")
        for (index, value) in [conversation, hour, occupants, people].enumerated() {
            try save.bind(index + 1, value)
        }
        try save.run()
    }
}

/// A user in a conversation, as a row of their list.
struct Occupant {
    let conversation: Int64
    let ties: Ties
    /// The hour of the conversation.
    let hour: Int64
    let isHidden: Bool
    /// Up to which message they have read, as the last event says that speaks of it.
    let read: Register<EventID>?
    /// How many events say whether they take part, twins counted each.
    let words: Int64

    /// Ties a user to a conversation. Says whether they were new there, and which ties are.
    ///
    /// - Parameter words: How many more events say whether they take part.
    static func tie(
        _ user: String, _ ties: Ties, _ words: Int64, in conversation: Int64, at place: Int64,
        _ connection: Connection
    ) throws(DatabaseError) -> (isNew: Bool, ties: Ties) {
        let key: [Binding] = [.integer(conversation), .text(user)]
        let found = try connection.integer(
            "SELECT ties FROM occupant WHERE conversation = ? AND user = ?", key[0], key[1])
        guard let found else {
            try connection.run(
                "INSERT INTO occupant(conversation, user, ties, words, place) VALUES(?, ?, ?, ?, ?)",
                key + [.integer(ties.rawValue), .integer(words), .integer(place)])
            return (true, ties)
        }
        let more = ties.subtracting(Ties(rawValue: found))
        if !more.isEmpty || words > 0 {
            try connection.run(
                "UPDATE occupant SET ties = ties | ?3, words = words + ?4 WHERE conversation = ?1 AND user = ?2",
                key + [.integer(more.rawValue), .integer(words)])
        }
        return (false, more)
    }

    static func move(all conversation: Int64, to place: Int64, _ connection: Connection) throws(DatabaseError) {
        let move = try connection.statement("UPDATE occupant SET place = ?2 WHERE conversation = ?1 AND place <> ?2")
        try move.bind(1, conversation)
        try move.bind(2, place)
        try move.run()
    }

    private static let columns = "occupant.conversation, ties, hidden, read, read_stamp, room.hour, words"

    private init(_ row: Statement) {
        conversation = row.int64(0)
        ties = Ties(rawValue: row.int64(1))
        isHidden = row.int64(2) != 0
        read = row.stamp(4).flatMap { stamp in
            row.uuid(3).map { Register(value: EventID($0), stamp: stamp) }
        }
        hour = row.int64(5)
        words = row.int64(6)
    }

    /// A user's rooms of large conversations, at most `limit`.
    static func apart(_ user: String, limit: Int, _ connection: Connection) throws(DatabaseError) -> [Occupant] {
        try connection.all(
            """
            SELECT \(columns) FROM occupant CROSS JOIN room ON room.conversation = occupant.conversation
            WHERE user = ? AND place = \(Room.apart) LIMIT ?
            """, [.text(user), .integer(Int64(limit))], Occupant.init)
    }

    /// The next of a user's other rooms, those of later hours first: at most `limit`.
    ///
    /// - Parameter last: The one before; `nil` for the first of those whose hour is `first` or before.
    static func inOrder(
        _ user: String, from first: Int64, after last: Occupant?, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [Occupant] {
        let (hour, conversation) = last.map { ($0.hour, $0.conversation) } ?? (min(first, Room.apart - 1), .max)
        return try connection.all(
            """
            SELECT \(columns) FROM occupant CROSS JOIN room ON room.conversation = occupant.conversation
            WHERE user = ?1 AND place <= ?2 AND (place, occupant.conversation) < (?2, ?3)
            ORDER BY place DESC, occupant.conversation DESC LIMIT ?4
            """, [.text(user), .integer(hour), .integer(conversation), .integer(Int64(limit))], Occupant.init)
    }

    /// A user's row in a conversation; `nil` if nothing ties them to it.
    static func load(
        _ user: String, in conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) -> Occupant? {
        try connection.first(
            """
            SELECT \(columns) FROM occupant CROSS JOIN room ON room.conversation = occupant.conversation
            WHERE occupant.conversation = ? AND user = ?
            """, [.integer(conversation), .text(user)], Occupant.init)
    }

    /// Names of those who are tied so to a conversation, by their bytes: at most `limit`, after `last`.
    static func names(
        _ ties: Ties, in conversation: Int64, after last: String?, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [String] {
        try connection.all(
            """
            SELECT user FROM occupant WHERE conversation = ? AND user \(last == nil ? ">=" : ">") ? AND ties & ? <> 0
            ORDER BY user LIMIT ?
            """,
            [.integer(conversation), .text(last ?? ""), .integer(ties.rawValue), .integer(Int64(limit))]
        ) { $0.text(0) }
    }
}

/// What is a user's own in a conversation: last-writer registers.
struct OccupantMarks {
    var read: Register<EventID>?
    var hidden: Register<Bool>?

    var isEmpty: Bool { read == nil && hidden == nil }

    static func load(
        _ conversation: Int64, _ user: String, _ connection: Connection
    ) throws(DatabaseError) -> OccupantMarks {
        try connection.first(
            "SELECT read, read_stamp, hidden, hidden_stamp FROM occupant WHERE conversation = ? AND user = ?",
            [.integer(conversation), .text(user)]
        ) { row in
            OccupantMarks(
                read: row.stamp(1).flatMap { stamp in
                    row.uuid(0).map { Register(value: EventID($0), stamp: stamp) }
                },
                hidden: row.stamp(3).map { Register(value: row.int64(2) != 0, stamp: $0) })
        } ?? OccupantMarks()
    }

    func save(_ conversation: Int64, _ user: String, _ connection: Connection) throws(DatabaseError) {
        try connection.run(
            """
            UPDATE occupant SET read = ?3, read_stamp = ?4, hidden = ?5, hidden_stamp = ?6
            WHERE conversation = ?1 AND user = ?2
            """, .integer(conversation), .text(user), read.map { .blob($0.value.bytes) } ?? .null,
            .optional(read?.stamp), hidden.map { .integer($0.value ? 1 : 0) } ?? .null, .optional(hidden?.stamp))
    }

    func fields(_ conversation: String, _ user: String) -> [DigestSum.Field] {
        [
            .text(conversation), .text(user), .text(read.map { hexText($0.value.bytes) } ?? ""),
            .dot(read?.stamp.key.dot), .text(hidden.map { $0.value ? "1" : "0" } ?? ""),
            .dot(hidden?.stamp.key.dot),
        ]
    }
}
