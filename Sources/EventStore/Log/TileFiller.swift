/// Makes the tiles that a log of an earlier release has not, a few at a time: in pauses of the writer, within the transaction that stores a head
/// (``LogTransactions``). So a start takes no longer, and a process that is killed leaves some or none. Until they are there the leaves are read.
struct TileFiller: Sendable {
    /// Most tiles that are made, and that are looked for, at a time: some five milliseconds.
    private static let most = (made: 8, looks: 512)

    /// The next one to look for. Behind the end nothing comes: what grows makes its own.
    private var (origin, number) = (0, UInt64(0))

    mutating func fill(_ origins: [OriginState], with merkle: MerkleStore) throws(DatabaseError) {
        var names = InternedStrings()
        var (made, looks) = (0, 0)
        while origin < origins.count, made < Self.most.made, looks < Self.most.looks {
            guard number < origins[origin].size >> UInt64(MerkleStore.levelStep) else {
                (origin, number) = (origin + 1, 0)
                continue
            }
            looks += 1
            if try merkle.makeTile(origin: origins[origin].ref, number: number, names: &names) { made += 1 }
            number += 1
        }
    }
}

extension MerkleStore {
    /// Makes the tile over the `number`-th 256 events of an origin, unless it is there. Of damaged events, which `verify` names, none is made.
    fileprivate func makeTile(
        origin: Int64, number: UInt64, names: inout InternedStrings
    ) throws(DatabaseError) -> Bool {
        let count = UInt64(1) << UInt64(Self.levelStep)
        let missing = try connection.integer(
            """
            SELECT position FROM event WHERE origin = ? AND seq = ?
            AND NOT EXISTS (SELECT 1 FROM tile WHERE tile.position = event.position)
            """, .integer(origin), .unsigned((number + 1) * count))
        guard let position = missing else { return false }
        do throws(DatabaseError) {
            var tree = GrowingTree()
            var nodes: [MerkleNode] = []
            for leaf in try leaves(origin: origin, from: number * count + 1, count: count, names: &names) {
                nodes = tree.grow(leaf, using: sha)
            }
            let stored = try self.nodes(origin: origin, level: Self.levelStep, from: number, count: 1)
            guard let node = nodes.first, let tile = node.tile, [node.hash] == stored else { return true }
            try insert(tile, at: UInt64(bitPattern: position))
        } catch {
            guard case .damage = error else { throw error }
        }
        return true
    }
}
