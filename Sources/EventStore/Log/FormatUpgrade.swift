/// Gives a log of an earlier version the columns it lacks, in place, when it is opened for writing. One transaction: after a power cut
/// the log is of the one version or of the other, and can be opened again.
///
/// Nothing in a log of version 1 binds the events that no head covers to the node that wrote them. So only one whose own origin is
/// covered whole is upgraded, as every orderly end leaves it.
enum FormatUpgrade {
    static func run(on connection: Connection) throws(StoreError) {
        let isCovered = try mapped { () throws(DatabaseError) -> Bool in
            let version = try Schema.version(of: connection)
            guard version < Schema.version else { return true }
            try connection.execute("BEGIN IMMEDIATE")
            do throws(DatabaseError) {
                try connection.execute(Schema.columns(after: version) + "PRAGMA user_version = \(Schema.version);")
                let isCovered = version > 1 ? true : try isOwnCovered(connection)
                if isCovered { try connection.execute("COMMIT") } else { connection.rollback() }
                return isCovered
            } catch {
                connection.rollback()
                throw error
            }
        }
        guard isCovered else { throw .notSettled(path: connection.path) }
    }

    private static func isOwnCovered(_ connection: Connection) throws(DatabaseError) -> Bool {
        let sha = SHA256()
        let state = try LogState.load(from: connection, using: sha)
        guard let own = state.own.map({ state.origins[$0] }) else { return false }
        let merkle = MerkleStore(connection: connection, sha: sha)
        let last = try merkle.head(of: own.id, ref: own.ref, atLeast: own.size, largest: true)
        return last.map { $0.head == own.head(using: sha) && $0.isValid(for: own.key) } ?? false
    }
}
