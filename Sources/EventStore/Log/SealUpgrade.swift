/// Gives a log of version 1 the column `seal`, in place, when it is opened for writing.
///
/// Nothing in such a log binds the events that no head covers to the node that wrote them. So only one whose own origin is
/// covered whole is upgraded, as every orderly end leaves it.
enum SealUpgrade {
    static func run(on connection: Connection) throws(StoreError) {
        var isDue = false
        try mapped { () throws(DatabaseError) in isDue = try !Schema.hasSeals(connection) }
        guard isDue else { return }
        var isCovered = false
        try mapped { () throws(DatabaseError) in
            let sha = SHA256()
            let state = try LogState.load(from: connection, using: sha)
            guard let own = state.own.map({ state.origins[$0] }) else { return }
            let merkle = MerkleStore(connection: connection, sha: sha)
            let last = try merkle.head(of: own.id, ref: own.ref, atLeast: own.size, largest: true)
            isCovered = last.map { $0.head == own.head(using: sha) && $0.isValid(for: own.key) } ?? false
        }
        guard isCovered else { throw .notSettled(path: connection.path) }
        try mapped { () throws(DatabaseError) in
            try connection.transaction { () throws(DatabaseError) in
                try connection.execute(Schema.seal + "PRAGMA user_version = \(Schema.version);")
            }
        }
    }
}
