/// A conversation as a room: when its last message was, and how many have it in their lists because they are named.
struct Room: Equatable {
    let conversation: Int64
    /// The greatest hour of its messages and of what began it.
    var hour = Int64.min
    /// How many rows of ``Occupant`` have a place; never fewer than before.
    var occupants = Int64(0)

    /// Where the rooms of a large conversation stand: before all others.
    static let apart = Int64.max

    /// The step of 2^22 ms, some 70 minutes, in which a time lies.
    static func hour(of time: Int64) -> Int64 { time >> 22 }

    /// Where its rooms stand in the lists of those who are named.
    var place: Int64 { occupants > RoomsView.mostInOrder ? Self.apart : hour }

    static func load(_ conversation: Int64, _ connection: Connection) throws(DatabaseError) -> Room? {
        let select = try connection.statement("SELECT hour, occupants FROM room WHERE conversation = ?")
        defer { select.reset() }
        try select.bind(1, conversation)
        guard try select.step() else { return nil }
        return Room(conversation: conversation, hour: select.int64(0), occupants: select.int64(1))
    }

    func save(_ connection: Connection) throws(DatabaseError) {
        let save = try connection.statement("INSERT OR REPLACE INTO room VALUES(?, ?, ?)")
        for (index, value) in [conversation, hour, occupants].enumerated() { try save.bind(index + 1, value) }
        try save.run()
    }
}

/// What is a user's own in a conversation: last-writer registers.
struct OccupantMarks {
    var read: Register<EventID>?
    var hidden: Register<Bool>?

    var isEmpty: Bool { read == nil && hidden == nil }
}

/// A user in a conversation: one whom events name, or who has marked something there.
struct Occupant {
    let conversation: Int64
    /// Whether it is a room of theirs because they are named, or began it.
    let isNamed: Bool
    /// The hour by which it stands in their list.
    var hour: Int64
    let marks: OccupantMarks
    /// How many events say whether they take part, twins counted each.
    let words: Int64

    var isHidden: Bool { marks.hidden?.value ?? false }

    /// One whom no event names, and who has marked nothing.
    init(plain conversation: Int64, hour: Int64) {
        (self.conversation, self.hour) = (conversation, hour)
        (isNamed, marks, words) = (false, OccupantMarks(), 0)
    }

    /// Puts a user into a conversation. Says whether they have got a place there.
    ///
    /// - Parameters:
    ///   - place: Where it stands in their list; `nil` where nothing names them.
    ///   - words: How many more events say whether they take part.
    static func put(
        _ user: String, _ words: Int64, in conversation: Int64, at place: Int64?, _ connection: Connection
    ) throws(DatabaseError) -> Bool {
        let key: [Binding] = [.integer(conversation), .text(user)]
        let found = try connection.first(
            "SELECT place IS NOT NULL FROM occupant WHERE conversation = ? AND user = ?", key
        ) { $0.int64(0) != 0 }
        guard let hasPlace = found else {
            try connection.run(
                "INSERT INTO occupant(conversation, user, words, place) VALUES(?, ?, ?, ?)",
                key + [.integer(words), place.map { .integer($0) } ?? .null])
            return place != nil
        }
        let isPlaced = place != nil && !hasPlace
        if isPlaced || words > 0 {
            try connection.run(
                """
                UPDATE occupant SET place = ifnull(place, ?3), words = words + ?4 WHERE conversation = ?1 AND user = ?2
                """, key + [place.map { .integer($0) } ?? .null, .integer(words)])
        }
        return isPlaced
    }

    static func move(all conversation: Int64, to place: Int64, _ connection: Connection) throws(DatabaseError) {
        let move = try connection.statement("UPDATE occupant SET place = ?2 WHERE conversation = ?1 AND place <> ?2")
        try move.bind(1, conversation)
        try move.bind(2, place)
        try move.run()
    }

    private static let columns = """
        occupant.conversation, place IS NOT NULL, room.hour, words, read, read_stamp, hidden, hidden_stamp
        """

    private init(_ row: Statement) {
        conversation = row.int64(0)
        isNamed = row.int64(1) != 0
        hour = row.int64(2)
        words = row.int64(3)
        marks = OccupantMarks(
            read: row.stamp(5).flatMap { stamp in
                row.uuid(4).map { Register(value: EventID($0), stamp: stamp) }
            },
            hidden: row.stamp(7).map { Register(value: row.int64(6) != 0, stamp: $0) })
    }

    /// A user's rooms of large conversations, at most `limit`.
    static func apart(_ user: String, limit: Int, _ connection: Connection) throws(DatabaseError) -> [Occupant] {
        try connection.all(
            """
            SELECT \(columns) FROM occupant CROSS JOIN room ON room.conversation = occupant.conversation
            WHERE user = ? AND place = \(Room.apart) LIMIT ?
            """, [.text(user), .integer(Int64(limit))], Occupant.init)
    }

    /// The next of a user's other rooms in which they are named, those of later hours first: at most `limit`.
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

    /// A user's row in a conversation; `nil` if nothing names them, and they have marked nothing.
    static func load(
        _ user: String, in conversation: Int64, _ connection: Connection
    ) throws(DatabaseError) -> Occupant? {
        try connection.first(
            """
            SELECT \(columns) FROM occupant CROSS JOIN room ON room.conversation = occupant.conversation
            WHERE occupant.conversation = ? AND user = ?
            """, [.integer(conversation), .text(user)], Occupant.init)
    }
}

extension OccupantMarks {
    static func load(
        _ conversation: Int64, _ user: String, _ connection: Connection
    ) throws(DatabaseError) -> OccupantMarks {
        try Occupant.load(user, in: conversation, connection)?.marks ?? OccupantMarks()
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
