/// The Merkle trees in the log: tables `node`, `tile` and `head`. Only the roots of perfect subtrees whose level is a multiple of
/// eight (256, 65,536, … leaves), or four (16), are stored; what lies between is hashed again when it is needed.
struct MerkleStore {
    static let levelStep = 8

    let connection: Connection
    let sha: SHA256

    /// The tree of an origin's first `size` events.
    func range(origin: Int64, size: UInt64, names: inout InternedStrings) throws(DatabaseError) -> MerkleRange {
        try tree(origin: origin, size: size, names: &names).range
    }

    /// The same, ready to grow.
    func tree(origin: Int64, size: UInt64, names: inout InternedStrings) throws(DatabaseError) -> GrowingTree {
        let whole = size & ~((1 << UInt64(Self.levelStep)) - 1)
        let peaks = try MerkleProof.peaks(0, whole) { (level, index) throws(DatabaseError) in
            try node(origin: origin, level: level, index: index, names: &names)
        }
        var tree = GrowingTree(MerkleRange(size: whole, peaks: peaks))
        for leaf in try leaves(origin: origin, from: whole + 1, count: size - whole, names: &names) {
            _ = tree.grow(leaf, using: sha)
        }
        guard tree.range.size == size else {
            throw .damaged(.table("event"), "the Merkle tree of origin \(origin) lacks leaves behind \(whole)")
        }
        return tree
    }

    /// The root of an origin's first `size` events.
    func root(origin: Int64, size: UInt64, names: inout InternedStrings) throws(DatabaseError) -> Digest {
        try range(origin: origin, size: size, names: &names).root(using: sha)
    }

    /// The root of the perfect subtree of 2^level events that is the `index`-th of its level.
    func node(
        origin: Int64, level: Int, index: UInt64, names: inout InternedStrings
    ) throws(DatabaseError) -> Digest {
        let stored = level / Self.levelStep * Self.levelStep
        let count = UInt64(1) << UInt64(level - stored)
        let first = index * count
        var range = MerkleRange()
        let below =
            stored == 0
            ? try leaves(origin: origin, from: first + 1, count: count, names: &names)
            : try nodes(origin: origin, level: stored, from: first, count: count)
        for hash in below { range.append(hash, using: sha) }
        guard range.size == count else {
            throw .damaged(.table("node"), "the Merkle tree of origin \(origin) lacks nodes of level \(stored)")
        }
        return range.root(using: sha)
    }

    /// Those of `count` nodes of a level that is stored, from the `first` on, that are here.
    func nodes(origin: Int64, level: Int, from first: UInt64, count: UInt64) throws(DatabaseError) -> [Digest] {
        let select = try connection.statement(
            "SELECT hash FROM node WHERE origin = ? AND level = ? AND number >= ? AND number < ? ORDER BY number")
        defer { select.reset() }
        try select.bind(1, origin)
        try select.bind(2, Int64(level))
        try select.bind(3, first)
        try select.bind(4, first + count)
        var nodes: [Digest] = []
        while try select.step() {
            guard let hash = select.digest(0) else { break }
            nodes.append(hash)
        }
        return nodes
    }

    /// The leaves of those of `count` events from `seq` on that are here.
    func leaves(
        origin: Int64, from seq: UInt64, count: UInt64, names: inout InternedStrings
    ) throws(DatabaseError) -> [Digest] {
        let select = try connection.statement(
            "SELECT \(EventRow.columns) FROM event WHERE origin = ? AND seq >= ? AND seq < ? ORDER BY seq")
        defer { select.reset() }
        try select.bind(1, origin)
        try select.bind(2, seq)
        try select.bind(3, seq + count)
        var leaves: [Digest] = []
        while try select.step() {
            let event = try EventRow.read(select, names: &names, on: connection).event
            leaves.append(sha.leaf(of: event))
        }
        return leaves
    }

    /// Stores a perfect subtree's root that the event at `position` completes, with its tile.
    func insert(_ node: MerkleNode, origin: Int64, at position: UInt64) throws(DatabaseError) {
        let insert = try connection.statement("INSERT INTO node(origin, level, number, hash) VALUES(?,?,?,?)")
        try insert.bind(1, origin)
        try insert.bind(2, Int64(node.level))
        try insert.bind(3, node.index)
        try insert.bind(4, blob: node.hash.bytes)
        try insert.run()
        if let tile = node.tile { try self.insert(tile, at: position) }
    }

    /// Heads of one origin that lie closer together than this replace each other.
    static let headSpacing: UInt64 = 4_096

    /// Whether of two heads of one origin only the `later` is kept.
    static func replaces(_ later: TreeHead, _ earlier: TreeHead) -> Bool {
        later.origin == earlier.origin && (later.size - 1) / headSpacing == (earlier.size - 1) / headSpacing
    }

    /// Stores a head. Of the heads in one block of ``headSpacing`` sizes only the last is kept: enough to hand out any
    /// part of a long history with a signature near its end.
    func insertHead(_ signed: SignedHead, origin: Int64) throws(DatabaseError) {
        let size = signed.head.size
        let prune = try connection.statement("DELETE FROM head WHERE origin = ? AND size > ? AND size < ?")
        try prune.bind(1, origin)
        try prune.bind(2, (size - 1) / Self.headSpacing * Self.headSpacing)
        try prune.bind(3, size)
        try prune.run()
        let insert = try connection.statement(
            "INSERT OR IGNORE INTO head(origin, size, root, hlc, signature) VALUES(?,?,?,?,?)")
        try insert.bind(1, origin)
        try insert.bind(2, size)
        try insert.bind(3, blob: signed.head.root.bytes)
        try insert.bind(4, signed.head.hlc.rawValue)
        try insert.bind(5, blob: signed.signature)
        try insert.run()
    }

    /// The smallest stored head of at least `size` events, or with `descending` the largest.
    func head(
        of origin: OriginID, ref: Int64, atLeast size: UInt64, largest: Bool = false
    ) throws(DatabaseError) -> SignedHead? {
        let select = try connection.statement(
            """
            SELECT size, root, hlc, signature FROM head WHERE origin = ? AND size >= ?
            ORDER BY size \(largest ? "DESC" : "ASC") LIMIT 1
            """)
        defer { select.reset() }
        try select.bind(1, ref)
        try select.bind(2, size)
        guard try select.step(), let root = select.digest(1) else { return nil }
        return SignedHead(
            head: TreeHead(
                origin: origin, size: select.uint64(0), root: root, hlc: HybridTime(rawValue: select.uint64(2))),
            signature: select.bytes(3))
    }
}

extension SHA256 {
    /// The Merkle leaf of an event.
    package func leaf(of event: Event) -> Digest {
        leaf(header: event.header.canonicalBytes, payloadDigest: payloadDigest(event.body))
    }
}

/// The place of a perfect subtree: the `index`-th of 2^level events.
struct ProofNode: Hashable {
    let origin: Int64
    let level: Int
    let index: UInt64
}
