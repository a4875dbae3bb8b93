/// What a person's data are, beside their own history.
extension ViewReader {
    private static let headersAtOnce: UInt64 = 65_536

    /// Positions of what a user has written in the histories of others. No index has it: the headers of the whole log are looked at, once.
    package func authored(
        by user: String, upTo top: UInt64, progress: (UInt64) -> Void = { _ in }
    ) throws(StoreError) -> [UInt64] {
        guard let ref = try log.ref(user) else { return [] }
        var found: [UInt64] = []
        var position: UInt64 = 0
        while position < top {
            let end = min(position + Self.headersAtOnce, top)
            found += try mapped { () throws(DatabaseError) in
                try log.connection.all(
                    "SELECT position FROM event WHERE position > ? AND position <= ? AND author = ? AND user <> author",
                    [.unsigned(position), .unsigned(end), .integer(ref)]
                ) { $0.uint64(0) }
            }
            position = end
            progress(position)
        }
        return found
    }

    /// Events by which others keep this user as a contact, or have kept, in the order of the log: under which name and number is the user's
    /// data, too. Who they are the view says, by a look at each contact; what they wrote their histories have.
    package func contactEntries(naming user: String) throws(StoreError) -> [StoredEvent] {
        let owners = try reading { connection throws(DatabaseError) in
            try connection.all("SELECT DISTINCT user FROM contact WHERE contact = ?", [.text(user)]) { $0.int64(0) }
        }
        var query = TimelineQuery()
        (query.types, query.withTwins) = ([EventType.contactAdded.rawValue], true)
        var found: [StoredEvent] = []
        for owner in owners {
            let name = try log.text(owner)
            guard !name.hasSameBytes(as: user) else { continue }
            for position in try positions(user: name, query) {
                guard let entry = try log.event(at: position), let payload = entry.event.payload,
                    JSONObject(validated: payload).string("contact")?.hasSameBytes(as: user) == true
                else { continue }
                found.append(entry)
            }
        }
        return found.sorted { $0.position < $1.position }
    }

    /// Conversations of which an event says that the user takes part, or has, by the bytes of their ids.
    package func memberships(of user: String) throws(StoreError) -> [String] {
        let refs = try reading { connection throws(DatabaseError) in
            try connection.all("SELECT DISTINCT conversation FROM member WHERE user = ?", [.text(user)]) {
                $0.int64(0)
            }
        }
        var names: [String] = []
        for ref in refs { names.append(try log.text(ref)) }
        return names.sorted { ByteText($0) < ByteText($1) }
    }
}
