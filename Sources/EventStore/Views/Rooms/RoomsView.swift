/// Which rooms a user has: the conversations in which they are named or have messages, and what is their own in each, a mark up to where they
/// have read and whether they have hidden it (docs/reference/VIEWS.md, "rooms").
///
/// What all see of a room stands in its conversation, once: nothing here is written for each message and each of those who take part.
/// Rooms stand in the order of the hour of their last message, in steps of some 70 minutes (``Room/hour(of:)``). So those of a
/// conversation change when the first message of another hour comes, and not with each. A *large* conversation, of more than
/// ``mostInOrder`` who are named, does not even do that: its rooms stand apart, and readers look at each. Who only speaks costs nothing here:
/// their rooms are summed up beside the run of their history (``OwnRooms``, decision 0089).
///
/// Every fact here is one of the set of events: an hour is the greatest, a row is there once an event made it, and a register has its last
/// writer. Twins that do not count make them, too.
final class RoomsView: View {
    static let name = "rooms"
    static let version: Int64 = 2
    static let tables = ["room", "occupant", "own_room"]
    static let readsMessages = true
    static let schema =
        OwnRooms.table + """
            CREATE TABLE room(conversation INTEGER PRIMARY KEY, hour INTEGER NOT NULL, occupants INTEGER NOT NULL);
            CREATE TABLE occupant(
              conversation INTEGER, user TEXT, words INTEGER NOT NULL, place INTEGER,
              read BLOB, read_stamp BLOB, hidden INTEGER, hidden_stamp BLOB, PRIMARY KEY(conversation, user)
            ) WITHOUT ROWID;
            CREATE INDEX occupant_place ON occupant(user, place) WHERE place IS NOT NULL;
            """
    /// Own rooms are those of the histories' run.
    static var foundation: (any View.Type)? { HistoryView.self }

    /// Most occupants of a conversation whose rooms stand in the order of their hours.
    static let mostInOrder: Int64 = 64
    /// Conversations of which is remembered what stands (INV-9).
    private static let mostKnown = 1 << 15

    /// What a batch says of a conversation.
    private struct Touch {
        var hour = Int64.min
        /// Who is named, and how many events say of them whether they take part.
        var named: [ByteText: Int64] = [:]
        /// Who began it, by their refs.
        var starters: Set<Int64> = []
        var reads: [Int64: Register<EventID>] = [:]
        var hidings: [Int64: Register<Bool>] = [:]

        /// An event says of a user whether they take part.
        mutating func name(_ user: ByteText) { named[user, default: 0] += 1 }

        mutating func begin(_ event: ProjectedEvent) {
            hour = max(hour, Room.hour(of: event.key.time))
            guard let payload = event.payload else { return }
            starters.formUnion([event.user, event.author])
            let names = payload["participants"]?.elements?.map(\.string) ?? []
            guard names.allSatisfy({ $0 != nil }) else { return }
            for name in Set(names.compactMap { $0.map(ByteText.init) }) { self.name(name) }
        }
    }

    var digest = DigestSum()
    private var touched: [Int64: Touch] = [:]
    /// The hours that stand: most messages are of one that does.
    private var known: [Int64: Int64] = [:]

    /// The histories stand as they did: what their run comes to is summed up again.
    func begin(_ store: ViewStore) throws(DatabaseError) {
        var (user, rooms) = (Int64(0), OwnRooms())
        try SortedTable.history.run(store.connection) { row throws(DatabaseError) in
            if row.owner != user {
                try rooms.save(user, store.connection)
                (user, rooms) = (row.owner, OwnRooms())
            }
            rooms.add(row)
        }
        try rooms.save(user, store.connection)
    }

    func apply(_ event: ProjectedEvent, _ change: ViewChange, _ store: ViewStore) throws(DatabaseError) -> String? {
        // What a twin has said that does not count any more it has said all the same.
        guard let type = event.type, change != .remove else { return nil }
        switch type {
        case .messagePosted, .botReplied:
            if let conversation = event.conversation { speak(event, in: conversation) }
        case .conversationStarted:
            if let conversation = event.conversation { begin(event, in: conversation) }
        case .participantJoined, .participantLeft:
            guard let conversation = event.conversation, let payload = event.payload else { return nil }
            // One who is no text is refused by the view of those who take part.
            var named = payload["user"]?.string
            if payload["user"] == nil { named = try store.text(event.user) }
            if let named { touched[conversation, default: Touch()].name(ByteText(named)) }
        case .conversationHidden, .conversationShown:
            guard let conversation = event.conversation else { return Self.refusal(placing: type) }
            guard event.payload != nil else { return nil }
            let hiding = Register(value: type == .conversationHidden, stamp: Stamp(event.key))
            touched[conversation, default: Touch()].hidings[event.user].takeLater(hiding)
        case .messageRead: return read(event)
        default: break
        }
        return nil
    }

