/// A database that is worth nothing until the log is complete: it begins with the names and origins of this node's own log.
final class ScratchDatabase {
    private let connection: Connection
    private let merkle: MerkleStore
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
        let select = try connection.statement("SELECT id, key FROM origin ORDER BY ref")
        defer { select.reset() }
        var origins: [(id: OriginID, key: VerifyingKey)] = []
        while try select.step() {
            guard let id = select.uuid(0), let key = VerifyingKey(rawBytes: select.bytes(1)) else {
                throw .damaged(.table("origin"), "an id or a key is of the wrong length")
            }
            origins.append((OriginID(id), key))
        }
        return origins
    }

    /// The refs of names, new ones for those that are new.
    func refs(of names: [UnsafeRawBufferPointer]) throws(DatabaseError) -> [Int64] { try self.names.refs(of: names) }

    func insert(origin: OriginID, _ key: VerifyingKey, ref: Int64) throws(DatabaseError) {
        let insert = try connection.statement("INSERT INTO origin(ref, id, node, key) VALUES(?,?,?,?)")
        try insert.bind(1, ref)
        try insert.bind(2, origin.bits)
        try insert.bind(3, blob: key.nodeID.bytes)
        try insert.bind(4, blob: key.rawBytes)
        try insert.run()
    }

    /// The root of a perfect subtree of an origin's events.
    func insertNode(origin: Int64, level: Int, index: UInt64, hash: Digest) throws(DatabaseError) {
        try merkle.insertNode(origin: origin, level: level, index: index, hash: hash)
    }

    func insertHead(_ signed: SignedHead, origin: Int64) throws(DatabaseError) {
        try merkle.insertHead(signed, origin: origin)
    }

    /// How far an origin's head reaches beyond its events.
    func insertReach(_ reach: PendingCoverage, origin: Int64) throws(DatabaseError) {
        try merkle.replaceReach(reach, origin: origin)
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
