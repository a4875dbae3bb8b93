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
