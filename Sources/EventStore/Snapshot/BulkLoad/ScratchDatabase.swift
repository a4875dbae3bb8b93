/// A database that is worth nothing until the log is complete: it begins with the names and origins of this node's own log.
final class ScratchDatabase {
    private let connection: Connection
    /// Perfect subtrees, heads, and how far an origin's head reaches beyond its events.
    let merkle: MerkleStore
    private var names: SnapshotNames

    init(_ connection: Connection) throws(DatabaseError) {
        self.connection = connection
        merkle = MerkleStore(connection: connection, sha: SHA256())
        try connection.execute("BEGIN")
        names = try SnapshotNames(connection: connection)
    }

    /// All names, if they are in memory.
    var nameList: NameList? { names.list }

    /// The origins of this node's own log, in the order of their refs.
    func origins() throws(DatabaseError) -> [(id: OriginID, key: VerifyingKey)] {
        try connection.all("SELECT id, key FROM origin ORDER BY ref") { row throws(DatabaseError) in
            guard let id = row.uuid(0), let key = VerifyingKey(rawBytes: row.bytes(1)) else {
                throw .damaged(.table("origin"), "an id or a key is of the wrong length")
            }
            return (id: OriginID(id), key: key)
        }
    }

    /// The refs of names, new ones for those that are new.
    func refs(of names: [UnsafeRawBufferPointer]) throws(DatabaseError) -> [Int64] { try self.names.refs(of: names) }

    /// The ref of an actor's text, a new one if that is new.
    func ref(of actor: EventActor) throws(DatabaseError) -> Int64 {
        let result = Array(actor.text.utf8).withUnsafeBytes { text in
            Result { () throws(DatabaseError) in try names.refs(of: [text]) }
        }
        return try result.get()[0]
    }

    func insert(origin: OriginID, _ key: VerifyingKey, ref: Int64) throws(DatabaseError) {
        try Schema.insertOrigin(origin, key, ref: ref, on: connection)
    }

    func commit() throws(DatabaseError) { try connection.execute("COMMIT") }
}

extension Sequencer {
    /// Begins with the origins of a log in memory. The reader has the heads that are kept.
    package static func begin(over image: [UInt8], own: OriginID) throws(DatabaseError) -> (Sequencer, LogReader) {
        let connection = try Connection(image: image)
        try connection.execute(LogFileBuilder.empty)
        return (try Sequencer(ScratchDatabase(connection), own: own), LogReader(connection))
    }
}
