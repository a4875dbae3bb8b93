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

    /// Adds a user's rooms of the run, as of the open transaction. Returns false where there are more than `limit`.
    mutating func addRun(of user: Int64, limit: Int, _ connection: Connection) throws(DatabaseError) -> Bool {
        let select = try connection.statement("SELECT conversation, hour FROM own_room WHERE user = ? LIMIT ?")
        defer { select.reset() }
        try select.bind(1, user)
        try select.bind(2, Int64(limit) + 1)
        var count = 0
        while try select.step() {
            count += 1
            if count > limit { return false }
            add(select.int64(0), hour: select.int64(1))
        }
        return true
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
    /// The hour to begin with.
    private let first: Int64
    /// Their own, those of later hours last; among them may be such as they are named in.
    private var own: [(hour: Int64, conversation: Int64)] = []
    private var named: ArraySlice<Occupant> = []
    private var lastNamed: Occupant?
    private var isNamedRead = false

    /// Own rooms of one user that are looked at together.
    static let mostOwn = 200_000

    /// - Parameters:
    ///   - first: Rooms of later hours are not wanted.
    ///   - pending: Rows of the user's history that are not in the run.
    /// - Returns: `nil` if they have over ``mostOwn`` rooms of their own.
    init?(
        _ user: String, ref: Int64?, from first: Int64, _ pending: [SortedRow], _ connection: Connection
    ) throws(DatabaseError) {
        (self.user, self.first) = (user, first)
        guard let ref else { return }
        var rooms = OwnRooms(pending)
        guard try rooms.addRun(of: ref, limit: Self.mostOwn, connection) else { return nil }
        own = rooms.hours.lazy.filter { $0.value <= first }.map { (hour: $0.value, conversation: $0.key) }
        own.sort { $0 < $1 }
    }

    /// The next of them: fewer than `limit` at the end alone.
    mutating func next(atMost limit: Int, _ connection: Connection) throws(DatabaseError) -> [Occupant] {
        var rooms: [Occupant] = []
        while rooms.count < limit {
            if named.isEmpty, !isNamedRead { try readNamed(limit, connection) }
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

    /// `nil` where they are named: then it stands by another hour.
    private func ownRoom(
        _ room: (hour: Int64, conversation: Int64), _ connection: Connection
    ) throws(DatabaseError) -> Occupant? {
        guard var found = try Occupant.load(user, in: room.conversation, connection) else {
            return Occupant(plain: room.conversation, hour: room.hour)
        }
        if found.isNamed { return nil }
        found.hour = room.hour
        return found
    }
}
