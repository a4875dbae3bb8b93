/// Which rooms a user has: the conversations that they take part in, and what is their own in each, a mark up to where they have read and
/// whether they have hidden it (docs/reference/VIEWS.md, "rooms").
///
/// What all see of a room stands in its conversation, once: nothing here is written for each message and each of those who take part.
/// A user's rooms stand in the order of the hour of their last message, in steps of some 70 minutes (``Room/hour(of:)``). So those of a
/// conversation change when the first message of another hour comes, and not with each. A *large* conversation, of more than
/// ``mostInOrder``, does not even do that: its rooms stand apart, and readers look at each (decision 0089).
///
/// Every fact here is one of the set of events: an hour is the greatest, a tie is there once an event made it, and a register has its last
/// writer. Twins that do not count make them, too.
final class RoomsView: View {
    static let name = "rooms"
    static let version: Int64 = 1
    static let tables = ["room", "occupant"]
    static let readsMessages = true
    static let schema = """
        CREATE TABLE room(
          conversation INTEGER PRIMARY KEY, hour INTEGER NOT NULL, occupants INTEGER NOT NULL, people INTEGER NOT NULL
        );
        CREATE TABLE occupant(
          conversation INTEGER, user TEXT, ties INTEGER NOT NULL, words INTEGER NOT NULL, place INTEGER NOT NULL,
          read BLOB, read_stamp BLOB, hidden INTEGER, hidden_stamp BLOB, PRIMARY KEY(conversation, user)
        ) WITHOUT ROWID;
        CREATE INDEX occupant_place ON occupant(user, place);
        """

    /// Most occupants of a conversation whose rooms stand in the order of their hours.
    static let mostInOrder: Int64 = 64
    /// Conversations of which is remembered what stands (INV-9).
    private static let mostKnown = 1 << 15
    /// Speakers that are remembered of each.
    private static let mostSpeakers = 16

    /// What a batch says of a conversation.
    private struct Touch {
        var hour = Int64.min
        var users: [ByteText: Ties] = [:]
        /// How many events of it say of a user whether they take part.
        var words: [ByteText: Int64] = [:]
        /// By their refs.
        var speakers: [Int64: Ties] = [:]
        var reads: [Int64: Register<EventID>] = [:]
        var hidings: [Int64: Register<Bool>] = [:]

        mutating func speak(_ author: Int64, _ ties: Ties, _ user: Int64, _ own: Ties, _ hour: Int64) {
            self.hour = max(self.hour, hour)
            speakers[author, default: []].formUnion(ties)
            if user != author, !own.isEmpty { speakers[user, default: []].formUnion(own) }
        }

        /// An event says of a user whether they take part.
        mutating func name(_ user: ByteText) {
            users[user, default: []].formUnion(.all)
            words[user, default: 0] += 1
        }

        mutating func begin(_ event: ProjectedEvent) {
            hour = max(hour, Room.hour(of: event.key.time))
            guard let payload = event.payload else { return }
            for user in [event.user, event.author] { speakers[user, default: []].formUnion(.room) }
            let names = payload["participants"]?.elements?.map(\.string) ?? []
            guard names.allSatisfy({ $0 != nil }) else { return }
            for name in Set(names.compactMap { $0.map(ByteText.init) }) { self.name(name) }
        }
    }

    /// What is known to stand: most messages are of an hour and of people that do.
    private struct Known {
        let hour: Int64
        var speakers: [(user: Int64, ties: Ties)] = []

        func has(_ user: Int64, _ ties: Ties) -> Bool {
            speakers.contains { $0.user == user && $0.ties.isSuperset(of: ties) }
        }
    }

    var digest = DigestSum()
    private var touched: [Int64: Touch] = [:]
    private var known: [Int64: Known] = [:]

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
            guard let conversation = event.conversation else { return "\(type.rawValue) without a conversation" }
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
        // Whose words are erased is one of those who spoke, and has no room of it.
        let own: Ties = event.payload == nil ? [] : .room
        let author = own.union(.participant)
        if let known = known[conversation], known.hour >= hour, known.has(event.author, author),
            own.isEmpty || known.has(event.user, own)
        {
            return
        }
        touched[conversation, default: Touch()].speak(event.author, author, event.user, own, hour)
    }

    private func begin(_ event: ProjectedEvent, in conversation: Int64) {
        touched[conversation, default: Touch()].begin(event)
    }

    private func read(_ event: ProjectedEvent) -> String? {
        guard let conversation = event.conversation else { return "message.read without a conversation" }
        guard let payload = event.payload else { return nil }
        let named = payload["upTo"]
        guard let message = named == nil ? event.cause : named?.string.flatMap({ EventID(text: $0) }) else {
            return named == nil ? "upTo is missing" : "upTo is not an event id"
        }
        let mark = Register(value: message, stamp: Stamp(event.key))
        touched[conversation, default: Touch()].reads[event.user].takeLater(mark)
        return nil
    }

    func flush(_ store: ViewStore) throws(DatabaseError) {
        if known.count + touched.count > Self.mostKnown { known.removeAll(keepingCapacity: true) }
        for conversation in touched.keys.sorted() {
            guard let touch = touched[conversation] else { continue }
            try write(touch, conversation, store)
        }
        touched.removeAll(keepingCapacity: touched.count <= 4_096)
    }

    private func write(_ touch: Touch, _ conversation: Int64, _ store: ViewStore) throws(DatabaseError) {
        var users = touch.users
        var names: [Int64: ByteText] = [:]
        for (ref, ties) in touch.speakers {
            let name = ByteText(try store.text(ref))
            names[ref] = name
            users[name, default: []].formUnion(ties)
        }
        for ref in Set(touch.reads.keys).union(touch.hidings.keys) {
            let name = ByteText(try store.text(ref))
            names[ref] = name
            users[name, default: []].formUnion([])
        }
        let before = try Room.load(conversation, store.connection)
        var room = before ?? Room(conversation: conversation)
        room.hour = max(room.hour, touch.hour)
        // Where most of them are new, they are put where they will stand.
        var guess = room
        guess.occupants += Int64(users.count)
        var isNew = false
        for (name, ties) in users.sorted(by: { $0.key < $1.key }) {
            let words = touch.words[name] ?? 0
            let added = try Occupant.tie(name.text, ties, words, in: conversation, at: guess.place, store.connection)
            if added.isNew { (room.occupants, isNew) = (room.occupants + 1, true) }
            if added.ties.contains(.participant) { room.people += 1 }
        }
        if before.map({ $0.place != room.place }) ?? false || isNew && guess.place != room.place {
            try Occupant.move(all: conversation, to: room.place, store.connection)
        }
        if room != before { try room.save(store.connection) }
        try mark(touch, conversation, names, store)
        remember(touch, conversation, room.hour)
    }

    private func remember(_ touch: Touch, _ conversation: Int64, _ hour: Int64) {
        var speakers = known[conversation]?.speakers ?? []
        for (user, ties) in touch.speakers {
            if let index = speakers.firstIndex(where: { $0.user == user }) {
                speakers[index].ties.formUnion(ties)
            } else if speakers.count < Self.mostSpeakers {
                speakers.append((user, ties))
            }
        }
        known[conversation] = Known(hour: hour, speakers: speakers)
    }

    /// Writes the registers of those who have read or hidden something.
    private func mark(
        _ touch: Touch, _ conversation: Int64, _ names: [Int64: ByteText], _ store: ViewStore
    ) throws(DatabaseError) {
        let users = Set(touch.reads.keys).union(touch.hidings.keys)
        for ref in users.sorted() {
            guard let user = names[ref]?.text else { continue }
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