    private func speak(_ event: ProjectedEvent, in conversation: Int64) {
        let hour = Room.hour(of: event.key.time)
        if let known = known[conversation], known >= hour { return }
        touched[conversation, default: Touch()].hour = max(touched[conversation]?.hour ?? .min, hour)
    }

    private func begin(_ event: ProjectedEvent, in conversation: Int64) {
        touched[conversation, default: Touch()].begin(event)
    }

    private func read(_ event: ProjectedEvent) -> String? {
        guard let conversation = event.conversation else { return Self.refusal(placing: .messageRead) }
        guard let payload = event.payload else { return nil }
        guard let message = Self.message(readIn: payload, cause: event.cause) else {
            return Self.refusal(.messageRead, payload, isPlaced: true, cause: event.cause)
        }
        let mark = Register(value: message, stamp: Stamp(event.key))
        touched[conversation, default: Touch()].reads[event.user].takeLater(mark)
        return nil
    }

    /// Up to which message one has read; `nil` where that is not said.
    private static func message(readIn payload: JSONObject, cause: EventID?) -> EventID? {
        guard let named = payload["upTo"] else { return cause }
        return named.string.flatMap { EventID(text: $0) }
    }

    /// Why an event of what is a user's own is not of the form that is read; `nil` if it is.
    static func refusal(_ type: EventType, _ payload: JSONObject, isPlaced: Bool, cause: EventID?) -> String? {
        guard isPlaced else { return refusal(placing: type) }
        guard type == .messageRead, message(readIn: payload, cause: cause) == nil else { return nil }
        return payload["upTo"] == nil ? "upTo is missing" : "upTo is not an event id"
    }

    private static func refusal(placing type: EventType) -> String { "\(type.rawValue) without a conversation" }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        if known.count + touched.count > Self.mostKnown { known.removeAll(keepingCapacity: true) }
        for conversation in touched.keys.sorted() {
            guard let touch = touched[conversation] else { continue }
            try write(touch, conversation, store)
        }
        touched.removeAll(keepingCapacity: touched.count <= 4_096)
    }

    private func write(_ touch: Touch, _ conversation: Int64, _ store: ViewStore) throws(DatabaseError) {
        let before = try Room.load(conversation, store.connection)
        var room = before ?? Room(conversation: conversation)
        room.hour = max(room.hour, touch.hour)
        var named = touch.named
        for ref in touch.starters { named[ByteText(try store.text(ref)), default: 0] += 0 }
        // Where most of them are new, they are put where they will stand.
        var guess = room
        guess.occupants += Int64(named.count)
        let stood = room.occupants
        for (name, words) in named.sorted(by: { $0.key < $1.key }) {
            let isPlaced = try Occupant.put(name.text, words, in: conversation, at: guess.place, store.connection)
            if isPlaced { room.occupants += 1 }
        }
        if before.map({ $0.place != room.place }) ?? false || room.occupants > stood && guess.place != room.place {
            try Occupant.move(all: conversation, to: room.place, store.connection)
        }
        if room != before { try room.save(store.connection) }
        try mark(touch, conversation, store)
        known[conversation] = room.hour
    }

    /// Writes the registers of those who have read or hidden something.
    private func mark(
        _ touch: Touch, _ conversation: Int64, _ store: ViewStore
    ) throws(DatabaseError) {
        let users = Set(touch.reads.keys).union(touch.hidings.keys)
        for ref in users.sorted() {
            let user = try store.text(ref)
            _ = try Occupant.put(user, 0, in: conversation, at: nil, store.connection)
            let stood = try OccupantMarks.load(conversation, user, store.connection)
            var marks = stood
            if let read = touch.reads[ref] { marks.read.takeLater(read) }
            if let hiding = touch.hidings[ref] { marks.hidden.takeLater(hiding) }
            if marks.read?.stamp == stood.read?.stamp, marks.hidden?.stamp == stood.hidden?.stamp { continue }
            let name = try store.text(conversation)
            if !stood.isEmpty { digest.remove(stood.fields(name, user)) }
            digest.add(marks.fields(name, user))
            try marks.save(conversation, user, store.connection)
        }
    }
}

extension Optional {
    /// The later of two writes counts.
    mutating func takeLater<Value>(_ write: Register<Value>) where Wrapped == Register<Value> {
        if map({ $0.stamp < write.stamp }) ?? true { self = write }
    }
}
