/// Erasures that a restored log does not have: what they cover goes from it, and what proves them is kept beside it until its node records
/// them once more (INV-11).
struct LostErasures {
    private let files: StoreFiles
    private let node: NodeID
    private let sha = SHA256()
    /// Rows that are looked at in one read transaction, and payloads that go in one commit.
    private static let rows = 16_384
    private static let slice = 1_024

    /// - Parameter node: Whose log it is: a node lets go what it has recorded itself.
    init(_ files: StoreFiles, node: NodeID) { (self.files, self.node) = (files, node) }

    /// Applies those of `known` that the node has signed and the log lacks. Returns how many rows are without payload because of them.
    func apply(_ known: [ProvenErasure]) throws(StoreError) -> UInt64 {
        let log = try LogReader(files)
        var (later, erasures): ([ProvenErasure], Erasures) = ([], Erasures(keeper: node))
        for proven in known where !later.contains(where: { $0.dot == proven.dot }) {
            guard let event = proven.event(of: node, using: sha), try log.event(proven.dot) == nil else { continue }
            later.append(proven)
            erasures.take(event, of: node)
        }
        guard !later.isEmpty else { return 0 }
        try empty(erasures, log)
        try ProvenErasure.keep(later, files)
        return try covered(erasures)
    }

    private func empty(_ erasures: Erasures, _ log: LogReader) throws(StoreError) {
        let connection = try mapped { () throws(DatabaseError) in
            let connection = try Connection(path: files.log, mode: .write)
            // No journal on the disk: it would have the payloads, and what is cut off here is begun anew.
            try connection.execute(
                "PRAGMA journal_mode = MEMORY; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON;")
            return connection
        }
        let top = try log.top()
        var (cursor, isChanged) = (UInt64(0), false)
        while cursor < top {
            let (positions, next) = try log.erasable(
                erasures, after: cursor, through: top, rows: Self.rows, limit: Self.slice)
            cursor = next
            var gone: [(position: UInt64, digest: Digest)] = []
            for position in positions {
                guard let body = try log.event(at: position)?.event.body else { continue }
                gone.append((position, sha.payloadDigest(body)))
            }
            guard !gone.isEmpty else { continue }
            isChanged = true
            try mapped { () throws(DatabaseError) in
                try connection.transaction { () throws(DatabaseError) in
                    for (position, digest) in gone {
                        try connection.run(
                            "UPDATE event SET salt = NULL, payload = NULL, digest = ? WHERE position = ?",
                            .blob(digest.bytes), .unsigned(position))
                    }
                }
            }
        }
        guard isChanged else { return }
        connection.releaseMemory()
        let pages = try log.slackPages()
        try mapped { () throws(DatabaseError) in try SlackPages(connection).clear(pages) }
    }

    private func covered(_ erasures: Erasures) throws(StoreError) -> UInt64 {
        let log = try LogReader(files)
        return try mapped { () throws(DatabaseError) in
            var count: UInt64 = 0
            try log.connection.eachErased { row throws(DatabaseError) in
                if try row.isCovered(by: erasures, &log.names, log.connection) { count += 1 }
            }
            return count
        }
    }
}
