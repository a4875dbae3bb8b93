/// Audit paths of the events of one origin in one of its trees. Cheap for events that are asked for in order: the leaves of 16 of them, of
/// 256 where the log has no tile, are hashed once. Not Sendable.
final class AuditPaths {
    private let reader: LogReader
    private let merkle: MerkleStore
    private let origin: Int64
    private let size: UInt64
    private let bridge: MerkleBridge?
    private let sha: SHA256
    /// Whether the log has tiles.
    private let isTiled: Bool
    /// Roots in the perfect subtree of 256 leaves that was asked for last, and of 16.
    private var (block, piece): (Subtrees?, Subtrees?)
    /// Those behind the last 256, which every path needs.
    private var edge: Subtrees?
    /// Subtrees above the blocks.
    private var nodes: [ProofNode: Digest] = [:]

    /// The roots in a subtree, level by level, as far as the tree has them.
    private struct Subtrees {
        let index: UInt64
        let lowest: Int
        let levels: [[Digest]]
    }

    private static let (blockLevel, pieceLevel) = (MerkleStore.levelStep, MerkleTile.level)
    private static let mostNodes = 16_384

    /// - Parameter size: Of the tree; so many events are here.
    init(_ reader: LogReader, origin: Int64, size: UInt64, using sha: SHA256) throws(StoreError) {
        (self.reader, self.origin, self.size, self.sha) = (reader, origin, size, sha)
        merkle = MerkleStore(connection: reader.connection, sha: sha)
        bridge = MerkleBridge(have: size, whole: size, proof: [])
        isTiled = try mapped { () throws(DatabaseError) in try MerkleTile.isKept(on: reader.connection) }
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
        if let known = nodes[ProofNode(origin: origin, level: level, index: index)] { return known }
        // What lies below it is asked for next.
        let stored = level / Self.blockLevel * Self.blockLevel
        let count = UInt64(1) << UInt64(level - stored)
        let found = try merkle.nodes(origin: origin, level: stored, from: index * count, count: count)
        guard UInt64(found.count) == count else {
            throw .damaged(.table("node"), "the Merkle tree of origin \(origin) lacks nodes of level \(stored)")
        }
        if nodes.count >= Self.mostNodes { nodes = [:] }
        let levels = levels(above: found, level - stored)
        for (step, row) in levels.enumerated() {
            let first = index << UInt64(level - stored - step)
            for (place, root) in row.enumerated() {
                nodes[ProofNode(origin: origin, level: stored + step, index: first + UInt64(place))] = root
            }
        }
        return levels[level - stored][0]
    }

    private func nodeInBlock(_ level: Int, _ index: UInt64) throws(DatabaseError) -> Digest {
        let number = index >> UInt64(Self.blockLevel - level)
        var subtrees = try block(number)
        var height = Self.blockLevel
        if level < subtrees.lowest {
            subtrees = try piece(index >> UInt64(Self.pieceLevel - level))
            height = Self.pieceLevel
        }
        let row = subtrees.levels[level - subtrees.lowest]
        let place = Int(index - subtrees.index << UInt64(height - level))
        guard row.indices.contains(place) else {
            throw .damaged(.table("event"), "the Merkle tree of origin \(origin) lacks leaves of block \(number)")
        }
        return row[place]
    }

    private func block(_ number: UInt64) throws(DatabaseError) -> Subtrees {
        let isEdge = number == size >> UInt64(Self.blockLevel)
        if let known = isEdge ? edge : block, known.index == number { return known }
        let tile = isTiled && !isEdge ? try merkle.tile(origin: origin, number: number) : nil
        let block: Subtrees
        if let tile {
            let levels = levels(above: tile.roots, Self.blockLevel - Self.pieceLevel)
            block = Subtrees(index: number, lowest: Self.pieceLevel, levels: levels)
        } else {
            block = try leaves(number, Self.blockLevel)
        }
        if isEdge { edge = block } else { self.block = block }
        return block
    }

    private func piece(_ number: UInt64) throws(DatabaseError) -> Subtrees {
        if let piece, piece.index == number { return piece }
        let found = try leaves(number, Self.pieceLevel)
        piece = found
        return found
    }

    /// The `number`-th subtree of this height, made of its leaves.
    private func leaves(_ number: UInt64, _ height: Int) throws(DatabaseError) -> Subtrees {
        let count = UInt64(1) << UInt64(height)
        let first = number * count
        let leaves = try merkle.leaves(
            origin: origin, from: first + 1, count: min(count, size - min(first, size)), names: &reader.names)
        return Subtrees(index: number, lowest: 0, levels: levels(above: leaves, height))
    }

    /// These roots, and those of `count` levels above them.
    private func levels(above roots: [Digest], _ count: Int) -> [[Digest]] {
        var levels = [roots]
        for level in 0..<count {
            let below = levels[level]
            levels.append(stride(from: 0, to: below.count - 1, by: 2).map { sha.node(below[$0], below[$0 + 1]) })
        }
        return levels
    }
}
