/// What the verifier knows of one origin while it reads the log: its tree so far, and the next head to compare with.
struct OriginProof {
    let ref: Int64
    let id: OriginID
    let node: NodeID
    let key: VerifyingKey
    /// The seq of the last event seen.
    private(set) var seq: UInt64 = 0
    /// How many events were seen.
    private(set) var events: UInt64 = 0
    /// Events whose header or payload is not what was hashed when they were stored.
    var damaged: UInt64 = 0
    /// The hlc of the last event seen.
    var lastTime: HybridTime?
    /// The same, if that event's header can be read.
    private var stamp: HybridTime?
    /// The tree over the events seen; `nil` once one was missing or unreadable: from there on nothing can be said of it.
    private var growing: GrowingTree? = GrowingTree()
    var tree: MerkleRange? { growing?.range }
    /// The smallest stored head of more events than were seen.
    private var next: StoredHead?
    /// The largest head that was right.
    private(set) var headSize: UInt64 = 0

    init(ref: Int64, id: OriginID, node: NodeID, key: VerifyingKey) {
        self.ref = ref
        self.id = id
        self.node = node
        self.key = key
    }

    var verified: VerifiedOrigin {
        VerifiedOrigin(
            origin: id, node: node, size: seq, root: tree.map { $0.root(using: SHA256()) }, headSize: headSize)
    }

    /// Takes note of the next event in position order.
    mutating func advance(to found: UInt64) -> String? {
        defer {
            seq = found
            events += 1
        }
        if found == seq + 1 { return nil }
        growing = nil
        if found <= seq { return "seq \(found) comes after seq \(seq): out of order" }
        return found == seq + 2 ? "seq \(seq + 1) is missing" : "seqs \(seq + 1) to \(found - 1) are missing"
    }

    /// Takes note of the stamp of the event just seen, `nil` where its header cannot be read: stamps of neighbours ascend (FORMATS.md §2).
    mutating func advance(from found: HybridTime?) -> String? {
        defer { stamp = found }
        guard let found, let stamp, found <= stamp else { return nil }
        return "its hlc \(found) is not after \(stamp), that of the event before it"
    }

    /// Gives up on the tree: the event just seen cannot be hashed.
    mutating func breakTree() { growing = nil }

    /// A head that reaches beyond them vouches for the first `size` events.
    mutating func isVouched(to size: UInt64) {
        if tree?.size == size { headSize = max(headSize, size) }
    }

    // MARK: Tree

    /// Adds the leaf of the event just seen, at `position`, and compares what is stored of the subtrees that it completes.
    mutating func add(
        _ leaf: Digest, at position: Int64, using sha: SHA256, on connection: Connection, isTiled: Bool,
        _ findings: inout VerifyFindings
    ) throws(DatabaseError) {
        for node in growing?.grow(leaf, using: sha) ?? [] {
            let select = try connection.statement(
                """
                SELECT CASE typeof(hash) WHEN 'blob' THEN hash END FROM node \
                WHERE origin = ? AND level = ? AND number = ?
                """, [.integer(ref), .integer(Int64(node.level)), .unsigned(node.index)])
            defer { select.reset() }
            let first = node.index << UInt64(node.level) + 1
            let range = "origin \(id): the node of level \(node.level) over seqs \(first) to \(seq)"
            if try !select.step() {
                findings.add(.tree, "\(range) is missing")
            } else if select.digest(0) != node.hash {
                findings.add(.tree, "\(range) is not the hash of these events")
            }
            guard isTiled, let tile = node.tile else { continue }
            let isOther = try connection.integer(
                "SELECT 1 FROM tile WHERE position = ? AND hashes IS NOT ?", .integer(position), .blob(tile.bytes))
            if isOther != nil {
                findings.add(.tree, "origin \(id): the tile over seqs \(first) to \(seq) is not of these events")
            }
        }
    }

    // MARK: Heads

    /// A row of table `head` as far as it has the right shape.
    private struct StoredHead {
        let size: UInt64
        /// `nil` if a column is not what it should be.
        let signed: SignedHead?
    }

    /// Finds the smallest stored head of more than ``seq`` events. Heads are read one by one: how many there are grows
    /// with the log. A writer may take away a head that was found (a later one replaces it), which proves no less.
    mutating func findHead(on connection: Connection) throws(DatabaseError) {
        next = try connection.first(
            """
            SELECT size, root, hlc, signature, typeof(root) = 'blob' AND typeof(hlc) = 'integer' \
            AND typeof(signature) = 'blob' FROM head
            WHERE origin = ? AND size > ? AND typeof(size) = 'integer' ORDER BY size LIMIT 1
            """, [.integer(ref), .unsigned(seq)]
        ) { row in
            let size = row.uint64(0)
            guard row.int64(4) == 1, let root = row.digest(1) else { return StoredHead(size: size, signed: nil) }
            let head = TreeHead(origin: id, size: size, root: root, hlc: HybridTime(rawValue: row.uint64(2)))
            return StoredHead(size: size, signed: SignedHead(head: head, signature: row.bytes(3)))
        }
    }

    /// Compares the heads that speak of no more than the events seen; `hlc` is the last one's, if it could be read.
    mutating func compareHeads(
        hlc: HybridTime?, using sha: SHA256, on connection: Connection, _ findings: inout VerifyFindings
    ) throws(DatabaseError) {
        guard let head = next, head.size <= seq else { return }
        let faults = self.faults(of: head, hlc: hlc, using: sha)
        for fault in faults { findings.add(.heads, "origin \(id): the head at \(head.size) \(fault)") }
        if faults.isEmpty, tree?.size == head.size { headSize = head.size }
        try findHead(on: connection)
    }

    private func faults(of head: StoredHead, hlc: HybridTime?, using sha: SHA256) -> [String] {
        guard let signed = head.signed else { return ["has a column of the wrong type or length"] }
        var faults: [String] = []
        if !signed.isValid(for: key) { faults.append("has a signature that is not that of node \(node.short)") }
        guard let tree, tree.size == head.size else { return faults }
        let root = tree.root(using: sha)
        if root != signed.head.root {
            faults.append("has root \(signed.head.root), its events have root \(root)")
        }
        if let hlc, hlc != signed.head.hlc {
            faults.append("has hlc \(signed.head.hlc), its last event \(hlc)")
        }
        return faults
    }
}
