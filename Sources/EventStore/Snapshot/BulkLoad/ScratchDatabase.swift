/// A database that is worth nothing until the log is complete: it begins with the names and origins of this node's own log.
final class ScratchDatabase: SnapshotScratch {
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

    func refs(of names: [UnsafeRawBufferPointer]) throws(DatabaseError) -> [Int64] { try self.names.refs(of: names) }

    func insert(origin: OriginID, _ key: VerifyingKey, ref: Int64) throws(DatabaseError) {
        let insert = try connection.statement("INSERT INTO origin(ref, id, node, key) VALUES(?,?,?,?)")
        try insert.bind(1, ref)
        try insert.bind(2, origin.bits)
        try insert.bind(3, blob: key.nodeID.bytes)
        try insert.bind(4, blob: key.rawBytes)
        try insert.run()
    }

    func insertNode(origin: Int64, level: Int, index: UInt64, hash: Digest) throws(DatabaseError) {
        try merkle.insertNode(origin: origin, level: level, index: index, hash: hash)
    }

    func insertHead(_ signed: SignedHead, origin: Int64) throws(DatabaseError) {
        try merkle.insertHead(signed, origin: origin)
    }

    func insertReach(_ reach: PendingCoverage, origin: Int64) throws(DatabaseError) {
        try merkle.replaceReach(reach, origin: origin)
    }

    func commit() throws(DatabaseError) { try connection.execute("COMMIT") }
}
