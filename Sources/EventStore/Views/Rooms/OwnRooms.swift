/// The conversations in which a user's own history has messages, each with the greatest hour of those. They are rooms of the user, named or
/// not.
///
/// They are summed up beside the run of the history: a row is written once for a generation, in the order of the users, and nothing when a
/// message comes. Readers add what is in the tail.
struct OwnRooms {
    /// By conversation.
    private(set) var hours: [Int64: Int64] = [:]

    static let table = """
        CREATE TABLE own_room(
          user INTEGER, conversation INTEGER, hour INTEGER NOT NULL, PRIMARY KEY(user, conversation)
        ) WITHOUT ROWID;
        """

    init(_ rows: some Sequence<SortedRow> = []) { for row in rows { add(row) } }

    mutating func add(_ row: SortedRow) {
        guard let room = row.room else { return }
        add(room, hour: Room.hour(of: row.time))
    }

    private mutating func add(_ conversation: Int64, hour: Int64) {
        hours[conversation] = max(hours[conversation] ?? .min, hour)
    }

    /// Adds them to those of the run.
    func save(_ user: Int64, _ connection: Connection) throws(DatabaseError) {
        let save = try connection.statement(
            """
            INSERT INTO own_room VALUES(?1, ?2, ?3) ON CONFLICT DO UPDATE SET hour = ?3 WHERE hour < ?3
            """)
        for (conversation, hour) in hours.sorted(by: { $0.key < $1.key }) {
            for (index, value) in [user, conversation, hour].enumerated() { try save.bind(index + 1, value) }
            try save.run()
        }
    }

    /// Adds a user's rooms of the run, at most `limit`, as of the open transaction.
    mutating func addRun(of user: Int64, limit: Int, _ connection: Connection) throws(DatabaseError) {
        let rooms = try connection.all(
            "SELECT hour, conversation FROM own_room WHERE user = ? LIMIT ?",
            [.integer(user), .integer(Int64(limit))], OwnRoom.init)
        for room in rooms { add(room.conversation, hour: room.hour) }
    }
}

/// A room of the user's own, by the hour of their last message there.
struct OwnRoom {
    let hour: Int64
    let conversation: Int64

    /// Those of the run of a user behind `last`, of later hours first: at most `limit`. All of the user's are gone through, 0.13 µs
    /// each, and only these are kept.
    static func inOrder(
        of user: Int64, after last: OwnRoom, limit: Int, _ connection: Connection
    ) throws(DatabaseError) -> [OwnRoom] {
        try connection.all(
            """
            SELECT hour, conversation FROM own_room WHERE user = ?1 AND (hour < ?2 OR hour = ?2 AND conversation < ?3)
            ORDER BY hour DESC, conversation DESC LIMIT ?4
            """,
            [.integer(user), .integer(last.hour), .integer(last.conversation), .integer(Int64(limit))], OwnRoom.init)
    }

    /// The hour of a user's room in the run.
    static func hour(
        of conversation: Int64, _ user: Int64, _ connection: Connection
    ) throws(DatabaseError) -> Int64? {
        try connection.integer(
            "SELECT hour FROM own_room WHERE user = ? AND conversation = ?", .integer(user), .integer(conversation))
    }
}

extension OwnRoom {
    fileprivate init(_ row: Statement) {
        hour = row.int64(0)
        conversation = row.int64(1)
    }
}

/// What is summed up beside the run of the histories: users' own rooms.
struct RoomSums: CompactionListener {
    init(_ store: ViewStore) {}

    func entered(
        _ rows: ArraySlice<SortedRow>, of user: Int64, _ connection: Connection
    ) throws(DatabaseError) {
        try OwnRooms(rows).save(user, connection)
    }

    /// What a twin has said that does not count any more it has said all the same.
    func hid(_ rows: [SortedRow], of user: Int64, _ connection: Connection) throws(DatabaseError) {}
}

/// A user's rooms but for those of large conversations, those of later hours first.
///
/// Where they are named, a room stands by the hour of its conversation, else by that of their own last message.
struct RoomWalk {
    private let user: String
    private let ref: Int64?
    /// The hour to begin with.
    private let first: Int64
    /// The hours of their own rooms of the tail, by conversation.
    private let tail: [Int64: Int64]
    /// Those of the tail that are to come, of later hours last.
    private var waiting: [OwnRoom]
    /// The next of their own, of later hours last; among them may be such as they are named in.
    private var own: [OwnRoom] = []
    private var lastOwn: OwnRoom
    private var isOwnRead = false
    private var named: ArraySlice<Occupant> = []
    private var lastNamed: Occupant?
    private var isNamedRead = false

    /// Own rooms that are read together: all of a user's are gone through for them.
    private static let ownAtOnce = 512

    /// - Parameters:
    ///   - first: Rooms of later hours are not wanted.
    ///   - pending: Rows of the user's history that are not in the run.
    init(_ user: String, ref: Int64?, from first: Int64, _ pending: [SortedRow]) {
        (self.user, self.ref, self.first) = (user, ref, first)
        tail = OwnRooms(pending).hours
        waiting = tail.lazy.filter { $0.value <= first }.map { OwnRoom(hour: $0.value, conversation: $0.key) }
        waiting.sort { $0.hour < $1.hour }
        lastOwn = OwnRoom(hour: first, conversation: .max)
    }

    /// The next of them: fewer than `limit` at the end alone.
    mutating func next(atMost limit: Int, _ connection: Connection) throws(DatabaseError) -> [Occupant] {
        var rooms: [Occupant] = []
        while rooms.count < limit {
            if named.isEmpty, !isNamedRead { try readNamed(limit, connection) }
            while own.isEmpty, !isOwnRead { try readOwn(connection) }
            if let next = own.last, named.first.map({ $0.hour < next.hour }) ?? true {
                own.removeLast()
                if let room = try ownRoom(next, connection) { rooms.append(room) }
            } else if let next = named.popFirst() {
                rooms.append(next)
            } else {
                break
            }
        }
        return rooms
    }

    private mutating func readNamed(_ limit: Int, _ connection: Connection) throws(DatabaseError) {
        let found = try Occupant.inOrder(user, from: first, after: lastNamed, limit: limit, connection)
        (named, isNamedRead) = (found[...], found.count < limit)
        lastNamed = found.last ?? lastNamed
    }

    /// A room that is in the run and in the tail stands where the later hour of the two is.
    private mutating func readOwn(_ connection: Connection) throws(DatabaseError) {
        guard let ref else { return isOwnRead = true }
        let run = try OwnRoom.inOrder(of: ref, after: lastOwn, limit: Self.ownAtOnce, connection)
        isOwnRead = run.count < Self.ownAtOnce
        lastOwn = run.last ?? lastOwn
        own = run.filter { (tail[$0.conversation] ?? .min) < $0.hour }
        while let next = waiting.last, isOwnRead || next.hour >= lastOwn.hour {
            waiting.removeLast()
            let inRun = try OwnRoom.hour(of: next.conversation, ref, connection)
            if inRun.map({ $0 <= next.hour }) ?? true { own.append(next) }
        }
        own.sort { $0.hour < $1.hour }
    }

    /// `nil` where they are named: then it stands by another hour.
    private func ownRoom(_ room: OwnRoom, _ connection: Connection) throws(DatabaseError) -> Occupant? {
        guard var found = try Occupant.load(user, in: room.conversation, connection) else {
            return Occupant(plain: room.conversation, hour: room.hour)
        }
        if found.isNamed { return nil }
        found.hour = room.hour
        return found
    }
}
