/// Audit paths of the events of one origin in one of its trees. Cheap for events that are asked for in order: the leaves of 256 of them
/// are hashed once. Not Sendable.
final class AuditPaths {
    private let reader: LogReader
    private let merkle: MerkleStore
    private let origin: Int64
    private let size: UInt64
    private let bridge: MerkleBridge?
    private let sha: SHA256
    /// The subtrees of a block of leaves, by level.
    private var block: (index: UInt64, levels: [[Digest]])?
    /// Subtrees above the blocks.
    private var nodes: [ProofNode: Digest] = [:]

    private static let blockLevel = MerkleStore.levelStep
    private static let mostNodes = 16_384

    /// - Parameter size: Of the tree; so many events are here.
    init(_ reader: LogReader, origin: Int64, size: UInt64, using sha: SHA256) {
        (self.reader, self.origin, self.size, self.sha) = (reader, origin, size, sha)
        merkle = MerkleStore(connection: reader.connection, sha: sha)
        bridge = MerkleBridge(have: size, whole: size, proof: [])
    }

    /// The path of the event with this seq; `nil` if the tree does not have it.
    func path(of seq: UInt64) throws(StoreError) -> [Digest]? {
        guard seq > 0 else { return nil }
        return try mapped { () throws(DatabaseError) in
            try bridge?.inclusion(of: seq - 1, using: sha) { (level, index) throws(DatabaseError) in
                try node(level, index)
            }
        }
    }

    private func node(_ level: Int, _ index: UInt64) throws(DatabaseError) -> Digest {
        guard level >= Self.blockLevel else { return try nodeInBlock(level, index) }
        let place = ProofNode(origin: origin, level: level, index: index)
        if let known = nodes[place] { return known }
        let node = try merkle.node(origin: origin, level: level, index: index, names: &reader.names)
        if nodes.count == Self.mostNodes { nodes = [:] }
        nodes[place] = node
        return node
    }

    private func nodeInBlock(_ level: Int, _ index: UInt64) throws(DatabaseError) -> Digest {
        let number = index >> UInt64(Self.blockLevel - level)
        let levels = try subtrees(of: number)
        let place = Int(index - number << UInt64(Self.blockLevel - level))
        guard levels[level].indices.contains(place) else {
            throw .damaged(.table("event"), "the Merkle tree of origin \(origin) lacks leaves of block \(number)")
        }
        return levels[level][place]
    }

    private func subtrees(of number: UInt64) throws(DatabaseError) -> [[Digest]] {
        if let block, block.index == number { return block.levels }
        let count = UInt64(1) << UInt64(Self.blockLevel)
        let first = number * count
        var levels = [
            try merkle.leaves(
                origin: origin, from: first + 1, count: min(count, size - min(first, size)), names: &reader.names)
        ]
        for level in 1...Self.blockLevel {
            let below = levels[level - 1]
            levels.append(
                stride(from: 0, to: below.count - 1, by: 2).map { sha.node(below[$0], below[$0 + 1]) })
        }
        block = (number, levels)
        return levels
    }
}
