/// The roots of the sixteen subtrees of 16 leaves in a perfect subtree of 256: table `tile`. A row stands at the position of the event that
/// completes the 256, so rows are made in the order of their keys. They spare an audit path the hashing of 240 of 256 leaves; nothing is
/// proven by them, and where one is missing the leaves are read.
struct MerkleTile: Hashable, Sendable {
    /// The level of the roots.
    static let level = 4
    private static let count = 1 << (MerkleStore.levelStep - level)
    /// Bytes of a tile.
    static let length = count * 32

    /// Stores of earlier releases get this table when they are opened for writing.
    static let table = """
        CREATE TABLE IF NOT EXISTS tile(position INTEGER PRIMARY KEY, hashes BLOB NOT NULL);
        """

    let roots: [Digest]

    /// The roots, one after the other.
    var bytes: [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(Self.length)
        for root in roots { root.append(to: &out) }
        return out
    }

    init(roots: [Digest]) { self.roots = roots }

    /// - Returns: `nil` for bytes of another length.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.length else { return nil }
        roots = (0..<Self.count).map { index in
            Digest(reading: UnsafeRawBufferPointer(rebasing: bytes[(index * 32)...]))
        }
    }

    /// Whether the log has the table.
    static func isKept(on connection: Connection) throws(DatabaseError) -> Bool {
        try connection.integer("SELECT 1 FROM sqlite_schema WHERE name = 'tile'") != nil
    }
}

/// A tree that the log keeps, as it grows.
struct GrowingTree: Hashable, Sendable {
    private(set) var range: MerkleRange
    /// What the next tile has so far.
    private var tile: [Digest] = []

    /// - Parameter whole: A tree without leaves behind its last 256.
    init(_ whole: MerkleRange = MerkleRange()) {
        precondition(whole.size % (1 << UInt64(MerkleStore.levelStep)) == 0)
        range = whole
    }

    /// Adds a leaf. Gives the roots of subtrees that it completes, those that the log keeps.
    mutating func grow(_ leaf: Digest, using sha: SHA256) -> [MerkleNode] {
        var nodes: [MerkleNode] = []
        var root: Digest?
        range.append(leaf, using: sha) { level, index, hash in
            if level == MerkleTile.level { root = hash }
            guard level > 0, level % MerkleStore.levelStep == 0 else { return }
            nodes.append(MerkleNode(level: level, index: index, hash: hash))
        }
        if let root { tile.append(root) }
        guard !nodes.isEmpty else { return nodes }
        nodes[0].tile = MerkleTile(roots: tile)
        tile.removeAll(keepingCapacity: true)
        return nodes
    }
}

/// The root of a perfect subtree: the `index`-th of 2^level events.
struct MerkleNode: Sendable {
    let level: Int
    let index: UInt64
    let hash: Digest
    /// What it is made of, where it is one of the lowest that are kept.
    fileprivate(set) var tile: MerkleTile?

    fileprivate init(level: Int, index: UInt64, hash: Digest) {
        (self.level, self.index, self.hash) = (level, index, hash)
    }

    /// The seq of the event that completes it.
    var end: UInt64 { (index + 1) << UInt64(level) }
}

extension MerkleStore {
    /// The tile over the `number`-th 256 events of an origin; `nil` where there is none. The log has the table.
    func tile(origin: Int64, number: UInt64) throws(DatabaseError) -> MerkleTile? {
        let select = try connection.statement(
            """
            SELECT hashes FROM event CROSS JOIN tile ON tile.position = event.position
            WHERE origin = ? AND seq = ? AND typeof(hashes) = 'blob'
            """)
        defer { select.reset() }
        try select.bind(1, origin)
        try select.bind(2, (number + 1) << UInt64(Self.levelStep))
        guard try select.step() else { return nil }
        return select.withBytes(0) { MerkleTile(bytes: $0) }
    }

    /// Stores a tile in place of one that may be there: an earlier release that cuts a log leaves those behind its end.
    func insert(_ tile: MerkleTile, at position: UInt64) throws(DatabaseError) {
        let insert = try connection.statement("INSERT OR REPLACE INTO tile(position, hashes) VALUES(?,?)")
        try insert.bind(1, position)
        try insert.bind(2, blob: tile.bytes)
        try insert.run()
    }
}
