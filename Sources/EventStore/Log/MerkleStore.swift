/// The Merkle trees in the log: tables `node` and `head`. Only the roots of perfect subtrees whose level is a multiple of
/// eight are stored (256, 65,536, … leaves); what lies between is hashed again when it is needed.
struct MerkleStore {
    static let levelStep = 8

    let connection: Connection
    let sha: SHA256

    /// The tree of an origin's first `size` events.
    func range(origin: Int64, size: UInt64, names: inout InternedStrings) throws(DatabaseError) -> MerkleRange {
        let peaks = try MerkleProof.peaks(0, size) { (level, index) throws(DatabaseError) in
            try node(origin: origin, level: level, index: index, names: &names)
        }
        return MerkleRange(size: size, peaks: peaks)
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
        if stored == 0 {
            for leaf in try leaves(origin: origin, from: first + 1, count: count, names: &names) {
                range.append(leaf, using: sha)
            }
        } else {
            let select = try connection.statement(
                "SELECT hash FROM node WHERE origin = ? AND level = ? AND number >= ? AND number < ? ORDER BY number")
            defer { select.reset() }
            try select.bind(1, origin)
            try select.bind(2, Int64(stored))
            try select.bind(3, first)
            try select.bind(4, first + count)
            while try select.step() {
                guard let hash = select.digest(0) else { break }
                range.append(hash, using: sha)
            }
        }
        guard range.size == count else {
            throw .damaged(.table("node"), "the Merkle tree of origin \(origin) lacks nodes of level \(stored)")
        }
        return range.root(using: sha)
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

    /// Stores a perfect subtree's root if its level is one that is kept.
    func insertNode(origin: Int64, level: Int, index: UInt64, hash: Digest) throws(DatabaseError) {
        guard level > 0, level % Self.levelStep == 0 else { return }
        let insert = try connection.statement("INSERT INTO node(origin, level, number, hash) VALUES(?,?,?,?)")
        try insert.bind(1, origin)
        try insert.bind(2, Int64(level))
        try insert.bind(3, index)
        try insert.bind(4, blob: hash.bytes)
        try insert.run()
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

/// The root of a perfect subtree: the `index`-th of 2^level events.
struct MerkleNode: Sendable {
    let level: Int
    let index: UInt64
    let hash: Digest
}

extension MerkleRange {
    /// Adds a leaf. Gives the roots of subtrees that it completes, those that the log keeps.
    mutating func grow(_ leaf: Digest, using sha: SHA256) -> [MerkleNode] {
        var nodes: [MerkleNode] = []
        append(leaf, using: sha) { level, index, hash in
            if level > 0, level % MerkleStore.levelStep == 0 {
                nodes.append(MerkleNode(level: level, index: index, hash: hash))
            }
        }
        return nodes
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
